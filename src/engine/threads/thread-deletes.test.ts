/** Deletes and expiry beside ingest threads: a delete hides by sequence, whichever thread wrote the rows and whenever it tells of them. */
import { staysSo } from "../../../test/engine/stays-so.ts";
import { describe, expect, test } from "bun:test";
import { deleteKey, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME } from "../../table/scan.ts";

const SECOND = 1_000_000_000n;
const NOW = 1_700_006_400n * SECOND;

const start = (options: MachineOptions = {}): Promise<Machine> => Machine.start({ threads: 2, ...options });
const rows = (machine: Machine): Promise<string[]> => read(machine.engine, "cpu");

async function deleteAll(machine: Machine): Promise<number> {
  return (await machine.engine.table("public", "cpu")?.deleteRange({ timeRange: ALL_TIME, tagPredicates: [] })) ?? 0;
}

describe("a delete beside ingest threads", () => {
  test("takes rows and series that a thread has just acknowledged, by their keys", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1\ncpu,host=b v=2i 1");
    await deleteKey(machine.engine, "a", 1n);
    await staysSo(machine, ["'b'|2|1"]);
  });

  test("takes and counts them in ranges", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1\ncpu,host=b v=2i 1");
    await put(machine.writer(2), "cpu,host=a v=1i 2\ncpu,host=c v=2i 1");
    expect(await deleteAll(machine)).toBe(4);
    await put(machine.writer(2), "cpu,host=c v=3i 1");
    await staysSo(machine, ["'c'|3|1"]);
  });

  test.each(["in memory", "flushed before the row is told of", "flushed with it"] as const)(
    "hides a row that was numbered before it and told of after it, not one that was numbered after it: %s",
    async (how) => {
      const machine = await start();
      await put(machine.engine, "cpu,host=a v=0i 1");
      machine.logOf(1).hold();
      const before = put(machine.writer(1), "cpu,host=a v=1i 1");
      await deleteKey(machine.engine, "a", 1n);
      await put(machine.writer(2), "cpu,host=a v=2i 2");
      const flushed = how === "flushed before the row is told of" ? machine.engine.flushTable("public", "cpu") : undefined;
      expect(await rows(machine)).toEqual(["'a'|2|2"]);
      machine.logOf(1).release();
      await before;
      await flushed;
      if (how === "flushed with it") await machine.engine.flushTable("public", "cpu");
      await staysSo(machine, ["'a'|2|2"]);
    },
  );

  test("does not hide the same row when a thread numbers it after the delete and tells of it first", async () => {
    const machine = await start();
    await put(machine.engine, "cpu,host=a v=0i 1");
    machine.wal.hold();
    const deleted = deleteKey(machine.engine, "a", 1n);
    await Bun.sleep(1); // The delete has its number, and waits for the log.
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    expect(await rows(machine)).toEqual(["'a'|1|1"]);
    machine.wal.release();
    await deleted;
    await staysSo(machine, ["'a'|1|1"]);
  });

  test("stays in its memtable while a flush waits for a thread, and hides older files and memtables", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1\ncpu,host=b v=1i 1");
    machine.logOf(2).hold();
    const late = put(machine.writer(2), "cpu,host=a v=2i 2\ncpu,host=b v=2i 2");
    const flushed = machine.engine.flushTable("public", "cpu"); // Seals a memtable that thread 2 has yet to fill.
    await deleteKey(machine.engine, "a", 2n);
    await deleteKey(machine.engine, "a", 1n);
    machine.logOf(2).release();
    await Promise.all([late, flushed]);
    await staysSo(machine, ["'b'|1|1", "'b'|2|2"]);
  });

  test("that the log does not take hides nothing", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    machine.wal.failNextWrite("no space left");
    await refusal(deleteKey(machine.engine, "a", 1n));
    await staysSo(machine, ["'a'|1|1"]);
  });
});

