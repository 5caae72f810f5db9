import { expect, test } from "bun:test";
import { type BodyShare, InFlightBytes, type RejectReason } from "./in-flight.ts";

function make(bytesMax: number, waitMs = 10_000, waitersMax = 100): { readonly bytes: InFlightBytes; readonly rejects: RejectReason[] } {
  const rejects: RejectReason[] = [];
  return { rejects, bytes: new InFlightBytes({ bytesMax, waitMs, waitersMax, onRejected: (reason) => rejects.push(reason) }) };
}

/** A share that is there at once. */
async function taken(bytes: InFlightBytes, count: number): Promise<BodyShare> {
  const share = await bytes.acquire(count);
  if (share === undefined) throw new Error(`no room for ${count}`);
  return share;
}

test("admits up to the limit, and more once bytes are given back", async () => {
  const { bytes } = make(100);
  const first = await taken(bytes, 60);
  const second = await taken(bytes, 40);
  const late = bytes.acquire(50);
  second.release();
  first.release();
  expect((await late)?.bytes).toBe(50);
  first.release(); // Once is enough.
  expect(bytes.bytes).toBe(50);
});

test("refuses at once what can never fit, and in time what does not", async () => {
  const { bytes, rejects } = make(100, 10);
  expect(await bytes.acquire(101)).toBeUndefined();
  const all = await taken(bytes, 100);
  expect(await bytes.acquire(1)).toBeUndefined();
  all.release();
  await taken(bytes, 100);
  expect(rejects).toEqual(["too_large", "timeout"]);
});

test("small requests do not pass a large one that waits; when it gives up they follow", async () => {
  const { bytes } = make(100, 30);
  await taken(bytes, 50);
  const order: string[] = [];
  const large = bytes.acquire(80).then((share) => order.push(`large ${share !== undefined}`));
  const small = bytes.acquire(10).then((share) => order.push(`small ${share !== undefined}`));
  await Promise.all([large, small]);
  expect(order).toEqual(["large false", "small true"]);
});

test("without a wait a request is refused at once, and so is one too many that would wait", async () => {
  const failing = make(100, 0);
  await taken(failing.bytes, 100);
  expect(await failing.bytes.acquire(1)).toBeUndefined();
  const waiting = make(100, 20, 2);
  await taken(waiting.bytes, 100);
  const both = [waiting.bytes.acquire(1), waiting.bytes.acquire(1)];
  expect(await waiting.bytes.acquire(1)).toBeUndefined();
  expect([failing.rejects, waiting.rejects]).toEqual([["exhausted"], ["exhausted"]]);
  await Promise.all(both);
});

test("a client that leaves makes way, and what it waited for goes to the next", async () => {
  const { bytes, rejects } = make(100);
  const first = await taken(bytes, 50);
  const client = new AbortController();
  const gone = bytes.acquire(80, client.signal);
  const next = bytes.acquire(50);
  client.abort();
  expect(await gone).toBeUndefined();
  expect((await next)?.bytes).toBe(50);
  first.release();
  expect([bytes.bytes, rejects]).toEqual([50, []]);
});

test("a request that grows goes before those that wait to begin, up to twice the limit, then waits itself", async () => {
  const { bytes } = make(100);
  const [a, b] = [await taken(bytes, 50), await taken(bytes, 50)];
  const begins = bytes.acquire(10);
  expect(await a.resize(150)).toBe(true);
  expect(bytes.bytes).toBe(200);
  let isGrown = false;
  const grows = b.resize(100).then((grown) => {
    isGrown = grown;
  });
  await Bun.sleep(1);
  expect(isGrown).toBe(false);
  expect(await a.resize(20)).toBe(true);
  await grows;
  expect([isGrown, bytes.bytes]).toEqual([true, 120]);
  b.release();
  expect((await begins)?.bytes).toBe(10);
});

