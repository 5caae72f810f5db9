import { expect, test } from "bun:test";
import { newMetrics, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { INT64, type TimeUnit } from "../../column/data-type.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME } from "../../table/scan.ts";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const EVERYTHING = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "none" as const };

async function machineWithTimes(
  unit: TimeUnit,
  times: readonly bigint[],
  options: Readonly<Record<string, string>> = {},
): Promise<Machine> {
  const machine = await Machine.start();
  const columns = [
    { name: "ts", type: { kind: "timestamp" as const, unit }, semantic: "timestamp" as const, nullable: false },
    { name: "v", type: INT64, semantic: "field" as const, nullable: true },
  ];
  await machine.engine.createTable({ database: "public", name: "t", columns, primaryKey: [], engine: "mito", options }, false);
  await writeTimes(machine, unit, times, 0);
  return machine;
}

async function writeTimes(machine: Machine, unit: TimeUnit, times: readonly bigint[], from: number): Promise<void> {
  const builder = new RowBatchBuilder("t", [
    { name: "ts", type: { kind: "timestamp", unit }, semantic: "timestamp" },
    { name: "v", type: INT64, semantic: "field" },
  ]);
  for (const [i, time] of times.entries()) builder.add([time, from + i]);
  await machine.engine.write("public", builder.batch(), { autoCreate: true, tableOptions: {} });
}

test.each(["second", "millisecond", "microsecond", "nanosecond"] as const)("times at the ends of 64 bits in %ss are kept", async (unit) => {
  const times = [INT64_MIN, INT64_MIN + 1n, -1n, 0n, 1n, INT64_MAX - 1n, INT64_MAX];
  const machine = await machineWithTimes(unit, times);
  const want = times.map((time, i) => `${time}|${i}`);
  const check = async (): Promise<void> => {
    expect(await read(machine.engine, "t")).toEqual(want);
    expect(await read(machine.engine, "t", { timeRange: { start: INT64_MAX, end: INT64_MAX + 1n } })).toEqual(want.slice(-1));
    expect(await read(machine.engine, "t", { timeRange: { start: INT64_MIN, end: INT64_MIN + 1n } })).toEqual(want.slice(0, 1));
    expect(machine.engine.table("public", "t")?.timeBounds()).toEqual({ start: INT64_MIN, end: INT64_MAX + 1n });
  };
  await check();
  await machine.engine.flushTable("public", "t");
  await check();
  await machine.restart();
  await check();
});

test("a request whose times span millions of years costs what its rows cost", async () => {
  const times = Array.from({ length: 40 }, (_, i) => BigInt(i) * 10n ** 13n);
  const machine = await machineWithTimes("second", times);
  expect((await read(machine.engine, "t")).length).toBe(40);
  await machine.engine.flushTable("public", "t");
  expect((await read(machine.engine, "t", { timeRange: { start: 10n ** 13n, end: 10n ** 14n } })).length).toBe(9);
  expect(machine.engine.table("public", "t")?.statistics().fileCount).toBe(40);
});

test("more files in a flush than there are ids in a block keep their own names", async () => {
  const day = 86_400n;
  const times = Array.from({ length: 1030 }, (_, i) => BigInt(i) * 64n * day);
  const machine = await machineWithTimes("second", times);
  await machine.engine.flushTable("public", "t");
  await writeTimes(machine, "second", times.slice(0, 3), 10_000);
  await machine.engine.flushTable("public", "t");
  expect(machine.files.size).toBe(1033);
  const rows = await read(machine.engine, "t");
  expect(rows.length).toBe(1030);
  expect([rows[2], rows[1029]]).toEqual([`${2n * 64n * day}|10002`, `${1029n * 64n * day}|1029`]);
});

test("rows of the last nanosecond before a 64-day border are in one file only", async () => {
  const border = 64n * 86_400n * 1_000_000_000n;
  const second = 1_000_000_000n;
  // Whole seconds less one nanosecond over more than 52 days, where the quotient of two doubles may be rounded to a whole number.
  const from = (seconds: bigint): bigint => border + seconds * second - 1n;
  const times = [from(-4_450_000n), from(-8_900_000n), ...Array.from({ length: 10 }, (_, i) => from(BigInt(i) - 5n))];
  const machine = await machineWithTimes("nanosecond", times, { append_mode: "true" });
  const want = times.map((time, i) => `${time}|${i}`);
  expect((await read(machine.engine, "t")).toSorted()).toEqual(want.toSorted());
  await machine.engine.flushTable("public", "t");
  expect((await read(machine.engine, "t")).toSorted()).toEqual(want.toSorted());
});

test("rows written during a scan are not seen by it, rows before it are, in memory and while they move to files", async () => {
  const { engine } = await Machine.start();
  const lines = (from: number): string =>
    Array.from({ length: 20_000 }, (_, i) => `cpu,host=h${(from + i) % 7} v=${i}i ${from + i}`).join("\n");
  await put(engine, lines(0));
  const scan = engine
    .table("public", "cpu")!
    .scan({ ...EVERYTHING, projection: ["v"] })
    [Symbol.asyncIterator]();
  let rows = ((await scan.next()).value as { readonly rowCount: number }).rowCount;
  expect(rows).toBeLessThan(20_000);
  await put(engine, lines(10_000));
  await engine.flushTable("public", "cpu");
  for (let next = await scan.next(); next.done !== true; next = await scan.next()) rows += next.value.rowCount;
  expect(rows).toBe(20_000);
  expect((await read(engine, "cpu")).length).toBe(30_000);
});

test("two tables of one request are seen together", async () => {
  const { engine, wal } = await Machine.start();
  wal.hold();
  const write = put(engine, "a v=1i 1\nb v=1i 1");
  expect([await read(engine, "a"), await read(engine, "b")]).toEqual([[], []]);
  wal.release();
  await write;
  expect([await read(engine, "a"), await read(engine, "b")]).toEqual([["1|1"], ["1|1"]]);
});

test("page statistics skip pages and never rows that meet the bounds", async () => {
  const { engine } = await Machine.start();
  const lines = Array.from({ length: 60_000 }, (_, i) => `cpu v=${i}i,w=${i % 10}i ${i}`);
  await put(engine, lines.join("\n"));
  await engine.flushTable("public", "cpu");
  const metrics = newMetrics();
  const rows = await read(
    engine,
    "cpu",
    { projection: ["v"], order: "none", fieldBounds: [{ column: "v", min: 20_000, max: 20_010 }] },
    metrics,
  );
  for (let v = 20_000; v <= 20_010; v++) expect(rows).toContain(String(v));
  expect(metrics.pagesSkipped).toBeGreaterThanOrEqual(2);
  expect(metrics.pagesRead).toBe(1);
  expect(rows.length).toBeLessThanOrEqual(16_384);
  const all = newMetrics();
  expect(
    (await read(engine, "cpu", { projection: ["v"], order: "none", fieldBounds: [{ column: "w", min: 3, max: 3 }] }, all)).length,
  ).toBe(60_000);
  expect(all.pagesSkipped).toBe(0);
});

test("pages are not skipped where another file may hold a newer value of the row", async () => {
  const { engine } = await Machine.start();
  await put(engine, "cpu v=5i 1");
  await engine.flushTable("public", "cpu");
  await put(engine, "cpu v=100i 1");
  await engine.flushTable("public", "cpu");
  const bounds = [{ column: "v", min: undefined, max: 10 }];
  // The old value must not come back because the page with the new one is out of bounds.
  expect(await read(engine, "cpu", { projection: ["v"], order: "none", fieldBounds: bounds })).toEqual(["100"]);
});

test("files outside the time range are not opened", async () => {
  const { engine } = await Machine.start();
  const day = 86_400_000_000_000n;
  await put(engine, `cpu v=1i 0\ncpu v=2i ${5n * day}`);
  await engine.flushTable("public", "cpu");
  const metrics = newMetrics();
  expect(await read(engine, "cpu", { projection: ["v"], timeRange: { start: day, end: 10n * day } }, metrics)).toEqual(["2"]);
  expect([metrics.filesRead, metrics.filesSkipped]).toEqual([1, 1]);
});

test("an interrupted scan frees what it held", async () => {
  const { engine } = await Machine.start();
  await put(engine, Array.from({ length: 40_000 }, (_, i) => `cpu v=${i}i ${i}`).join("\n"));
  const abort = new AbortController();
  const scan = engine.table("public", "cpu")!.scan({ ...EVERYTHING, projection: ["v"], signal: abort.signal });
  let batches = 0;
  const run = async (): Promise<void> => {
    for await (const { rowCount } of scan) {
      if (rowCount > 0) batches++;
      abort.abort();
    }
  };
  expect((await refusal(run())).code).toBe("Cancelled");
  await engine.flushTable("public", "cpu");
  expect(batches).toBe(1);
  expect(engine.table("public", "cpu")!.statistics().memoryBytes).toBe(0);
});

test("unknown columns are named", async () => {
  const { engine } = await Machine.start();
  await put(engine, "cpu,host=a v=1i 1");
  for (const request of [
    { projection: ["nope"] },
    { fieldBounds: [{ column: "nope", min: 1, max: 2 }] },
    { tagPredicates: [{ kind: "in" as const, column: "nope", values: [] }] },
  ]) {
    expect(await refusal(read(engine, "cpu", request))).toMatchObject({
      code: "TableColumnNotFound",
      message: "Column nope not exists in table cpu",
    });
  }
});

test("a missing data file is named, and other tables stay readable", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\nmem,host=a v=1i 1");
  await machine.restart();
  const [lost = ""] = machine.files.keys();
  const table = lost.includes("0000001024") ? "cpu" : "mem";
  machine.files.delete(lost);
  expect(await refusal(read(machine.engine, table))).toMatchObject({
    code: "StorageUnavailable",
    message: `cannot open file ${lost}: it does not exist`,
  });
  expect(await read(machine.engine, table === "cpu" ? "mem" : "cpu")).toEqual(["'a'|1|1"]);
  await put(machine.engine, `${table},host=a v=2i 90000000000000000`);
  expect(await read(machine.engine, table, { timeRange: { start: 90_000_000_000_000_000n, end: INT64_MAX } })).toEqual([
    "'a'|2|90000000000000000",
  ]);
});