describe("rows that had expired when a thread took them", () => {
  async function started(): Promise<{ readonly machine: Machine; readonly clock: MovingClock }> {
    const clock = new MovingClock(NOW);
    const machine = await start({ clock });
    await put(machine.engine, `cpu,host=a v=0i ${NOW}`);
    return { machine, clock };
  }

  test("are taken, counted and not logged; others beside them stay", async () => {
    const { machine } = await started();
    await machine.engine.alterTable("public", "cpu", { kind: "set-options", options: { ttl: "1day" } });
    machine.logOf(1).failNextWrite("no space left");
    expect(await put(machine.writer(1), "cpu,host=b v=1i 1\ncpu,host=b v=1i 2")).toEqual({ rowCount: 2 });
    await refusal(put(machine.writer(1), `cpu,host=b v=1i ${NOW}`)); // Now the log was asked.
    await put(machine.writer(2), `cpu,host=c v=1i 1\ncpu,host=c v=2i ${NOW}`);
    expect(machine.engine.expiredRows).toBe(3);
    await staysSo(machine, [`'a'|0|${NOW}`, `'c'|2|${NOW}`]);
  });

  test("follow a change of the database's ttl with the next request", async () => {
    const { machine, clock } = await started();
    await machine.engine.alterDatabase("public", { ttl: "10s" });
    expect(await put(machine.writer(1), `cpu,host=b v=1i ${NOW - 11n * SECOND}`)).toEqual({ rowCount: 1 });
    await machine.engine.alterDatabase("public", { ttl: "20s" });
    await put(machine.writer(1), `cpu,host=b v=2i ${NOW - 11n * SECOND}`);
    expect(machine.engine.expiredRows).toBe(1);
    expect(await rows(machine)).toEqual([`'a'|0|${NOW}`, `'b'|2|${NOW - 11n * SECOND}`]);
    clock.nanos += 15n * SECOND;
    expect(await rows(machine)).toEqual([`'a'|0|${NOW}`]);
  });
});

test("a table that a thread makes takes the options of its database", async () => {
  const machine = await start();
  await machine.engine.createDatabase("kept", { append_mode: "true" }, false);
  await put(machine.writer(1), "logs v=1i 1", { database: "kept", tableOptions: { merge_mode: "last_non_null" } });
  expect(machine.engine.table("kept", "logs")?.schema.options).toEqual({ append_mode: "true" });
});

test("a tag that is added with a default is that of rows which leave it out, on threads too", async () => {
  const machine = await start();
  const columns = [
    { name: "host", type: STRING, semantic: "tag" as const, nullable: true },
    { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" as const, nullable: false },
    { name: "v", type: INT64, semantic: "field" as const, nullable: true },
  ];
  await machine.engine.createTable({ database: "public", name: "cpu", columns, primaryKey: ["host"], engine: "mito", options: {} }, false);
  const write = async (thread: number, v: number): Promise<void> => {
    const builder = new RowBatchBuilder("cpu", columns);
    builder.add(["a", BigInt(v), v]);
    const writer = machine.writer(thread);
    if ("refresh" in writer) writer.refresh();
    await writer.write("public", builder.batch(), { autoCreate: false, tableOptions: {} });
  };
  await write(1, 1);
  const dc = { name: "dc", type: STRING, semantic: "tag" as const, nullable: true, default: { kind: "literal" as const, value: "x" } };
  await machine.engine.alterTable("public", "cpu", { kind: "add-columns", columns: [dc], ifNotExists: false });
  await write(1, 2);
  await write(2, 3);
  const answer = (): Promise<string[]> => read(machine.engine, "cpu", { projection: ["host", "dc", "v"] });
  const want = ["'a'|'x'|1", "'a'|'x'|2", "'a'|'x'|3"];
  expect(await answer()).toEqual(want);
  expect(machine.engine.table("public", "cpu")?.statistics().seriesCount).toBe(1);
  await machine.crash();
  expect(await answer()).toEqual(want);
});
