import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { refusal } from "../../test/engine/lines.ts";
import { AssertionError } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { epochMillis, epochNanos } from "../base/units.ts";
import { silentLogger } from "../base/log.ts";
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

  async flush(region: FakeRegion): Promise<void> {
    this.flushed.push(region.name);
    region.frozenBytes += region.activeBytes;
    region.activeBytes = 0;
    region.oldestWriteMillis = undefined;
    if (this.gate !== undefined) await this.gate.promise;
    if (this.failure !== undefined) throw this.failure;
    region.frozenBytes = 0;
    if (this.holders.includes(region)) this.logSize = 0;
  }
}

let nowMillis = 0;
const clock: Clock = {
  nowMillis: () => epochMillis(nowMillis),
  nowNanos: () => epochNanos(BigInt(nowMillis) * 1_000_000n),
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
  return new FlushScheduler({ ...LIMITS, ...limits }, host, clock, silentLogger);
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

test("a long log that nobody holds flushes nothing", async () => {
  const host = new FakeHost();
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("big", 500));
  host.logSize = 50_000;
  scheduler.written(16);
  await settle();
  expect(host.flushed).toEqual([]);
});

test("a failed flush is tried again after a second, until it works", async () => {
  const host = new FakeHost();
  host.failure = new Error("no space left");
  const scheduler = schedulerOf(host);
  host.list.push(new FakeRegion("a", 1500));
  scheduler.written(1500);
  await settle();
  expect(host.flushed).toEqual(["a"]);
  await pass(900);
  expect(host.flushed).toEqual(["a"]);
  await pass(1200);
  expect(host.flushed).toEqual(["a", "a", "a"]);
  host.failure = undefined;
  await pass(1000);
  expect(host.flushed.length).toBe(4);
  expect(host.list[0]!.memoryBytes).toBe(0);
  await pass(3000);
  expect(host.flushed.length).toBe(4);
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
