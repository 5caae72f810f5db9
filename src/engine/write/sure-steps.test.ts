/** What fails between "durable" and "visible" ends the process, whatever it throws: nothing is acknowledged or committed on top of it. */
import { afterEach, describe, expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { regionOf } from "../../../test/engine/regions.ts";
import { AssertionError } from "../../base/assert.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { watchFailPoints } from "../../base/process/fail-point.ts";
import type { FailPointName } from "../../base/process/fail-point-names.ts";
import { Memtable } from "../../storage/memtable/memtable.ts";
import { Region } from "../../storage/region/region.ts";
import { YoungerFields } from "../../storage/region/younger-fields.ts";

interface Rig {
  readonly machine: Machine;
  /** What would have ended the process. */
  readonly bugs: Error[];
}

const undo: (() => void)[] = [];

afterEach(() => {
  watchFailPoints(null);
  for (const restore of undo.splice(0)) restore();
});

/** Takes what a broken engine throws, and nothing else. */
function isBug(error: unknown): boolean {
  if (!(error instanceof AssertionError || error instanceof DbError)) throw error;
  return true;
}

/** Ends the timers of an engine that is broken: its process would be gone. */
async function end(machine: Machine): Promise<void> {
  await Promise.race([machine.engine.close().catch(isBug), Bun.sleep(20)]);
}

async function start(options: MachineOptions = {}): Promise<Rig> {
  const bugs: Error[] = [];
  return { machine: await Machine.start({ ...options, onBug: (error) => bugs.push(error) }), bugs };
}

function outOfMemory(): never {
  throw new RangeError("Out of memory");
}

/** From now on the next call of a method fails, as when an allocation does. */
function failNext<K extends string>(prototype: Record<K, (...args: never[]) => unknown>, method: K): void {
  const real = prototype[method];
  const restore = (): void => {
    prototype[method] = real;
  };
  undo.push(restore);
  prototype[method] = () => {
    restore();
    outOfMemory();
  };
}

/** From now on the place fails once. */
function failAt(place: FailPointName): void {
  watchFailPoints((name) => {
    if (name !== place) return;
    watchFailPoints(null);
    outOfMemory();
  });
}

const REGION = Region.prototype as unknown as Record<"adopt" | "finishFlush", () => unknown>;
const YOUNGER = YoungerFields.prototype as unknown as Record<"completed", () => unknown>;
const MEMTABLE = Memtable.prototype as unknown as Record<"insert", () => unknown>;

/** A promise that fails because the process is to end. */
async function broken(work: Promise<unknown>, { bugs }: Rig): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AssertionError);
  expect(bugs).toHaveLength(1);
  expect(bugs[0]?.cause).toBeInstanceOf(RangeError);
}

/** All rows are there after the end of the process, those that were told and those that were not. */
async function restarted({ machine, bugs }: Rig, rows: readonly string[]): Promise<void> {
  await end(machine);
  bugs.length = 0;
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual([...rows]);
  expect(bugs).toEqual([]);
}

describe("a row of an ingest thread that cannot be taken by the owner of the tables", () => {
  test.each([
    ["a query", (machine: Machine) => read(machine.engine, "cpu")],
    ["statistics", async (machine: Machine) => machine.engine.table("public", "cpu")?.statistics()],
    ["time bounds", async (machine: Machine) => machine.engine.table("public", "cpu")?.timeBounds()],
  ])("ends the process, though it is %s that asks for it", async (_, look) => {
    const rig = await start({ threads: 1 });
    const { machine } = rig;
    await put(machine.writer(1), "cpu,host=t v=1i 1");
    await read(machine.engine, "cpu");
    failNext(REGION, "adopt");
    await put(machine.writer(1), "cpu,host=t v=2i 2");
    await broken(look(machine), rig);
    await restarted(rig, ["'t'|1|1", "'t'|2|2"]);
  });

  test("lets no later query, write or flush go on as if it were not there", async () => {
    const rig = await start({ threads: 1 });
    const { machine } = rig;
    await put(machine.engine, "cpu,host=t v=1i 1");
    failNext(REGION, "adopt");
    await put(machine.writer(1), "cpu,host=t v=2i 2");
    await broken(read(machine.engine, "cpu"), rig);
    await broken(read(machine.engine, "cpu"), rig);
    await broken(put(machine.engine, "cpu,host=t v=3i 3"), rig);
    const commits = machine.commitCount;
    await broken(machine.engine.flushTable("public", "cpu"), rig);
    expect(machine.commitCount).toBe(commits);
    await restarted(rig, ["'t'|1|1", "'t'|2|2"]);
  });
});

