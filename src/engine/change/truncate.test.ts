import { twoRows } from "../../../test/engine/two-rows.ts";
import { expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";

const hosts = (machine: Machine): Promise<string[]> => read(machine.engine, "cpu", { projection: ["host"] });

test("removes rows of files and of memory, also after a crash; what comes later stays", async () => {
  const machine = await twoRows();
  await machine.engine.truncateTable("public", "cpu");
  expect(await hosts(machine)).toEqual([]);
  expect([machine.files.size, machine.meta.list("file/").length]).toEqual([0, 0]);
  expect(machine.engine.table("public", "cpu")?.timeBounds()).toBeUndefined();
  await put(machine.engine, "cpu,host=a v=3i 3");
  for (const again of [() => machine.crash(), () => machine.engine.flushTable("public", "cpu"), () => machine.restart()]) {
    expect(await hosts(machine)).toEqual(["'a'"]);
    await again();
  }
  expect(await hosts(machine)).toEqual(["'a'"]);
});

test("a crash right after the commit finds the rows gone", async () => {
  const machine = await twoRows();
  void machine.engine.truncateTable("public", "cpu"); // The machine loses power before it is answered.
  await machine.crash();
  expect(await hosts(machine)).toEqual([]);
  expect(machine.files.size).toBe(0);
});

test("a commit that fails leaves every row", async () => {
  const machine = await twoRows();
  machine.commitFailure = "disk is full";
  expect((await refusal(machine.engine.truncateTable("public", "cpu"))).message).toBe("disk is full");
  machine.commitFailure = undefined;
  expect(await hosts(machine)).toEqual(["'a'", "'b'"]);
  await machine.restart();
  expect(await hosts(machine)).toEqual(["'a'", "'b'"]);
});

test("a scan under way goes on with what it sees", async () => {
  const machine = await twoRows();
  const scan = machine.engine
    .table("public", "cpu")
    ?.scan({ projection: [], timeRange: { start: 0n, end: 9n }, tagPredicates: [], fieldBounds: [], order: "none" })
    [Symbol.asyncIterator]();
  let rows = (await scan?.next())?.value?.rowCount ?? 0;
  await machine.engine.truncateTable("public", "cpu");
  expect(machine.files.size).toBe(1);
  for (let next = await scan?.next(); next !== undefined && next.done !== true; next = await scan?.next()) rows += next.value.rowCount;
  expect(rows).toBe(2);
  expect(machine.files.size).toBe(0);
});

test("a write that is being logged is gone, one that comes later is not", async () => {
  const machine = await twoRows();
  machine.wal.hold();
  const before = put(machine.engine, "cpu,host=c v=3i 3");
  const truncated = machine.engine.truncateTable("public", "cpu");
  const after = put(machine.engine, "cpu,host=d v=4i 4");
  machine.wal.release();
  await Promise.all([before, truncated, after]);
  expect(await hosts(machine)).toEqual(["'d'"]);
  await machine.crash();
  expect(await hosts(machine)).toEqual(["'d'"]);
});

test("a flush under way leaves nothing of the rows", async () => {
  const machine = await twoRows();
  machine.holdFlush();
  const flushed = machine.engine.flushTable("public", "cpu");
  await Bun.sleep(1);
  const truncated = machine.engine.truncateTable("public", "cpu");
  await put(machine.engine, "cpu,host=d v=4i 4");
  machine.releaseFlush();
  await Promise.all([flushed, truncated]);
  expect(await hosts(machine)).toEqual(["'d'"]);
  expect(machine.files.size).toBe(0);
  await machine.engine.flushTable("public", "cpu");
  await machine.restart();
  expect(await hosts(machine)).toEqual(["'d'"]);
});

test("with ranges, only files whose times all lie in one of them go", async () => {
  const machine = await twoRows();
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=c v=3i 1");
  await machine.engine.truncateTable("public", "cpu", [
    { start: 1n, end: 1n },
    { start: 2n, end: 3n },
  ]);
  expect(await hosts(machine)).toEqual(["'a'", "'c'"]);
  await machine.crash();
  expect(await hosts(machine)).toEqual(["'a'", "'c'"]);
});

test("a table that does not exist is said to be missing", async () => {
  const { engine } = await Machine.start();
  expect(await refusal(engine.truncateTable("public", "none"))).toMatchObject({
    code: "TableNotFound",
    message: "Table not found: greptime.public.none",
  });
});
