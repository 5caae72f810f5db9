/** Which NaN a value is survives storage: 0x7ff0000000000002 is how Prometheus marks that a series ended. */
import { describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { fnv1a } from "../../base/bytes/hash.ts";
import { FLOAT64 } from "../../column/data-type.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite, WriteOptions } from "../../table/write-batch.ts";

const MARK = 0x7ff0_0000_0000_0002n;
const ORDINARY = 0x7ff8_0000_0000_0000n;
const NEGATIVE = 0xfff8_0000_dead_beefn;
const NULL = -1n;

const numbers = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n;

type ValueAt = (time: number) => bigint;

/** Values of which a page is split by bytes, and those that make a dictionary; with NULLs and without. */
const SHAPES: readonly (readonly [name: string, value: ValueAt])[] = [
  ["distinct values", (time) => (time % 3 === 0 ? MARK : time % 7 === 0 ? NEGATIVE : numbers(Math.sin(time)))],
  ["few values", (time) => (time % 3 === 0 ? MARK : time % 7 === 0 ? ORDINARY : numbers(time % 4))],
  ["NULLs between distinct values", (time) => (time % 5 === 1 ? NULL : time % 3 === 0 ? MARK : numbers(Math.sin(time)))],
  ["NULLs between few values", (time) => (time % 5 === 1 ? NULL : time % 3 === 0 ? MARK : numbers(time % 4))],
];

class Life {
  private readonly value: ValueAt;
  private readonly options: WriteOptions;
  private readonly times: Set<number> = new Set();
  machine!: Machine;

  constructor(value: ValueAt, options: WriteOptions) {
    this.value = value;
    this.options = options;
  }

  /** Writes a value for each of the times `[start, end)`, through a thread. */
  async write(thread: number, start: number, end: number): Promise<void> {
    const times = Array.from({ length: end - start }, (_, i) => start + i);
    for (const time of times) this.times.add(time);
    const bits = times.map(this.value);
    const values = new Float64Array(BigUint64Array.from(bits, (each) => (each === NULL ? 0n : each)).buffer);
    const validity = bits.includes(NULL) ? Uint8Array.from(bits, (each) => (each === NULL ? 0 : 1)) : undefined;
    const dictionary = new SeriesDictionary();
    const raw = new TextEncoder().encode("up,job=a");
    const key = dictionary.add(raw, 0, raw.length, fnv1a(raw, 0, raw.length), { table: "up", names: ["job"], values: ["a"] });
    const table: TableWrite = {
      table: "up",
      rowCount: times.length,
      keys: new Uint32Array(times.length).fill(key),
      timeUnit: "millisecond",
      times: { kind: "time", base: 0n, offsets: Float64Array.from(times), validity: undefined },
      fields: [{ name: "greptime_value", type: FLOAT64, vector: { kind: "number", values, validity } }],
    };
    const writer = this.machine.writer(thread);
    if ("refresh" in writer) writer.refresh();
    await writer.write("public", { dictionary, tables: [table] }, this.options);
  }

  async check(): Promise<void> {
    const got: bigint[] = [];
    const scan = { projection: ["greptime_value"], timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" } as const;
    for await (const { rowCount, vectors } of this.machine.engine.table("public", "up")!.scan(scan)) {
      const [vector] = vectors;
      if (vector?.kind !== "number" || !(vector.values instanceof Float64Array)) throw new Error("doubles are doubles");
      const bits = new BigUint64Array(vector.values.buffer, vector.values.byteOffset, vector.values.length);
      for (let row = 0; row < rowCount; row++) got.push(vector.validity?.[row] === 0 ? NULL : (bits[row] ?? 0n));
    }
    const want = [...this.times].sort((a, b) => a - b).map(this.value);
    expect(got.map((each) => each.toString(16))).toEqual(want.map((each) => each.toString(16)));
  }
}

describe.each([
  ["an ordinary table", {}],
  ["a logical table", { physicalTable: "phy" }],
] as const)("the bits of a NaN in %s", (_, metric) => {
  test.each(SHAPES.map(([name, value]) => ({ name, value })))("stay in memory, log, files and merges: $name", async ({ value }) => {
    const life = new Life(value, { autoCreate: true, tableOptions: {}, ...metric });
    const machine = await Machine.start({ threads: 1 });
    life.machine = machine;
    await life.write(0, 0, 200);
    await life.check();
    await life.write(1, 100, 300);
    await life.check();
    await machine.crash();
    await life.check();
    await machine.engine.flushTable("public", "up");
    await life.check();
    await life.write(1, 250, 401);
    await life.write(0, 50, 51);
    await life.check();
    await machine.engine.flushTable("public", "up");
    await life.check();
    await machine.engine.compactTable("public", "up");
    await life.check();
    expect(machine.engine.table("public", "up")?.statistics().fileCount).toBe(1);
    await machine.restart();
    await life.check();
  });
});
