/**
 * Messages of the native interface from their bytes to the disk, in process: `bun src/server/grpc/services/greptime-database.bench.ts`.
 *
 * Messages of 1,000 rows of 10 columns (bench/macro/native-bodies.ts), written by 8 senders at a time as 8 connections do, and by 8
 * streams; the log and the files are on the disk of the system's temporary folder. Then one message of 64 MiB, and how long it held the
 * thread. CPU is that of all threads; the best of some rounds, since a machine that others use shows it least.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { columnsBody, rowsBody } from "../../../../bench/macro/native-bodies.ts";
import { openLocalEngine } from "../../../../test/engine/local-engine.ts";
import { systemClock } from "../../../base/clock.ts";
import { ServerMemory } from "../../../base/memory/server-memory.ts";
import { MetricRegistry } from "../../../base/metrics.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { LocalDb } from "../../../db/local-db.ts";
import { BearerTokens } from "../bearer-tokens.ts";
import { Call } from "../call.ts";
import { GrpcMetrics } from "../grpc-metrics.ts";
import { greptimeDatabase } from "./greptime-database.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 10 : 1000;
const MESSAGES: number = SMALL ? 16 : 400;
const ROUNDS: number = SMALL ? 1 : 8;
const SENDERS = 8;
const LARGE_BYTES: number = SMALL ? 3 << 20 : 64 << 20;

const home = await mkdtemp(join(tmpdir(), "varve-grpc-bench-"));
const { engine } = await openLocalEngine(home, { sync: "always", segmentBytes: 128 << 20 }, { pageCacheBytes: 64 << 20 });
const scheduler = new Scheduler();
const db = new LocalDb(engine, scheduler, { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const memory = new ServerMemory(Number.POSITIVE_INFINITY);
const settings = { autoCreateTable: true, influx: { defaultMergeMode: "last_non_null" } };
const door = greptimeDatabase({ db, clock: systemClock, scheduler, memory, ...settings });
const metrics = new GrpcMetrics(new MetricRegistry(), () => 0);
const tokens = new BearerTokens(() => 0, 1);

function newCall(): Call {
  const { signal } = new AbortController();
  const context = { path: "/greptime.v1.GreptimeDatabase/Handle", client: "127.0.0.1:1", signal };
  return new Call({ db, logins: undefined, tokens, metrics }, { ...context, headers: new Headers(), answerHeaders: new Headers() });
}

const request = (member: number, body: Uint8Array): Uint8Array => new BinaryWriter().tag(member, 2).bytes(body).finish();
const rows: readonly Uint8Array[] = Array.from({ length: MESSAGES }, (_, i) => request(6, rowsBody(i, ROWS)));
const columns: readonly Uint8Array[] = Array.from({ length: MESSAGES }, (_, i) => request(2, columnsBody(i, ROWS)));

async function oneByOne(messages: readonly Uint8Array[]): Promise<void> {
  for (const message of messages) await door.run(message, newCall());
}

async function asStream(messages: readonly Uint8Array[]): Promise<void> {
  const method = door.service.methods.get("handleRequests");
  if (method === undefined || typeof method === "function" || !("raw" in method)) throw new Error("the stream's method takes bytes");
  const sent = (async function* () {
    yield* messages;
  })();
  await method.raw(sent, newCall());
}

const parts = (messages: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] =>
  Array.from({ length: SENDERS }, (_, sender) => messages.filter((__, i) => i % SENDERS === sender));

const CASES = [
  ["rows", rows, oneByOne],
  ["columns", columns, oneByOne],
  ["row streams", rows, asStream],
] as const;

for (const [name, messages, send] of CASES) {
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = process.cpuUsage();
    const started = performance.now();
    await Promise.all(parts(messages).map(send));
    const millis = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    rates.push((MESSAGES * ROWS) / millis);
    costs.push((user + system) / MESSAGES / ROWS);
  }
  const figures = `${Math.max(...rates).toFixed(0)}k rows/s, ${Math.min(...costs).toFixed(2)} us of CPU a row`;
  process.stdout.write(`${name}: ${SMALL ? "ran once" : figures}\n`);
}

/** Milliseconds that a message takes, and the longest that it holds the thread. */
async function held(message: Uint8Array): Promise<readonly [took: number, longest: number]> {
  let longest = 0;
  const started = performance.now();
  let last = started;
  const beat = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await door.run(message, newCall());
  const took = performance.now() - started;
  await Bun.sleep(5);
  clearInterval(beat);
  return [took, longest];
}

const one = rowsBody(1, ROWS); // Of a member that is repeated, and may come in parts.
const large = request(6, Buffer.concat(new Array<Uint8Array>(Math.ceil(LARGE_BYTES / one.length)).fill(one)));
const times: (readonly [number, number])[] = [];
for (let round = 0; round < ROUNDS; round++) times.push(await held(large));
const least = (at: 0 | 1): string => Math.min(...times.map((each) => each[at])).toFixed(0);
const figures = SMALL ? "ran once" : `${least(0)} ms, the thread held ${least(1)} ms at most`;
process.stdout.write(`a message of ${large.length >> 20} MiB: ${figures}\n`);
await engine.close();
await rm(home, { recursive: true });
process.exit(0);