test("growth that never fits, or not in time, is refused, and the share is as it was", async () => {
  const { bytes, rejects } = make(100, 10);
  const share = await taken(bytes, 100);
  expect(await share.resize(301)).toBe(false);
  const other = bytes.acquire(1);
  expect(await share.resize(250)).toBe(false);
  expect([share.bytes, bytes.bytes]).toEqual([100, 100]);
  await other;
  expect(rejects).toEqual(["too_large", "timeout", "timeout"]);
});

test("without a limit nothing waits, and bytes are still counted", async () => {
  const { bytes } = make(0, 10);
  const share = await taken(bytes, 1e15);
  expect(await share.resize(2e15)).toBe(true);
  expect(bytes.bytes).toBe(2e15);
  share.release();
  expect(bytes.bytes).toBe(0);
});

test("a body's memory is freed when its reader says so, and is left alone otherwise", async () => {
  const { bytes } = make(100);
  const [done, failed] = [await taken(bytes, 50), await taken(bytes, 50)];
  const [read, perhapsRead] = [new Uint8Array(1 << 20), new Uint8Array(1 << 20)];
  done.hold(read);
  done.freeBody();
  done.freeBody();
  done.release();
  failed.hold(perhapsRead);
  failed.release();
  failed.freeBody();
  expect([read.length, perhapsRead.length, bytes.bytes]).toEqual([0, 1 << 20, 0]);
});

test.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY])("%p is no number of bytes: it is refused and stops nobody", async (bytes) => {
  for (const bytesMax of [0, 100]) {
    const { bytes: inFlight, rejects } = make(bytesMax);
    expect(await inFlight.acquire(bytes)).toBeUndefined();
    const share = await taken(inFlight, 10);
    expect(await share.resize(bytes)).toBe(false);
    expect([share.promise(bytes), share.takeAhead(bytes)]).toEqual([false, false]);
    expect([inFlight.bytes, rejects[0]]).toEqual([10, "too_large"]);
    expect((await inFlight.acquire(5))?.bytes).toBe(5);
  }
});

test("who needs nothing waits for nobody", async () => {
  const { bytes } = make(100, 10_000, 1);
  const all = await taken(bytes, 100);
  const waits = bytes.acquire(1);
  expect((await bytes.acquire(0))?.bytes).toBe(0);
  all.release();
  expect((await waits)?.bytes).toBe(1);
});

test("a client that has left does not wait", async () => {
  const { bytes } = make(100);
  await taken(bytes, 100);
  expect(await bytes.acquire(1, AbortSignal.abort())).toBeUndefined();
});

test("the oldest body that comes in goes on where such bodies alone fill the limit, the others wait for it", async () => {
  const { bytes } = make(100);
  const [a, b] = [await taken(bytes, 50), await taken(bytes, 50)];
  for (const share of [a, b]) share.comesIn();
  const younger = b.resize(60);
  expect(await a.resize(100)).toBe(true);
  expect(bytes.bytes).toBe(150);
  a.cameIn();
  a.release();
  expect(await younger).toBe(true);
  expect(bytes.bytes).toBe(60);
});

test("a share that was given back while it waited takes nothing any more", async () => {
  const { bytes } = make(100);
  const [a, b] = [await taken(bytes, 50), await taken(bytes, 50)];
  const grows = b.resize(150);
  const more = a.resize(200);
  b.release();
  a.release();
  expect([await grows, await more, bytes.bytes]).toEqual([false, false, 0]);
});

test("the next oldest goes on when the oldest has ended, whoever waited before it", async () => {
  const { bytes, rejects } = make(100);
  const [a, b, c] = [await taken(bytes, 34), await taken(bytes, 33), await taken(bytes, 33)];
  for (const share of [a, b, c]) share.comesIn();
  const last = c.resize(66);
  const next = b.resize(43);
  a.release();
  expect([await next, bytes.bytes]).toEqual([true, 76]);
  b.release();
  expect([await last, bytes.bytes, rejects]).toEqual([true, 66, []]);
});
