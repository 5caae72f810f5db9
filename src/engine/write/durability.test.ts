import { expect, test } from "bun:test";
import { type PutOptions, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { ONE_REGION, regionsOf } from "../../../test/engine/regions.ts";

const ROWS = ["'a'|1|1", "'b'|2|2"];

async function twoRows(options: PutOptions = {}): Promise<Machine> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 2", options);
  return machine;
}

function fileNames(machine: Machine): string[] {
  return [...machine.files.keys()].sort();
}

async function check(machine: Machine, want: readonly string[]): Promise<void> {
  expect(await read(machine.engine, "cpu", { projection: ["host", "v", "greptime_timestamp"] })).toEqual([...want]);
}

test("acknowledged rows survive a crash before their flush", async () => {
  const machine = await twoRows();
  await machine.crash();
  await check(machine, ROWS);
});

test("acknowledged rows survive a crash after their flush, and the log is not needed for them", async () => {
  const machine = await twoRows();
  await machine.engine.flushTable("public", "cpu");
  await machine.crash();
  await check(machine, ROWS);
});

test("acknowledged rows survive a crash while their flush is under way", async () => {
  const machine = await twoRows();
  machine.holdFlush();
  void machine.engine.flushTable("public", "cpu"); // It never ends: the machine loses power.
  await put(machine.engine, "cpu,host=c v=3i 3");
  await machine.crash();
  await check(machine, [...ROWS, "'c'|3|3"]);
});

test("rows that were not acknowledged are gone or whole after a crash", async () => {
  const machine = await twoRows();
  machine.wal.hold();
  void put(machine.engine, "cpu,host=c v=3i 3"); // Never answered.
  await machine.crash();
  await check(machine, ROWS);
});

test("a record whose rows were flushed is not applied again, though the log still has it", async () => {
  const machine = await Machine.start();
  // The second table keeps the log's only segment.
  await put(machine.engine, "cpu,host=a v=1i 1\nmem,host=a v=1i 1", { tableOptions: { append_mode: "true" } });
  await machine.engine.flushTable("public", "cpu");
  await machine.crash();
  expect(machine.recovery.records).toBe(1);
  await check(machine, ["'a'|1|1"]);
});

test("series that only flushed records define are known to later records of their segment", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 2\nmem,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=b v=20i 5"); // Its definition stands in the first record.
  expect(machine.wal.segments().length).toBe(1);
  await machine.crash();
  await check(machine, ["'a'|1|1", "'b'|2|2", "'b'|20|5"]);
});

test("files that no table names are deleted at the start, others stay", async () => {
  const machine = await twoRows();
  await machine.engine.flushTable("public", "cpu");
  const known = fileNames(machine);
  await put(machine.engine, "gone,host=a v=1i 1");
  await machine.engine.dropTable("public", "gone", false);
  machine.files.set("tables/0000001024/0000000999.parquet", machine.files.get(known[0] ?? "")!);
  machine.files.set("tables/0000001025/0000000998.parquet", new Uint8Array(3));
  await machine.crash();
  expect(fileNames(machine)).toEqual(known);
  await check(machine, ROWS);
});

test("a failed flush keeps the rows in memory, and the next flush writes them", async () => {
  const machine = await twoRows(ONE_REGION);
  machine.flushFailure = "no space left";
  expect(await refusal(machine.engine.flushTable("public", "cpu"))).toMatchObject({
    code: "StorageUnavailable",
    message: "cannot flush: no space left",
  });
  await check(machine, ROWS);
  await put(machine.engine, "cpu,host=c v=3i 3");
  machine.flushFailure = undefined;
  await machine.engine.flushTable("public", "cpu");
  expect(machine.engine.table("public", "cpu")?.statistics()).toMatchObject({ fileCount: 2, memoryBytes: 0 });
  await machine.crash();
  await check(machine, [...ROWS, "'c'|3|3"]);
});

test("files of a flush that could not be committed are not read, and their names are not used again", async () => {
  const machine = await twoRows(ONE_REGION);
  machine.commitFailure = "disk is full";
  await refusal(machine.engine.flushTable("public", "cpu"));
  machine.commitFailure = undefined;
  await machine.engine.flushTable("public", "cpu");
  await check(machine, ROWS);
  await put(machine.engine, "cpu,host=c v=3i 3");
  await machine.engine.flushTable("public", "cpu");
  await machine.crash();
  await check(machine, [...ROWS, "'c'|3|3"]);
  expect(fileNames(machine).length).toBe(2);
});

test("ids of data files are not given out twice when the meta store fails while a block of them is taken", async () => {
  const machine = await twoRows();
  machine.commitFailure = "disk is full";
  await refusal(machine.engine.flushTable("public", "cpu"));
  machine.commitFailure = undefined;
  await machine.engine.flushTable("public", "cpu");
  const first = fileNames(machine);
  await machine.crash();
  await put(machine.engine, "cpu,host=c v=3i 3");
  await machine.engine.flushTable("public", "cpu");
  expect(fileNames(machine)).toEqual([...first, fileNames(machine).at(-1) ?? ""]);
  await check(machine, [...ROWS, "'c'|3|3"]);
});

