import { staysSo } from "../../../test/engine/stays-so.ts";
import { describe, expect, test } from "bun:test";
import { newMetrics, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { ONE_REGION, regionsOf } from "../../../test/engine/regions.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { STRING, TIMESTAMP_MILLISECOND, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import type { Table } from "../../table/catalog.ts";
import { ALL_TIME, type TagPredicate } from "../../table/scan.ts";

const DAY = 86_400_000_000_000n;
const START = 1_700_006_400_000_000_000n; // 2023-11-15T00:00:00Z

function tableOf(machine: Machine, name = "cpu"): Table {
  return machine.engine.table("public", name) as Table;
}

const host = (...values: readonly string[]): TagPredicate => ({ kind: "in", column: "host", values });

/** Deletes rows of hosts at times. */
async function deleteKeys(machine: Machine, ...keys: readonly (readonly [host: string, time: bigint])[]): Promise<number> {
  const builder = new RowBatchBuilder("cpu", [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "greptime_timestamp", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  ]);
  for (const key of keys) builder.add(key);
  return (await machine.engine.delete("public", builder.batch())).rowCount;
}

const rows = (machine: Machine): Promise<string[]> => read(machine.engine, "cpu");
const files = ({ engine }: Machine): string[] =>
  regionsOf(engine).flatMap(({ dataFiles }) =>
    dataFiles.map(({ rowCount, tombstones }) => `${rowCount} rows, ${tombstones?.count ?? 0} deleted`),
  );

describe("rows deleted by their keys", () => {
  test("go from memory and from files, and stay away", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 1");
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, "cpu,host=a v=3i 2\ncpu,host=b v=4i 2");
    expect(await deleteKeys(machine, ["a", 1n], ["b", 2n])).toBe(2);
    await staysSo(machine, ["'a'|3|2", "'b'|2|1"]);
  });

  test("may be written again, and are then as they were written", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i,w=1i 1", { tableOptions: { merge_mode: "last_non_null" } });
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await put(machine.engine, "cpu,host=a v=2i 1");
    await staysSo(machine, ["'a'|2|NULL|1"]);
  });

  test("open files of the shards alone that they may lie in", async () => {
    const machine = await Machine.start({ shards: 3 });
    const hosts = Array.from({ length: 30 }, (_, i) => `h${i}`).sort();
    await put(machine.engine, hosts.map((name) => `cpu,host=${name} v=1i 1`).join("\n"));
    await machine.engine.flushTable("public", "cpu");
    await machine.restart(); // Nothing is open.
    const known = (): number => regionsOf(machine.engine).filter(({ seriesCount }) => seriesCount > 0).length;
    expect([regionsOf(machine.engine).length, known()]).toEqual([3, 0]);
    await deleteKeys(machine, ["h7", 1n], ["h7", 2n]);
    expect(known()).toBe(1);
    await staysSo(
      machine,
      hosts.filter((name) => name !== "h7").map((name) => `'${name}'|1|1`),
    );
  });

  test.each([
    ["a range", (machine: Machine) => tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] })],
    ["a condition on values", (machine: Machine) => engineSql(machine.engine, "DELETE FROM cpu WHERE v = 1")],
  ])("of three shards by %s are one record: they go together or not at all", async (_, remove) => {
    const machine = await Machine.start({ shards: 3 });
    await put(machine.engine, Array.from({ length: 30 }, (_row, i) => `cpu,host=h${i} v=1i 1\ncpu,host=h${i} v=1i ${DAY}`).join("\n"));
    const append = machine.wal.append.bind(machine.wal);
    let records = 0;
    machine.wal.append = (...args) => {
      records++;
      return append(...args);
    };
    await remove(machine);
    expect(records).toBe(1);
    machine.wal.append = append;
    await staysSo(machine, []);
  });

  test("that are not there count as sent and change nothing", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1");
    const seriesBefore = tableOf(machine).statistics().seriesCount;
    expect(await deleteKeys(machine, ["a", 9n], ["nobody", 1n])).toBe(2);
    expect(tableOf(machine).statistics().seriesCount).toBe(seriesBefore);
    await staysSo(machine, ["'a'|1|1"]);
  });

  test("are found in files that nobody has read since the start", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=1i 1");
    await machine.restart();
    await deleteKeys(machine, ["a", 1n]);
    expect(await rows(machine)).toEqual(["'b'|1|1"]);
  });

  test("may be of a coarser unit than they are sent in", async () => {
    const machine = await Machine.start();
    const columns = [
      { name: "host", type: STRING, semantic: "tag" as const, nullable: true },
      { name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp" as const, nullable: false },
    ];
    await machine.engine.createTable(
      { database: "public", name: "cpu", columns, primaryKey: ["host"], engine: "mito", options: {} },
      false,
    );
    const builder = new RowBatchBuilder("cpu", columns);
    for (const time of [-2n, -1n, 0n]) builder.add(["a", time]);
    await machine.engine.write("public", builder.batch(), { autoCreate: false, tableOptions: {} });
    await deleteKeys(machine, ["a", -1_000_001n], ["a", 999_999n]);
    expect(await rows(machine)).toEqual(["'a'|-1"]);
  });

  test("are refused where there is no such table, tag, or merging", async () => {
    const machine = await Machine.start();
    expect(await refusal(deleteKeys(machine, ["a", 1n]))).toMatchObject({ code: "TableNotFound" });
    await put(machine.engine, "cpu,zone=a v=1i 1");
    expect(await refusal(deleteKeys(machine, ["a", 1n]))).toMatchObject({ code: "TableColumnNotFound" });
    await put(machine.engine, "cpu,host=a v=1i 1");
    await machine.engine.alterTable("public", "cpu", { kind: "set-options", options: { append_mode: "true" } });
    const refused = await refusal(deleteKeys(machine, ["a", 1n]));
    expect(refused).toMatchObject({
      code: "InvalidArguments",
      message: expect.stringContaining("DELETE is not allowed under append mode"),
    });
    expect(await refusal(tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] }))).toMatchObject({ code: refused.code });
  });

  test("stay when the log cannot take the delete", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1");
    machine.wal.failNextWrite("no space left");
    await refusal(deleteKeys(machine, ["a", 1n]));
    await staysSo(machine, ["'a'|1|1"]);
  });

  test("stay deleted when the table then keeps all rows", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=a v=1i 2");
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await machine.engine.alterTable("public", "cpu", { kind: "set-options", options: { append_mode: "true" } });
    await put(machine.engine, "cpu,host=a v=2i 1\ncpu,host=a v=3i 1");
    await staysSo(machine, ["'a'|2|1", "'a'|3|1", "'a'|1|2"]);
  });
});

