/**
 * Fault 10: a disk that stands still. Memory stays within its limit, writers wait and are told to come back, and then everything goes on.
 */
import { describe, expect, test } from "bun:test";
import { LOG_QUEUE_RECORDS_MAX } from "../../src/base/limits.ts";
import type { IngestThread } from "../../src/engine/threads/ingest-thread.ts";
import { put, read, refusal } from "../engine/lines.ts";
import { Machine } from "../engine/machine.ts";

const KIB = 1024;
const LIMIT = 512 * KIB;
const ROWS = 500;

/** A batch of about 7 KiB in memory. */
function batch(n: number): string {
  return Array.from({ length: ROWS }, (_, i) => `cpu,host=h${i % 10} v=${n * ROWS + i}i,f=${i / 3} ${n * ROWS + i}`).join("\n");
}

/** A writer as a server is: it asks for room, then writes. Resolves to whether the write was taken. */
async function write(machine: Machine, n: number): Promise<boolean> {
  const refused = await machine.engine.admit().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused !== undefined) {
    expect(await refusal(Promise.reject(refused))).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
    return false;
  }
  await put(machine.engine, batch(n));
  return true;
}

function memoryOf(machine: Machine): number {
  return machine.engine.table("public", "cpu")?.statistics().memoryBytes ?? 0;
}

test("a log that stands still holds no more memory than the write buffer, though nothing that waits for it is stored", async () => {
  const machine = await Machine.start({ limits: { memtableBytes: LIMIT / 4, writeBufferBytes: LIMIT, stallMillis: 30 } });
  machine.wal.hold();
  const waiting: Promise<unknown>[] = [];
  for (let n = 0; ; n++) {
    const refused = await machine.engine.admit().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refused !== undefined) {
      expect(await refusal(Promise.reject(refused))).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
      break;
    }
    waiting.push(put(machine.engine, batch(n)));
    expect(memoryOf(machine)).toBeLessThan(2 * LIMIT); // Slabs double in size.
  }
  machine.wal.release();
  await Promise.all(waiting);
  await machine.engine.flushTable("public", "cpu");
  expect(await read(machine.engine, "cpu")).toHaveLength(waiting.length * ROWS);
  expect(await write(machine, 5000)).toBe(true);
});

test("a flush that stands still lets writers in up to the limit, refuses them beyond, and takes them when it goes on", async () => {
  const machine = await Machine.start({ limits: { memtableBytes: LIMIT / 4, writeBufferBytes: LIMIT, stallMillis: 30 } });
  machine.holdFlush();
  let taken = 0;
  for (let n = 0; await write(machine, n); n++) {
    taken++;
    expect(taken).toBeLessThan(1000);
  }
  expect(machine.flushCount).toBeGreaterThan(0);
  expect(memoryOf(machine)).toBeLessThan(2 * LIMIT);
  expect(await write(machine, 2000)).toBe(false);
  machine.releaseFlush();
  while (!(await write(machine, 3000))) await Bun.sleep(5);
  expect(await read(machine.engine, "cpu")).toHaveLength((taken + 1) * ROWS);
});

describe("an ingest thread's log that stands still", () => {
  const limits = { memtableBytes: LIMIT / 4, writeBufferBytes: LIMIT, stallMillis: 30 };

  test("holds no more memory than the write buffer: its writers are told to come back, and all others as well", async () => {
    const machine = await Machine.start({ limits, threads: 1 });
    const thread = machine.writer(1) as IngestThread;
    await put(thread, batch(0));
    machine.logOf(1).hold();
    const waiting: Promise<unknown>[] = [];
    for (let n = 1; ; n++) {
      const refused = await thread.admit().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused !== undefined) {
        expect(await refusal(Promise.reject(refused))).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
        break;
      }
      waiting.push(put(thread, batch(n)));
      expect(machine.shared.memoryBytes).toBeLessThan(4 * LIMIT); // Slabs double in size, and each thread has its own.
    }
    expect(await refusal(machine.engine.admit())).toMatchObject({ code: "RateLimited" });
    machine.logOf(1).release();
    await Promise.all(waiting);
    await machine.engine.flushTable("public", "cpu");
    await thread.admit();
    expect(await read(machine.engine, "cpu")).toHaveLength((1 + waiting.length) * ROWS);
  });

  test("takes so many small writes, and tells the next to come back", async () => {
    const machine = await Machine.start({ threads: 1 });
    const thread = machine.writer(1) as IngestThread;
    const log = machine.logOf(1);
    const queued = log.queued.bind(log);
    log.queued = () => ({ records: LOG_QUEUE_RECORDS_MAX, bytes: 1 });
    const refused = await refusal(thread.admit());
    expect(refused).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
    expect(refused.message).toContain(`${LOG_QUEUE_RECORDS_MAX} writes wait for the log's disk, which is slow or hangs`);
    log.queued = queued;
    await thread.admit();
  });
});
