import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { describe, expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine, NO_COMPACTION, NO_LIMITS } from "../../../test/engine/machine.ts";
import { ONE_REGION } from "../../../test/engine/regions.ts";
import { plainParts } from "../../../test/engine/plain-parts.ts";
import { unexpectedBug } from "../../../test/engine/unexpected-bug.ts";
import { withoutOrigin } from "../../../test/support/storage/old-record.ts";
import { systemClock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { inlineMergeExecutor } from "../../storage/compaction/merge-executor.ts";
import { inlineFlushExecutor } from "../../storage/sst/write/flush-executor.ts";
import type { WalRecord } from "../../storage/wal/wal.ts";
import { SlabPool } from "../../storage/memtable/arena.ts";
import { Region } from "../../storage/region/region.ts";
import { assert } from "../../base/assert.ts";
import { Engine } from "../engine.ts";
import { LogLedger } from "../log/log-ledger.ts";
import { Replay } from "./replay.ts";

/** Opens a second engine on the machine's disk, with a log that gives only the records that `keep` accepts, all of them so many times. */
async function reopen(machine: Machine, keep: (record: WalRecord) => boolean, times = 1): Promise<{ engine: Engine; logged: object[] }> {
  const wal = machine.wal.crash();
  const inner = wal.recover.bind(wal);
  wal.recover = (onRecord) =>
    inner(async (record) => {
      for (let time = 0; time < times && keep(record); time++) await onRecord(record);
    });
  const logged: object[] = [];
  const logger: Logger = { ...silentLogger, error: (fields, message) => logged.push({ ...fields, message }), child: () => logger };
  const files = memoryFileStore(machine.files);
  const parts = {
    meta: machine.meta,
    files,
    flusher: inlineFlushExecutor(files),
    merger: inlineMergeExecutor(files),
    compaction: NO_COMPACTION,
    clock: systemClock,
    scheduler: new Scheduler(),
    logger,
    limits: NO_LIMITS,
  };
  const { engine } = await Engine.open({ wal, shards: machine.shards, ...parts, pageCacheBytes: 1 << 20, onBug: unexpectedBug });
  return { engine, logged };
}

test("rows whose series are not known, because the record that defined them is gone, are lost and named; others are not", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await put(machine.engine, "cpu,host=b v=2i 2");
  await put(machine.engine, "cpu,host=a v=3i 3");
  await put(machine.engine, "cpu,host=b v=4i 4");
  const { engine, logged } = await reopen(machine, ({ sequence }) => sequence !== 1);
  expect(await read(engine, "cpu")).toEqual(["'b'|2|2", "'b'|4|4"]);
  expect(logged).toEqual([{ segment: 1, sequence: 3, table: "cpu", rows: 1, message: expect.stringContaining("they are lost") }]);
  await put(engine, "cpu,host=a v=5i 5");
  await engine.flushTable("public", "cpu");
  expect(await read(engine, "cpu")).toEqual(["'a'|5|5", "'b'|2|2", "'b'|4|4"]);
});

test("series get other numbers than they had, and each row keeps its own", async () => {
  const machine = await Machine.start();
  for (const host of ["x", "y", "z"]) await put(machine.engine, `cpu,host=${host} v=1i 1`);
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=z v=2i 2\ncpu,host=x v=3i 2");
  // The new process has not read the file yet: the log alone says what its numbers mean.
  const { engine, logged } = await reopen(machine, () => true);
  expect(logged).toEqual([]);
  expect(await read(engine, "cpu")).toEqual(["'x'|1|1", "'x'|3|2", "'y'|1|1", "'z'|1|1", "'z'|2|2"]);
});