test("damage anywhere in a data file is found when it is read, and named", async () => {
  const machine = await Machine.start();
  await put(machine.engine, Array.from({ length: 50 }, (_, i) => `cpu,host=h${i % 3} v=${i * i}i,s="text ${i}" ${i}`).join("\n"));
  await machine.engine.flushTable("public", "cpu");
  const want = await read(machine.engine, "cpu");
  const [[name, bytes] = ["", new Uint8Array(0)]] = machine.files;
  let found = 0;
  for (let at = 0; at < bytes.length; at += 7) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    machine.files.set(name, damaged);
    await machine.crash();
    try {
      expect(await read(machine.engine, "cpu")).toEqual(want);
    } catch (error) {
      expect((error as Error).message).toContain(name);
      found++;
    }
  }
  expect(found).toBeGreaterThan(bytes.length / 7 / 4);
  machine.files.set(name, bytes);
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(want);
});

test("the newest row of each series is found across memory, files and far-apart times", async () => {
  const machine = await Machine.start();
  const year = 31_557_600_000_000_000n;
  await put(machine.engine, `cpu,host=a v=1i ${year}\ncpu,host=b v=2i ${30n * year}\ncpu,host=c v=3i 5`);
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, `cpu,host=a v=4i 7\ncpu,host=b v=5i ${30n * year}\ncpu,host=c v=6i 6`);
  const request = { projection: ["host", "v"], newestPerSeries: true };
  expect(await read(machine.engine, "cpu", request)).toEqual(["'a'|1", "'b'|5", "'c'|6"]);
  expect(await read(machine.engine, "cpu", { ...request, timeRange: { start: 0n, end: 7n } })).toEqual(["'c'|6"]);
});