describe("a row that is in the log and cannot be made visible", () => {
  test.each([
    ["a default cannot be computed", () => failNext(YOUNGER, "completed")],
    ["its memtable cannot take it", () => failNext(MEMTABLE, "insert")],
    ["the write fails right after its sync", () => failAt("write.durable")],
  ])("ends the process when %s, is not acknowledged, and no flush says that it is in a file", async (_, fail) => {
    const rig = await start();
    const { machine } = rig;
    await put(machine.engine, "cpu,host=a v=1i 1");
    fail();
    await broken(put(machine.engine, "cpu,host=a v=2i 2"), rig);
    const commits = machine.commitCount;
    await Promise.race([machine.engine.flushTable("public", "cpu").catch(isBug), Bun.sleep(20)]);
    expect(machine.commitCount).toBe(commits);
    await restarted(rig, ["'a'|1|1", "'a'|2|2"]);
  });

  test("does not keep its memtable waiting for it", async () => {
    const rig = await start();
    await put(rig.machine.engine, "cpu,host=a v=1i 1");
    failNext(MEMTABLE, "insert");
    await broken(put(rig.machine.engine, "cpu,host=a v=2i 2"), rig);
    const frozen = regionOf(rig.machine.engine).freeze(Number.POSITIVE_INFINITY, false);
    await frozen?.whenSettled(); // Would hang.
    await end(rig.machine);
  });

  test("ends the process when it fails between the append and its sync", async () => {
    const rig = await start();
    await put(rig.machine.engine, "cpu,host=a v=1i 1");
    failAt("write.appended");
    await broken(put(rig.machine.engine, "cpu,host=a v=2i 2"), rig);
    await restarted(rig, ["'a'|1|1", "'a'|2|2"]);
  });

  test("ends the process when it is a delete", async () => {
    const rig = await start();
    const { machine } = rig;
    await put(machine.engine, "cpu,host=a v=1i 1");
    failNext(MEMTABLE, "insert");
    const keys = {
      rowCount: 1,
      series: Uint32Array.of(0),
      times: { kind: "time" as const, base: 1n, offsets: Float64Array.of(0), validity: undefined },
    };
    await broken(machine.engine.table("public", "cpu")?.deleteRows?.(keys) ?? Promise.resolve(), rig);
    await restarted(rig, []);
  });
});

describe("an ingest thread that meets a bug", () => {
  test("after a record of its own is durable acknowledges neither that one nor any that waits beside it", async () => {
    const rig = await start({ threads: 1 });
    const { machine } = rig;
    await put(machine.engine, "cpu,host=a v=1i 1");
    machine.logOf(1).hold();
    const first = put(machine.writer(1), "cpu,host=a v=2i 2");
    const second = put(machine.writer(1), "cpu,host=a v=3i 3");
    failAt("thread.durable");
    machine.logOf(1).release();
    await broken(first, rig);
    await broken(second, rig);
    await broken(put(machine.writer(1), "cpu,host=a v=4i 4"), rig);
    await restarted(rig, ["'a'|1|1", "'a'|2|2", "'a'|3|3"]);
  });

  test("does not let a flush pass for one that has its rows", async () => {
    const rig = await start({ threads: 1 });
    const { machine } = rig;
    await put(machine.engine, "cpu,host=a v=1i 1");
    failAt("thread.durable");
    await broken(put(machine.writer(1), "cpu,host=a v=2i 2"), rig);
    const commits = machine.commitCount;
    await machine.engine.flushTable("public", "cpu").catch(isBug);
    expect(machine.commitCount).toBe(commits);
    rig.bugs.length = 0;
    await restarted(rig, ["'a'|1|1", "'a'|2|2"]);
  });
});

describe("files that are committed and cannot take the place of others", () => {
  test("end the process after a flush: nothing is flushed twice", async () => {
    const rig = await start();
    const { machine } = rig;
    await put(machine.engine, "cpu,host=a v=1i 1", { tableOptions: { append_mode: "true" } });
    failNext(REGION, "finishFlush");
    await broken(machine.engine.flushTable("public", "cpu"), rig);
    await restarted(rig, ["'a'|1|1"]);
  });

  test.each(["compact.after-commit"] as const)("end the process after a merge (%s)", async (place) => {
    const rig = await start();
    const { machine } = rig;
    for (const v of [1, 2]) {
      await put(machine.engine, `cpu,host=a v=${v}i ${v}`);
      await machine.engine.flushTable("public", "cpu");
    }
    failAt(place);
    await broken(machine.engine.compactTable("public", "cpu"), rig);
    await restarted(rig, ["'a'|1|1", "'a'|2|2"]);
  });

  test.each([
    ["truncate.after-commit", (machine: Machine) => machine.engine.truncateTable("public", "cpu")],
    ["drop.after-commit", (machine: Machine) => machine.engine.dropTable("public", "cpu", false)],
  ] as const)("end the process after a truncation or drop (%s)", async (place, work) => {
    const rig = await start();
    await put(rig.machine.engine, "cpu,host=a v=1i 1");
    failAt(place);
    await broken(work(rig.machine), rig);
    await end(rig.machine);
  });
});

test("a record that cannot be encoded is a failed write: flushes go on", async () => {
  const rig = await start();
  const { machine } = rig;
  await put(machine.engine, "cpu,host=a v=1i 1");
  failNext(ByteWriter.prototype, "patchU32");
  const failure = await put(machine.engine, "cpu,host=b v=2i 2").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RangeError);
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=b v=3i 3");
  expect(rig.bugs).toEqual([]);
  await restarted(rig, ["'a'|1|1", "'b'|3|3"]);
});
