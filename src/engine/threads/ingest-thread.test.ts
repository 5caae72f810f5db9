import { waitsForFlush } from "../../../test/engine/admission.ts";
import { describe, expect, test } from "bun:test";
import { AUTO, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { regionOf, regionsOf } from "../../../test/engine/regions.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";
import type { SchemaLookup, WriteBatch } from "../../table/write-batch.ts";
import type { IngestThread } from "./ingest-thread.ts";

const SLAB = 2 * 1024; // What the memtable of a table with few rows takes.

async function start(threads = 2, options: Parameters<typeof Machine.start>[0] = {}): Promise<Machine> {
  return Machine.start({ ...options, threads });
}

/** A batch as the decoder of a request leaves it. */
function decoded(lines: string, schemas: SchemaLookup): WriteBatch {
  const options = { database: "public", precision: "ns" as const, defaultTimeNanos: 0n, schemas, timeColumn: "greptime_timestamp" };
  return new InfluxDecoder().decode(new TextEncoder().encode(lines), options).batch;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1);
}

test("flushes that fail again and again leave one memtable for what is under way, and its rows are there", async () => {
  const machine = await start(1);
  await put(machine.writer(1), "cpu,host=a v=1i 1");
  machine.flushFailure = "no space left on device";
  machine.logOf(1).hold();
  const late = put(machine.writer(1), "cpu,host=a v=2i 2"); // Numbered before the flushes, told of after some of them.
  const flushes = Array.from({ length: 20 }, () => refusal(machine.engine.flushTable("public", "cpu")));
  await Bun.sleep(5);
  machine.logOf(1).release();
  await Promise.all([late, ...flushes]);
  for (let i = 0; i < 20; i++) await refusal(machine.engine.flushTable("public", "cpu"));
  const region = regionOf(machine.engine) as unknown as { readonly frozen: readonly unknown[] };
  expect(region.frozen.length).toBeLessThanOrEqual(3);
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2"]);
  machine.flushFailure = undefined;
  await machine.engine.flushTable("public", "cpu");
  expect(region.frozen).toEqual([]);
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2"]);
});

describe("an ingest thread that is gone", () => {
  async function withDeadThread(): Promise<Machine> {
    const machine = await start(2);
    await put(machine.engine, "cpu,host=a v=1i 1");
    await put(machine.writer(1), "cpu,host=b v=2i 2");
    await put(machine.writer(2), "cpu,host=c v=3i 3");
    machine.links[0]?.cut(); // It hears nothing, and nobody hears it.
    return machine;
  }

  const CUT = "ingest thread 1 is gone: it exited; its log has what it acknowledged";

  test("does not keep the engine from closing, which says so; every row is there at the next start", async () => {
    const machine = await withDeadThread();
    machine.engine.threadDied(1, "it exited");
    expect((await refusal(machine.engine.close())).message).toBe(CUT);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'c'|3|3"]);
  });

  test("ends what waited for it when it went, and what is asked later", async () => {
    const machine = await withDeadThread();
    const flush = refusal(machine.engine.flushTable("public", "cpu"));
    const closing = refusal(machine.engine.close());
    await Bun.sleep(5);
    machine.engine.threadDied(1, "it exited");
    expect([(await flush).message, (await closing).message]).toEqual([CUT, CUT]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'c'|3|3"]);
  });
});

describe("rows of ingest threads", () => {
  test("are there for every reader when they are acknowledged, under series of their own", async () => {
    const machine = await start();
    const [first, second] = machine.threads as [IngestThread, IngestThread];
    await put(first, "cpu,host=a v=1i 1\ncpu,host=b v=2i 1");
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|1"]);
    await put(second, "cpu,host=c v=3i 1\ncpu,host=b v=4i 2");
    await put(machine.engine, "cpu,host=d v=5i 1\ncpu,host=c v=6i 2");
    await put(second, "cpu,host=d v=7i 2");
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|1", "'b'|4|2", "'c'|3|1", "'c'|6|2", "'d'|5|1", "'d'|7|2"]);
    expect(machine.engine.table("public", "cpu")?.statistics().seriesCount).toBe(4);
  });

  test("count in the statistics and time bounds of their table at once", async () => {
    const machine = await start();
    await put(machine.engine, "cpu,host=a v=1i 5");
    const table = machine.engine.table("public", "cpu");
    await put(machine.writer(1), "cpu,host=a v=2i 9");
    expect(table?.timeBounds()).toEqual({ start: 5n, end: 10n });
    await put(machine.writer(2), "cpu,host=z v=2i 9");
    expect(table?.statistics()).toMatchObject({ rowCount: 3, seriesCount: 2 });
  });

  test("win over older ones by when they were written, not by when they are told of", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=0i 1");
    machine.logOf(1).hold();
    const older = put(machine.writer(1), "cpu,host=a v=1i 1"); // Numbered, and not on disk yet.
    await put(machine.writer(2), "cpu,host=a v=2i 1");
    machine.logOf(1).release();
    await older;
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|2|1"]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|2|1"]);
  });

  test("are lost by no flush that began while they were being logged", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=0i 1");
    machine.logOf(1).hold();
    const late = put(machine.writer(1), "cpu,host=b v=1i 1");
    const flushed = machine.engine.flushTable("public", "cpu");
    await put(machine.writer(2), "cpu,host=c v=2i 1");
    machine.logOf(1).release();
    await Promise.all([late, flushed]);
    expect(machine.engine.table("public", "cpu")?.statistics()).toMatchObject({ rowCount: 3, fileCount: regionsOf(machine.engine).length });
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|0|1", "'b'|1|1", "'c'|2|1"]);
  });

  test("of one record may be of many tables; an empty batch is none", async () => {
    const machine = await start(1);
    await put(machine.writer(1), Array.from({ length: 50 }, (_, i) => `t${i},host=a v=${i}i 1`).join("\n"));
    expect(await read(machine.engine, "t49")).toEqual(["'a'|49|1"]);
    expect(await machine.writer(1).write("public", decoded("", machine.writer(1)), AUTO)).toEqual({ rowCount: 0 });
  });
});