test("a write that cannot be logged fails, none of its rows is seen, and later writes define their series again", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  machine.wal.failNextWrite("no space left");
  expect(await refusal(put(machine.engine, "cpu,host=b v=2i 2"))).toMatchObject({
    code: "StorageUnavailable",
    message: "cannot write to the log: no space left",
  });
  await check(machine, ["'a'|1|1"]);
  await put(machine.engine, "cpu,host=b v=2i 2");
  await check(machine, ROWS);
  await machine.crash();
  await check(machine, ROWS);
});

test("writes that fail together leave the rows of earlier and later ones alone", async () => {
  const machine = await Machine.start();
  const first = put(machine.engine, "cpu,host=a v=1i 1");
  await first;
  machine.wal.failNextWrite("no space left");
  const failed = [put(machine.engine, "cpu,host=x v=8i 8"), put(machine.engine, "cpu,host=y v=9i 9")];
  for (const write of failed) expect((await refusal(write)).code).toBe("StorageUnavailable");
  await put(machine.engine, "cpu,host=b v=2i 2");
  await machine.crash();
  await check(machine, ROWS);
});

test("memory that only failed writes used is given back by the next flush", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  machine.wal.failNextWrite("no space left");
  await refusal(put(machine.engine, "cpu,host=b v=2i 2"));
  const table = machine.engine.table("public", "cpu");
  expect(table?.statistics().memoryBytes).toBeGreaterThan(0);
  await machine.engine.flushTable("public", "cpu");
  expect(table?.statistics()).toMatchObject({ memoryBytes: 0, fileCount: 1 });
});

test("after a failed sync nothing is acknowledged until a restart", async () => {
  const machine = await twoRows();
  machine.wal.failNextSync("input/output error");
  await refusal(put(machine.engine, "cpu,host=c v=3i 3"));
  expect(machine.engine.failure()).toContain("input/output error");
  expect((await refusal(put(machine.engine, "cpu,host=d v=4i 4"))).message).toContain("cannot write: cannot sync the log");
  await check(machine, ROWS);
  await machine.crash();
  expect(machine.engine.failure()).toBeUndefined();
  await put(machine.engine, "cpu,host=c v=3i 3");
  await check(machine, [...ROWS, "'c'|3|3"]);
});

test("log segments go once their rows are in files, also when a write to them failed", async () => {
  const machine = await Machine.start({ segmentBytes: 200 });
  for (let i = 0; i < 10; i++) await put(machine.engine, `cpu,host=a v=${i}i ${i}`);
  machine.wal.failNextWrite("no space left");
  await refusal(put(machine.engine, "cpu,host=a v=10i 10"));
  await put(machine.engine, "mem,host=a v=1i 1");
  expect(machine.wal.segments().length).toBeGreaterThan(3);
  await machine.engine.flushTable("public", "cpu");
  expect(machine.wal.segments().length).toBe(1);
  await machine.crash();
  expect(await read(machine.engine, "mem")).toEqual(["'a'|1|1"]);
  expect((await read(machine.engine, "cpu")).length).toBe(10);
});

test("a segment stays as long as one table needs it", async () => {
  const machine = await Machine.start({ segmentBytes: 200 });
  await put(machine.engine, "rare,host=a v=1i 1");
  for (let i = 0; i < 10; i++) await put(machine.engine, `cpu,host=a v=${i}i ${i}`);
  const before = machine.wal.segments().length;
  await machine.engine.flushTable("public", "cpu");
  expect(machine.wal.segments().length).toBe(before);
  await machine.engine.flushTable("public", "rare");
  expect(machine.wal.segments()).toEqual([]);
});

test("a clean restart has nothing to read from the log", async () => {
  const machine = await twoRows();
  await machine.restart();
  expect(machine.recovery).toMatchObject({ segments: 0, records: 0 });
  await check(machine, ROWS);
  expect(machine.engine.table("public", "cpu")?.statistics()).toMatchObject({
    memoryBytes: 0,
    fileCount: regionsOf(machine.engine).length,
    rowCount: 2,
  });
});

test("closing with a failing flush says so, and the rows come back from the log", async () => {
  const machine = await twoRows();
  machine.flushFailure = "no space left";
  expect((await refusal(machine.engine.close())).message).toBe("cannot flush: no space left");
  machine.flushFailure = undefined;
  await machine.crash();
  await check(machine, ROWS);
});

test("a column added with a default shows it in rows in files, in memory and in the log", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=a v=2i 2");
  const columns = [
    {
      name: "unit",
      type: { kind: "string" as const },
      semantic: "field" as const,
      nullable: true,
      default: { kind: "literal" as const, value: "%" },
    },
  ];
  await machine.engine.alterTable("public", "cpu", { kind: "add-columns", columns, ifNotExists: false });
  await put(machine.engine, 'cpu,host=a v=3i,unit="s" 3\ncpu,host=a v=4i 4');
  const want = ["'a'|1|1|'%'", "'a'|2|2|'%'", "'a'|3|3|'s'", "'a'|4|4|NULL"];
  expect(await read(machine.engine, "cpu")).toEqual(want);
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(want);
  await machine.engine.flushTable("public", "cpu");
  expect(await read(machine.engine, "cpu")).toEqual(want);
  await put(machine.engine, "cpu,host=a v=5i 5");
  expect((await read(machine.engine, "cpu")).at(-1)).toBe("'a'|5|5|'%'");
});