test("a chunk whose series get numbers beyond two bytes is given wider ones", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=new v=1i 1\ncpu,host=newer v=2i 1", ONE_REGION);
  const table = machine.engine.table("public", "cpu");
  assert(table !== undefined, "the table exists");
  const parts = { pool: new SlabPool(0), store: memoryFileStore(), clock: systemClock };
  const region = new Region(table.schema, [], 0, parts);
  for (let i = 0; i < 66_000; i++) region.registry.register([`h${i}`]);
  const replay = new Replay({ regionOf: () => region, tableOf: (id) => id, nextTableId: 2, ledger: new LogLedger(), logger: silentLogger });
  await machine.wal.crash().recover((record) => replay.apply(record));
  const snapshot = region.snapshot();
  const chunk = snapshot.memtables[0]?.chunks[0];
  await snapshot.release();
  expect(chunk?.series).toEqual(Uint32Array.of(66_000, 66_001));
  expect(region.registry.dictionaryAt(0)[region.registry.codesAt(0)[66_001]!]).toBe("newer");
});

test("rows that rely on a lost record after a renewal of numbers are lost, too, and not taken for those of the former series", async () => {
  const machine = await Machine.start({ seriesRenewal: { seriesMin: 0, restMillis: 0, isForced: true } });
  await put(machine.engine, "keeper,host=a v=1i 1"); // The log keeps what follows for it.
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  await machine.engine.keepUp();
  await put(machine.engine, "cpu,host=b v=2i 2"); // Sequence 3 gives the number of `a` to `b`.
  await put(machine.engine, "cpu,host=b v=3i 3");
  const { engine } = await reopen(machine, ({ sequence }) => sequence !== 3);
  expect(await read(engine, "cpu")).toEqual(["'a'|1|1"]);
});

test("a record that is there twice counts once, also in append mode, and that is said", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=1i 1", { tableOptions: { append_mode: "true" } });
  await put(machine.engine, "cpu,host=a v=2i 2");
  const { engine, logged } = await reopen(machine, () => true, 2);
  expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2", "'b'|1|1"]);
  const message = expect.stringContaining("rows of the log are skipped");
  expect(logged).toEqual([
    { segment: 1, sequence: 1, rows: 2, message },
    { segment: 1, sequence: 2, rows: 1, message },
  ]);
});

describe.each(["now", "version 4"])("records of %s", (age) => {
  test("of a segment that lost what a number means in it are lost: what an earlier process said of it does not count", async () => {
    const machine = await Machine.start({ threads: 1 });
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    await machine.crash();
    await put(machine.writer(1), "cpu,host=b v=2i 2"); // The thread numbers its series anew.
    await put(machine.writer(1), "cpu,host=b v=3i 3");
    const wal = machine.logOf(1).crash();
    const inner = wal.recover.bind(wal);
    const lost: object[] = [];
    wal.recover = (onRecord) =>
      inner((record) => {
        if (record.sequence === 2) return undefined;
        return onRecord(age === "now" ? record : { ...record, payload: withoutOrigin(4, record.payload) });
      });
    const logger: Logger = { ...silentLogger, error: (fields) => lost.push({ ...fields }), child: () => logger };
    const files = memoryFileStore(machine.files);
    const threadLogs = [{ id: 1, wal, remove: async () => undefined }];
    const { shards, meta } = machine;
    const { engine } = await Engine.open({ wal: machine.wal.crash(), threadLogs, shards, meta, ...plainParts(files), logger });
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1"]);
    expect(lost).toEqual([{ segment: 2, sequence: 3, table: "cpu", rows: 1 }]);
  });
});

test("many series are the same after a crash", async () => {
  const machine = await Machine.start();
  await put(machine.engine, Array.from({ length: 66_000 }, (_, i) => `cpu,host=h${i} v=${i}i 1`).join("\n"));
  await put(machine.engine, "cpu,host=h65999 v=-1i 2\ncpu,host=h0 v=-2i 2");
  await machine.crash();
  expect(await read(machine.engine, "cpu", { projection: ["v"], timeRange: { start: 2n, end: 3n } })).toEqual(["-2", "-1"]);
  expect(machine.engine.table("public", "cpu")?.series.count).toBe(66_000);
});

test("records of dropped tables are passed over", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\nmem,host=a v=1i 1");
  await machine.engine.dropTable("public", "cpu", false);
  await machine.crash();
  expect(machine.engine.tables("public").map(({ schema }) => schema.name)).toEqual(["mem"]);
  expect(await read(machine.engine, "mem")).toEqual(["'a'|1|1"]);
});
