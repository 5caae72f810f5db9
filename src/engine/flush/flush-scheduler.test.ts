import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { refusal } from "../../../test/engine/lines.ts";
import { AssertionError } from "../../base/assert.ts";
import { LOG_QUEUE_RECORDS_MAX, WRITERS_WAITING_MAX } from "../../base/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { type Flushable, type FlushLimits, FlushScheduler } from "./flush-scheduler.ts";

const LIMITS: FlushLimits = { memtableBytes: 1000, writeBufferBytes: 2000, logBytesMax: 5000, idleMillis: 60_000, stallMillis: 3000 };

/** A table that a flush empties. */
class FakeRegion implements Flushable {
  readonly name: string;
  activeBytes = 0;
  frozenBytes = 0;
  oldestWriteMillis: number | undefined;

  constructor(name: string, activeBytes: number) {
    this.name = name;
    this.activeBytes = activeBytes;
  }

  get memoryBytes(): number {
    return this.activeBytes + this.frozenBytes;
  }

  get hasFrozen(): boolean {
    return this.frozenBytes > 0;
  }
}

/** The engine as the scheduler sees it. */
class FakeHost {
  readonly list: FakeRegion[] = [];
  readonly flushed: string[] = [];
  holders: FakeRegion[] = [];
  logSize = 0;
  failure: Error | undefined;
  /** The only table that fails, if there is one. */
  failing: string | undefined;
  queued = 0;
  untold = 0;
  urgent = false;
  overMemory = false;
  readonly outcomes: (string | undefined)[] = [];
  gate: PromiseWithResolvers<void> | undefined;

  regions(): Iterable<FakeRegion> {
    return this.list;
  }

  logBytes(): number {
    return this.logSize;
  }

  logHolders(): Iterable<FakeRegion> {
    return this.holders;
  }

  logRecords(): number {
    return this.queued;
  }

  untoldBytes(): number {
    return this.untold;
  }

  isUrgent(): boolean {
    return this.urgent;
  }

  isOverMemory(): boolean {
    return this.overMemory;
  }

  flushEnded(reason: string | undefined): void {
    this.outcomes.push(reason);
  }

  async flush(regions: readonly FakeRegion[]): Promise<ReadonlyMap<FakeRegion, unknown>> {
    this.flushed.push(regions.map(({ name }) => name).join("+"));
    for (const region of regions) {
      region.frozenBytes += region.activeBytes;
      region.activeBytes = 0;
      region.oldestWriteMillis = undefined;
    }
    if (this.gate !== undefined) await this.gate.promise;
    const failed = new Map<FakeRegion, unknown>();
    for (const region of regions) {
      if (this.failure !== undefined && (this.failing ?? region.name) === region.name) {
        failed.set(region, this.failure);
        continue;
      }
      region.frozenBytes = 0;
      if (this.holders.includes(region)) this.logSize = 0;
    }
    return failed;
  }
}

let nowMillis = 0;
const clock: Clock = {
  nowMillis: () => nowMillis,
  nowNanos: () => BigInt(nowMillis) * 1_000_000n,
  monotonicMillis: () => nowMillis,
};