describe("changes of tables", () => {
  test("reach a thread with its next request, whoever made them", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    await put(machine.writer(2), "cpu,host=a,dc=x v=2i,w=1 2");
    await machine.engine.alterTable("public", "cpu", { kind: "rename", name: "load" });
    await put(machine.writer(1), "load,host=a,dc=x v=3i 3\ncpu,host=n v=9i 9");
    expect(await read(machine.engine, "load", { projection: ["host", "dc", "v", "w"] })).toEqual([
      "'a'|NULL|1|NULL",
      "'a'|'x'|2|1",
      "'a'|'x'|3|NULL",
    ]);
    expect(await read(machine.engine, "cpu")).toEqual(["'n'|9|9"]);
  });

  test("a table that is dropped and made again has new rows only", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    await machine.engine.dropTable("public", "cpu", false);
    await put(machine.writer(1), "cpu,host=a v=2 1");
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|2|1"]);
  });

  test("a drop beside a write that is being logged takes its rows; the write is acknowledged all the same", async () => {
    const machine = await start(1);
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    machine.logOf(1).hold();
    const late = put(machine.writer(1), "cpu,host=a v=2i 2");
    const dropped = machine.engine.dropTable("public", "cpu", false);
    machine.logOf(1).release();
    expect(await late).toEqual({ rowCount: 1 });
    await dropped;
    await put(machine.writer(1), "cpu,host=b v=3i 3");
    expect(await read(machine.engine, "cpu")).toEqual(["'b'|3|3"]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'b'|3|3"]);
  });

  test("a truncation takes what was numbered before it, on every thread, and keeps what comes after", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    for (const thread of [1, 2]) machine.logOf(thread).hold();
    const late = [put(machine.writer(1), "cpu,host=a v=2i 2"), put(machine.writer(2), "cpu,host=b v=2i 2")];
    const truncated = machine.engine.truncateTable("public", "cpu");
    const after = put(machine.writer(2), "cpu,host=c v=3i 3");
    for (const thread of [1, 2]) machine.logOf(thread).release();
    await Promise.all([...late, after, truncated]);
    expect(await read(machine.engine, "cpu")).toEqual(["'c'|3|3"]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'c'|3|3"]);
  });

  test("a column that another thread made with another type meanwhile is no fault of the batch: it has to be decoded again", async () => {
    const machine = await start();
    await put(machine.engine, "cpu,host=a v=1i 1");
    const second = machine.writer(2) as IngestThread;
    second.refresh();
    const batch = decoded("cpu,host=a new=1i 2", second);
    await put(machine.writer(1), 'cpu,host=a new="text" 2');
    expect(await refusal(second.write("public", batch, AUTO))).toMatchObject({ code: "RegionBusy" });
    second.refresh();
    expect(await refusal(second.write("public", batch, AUTO))).toMatchObject({ code: "InvalidArguments" });
  });

  test("one that fits is taken over without decoding again", async () => {
    const machine = await start();
    const second = machine.writer(2) as IngestThread;
    const batch = decoded("cpu,host=b v=2i,w=1i 2", second);
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    await second.write("public", batch, AUTO);
    expect(await read(machine.engine, "cpu", { projection: ["host", "v", "w"] })).toEqual(["'a'|1|NULL", "'b'|2|1"]);
  });

  test("databases come and go on all threads", async () => {
    const machine = await start(1);
    const thread = machine.writer(1) as IngestThread;
    const options = { database: "other" };
    expect(await refusal(put(thread, "cpu v=1i 1", options))).toMatchObject({ code: "DatabaseNotFound" });
    await machine.engine.createDatabase("other", {}, false);
    await put(thread, "cpu v=1i 1", options);
    await machine.engine.dropDatabase("other", false);
    expect(await refusal(put(thread, "cpu v=1i 1", options))).toMatchObject({ code: "DatabaseNotFound" });
    expect(await refusal(put(thread, "cpu v=1i 1", { database: "information_schema" }))).toMatchObject({ code: "Unsupported" });
    expect([...thread.databases].sort()).toEqual(["greptime_private", "information_schema", "public"]);
  });

  test("what a write may not make is refused, and a thread that is far behind sees everything there is", async () => {
    const machine = await start(1);
    const thread = machine.writer(1) as IngestThread;
    expect(await refusal(put(thread, "cpu v=1i 1", { autoCreate: false }))).toMatchObject({ code: "TableNotFound" });
    await put(thread, "gone,host=a v=1i 1");
    await machine.engine.dropTable("public", "gone", false);
    await put(machine.engine, "cpu,host=a v=1i 1");
    for (let i = 0; i < 1100; i++) await machine.engine.alterTable("public", "cpu", comment(i));
    await put(thread, "cpu,host=a v=2i 2", { autoCreate: false });
    expect(await refusal(put(thread, "gone,host=a v=1i 1", { autoCreate: false }))).toMatchObject({ code: "TableNotFound" });
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2"]);
  });
});

