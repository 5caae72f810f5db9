/**
 * What every log must do, whatever it is made of. A fixture is one place where logs are opened one after another.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { errorOf, failureOf } from "../support/failure-of.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { SEGMENT_HEADER_BYTES } from "../../src/storage/wal/record-header.ts";
import type { Wal, WalRecoveryReport } from "../../src/storage/wal/wal.ts";

/** One log on a disk that obeys the test. */
export interface WalFixture {
  /** Not recovered yet. */
  readonly wal: Wal;
  hold(): void;
  release(): void;
  failNextWrite(why: string): void;
  failNextSync(why: string): void;
  /** The disk works again; resolves when the log has noticed. */
  heal(): Promise<void>;
  /** Power is lost; answers the log that the next start opens. */
  crash(): Promise<WalFixture>;
  /** Ends everything; nothing stays. */
  dispose(): Promise<void>;
}

/** Makes an empty log whose segments hold `segmentBytes`. */
export type MakeWal = (segmentBytes: number) => Promise<WalFixture>;

/** A record as the contract reads it back. */
interface Seen {
  readonly segment: number;
  readonly sequence: number;
  readonly text: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LARGE = 1024 * 1024;

/** Runs the contract. `skips` names tests that cannot hold for an implementation, each with the reason. */
export function walContract(name: string, make: MakeWal, skips: Readonly<Record<string, string>> = {}): void {
  const fixtures: WalFixture[] = [];
  const open = async (segmentBytes = LARGE): Promise<WalFixture> => {
    const fixture = await make(segmentBytes);
    fixtures.push(fixture);
    await fixture.wal.recover(() => undefined);
    return fixture;
  };
  const reopen = async (fixture: WalFixture): Promise<{ fixture: WalFixture; seen: Seen[]; report: WalRecoveryReport }> => {
    const next = await fixture.crash();
    fixtures.push(next);
    const seen: Seen[] = [];
    const report = await next.wal.recover(({ segment, sequence, payload }) => {
      seen.push({ segment, sequence, text: decoder.decode(payload) });
    });
    return { fixture: next, seen, report };
  };
  const it = (title: string, body: () => Promise<void>): void => {
    const reason = skips[title];
    if (reason === undefined) test(title, body);
    else test.skip(`${title} (${reason})`, body);
  };

  describe(`${name} as a log`, () => {
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.dispose();
    });
    recordsComeBack(it, open, reopen);
    segmentsGo(it, open, reopen);
    failuresAreTold(it, open, reopen);
    endsWell(it, open, reopen);
  });
}

type It = (title: string, body: () => Promise<void>) => void;
type Open = (segmentBytes?: number) => Promise<WalFixture>;
type Reopen = (fixture: WalFixture) => Promise<{ fixture: WalFixture; seen: Seen[]; report: WalRecoveryReport }>;

/** Appends one record and answers its segment once it is durable. */
async function put(wal: Wal, sequence: number, ...parts: readonly string[]): Promise<number> {
  const segment = wal.beginRecord();
  await wal.append(
    sequence,
    parts.map((part) => encoder.encode(part)),
  );
  return segment;
}

