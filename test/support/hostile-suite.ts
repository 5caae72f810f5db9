/**
 * What a wire server must do about clients that break its protocol: every message of a session cut and changed at every byte, and random
 * changes by a seed. It may say what it likes; it must not hold such a client, take memory that a client only claims to need, break an
 * invariant, or stop serving others. Called by the protocol's own test file; `bun run test:fuzz wires` is the long form.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ClientBytes } from "./client-bytes.ts";
import type { WireFixture } from "./wire-fixture.ts";

/** A server, and a session that all that its protocol has comes up in. */
export interface HostileClients {
  /** Message by message; the first one is that of the sign-in. */
  readonly session: readonly Buffer[];
  /** Whether the session is a sign-in and nothing more: its first message goes wrong at random too. */
  readonly isSignIn?: boolean;
  /** Starts the server, with the tables that the session names. */
  readonly start: () => Promise<WireFixture>;
  /** Expects what the server answers to the whole session. */
  readonly understood: (port: number, session: Buffer) => Promise<void>;
  /** Expects that a client which keeps to the protocol is served. */
  readonly stillServes: (port: number) => Promise<void>;
}

/** Clients at a time. */
const AT_ONCE = 16;
/** Bytes by which the process may grow under random changes: 90 MiB are those of code that runs, and stay so up to 40,000 sessions. */
const GROWTH_BYTES_MAX: number = 256 * 1024 * 1024;

/** Declares the tests. */
export function testHostileClients({ session, isSignIn = false, start, understood, stillServes }: HostileClients): void {
  const whole = Buffer.concat(session);
  let server: WireFixture;

  beforeAll(async () => {
    server = await start();
  });

  afterAll(async () => {
    await server.stop();
  });

  /** Sends bytes and nothing more; the connection ends by the server or by us. */
  async function send(bytes: Uint8Array): Promise<void> {
    const client = await ClientBytes.connect(server.port);
    client.send(bytes);
    // What the server has to say comes at once, where it has something to say.
    await Promise.race([client.closed, Bun.sleep(2)]);
    client.end();
  }

  /** Sends many, some at a time; others are served after them. */
  async function survives(all: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(send));
    await stillServes(server.port);
    expect(server.bugs).toEqual([]);
  }

  test("the session itself is understood", () => understood(server.port, whole));

  test("cut at every byte", () => survives(Array.from(whole, (_, end) => whole.subarray(0, end))), 30_000);

  test("changed at every byte", async () => {
    for (const change of [0x00, 0xff, 0x80]) await survives(Array.from(whole, (_, at) => changedAt(whole, at, change)));
  }, 60_000);

  test("changed at random", async () => {
    const random = randomFrom(Number(process.env["VARVE_SEED"] ?? 7));
    const count = Number(process.env["VARVE_MUTATIONS"] ?? 500);
    const before = process.memoryUsage.rss();
    let most = before;
    for (let done = 0; done < count; done += AT_ONCE) {
      await survives(Array.from({ length: AT_ONCE }, () => mutated(session, random, isSignIn)));
      most = Math.max(most, process.memoryUsage.rss());
    }
    expect(most - before).toBeLessThan(GROWTH_BYTES_MAX);
  }, 600_000);
}

/** A copy with one byte changed. @param change the byte; 0x80: its highest bit turns */
function changedAt(whole: Buffer, at: number, change: number): Uint8Array {
  const changed = Buffer.from(whole);
  changed[at] = change === 0x80 ? (changed[at] ?? 0) ^ 0x80 : change;
  return changed;
}

/** Whole numbers in `[0, below)`, the same for the same seed. */
function randomFrom(start: number): (below: number) => number {
  let seed = start;
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

/** Bytes that say where a message ends, of either protocol, and one of what it says. */
const HEAD_BYTES = 5;

/**
 * The session without some of its messages, with up to two bytes changed in each other, or with some bytes behind it. In half of them heads
 * stay, so that all messages are read.
 *
 * @param isWhole the first message may go wrong like the others
 */
function mutated(session: readonly Buffer[], random: (below: number) => number, isWhole: boolean): Uint8Array {
  const kept = isWhole ? [] : session.slice(0, 1);
  const messages = session
    .slice(kept.length)
    .filter(() => random(4) > 0)
    .map((each) => Buffer.from(each));
  const keptBytes = random(2) * HEAD_BYTES;
  for (const each of messages) {
    if (each.length <= keptBytes) continue;
    for (let changes = random(3); changes > 0; changes--) each[keptBytes + random(each.length - keptBytes)] = random(256);
  }
  if (random(3) === 0) messages.push(Buffer.from(Array.from({ length: random(40) }, () => random(256))));
  return Buffer.concat([...kept, ...messages.filter(() => random(5) > 0)]);
}