describe("ranges", () => {
  async function ofDays(days: number): Promise<Machine> {
    const machine = await Machine.start();
    const lines: string[] = [];
    for (let day = 0; day < days; day++) {
      for (const name of ["a", "b"]) {
        for (let hour = 0; hour < 24; hour++)
          lines.push(`cpu,host=${name} v=${hour}i ${START + BigInt(day) * DAY + (BigInt(hour) * DAY) / 24n}`);
      }
    }
    await put(machine.engine, lines.join("\n"), ONE_REGION);
    await machine.engine.flushTable("public", "cpu");
    return machine;
  }

  test("of a day of all series are one range a series, and their file goes", async () => {
    const machine = await ofDays(3);
    const timeRange = { start: START + DAY, end: START + 2n * DAY };
    expect(await tableOf(machine).deleteRange({ timeRange, tagPredicates: [] })).toBe(48);
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine)).toEqual(["48 rows, 0 deleted", "48 rows, 0 deleted", "48 rows, 0 deleted", "0 rows, 2 deleted"]);
    expect((await rows(machine)).length).toBe(96);
    await machine.engine.compactTable("public", "cpu");
    expect(files(machine)).toEqual(["48 rows, 0 deleted", "48 rows, 0 deleted"]);
    expect((await rows(machine)).length).toBe(96);
  });

  test("are cut at the windows of files", async () => {
    const machine = await ofDays(3);
    const timeRange = { start: START + DAY / 2n, end: START + 2n * DAY + DAY / 2n };
    expect(await tableOf(machine).deleteRange({ timeRange, tagPredicates: [host("a")] })).toBe(48);
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine).slice(3)).toEqual(["0 rows, 1 deleted", "0 rows, 1 deleted", "0 rows, 1 deleted"]);
    expect((await rows(machine)).length).toBe(96);
  });

  test("read nothing where they cover a series whole", async () => {
    const machine = await ofDays(1);
    await tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] });
    const metrics = newMetrics();
    expect(await read(machine.engine, "cpu", {}, metrics)).toEqual([]);
    expect(metrics.pagesRead).toBe(0);
  });

  test("of nothing leave no trace", async () => {
    const machine = await ofDays(1);
    expect(await tableOf(machine).deleteRange({ timeRange: { start: 0n, end: 1n }, tagPredicates: [] })).toBe(0);
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine)).toEqual(["48 rows, 0 deleted"]);
  });

  test("end between two batches when they are cancelled", async () => {
    const machine = await ofDays(1);
    const signal = AbortSignal.abort();
    expect(await refusal(tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [], signal }))).toMatchObject({
      code: "Cancelled",
    });
    expect((await rows(machine)).length).toBe(48);
  });

  test("do not take what is written after them", async () => {
    const machine = await ofDays(1);
    await tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [host("a")] });
    await put(machine.engine, `cpu,host=a v=99i ${START + 7n}`);
    await tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [host("b")] });
    await staysSo(machine, [`'a'|99|${START + 7n}`]);
  });
});