test("in append mode the newest row is one row, and order holds across files that overlap", async () => {
  const { engine } = await Machine.start();
  const options = { tableOptions: { append_mode: "true" } };
  await put(engine, "cpu,host=a v=1i 1\ncpu,host=a v=3i 3\ncpu,host=a v=5i 5", options);
  await engine.flushTable("public", "cpu");
  await put(engine, "cpu,host=a v=2i 2\ncpu,host=a v=55i 5");
  expect(await read(engine, "cpu", { projection: ["v"] })).toEqual(["1", "2", "3", "5", "55"]);
  expect(await read(engine, "cpu", { projection: ["v"], newestPerSeries: true })).toEqual(["55"]);
});

test("a value that no row gives is NULL in the type's own vector, and tags that appear later are NULL before", async () => {
  const { engine } = await Machine.start();
  await put(engine, "cpu,host=a v=1i 1");
  await engine.flushTable("public", "cpu");
  await put(engine, 'cpu,host=a,rack=r s="x",w=1.5,b=true 2');
  const columns = { projection: ["host", "rack", "v", "s", "w", "b"] };
  expect(await read(engine, "cpu", columns)).toEqual(["'a'|NULL|1|NULL|NULL|NULL", "'a'|'r'|NULL|'x'|1.5|true"]);
  expect(await read(engine, "cpu", { ...columns, tagPredicates: [{ kind: "in", column: "rack", values: [undefined] }] })).toHaveLength(1);
});