function recordsComeBack(it: It, open: Open, reopen: Reopen): void {
  it("is empty at first", async () => {
    const { wal } = await open();
    expect(wal.segments()).toEqual([]);
    expect(wal.failure()).toBeUndefined();
  });

  it("gives records back in order, with their sequences and segment", async () => {
    const fixture = await open();
    const segments = [await put(fixture.wal, 1, "one"), await put(fixture.wal, 2, "tw", "", "o"), await put(fixture.wal, 9, "")];
    const { seen, report } = await reopen(fixture);
    expect(seen.map(({ sequence, text }) => [sequence, text])).toEqual([
      [1, "one"],
      [2, "two"],
      [9, ""],
    ]);
    expect(seen.map(({ segment }) => segment)).toEqual(segments);
    expect(report).toEqual({ segments: 1, records: 3, bytes: 6, tornTailBytes: 0, lostBytes: 0, lostSegments: 0, gaps: [] });
  });

  it("keeps sequences up to 2^53 - 1", async () => {
    const fixture = await open();
    for (const sequence of [1, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) await put(fixture.wal, sequence, "x");
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER]);
  });

  it("answers in the order of the appends, and a record of many parts is one", async () => {
    const fixture = await open();
    const answers: number[] = [];
    const all = Array.from({ length: 50 }, async (_, i) => {
      const parts = Array.from({ length: i === 20 ? 2500 : 2 }, () => `${i}.`);
      await put(fixture.wal, i + 1, ...parts);
      answers.push(i);
    });
    await Promise.all(all);
    expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => i));
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(seen[20]?.text).toBe("20.".repeat(2500));
  });

  it("acknowledges nothing before it is durable, and then keeps it", async () => {
    const fixture = await open();
    await put(fixture.wal, 1, "kept");
    fixture.hold();
    let acknowledged = false;
    void put(fixture.wal, 2, "lost").then(() => {
      acknowledged = true;
    });
    await Bun.sleep(5);
    expect(acknowledged).toBe(false);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ text }) => text)).toEqual(["kept"]);
    expect(acknowledged).toBe(false);
  });

  it("waits for the reader of each record", async () => {
    const fixture = await open();
    for (const sequence of [1, 2, 3]) await put(fixture.wal, sequence, "x");
    const next = await fixture.crash();
    const events: string[] = [];
    await next.wal.recover(async ({ sequence }) => {
      events.push(`begin ${sequence}`);
      await Bun.sleep(0);
      events.push(`end ${sequence}`);
    });
    expect(events).toEqual(["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
    await next.dispose();
  });

  it("stops recovery with the reader's error", async () => {
    const fixture = await open();
    await put(fixture.wal, 1, "x");
    const next = await fixture.crash();
    const recovery = next.wal.recover(() => {
      throw new Error("no room");
    });
    expect((await errorOf(recovery)).message).toContain("no room");
    await next.dispose();
  });
}

function segmentsGo(it: It, open: Open, reopen: Reopen): void {
  it("starts a new segment when one is full, and only then", async () => {
    const { wal } = await open(216);
    expect(wal.beginRecord()).toBe(wal.beginRecord());
    const segments: number[] = [];
    for (let i = 1; i <= 6; i++) segments.push(await put(wal, i, "y".repeat(60)));
    expect(segments).toEqual([1, 1, 2, 2, 3, 3]);
    expect(wal.segments().map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(wal.segments().every(({ bytes }) => bytes === SEGMENT_HEADER_BYTES + 2 * (32 + 60))).toBe(true);
  });

  it("puts a record longer than a segment into one", async () => {
    const fixture = await open(100);
    expect(await put(fixture.wal, 1, "z".repeat(5000))).toBe(1);
    expect(await put(fixture.wal, 2, "after")).toBe(2);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ text }) => text.length)).toEqual([5000, 5]);
  });

  it("writes a group over several segments in order", async () => {
    const fixture = await open(100);
    fixture.hold();
    const all = Promise.all([1, 2, 3, 4, 5].map((i) => put(fixture.wal, i, "y".repeat(90))));
    fixture.release();
    expect(await all).toEqual([1, 2, 3, 4, 5]);
    expect((await reopen(fixture)).seen.map(({ segment, sequence }) => [segment, sequence])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ]);
  });

  it("continues in a new segment after a start", async () => {
    const fixture = await open();
    await put(fixture.wal, 1, "a");
    const second = await reopen(fixture);
    expect(await put(second.fixture.wal, 2, "b")).toBe(2);
    const third = await reopen(second.fixture);
    expect(third.seen.map(({ segment, text }) => [segment, text])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  it("trims whole segments from the oldest on, never the one being written", async () => {
    const fixture = await open(100);
    for (let i = 1; i <= 4; i++) await put(fixture.wal, i, "y".repeat(90));
    await fixture.wal.trim(1);
    expect(fixture.wal.segments().map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    await fixture.wal.trim(3);
    expect(fixture.wal.segments().map(({ id }) => id)).toEqual([3, 4]);
    await Promise.all([fixture.wal.trim(1000), fixture.wal.trim(1000)]);
    expect(fixture.wal.segments().map(({ id }) => id)).toEqual([4]);
    const { fixture: next, seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([4]);
    await next.wal.trim(1000);
    expect(next.wal.segments()).toEqual([]);
    expect(await put(next.wal, 5, "x")).toBe(5);
  });

  it("an ended segment takes no more records, also while some wait to be written", async () => {
    const fixture = await open();
    fixture.hold();
    const waiting = put(fixture.wal, 1, "one");
    fixture.wal.endSegment();
    const next = put(fixture.wal, 2, "two");
    fixture.release();
    expect(await Promise.all([waiting, next, put(fixture.wal, 3, "three")])).toEqual([1, 2, 2]);
    expect((await reopen(fixture)).seen.map(({ segment }) => segment)).toEqual([1, 2, 2]);
  });

  it("a rotated segment can be trimmed, and the next record starts another", async () => {
    const fixture = await open();
    await put(fixture.wal, 1, "one");
    await fixture.wal.trim(1000);
    expect(fixture.wal.segments().map(({ id }) => id)).toEqual([1]);
    await fixture.wal.rotate();
    await fixture.wal.trim(1000);
    expect(fixture.wal.segments()).toEqual([]);
    expect(await put(fixture.wal, 2, "two")).toBe(2);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([2]);
  });

  it("does not rotate under records that wait to be written", async () => {
    const fixture = await open();
    fixture.hold();
    const waiting = put(fixture.wal, 1, "one");
    await fixture.wal.rotate();
    fixture.release();
    expect(await waiting).toBe(1);
    expect(await put(fixture.wal, 2, "two")).toBe(1);
  });
}

function failuresAreTold(it: It, open: Open, reopen: Reopen): void {
  it("rejects a failed write and what was queued behind it for the segment, and goes on in the next", async () => {
    const fixture = await open();
    const { wal } = fixture;
    await put(wal, 1, "before");
    fixture.hold();
    fixture.failNextWrite("no space left");
    const failed = put(wal, 2, "in the group");
    await Bun.sleep(0);
    const queued = put(wal, 3, "behind it");
    const outcomes = Promise.allSettled([failed, queued]);
    fixture.release();
    for (const outcome of await outcomes) expect(outcome.status).toBe("rejected");
    const error = await failureOf(failed);
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    expect(error.message).toBe("cannot write to the log: no space left");
    expect(wal.failure()).toBeUndefined();
    expect(await put(wal, 4, "after")).toBe(2);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence, segment }) => [sequence, segment])).toEqual([
      [1, 1],
      [4, 2],
    ]);
  });

  it("survives a failure of its first write", async () => {
    const fixture = await open();
    fixture.failNextWrite("no space left");
    await failureOf(put(fixture.wal, 1, "x"));
    expect(await put(fixture.wal, 2, "y")).toBe(2);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([2]);
  });

  it("takes nothing more after a failed sync until its disk works, then goes on by itself, without what it refused", async () => {
    const fixture = await open();
    const { wal } = fixture;
    await put(wal, 1, "before");
    fixture.failNextSync("input/output error");
    const first = await failureOf(put(wal, 2, "unknown"));
    expect(first.message).toContain("cannot sync the log: input/output error");
    expect(wal.failure()).toContain("cannot sync the log: input/output error");
    const second = await failureOf(put(wal, 3, "refused"));
    expect([second.code, second.message]).toEqual([StatusCode.StorageUnavailable, first.message]);
    await fixture.heal();
    expect(wal.failure()).toBeUndefined();
    expect(await put(wal, 4, "works again")).toBeGreaterThan(1);
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([1, 4]);
  });

  it("may be opened again after a failed sync", async () => {
    const fixture = await open();
    await put(fixture.wal, 1, "before");
    fixture.failNextSync("input/output error");
    await failureOf(put(fixture.wal, 2, "unknown"));
    const { seen, fixture: next } = await reopen(fixture);
    expect(seen[0]?.text).toBe("before");
    expect(next.wal.failure()).toBeUndefined();
    await put(next.wal, 4, "works");
  });

  it("says what waits to be written, and that nothing does any more", async () => {
    const fixture = await open();
    expect(fixture.wal.queued()).toEqual({ records: 0, bytes: 0 });
    fixture.hold();
    const writes = [put(fixture.wal, 1, "one"), put(fixture.wal, 2, "two")];
    expect(fixture.wal.queued()).toEqual({ records: 2, bytes: 2 * (32 + 3) });
    fixture.release();
    await Promise.all(writes);
    await Bun.sleep(0);
    expect(fixture.wal.queued()).toEqual({ records: 0, bytes: 0 });
    fixture.failNextWrite("no space left");
    await failureOf(put(fixture.wal, 3, "x"));
    await Bun.sleep(0);
    expect(fixture.wal.queued()).toEqual({ records: 0, bytes: 0 });
  });
}

function endsWell(it: It, open: Open, reopen: Reopen): void {
  it("writes what is queued before it closes, and refuses what comes later", async () => {
    const fixture = await open();
    const { wal } = fixture;
    const writes = [1, 2, 3].map((i) => put(wal, i, "x"));
    await wal.close();
    await Promise.all(writes);
    expect((await failureOf(put(wal, 4, "late"))).message).toContain("closed");
    await wal.close();
    const { seen } = await reopen(fixture);
    expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it("wants to be recovered before it is used, once", async () => {
    const fixture = await open();
    expect((await errorOf(fixture.wal.recover(() => undefined))).message).toContain("recovered once");
    const next = await fixture.crash();
    expect(() => next.wal.beginRecord()).toThrow("recovered before");
    await next.dispose();
  });
}