describe("tombstones", () => {
  test("of rows that never reached a file do not reach one either", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=1i 1");
    await deleteKeys(machine, ["a", 1n], ["b", 1n]);
    await machine.engine.flushTable("public", "cpu");
    expect([files(machine), machine.files.size, await rows(machine)]).toEqual([[], 0, []]);
  });

  test("are kept by a merge while an older file that it left may hold their rows", async () => {
    const machine = await Machine.start({ compaction: { outputBytesMax: 5000 } });
    await put(
      machine.engine,
      Array.from({ length: 4000 }, (_, i) => `cpu,host=a v=${(i * i * 7919) % 100_003}i ${i * 1_000_003}`).join("\n"),
      ONE_REGION,
    );
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 0n], ["a", 1_000_003n]);
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, "cpu,host=b v=1i 5");
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine)).toEqual(["4000 rows, 0 deleted", "0 rows, 2 deleted", "1 rows, 0 deleted"]);
    await machine.engine.compactTable("public", "cpu");
    expect(files(machine)).toEqual(["4000 rows, 0 deleted", "1 rows, 2 deleted"]);
    expect((await rows(machine)).length).toBe(3999); // 4000 and one, without two.
  });

  test("that hide much of a window make it be merged by itself", async () => {
    const machine = await Machine.start({ compaction: { isAutomatic: true, triggerFiles: 9 } });
    await put(machine.engine, Array.from({ length: 8 }, (_, i) => `cpu,host=a v=1i ${i}`).join("\n"));
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 0n]);
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactionIdle();
    expect(files(machine)).toEqual(["8 rows, 0 deleted", "0 rows, 1 deleted"]);
    await deleteKeys(machine, ["a", 1n]);
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactionIdle();
    expect([files(machine), machine.files.size]).toEqual([["6 rows, 0 deleted"], 1]);
  });

  test("go with TRUNCATE, and rows written after it stay", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1");
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await machine.engine.truncateTable("public", "cpu");
    await put(machine.engine, "cpu,host=a v=2i 1");
    await staysSo(machine, ["'a'|2|1"]);
    expect(files(machine)).toEqual(["1 rows, 0 deleted"]);
  });

  test("stay where TRUNCATE takes the rows of their file and leaves an older one", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=a v=1i 2\ncpu,host=a v=1i 99", ONE_REGION);
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await put(machine.engine, "cpu,host=b v=1i 2");
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine)).toEqual(["3 rows, 0 deleted", "1 rows, 1 deleted"]);
    await machine.engine.truncateTable("public", "cpu", [{ start: 0n, end: 50n }]);
    expect(files(machine)).toEqual(["3 rows, 0 deleted", "0 rows, 1 deleted"]);
    await staysSo(machine, ["'a'|1|2", "'a'|1|99"]);
  });

  test("of a flush whose commit failed come back once, and what it wrote never does", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=a v=1i 2");
    machine.commitFailure = "disk is full";
    await refusal(machine.engine.flushTable("public", "cpu"));
    machine.commitFailure = undefined;
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactTable("public", "cpu");
    await machine.crash();
    expect([await rows(machine), files(machine)]).toEqual([["'a'|1|2"], ["1 rows, 0 deleted"]]);
  });

  test("hide rows although the tags of their file's own rows are others", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=a v=1i 2", ONE_REGION);
    await machine.engine.flushTable("public", "cpu");
    await deleteKeys(machine, ["a", 1n]);
    await put(machine.engine, "cpu,host=b v=1i 1");
    await machine.engine.flushTable("public", "cpu");
    expect(files(machine)).toEqual(["2 rows, 0 deleted", "1 rows, 1 deleted"]);
    await machine.restart();
    expect(await read(machine.engine, "cpu", { tagPredicates: [host("a")] })).toEqual(["'a'|1|2"]);
  });

  test("beside a scan that has begun do not touch what it sees", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=1i 1");
    const request = {
      projection: ["host"],
      timeRange: ALL_TIME,
      tagPredicates: [],
      fieldBounds: [],
      order: "series-time" as const,
      limit: 9,
    };
    const batches = tableOf(machine).scan(request)[Symbol.asyncIterator]();
    let seen = 0;
    for (let batch = await batches.next(); batch.done !== true; batch = await batches.next()) {
      if (seen === 0) await deleteKeys(machine, ["a", 1n], ["b", 1n]);
      if (seen === 0) await machine.engine.flushTable("public", "cpu");
      seen += batch.value.rowCount;
    }
    expect(seen).toBe(2);
    expect(await rows(machine)).toEqual([]);
  });
});