function comment(i: number) {
  return { kind: "set-comment", column: "v", comment: `${i}` } as const;
}

describe("the log of a thread", () => {
  test("that fails a write answers so, and says nothing of its rows; the next write goes on", async () => {
    const machine = await start(1);
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    machine.logOf(1).failNextWrite("no space left");
    expect(await refusal(put(machine.writer(1), "cpu,host=b v=2i 2"))).toMatchObject({ code: "StorageUnavailable" });
    await put(machine.writer(1), "cpu,host=b v=3i 3");
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|3|3"]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|3|3"]);
  });

  test("that is out of order makes the engine unhealthy; other threads go on", async () => {
    const machine = await start();
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    expect(machine.engine.failure()).toBeUndefined();
    machine.logOf(1).failNextSync("input/output error");
    expect(await refusal(put(machine.writer(1), "cpu,host=b v=2i 2"))).toMatchObject({ code: "StorageUnavailable" });
    expect(await refusal(put(machine.writer(1), "cpu,host=b v=2i 2"))).toMatchObject({ code: "StorageUnavailable" });
    await until(() => machine.engine.failure() !== undefined);
    expect(machine.engine.failure()).toContain("input/output error");
    await put(machine.writer(2), "cpu,host=c v=3i 3");
    await put(machine.engine, "cpu,host=d v=4i 4");
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'c'|3|3", "'d'|4|4"]);
  });

  test("goes as its rows get into files; that of a thread that is no longer there is read back and removed", async () => {
    const machine = await start(2, { segmentBytes: 300 });
    for (let i = 0; i < 9; i++) await put(machine.writer(i % 3), `cpu,host=h${i} v=${i}i ${i}\nmem,host=h${i} v=${i}i ${i}`);
    expect([0, 1, 2].map((thread) => machine.logOf(thread).segments().length > 1)).toEqual([true, true, true]);
    machine.threadCount = 0;
    await machine.crash();
    expect(machine.recovery.records).toBe(9);
    expect((await read(machine.engine, "cpu")).length).toBe(9);
    await put(machine.engine, "cpu,host=h0 v=100i 0");
    await machine.engine.flushTable("public", "cpu");
    expect(machine.threadWals.size).toBe(2); // Rows of the other table are still there only.
    await machine.engine.flushTable("public", "mem");
    expect(machine.threadWals.size).toBe(0);
    expect((await read(machine.engine, "cpu"))[0]).toBe("'h0'|100|0");
  });

  test("with rows that a trim does not know of keeps the segment they are in", async () => {
    const machine = await start(1);
    await put(machine.writer(1), "cpu,host=a v=1i 1");
    machine.logOf(1).hold();
    const late = put(machine.writer(1), "other,host=a v=1i 1"); // In the same segment, and not durable.
    const flushed = machine.engine.flushTable("public", "cpu");
    await Bun.sleep(5);
    machine.logOf(1).release();
    await Promise.all([late, flushed]);
    await machine.crash();
    expect(await read(machine.engine, "other")).toEqual(["'a'|1|1"]);
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1"]);
  });

  test("is empty once everything is in files", async () => {
    const machine = await start(2);
    for (const thread of [0, 1, 2]) await put(machine.writer(thread), `cpu,host=h${thread} v=1i 1`);
    await machine.engine.flushTable("public", "cpu");
    expect([0, 1, 2].map((thread) => machine.logOf(thread).segments().length)).toEqual([0, 0, 0]);
    await machine.restart();
    expect(machine.recovery.records).toBe(0);
    expect((await read(machine.engine, "cpu")).length).toBe(3);
  });
});

