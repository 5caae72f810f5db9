/** Fault 6: a flipped bit or a cut anywhere in a data file. A reader gets the right rows or an error that names the file, never others. */
import { describe, expect, test } from "bun:test";
import { DbError } from "../../src/base/error.ts";
import { put, read } from "../engine/lines.ts";
import { Machine } from "../engine/machine.ts";
import { ONE_REGION } from "../engine/regions.ts";

const ROWS = 400;
const CUTS = 60;

/** A machine with one data file, its name and what it holds. */
async function machineWithFile(): Promise<{ readonly machine: Machine; readonly name: string; readonly rows: readonly string[] }> {
  const machine = await Machine.start();
  const lines = Array.from({ length: ROWS }, (_, i) => `cpu,host=h${i % 5},rack=r${i % 2} v=${i * 31}i,f=${i / 8},s="x${i % 9}" ${i}`);
  await put(machine.engine, lines.join("\n"), ONE_REGION);
  await machine.engine.flushTable("public", "cpu");
  const [name = ""] = machine.files.keys();
  return { machine, name, rows: await read(machine.engine, "cpu") };
}

/** What a start on these bytes answers: the right rows or an error that names the file. */
async function check(
  machine: Machine,
  name: string,
  rows: readonly string[],
  bytes: Uint8Array,
  what: string,
): Promise<"rows" | "refusal"> {
  machine.files.set(name, bytes);
  await machine.crash();
  try {
    const found = await read(machine.engine, "cpu");
    if (Bun.deepEquals(found, [...rows])) return "rows";
    throw new Error(`wrong rows with ${what}`);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    expect({ what, message: error.message }).toEqual({ what, message: expect.stringContaining(name) });
    return "refusal";
  }
}

describe("a data file", () => {
  test("with one bit flipped, in each byte of it: the right rows or an error that names it", async () => {
    const { machine, name, rows } = await machineWithFile();
    const whole = machine.files.get(name)!;
    const outcomes = { rows: 0, refusal: 0 };
    const stride = Math.max(1, Math.floor(whole.length / 600));
    for (let at = 0; at < whole.length; at += stride) {
      const bytes = whole.slice();
      bytes[at]! ^= 1 << (at & 7);
      outcomes[await check(machine, name, rows, bytes, `byte ${at} of ${whole.length} flipped`)]++;
    }
    // Pages, index and footer have checksums or are checked; what may be flipped unseen is statistics that no such query needs.
    expect(outcomes.refusal).toBeGreaterThan(outcomes.rows);
  });

  test("cut anywhere is refused by its name", async () => {
    const { machine, name, rows } = await machineWithFile();
    const whole = machine.files.get(name)!;
    for (let n = 0; n < CUTS; n++) {
      const length = Math.floor((whole.length * n) / CUTS);
      expect(await check(machine, name, rows, whole.slice(0, length), `cut to ${length} of ${whole.length} bytes`)).toBe("refusal");
    }
  });

  test("that is damaged is not merged away: its bytes stay as they are, and so do the others", async () => {
    const { machine, name } = await machineWithFile();
    await put(machine.engine, "cpu,host=h0,rack=r0 v=1i 1000");
    await machine.engine.flushTable("public", "cpu");
    const bytes = machine.files.get(name)!.slice();
    machine.files.set(name, bytes.fill(0xff, 4, bytes.length >> 1)); // Most of its pages.
    await machine.crash();
    const before = new Map(machine.files);
    const error = await machine.engine.compactTable("public", "cpu").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(DbError);
    expect([...machine.files]).toEqual([...before]);
  });
});