describe("times at the ends of 64 bits", () => {
  const ENDS = [-(2n ** 63n), -(2n ** 63n) + 1n, -1n, 0n, 2n ** 63n - 2n, 2n ** 63n - 1n];
  test("are deleted one by one and in ranges", async () => {
    for (const gone of ENDS) {
      const machine = await Machine.start();
      for (const time of ENDS) await put(machine.engine, `cpu,host=a v=1i ${time}`);
      await machine.engine.flushTable("public", "cpu");
      if (gone < 0n) await deleteKeys(machine, ["a", gone]);
      else expect(await tableOf(machine).deleteRange({ timeRange: { start: gone, end: gone + 1n }, tagPredicates: [] })).toBe(1);
      const want = ENDS.filter((time) => time !== gone).map((time) => `'a'|1|${time}`);
      await staysSo(machine, want);
    }
  });

  test("all at once", async () => {
    const machine = await Machine.start();
    for (const time of ENDS) await put(machine.engine, `cpu,host=a v=1i ${time}`);
    expect(await tableOf(machine).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] })).toBe(6);
    await put(machine.engine, `cpu,host=a v=2i ${ENDS[0]}\ncpu,host=a v=2i ${ENDS[0]! + 1n}`);
    await put(machine.engine, `cpu,host=a v=2i ${ENDS[5]}`);
    await staysSo(machine, [`'a'|2|${ENDS[0]}`, `'a'|2|${ENDS[0]! + 1n}`, `'a'|2|${ENDS[5]}`]);
  });
});