beforeEach(() => {
  nowMillis = 1_000_000;
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

function schedulerOf(host: FakeHost, limits: Partial<FlushLimits> = {}): FlushScheduler<FakeRegion> {
  return new FlushScheduler({ ...LIMITS, ...limits }, host, new Scheduler(clock), silentLogger);
}

/** Lets promises that are due go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

async function pass(millis: number): Promise<void> {
  for (let left = millis; left > 0; left -= 100) {
    nowMillis += 100;
    jest.advanceTimersByTime(100);
    await settle();
  }
}

test("the largest table is flushed once all together reach the limit, and not before", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 400), new FakeRegion("b", 599));
  scheduler.written(999);
  await settle();
  expect(host.flushed).toEqual([]);
  host.list[0]!.activeBytes = 401;
  scheduler.written(16);
  await settle();
  expect(host.flushed).toEqual(["b"]);
});

test("one flush runs at a time, and what became due meanwhile follows", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 1500), new FakeRegion("b", 1200));
  scheduler.written(1000);
  scheduler.written(1000);
  await settle();
  expect(host.flushed).toEqual(["a"]);
  host.gate.resolve();
  await settle();
  expect(host.flushed).toEqual(["a", "b"]);
});

test("a table whose oldest row waited too long is flushed by the timer", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  const idle = new FakeRegion("idle", 10);
  idle.oldestWriteMillis = nowMillis;
  host.list.push(new FakeRegion("fresh", 20), idle);
  scheduler.start();
  await pass(60_000);
  expect(host.flushed).toEqual([]);
  await pass(2000);
  expect(host.flushed).toEqual(["idle"]);
  await scheduler.close();
});

test("without an idle limit nothing is flushed for its age", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host, { idleMillis: Number.POSITIVE_INFINITY });
  const old = new FakeRegion("old", 10);
  old.oldestWriteMillis = -1e12;
  host.list.push(old);
  scheduler.start();
  await pass(3000);
  expect(host.flushed).toEqual([]);
  await scheduler.close();
});

test("a long log flushes the tables that hold it", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("big", 500), new FakeRegion("holder", 1));
  host.holders = [host.list[1]!];
  host.logSize = 5000;
  scheduler.written(16);
  await settle();
  expect(host.flushed).toEqual(["holder"]);
});

test("small tables are flushed together, the largest first, up to half of the limit", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(...Array.from({ length: 10 }, (_, i) => new FakeRegion(String(i), 100 + i)));
  scheduler.written(1045);
  await settle();
  expect(host.flushed).toEqual(["9+8+7+6"]);
  host.gate.resolve();
  await settle();
  expect(host.flushed).toEqual(["9+8+7+6"]);
});

test("tables that waited too long, or hold the log, go together too; one that failed alone is tried again alone", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  const [a, b, c] = ["a", "b", "c"].map((name) => new FakeRegion(name, 10)) as [FakeRegion, FakeRegion, FakeRegion];
  host.list.push(a, b, c);
  host.holders = [a, c];
  host.logSize = 5000;
  host.failure = new Error("no space left");
  host.failing = "c";
  scheduler.written(16);
  await settle();
  host.failure = undefined;
  await pass(1100);
  expect(host.flushed).toEqual(["a+c", "c"]);
  for (const region of [a, b]) {
    region.activeBytes = 10;
    region.oldestWriteMillis = nowMillis - 61_000;
  }
  scheduler.written(16);
  await settle();
  expect(host.flushed.slice(2)).toEqual(["a+b"]);
});

test("a long log that nobody holds flushes nothing", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("big", 500));
  host.logSize = 50_000;
  scheduler.written(16);
  await settle();
  expect(host.flushed).toEqual([]);
});

test("a failed flush is tried again after one second, two, four, until it works", async () => {
  const host = new FakeHost();
  host.failure = new Error("no space left");
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 1500));
  scheduler.written(1500);
  await settle();
  expect(host.flushed).toEqual(["a"]);
  await pass(900);
  expect(host.flushed).toEqual(["a"]);
  await pass(200);
  expect(host.flushed.length).toBe(2);
  await pass(1800);
  expect(host.flushed.length).toBe(2);
  await pass(200);
  expect(host.flushed.length).toBe(3);
  host.failure = undefined;
  await pass(4000);
  expect(host.flushed.length).toBe(4);
  expect(host.list[0]!.memoryBytes).toBe(0);
  expect(host.outcomes).toEqual(["no space left", "no space left", "no space left", undefined]);
  await pass(10_000);
  expect(host.flushed.length).toBe(4);
});

test("a table that cannot be flushed does not keep others from it", async () => {
  const host = new FakeHost();
  host.failure = new Error("folder is read-only");
  host.failing = "bad";
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("bad", 1500), new FakeRegion("good", 1200));
  scheduler.written(2700);
  await settle();
  expect(host.flushed).toEqual(["bad", "good"]);
  expect(host.outcomes).toEqual(["folder is read-only"]); // One table still fails.
  host.list.shift(); // Dropped.
  await pass(1100);
  expect(host.outcomes).toEqual(["folder is read-only", undefined]);
});

test("a table that failed and has no rows in memory any more is no trouble: at once when others flush it, else by the timer", async () => {
  const host = new FakeHost();
  host.failure = new Error("no space left");
  const scheduler = schedulerOf(host);
  const [first, second] = [new FakeRegion("first", 1500), new FakeRegion("second", 1200)];
  host.list.push(first, second);
  scheduler.start();
  scheduler.written(2700);
  await settle();
  expect(host.outcomes).toEqual(["no space left", "no space left"]);
  scheduler.flushed(first); // Older rows: it has some left.
  first.frozenBytes = 0;
  scheduler.flushed(first);
  expect(host.outcomes).toHaveLength(2); // The other one still fails.
  second.frozenBytes = 0; // Truncated.
  await pass(1000);
  expect(host.outcomes).toEqual(["no space left", "no space left", undefined]);
  expect(host.flushed).toHaveLength(2);
  await scheduler.close();
});

test("memory is counted while a flush runs as well: slabs take more than what was written", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 1200));
  scheduler.written(1200);
  await settle();
  host.list.push(new FakeRegion("b", 900));
  scheduler.written(450);
  expect(scheduler.memoryBytes).toBe(2100);
  host.gate.resolve();
});

test("everything goes to files while the log is in trouble, largest first", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("small", 5), new FakeRegion("large", 50));
  scheduler.start();
  await pass(2000);
  expect(host.flushed).toEqual([]);
  host.urgent = true;
  await pass(1000);
  expect(host.flushed).toEqual(["large+small"]);
  await scheduler.close();
});

test("rows that ingest threads hold and have not told of take room as well", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.untold = LIMITS.writeBufferBytes + 1;
  const refused = refusal(scheduler.admit());
  await pass(LIMITS.stallMillis + 1000);
  expect((await refused).message).toContain(`${LIMITS.writeBufferBytes + 1} bytes are in memory, over the limit of 2000`);
  host.untold = LIMITS.writeBufferBytes;
  await scheduler.admit();
  await scheduler.close();
});

test("over the memory limit a memtable worth it is flushed early, and writers wait for other memory as well", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.overMemory = true;
  host.list.push(new FakeRegion("tiny", 62));
  let isAdmitted = false;
  const admitted = scheduler.admit().then(() => {
    isAdmitted = true;
  });
  await pass(500);
  expect([host.flushed, isAdmitted]).toEqual([[], false]);
  host.list.push(new FakeRegion("worth", 63));
  await pass(100);
  expect(host.flushed).toEqual(["worth"]);
  host.overMemory = false;
  await pass(100);
  await admitted;
  host.overMemory = true;
  const refused = refusal(scheduler.admit());
  await pass(3100);
  expect(await refused).toEqual({
    code: "RateLimited",
    message: "cannot take the write: the server is at its memory limit (memory.limit); try again later",
    retryAfterSeconds: 1,
  });
});

test("writers go on one at a time, in the order in which they came, as long as there is room", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  const region = new FakeRegion("a", 2500);
  host.list.push(region);
  scheduler.written(2500);
  const order: number[] = [];
  const writers = [1, 2, 3].map(async (n) => {
    await scheduler.admit();
    order.push(n);
    region.activeBytes += 1001; // Two of them fill the buffer again.
    scheduler.written(1001);
  });
  host.gate.resolve();
  host.gate = Promise.withResolvers();
  for (let i = 0; i < 10; i++) {
    await pass(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(order).toEqual([1, 2]);
  host.gate.resolve();
  host.gate = undefined;
  for (let i = 0; i < 10; i++) {
    await pass(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(writers);
  expect(order).toEqual([1, 2, 3]);
});

test("a writer whose client leaves stops to wait, and the next one moves up", async () => {
  const host = new FakeHost();
  host.overMemory = true;
  const scheduler = schedulerOf(host);
  const client = new AbortController();
  const gone = refusal(scheduler.admit(client.signal));
  const next = scheduler.admit();
  client.abort();
  expect((await gone).code).toBe("Cancelled");
  host.overMemory = false;
  await new Promise((resolve) => setImmediate(resolve));
  await pass(100);
  await next;
});

test("too many writes in the log's queue, or writers that wait, are refused at once", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.queued = LOG_QUEUE_RECORDS_MAX;
  expect(await refusal(scheduler.admit())).toMatchObject({
    code: "RateLimited",
    message: expect.stringContaining("wait for the log's disk"),
  });
  host.queued = 0;
  host.overMemory = true;
  const waiting = Array.from({ length: WRITERS_WAITING_MAX }, () => scheduler.admit());
  expect((await refusal(scheduler.admit())).message).toContain("4096 writers wait for memory already");
  const refused = Promise.allSettled(waiting);
  await pass(4000);
  expect((await refused).every(({ status }) => status === "rejected")).toBe(true);
});

test("writers are let in at once while there is room", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 10));
  scheduler.written(5000); // Counted again: in truth only ten bytes are in use.
  await scheduler.admit();
  expect(host.flushed).toEqual([]);
});

test("a writer waits for a flush and goes on", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 2500));
  scheduler.written(2500);
  let isAdmitted = false;
  const admitted = scheduler.admit().then(() => {
    isAdmitted = true;
  });
  await pass(1000);
  expect(isAdmitted).toBe(false);
  host.gate.resolve();
  await admitted;
  expect(isAdmitted).toBe(true);
});

test("a full buffer is flushed although each memtable is below its limit", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host, { memtableBytes: 100_000 });
  host.list.push(new FakeRegion("a", 1500), new FakeRegion("b", 1499));
  scheduler.written(2999);
  await scheduler.admit();
  expect(host.flushed).toEqual(["a"]);
});

test("a writer that waited as long as it may is refused, with the reason and when to come back", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 2500));
  scheduler.written(2500);
  const slow = refusal(scheduler.admit());
  await pass(3000);
  expect(await slow).toEqual({
    code: "RateLimited",
    message: "cannot take the write: 2500 bytes are in memory, over the limit of 2000; flushing cannot keep up; try again later",
    retryAfterSeconds: 1,
  });
  host.failure = new Error("no space left");
  host.gate.resolve();
  await pass(1000);
  const failing = refusal(scheduler.admit());
  await pass(3100);
  expect((await failing).message).toContain("the last flush failed: no space left");
});

test("closing waits for the running flush and starts no other", async () => {
  const host = new FakeHost();
  host.gate = Promise.withResolvers();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 1500), new FakeRegion("b", 1500));
  scheduler.start();
  scheduler.written(3000);
  let isClosed = false;
  const closed = scheduler.close().then(() => {
    isClosed = true;
  });
  await settle();
  expect(isClosed).toBe(false);
  host.gate.resolve();
  await closed;
  scheduler.written(3000);
  await pass(5000);
  expect(host.flushed).toEqual(["a"]);
});

test("a broken invariant is not taken for a failed flush", async () => {
  const host = new FakeHost();
  host.failure = new AssertionError("rows in = rows out");
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 2500));
  host.gate = Promise.withResolvers();
  scheduler.written(2500);
  const closed = scheduler.close();
  host.gate.resolve();
  let thrown: unknown;
  try {
    await closed;
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBe(host.failure);
});