describe("memory of threads", () => {
  test("comes back when its rows are in files and nobody reads them", async () => {
    const machine = await start(1);
    const lines = Array.from({ length: 3000 }, (_, i) => `cpu,host=h${i % 50} v=${i * 7919}i ${i}`).join("\n");
    await put(machine.writer(1), lines);
    const table = machine.engine.table("public", "cpu");
    expect(table?.statistics().memoryBytes).toBeGreaterThan(20_000);
    const scan = table?.scan({ projection: ["v"], timeRange: ALL, tagPredicates: [], fieldBounds: [], order: "none", limit: 1 });
    const iterator = scan?.[Symbol.asyncIterator]();
    await iterator?.next();
    await machine.engine.flushTable("public", "cpu");
    expect(table?.statistics().memoryBytes).toBe(0);
    expect(machine.shared.memoryBytes).toBeLessThan(1 << 22);
    await iterator?.return?.();
    for (let i = 0; i < 5; i++) {
      await put(machine.writer(1), lines);
      await machine.engine.flushTable("public", "cpu");
    }
    expect(table?.statistics()).toMatchObject({ memoryBytes: 0, rowCount: 18_000 });
  });

  test("that failed writes took goes the same way", async () => {
    const machine = await start(1);
    await put(machine.engine, "cpu,host=a v=1i 1");
    await machine.engine.flushTable("public", "cpu");
    const table = machine.engine.table("public", "cpu");
    machine.logOf(1).failNextWrite("no space left");
    expect(await refusal(put(machine.writer(1), "cpu,host=b v=2i 2"))).toMatchObject({ code: "StorageUnavailable" });
    expect(table?.statistics()).toMatchObject({ memoryBytes: SLAB, rowCount: 1 });
    await machine.engine.flushTable("public", "cpu");
    expect(table?.statistics()).toMatchObject({ memoryBytes: 0, rowCount: 1 });
  });

  test("over the limit makes writers of threads wait until a flush has made room", async () => {
    const machine = await start(1, { limits: { memtableBytes: SLAB, writeBufferBytes: 3 * SLAB, stallMillis: 60_000 } });
    const thread = machine.writer(1) as IngestThread;
    machine.holdFlush();
    const lines = Array.from({ length: 20_000 }, (_, i) => `cpu,host=h${i % 50} v=${i * 7919}i ${i}`).join("\n");
    await thread.admit();
    await put(thread, lines);
    await waitsForFlush(machine, thread);
  });

  test("over the limit for too long refuses writers, with the reason", async () => {
    const machine = await start(1, { limits: { memtableBytes: SLAB, writeBufferBytes: SLAB, stallMillis: 20 } });
    const thread = machine.writer(1) as IngestThread;
    machine.flushFailure = "no space left";
    await put(thread, Array.from({ length: 20_000 }, (_, i) => `cpu,host=h${i % 50} v=${i}i ${i}`).join("\n"));
    const refused = await refusal(thread.admit());
    expect(refused).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
    expect(refused.message).toMatch(/^cannot take the write: \d+ bytes are in memory, over the limit of 2048; .*; try again later$/);
    machine.flushFailure = undefined;
  });
});

test("an engine closes its threads' logs, whose rows are in files by then", async () => {
  const machine = await start(2);
  for (const thread of [1, 2]) await put(machine.writer(thread), `cpu,host=h${thread} v=1i 1`);
  await machine.engine.close();
  expect(await refusal(put(machine.writer(1), "cpu,host=h1 v=2i 2"))).toMatchObject({ code: "StorageUnavailable" });
  await machine.crash();
  expect(machine.recovery.records).toBe(0);
  expect(await read(machine.engine, "cpu")).toEqual(["'h1'|1|1", "'h2'|1|1"]);
});

const ALL = { start: -(2n ** 63n), end: 2n ** 63n };
