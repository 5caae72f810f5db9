/**
 * More clients than descriptors, in long: connections that are silent, idle, and in the middle of a head and of a body that trickles, each
 * of which comes back when it is dropped, beside writers at work and questions to `/health` on new connections.
 *
 *   bun run test:crowd [--descriptors 1024] [--connections 1100] [--seconds 20] [--threads 1]
 *
 * It fails unless the process lives, no writer is dropped, every acknowledged row is there, and `/health` answers in time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { Crowd, HeldWriter, UNFINISHED, withDescriptors } from "./crowd.ts";

const WRITERS = 4;
/** Longest answer of `/health` that is no failure. */
const HEALTH_MS_MAX = 100;
const HEALTH_EVERY_MS = 25;
/** How often a byte is added to each body that trickles. */
const TRICKLE_MS = 500;

/** Milliseconds that each thread of a process was ready to run, and others had the processors. */
function queuedMs(pid: number): ReadonlyMap<string, number> {
  const folder = `/proc/${pid}/task`;
  return new Map(readdirSync(folder).map((tid) => [tid, Number(readFileSync(`${folder}/${tid}/schedstat`, "utf8").split(" ")[1]) / 1e6]));
}

/** The most that one thread waited for a processor meanwhile. */
function queuedSince(pid: number, before: ReadonlyMap<string, number>): number {
  return Math.max(0, ...[...queuedMs(pid)].map(([tid, ms]) => ms - (before.get(tid) ?? ms)));
}

/**
 * How long new connections waited for `/health`, in order, less what the server and this process waited for a processor: another load of
 * the machine is no fault of theirs. One that was not answered waited for ever.
 */
async function askHealth({ url, running }: TestServer, untilMs: number): Promise<readonly number[]> {
  const waits: number[] = [];
  while (performance.now() < untilMs) {
    const [begun, servers, own] = [performance.now(), queuedMs(running.pid), queuedMs(process.pid)];
    const isAnswered = await fetch(`${url}/health`, { keepalive: false, signal: AbortSignal.timeout(5000) }).then(
      async (response) => (await response.text()) !== "" && response.ok,
      () => false,
    );
    const wait = performance.now() - begun - queuedSince(running.pid, servers) - queuedSince(process.pid, own);
    waits.push(isAnswered ? Math.max(0, wait) : Number.POSITIVE_INFINITY);
    await Bun.sleep(HEALTH_EVERY_MS);
  }
  return waits.sort((a, b) => a - b);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      descriptors: { type: "string", default: "1024" },
      connections: { type: "string", default: "1100" },
      seconds: { type: "string", default: "20" },
      threads: { type: "string", default: "1" },
    },
  });
  const wrapper = withDescriptors(Number(values.descriptors));
  const server = await TestServer.start({ config: `[ingest]\nthreads = ${Number(values.threads)}\n`, wrapper });
  const wrong: string[] = [];
  try {
    const port = Number(new URL(server.url).port);
    const writers = Array.from({ length: WRITERS }, (_, i) => new HeldWriter(port, `held_${i}`));
    while (writers.some(({ acknowledged }) => acknowledged < 10)) await Bun.sleep(10);
    const kinds = Object.entries(UNFINISHED);
    const crowds = kinds.map(([, text]) => new Crowd(port, Math.ceil(Number(values.connections) / kinds.length), text, true));
    const trickle = setInterval(() => crowds.at(-1)?.say("x"), TRICKLE_MS);
    const waits = await askHealth(server, performance.now() + Number(values.seconds) * 1000);
    clearInterval(trickle);
    for (const [i, writer] of writers.entries()) {
      await writer.stop();
      if (writer.failure !== undefined) wrong.push(`writer ${i}: ${writer.failure}`);
    }
    const dropped = crowds.map(({ closed }, i) => `${closed} ${kinds[i]?.[0]}`).join(", ");
    for (const crowd of crowds) crowd.leave();
    await Bun.sleep(500); // until the server knows that they have left
    for (const [i, { acknowledged }] of writers.entries()) {
      const { rows } = await queryRows(server.url, `SELECT count(*) FROM held_${i}`);
      if (Number(rows[0]?.[0]) !== acknowledged) wrong.push(`writer ${i}: ${acknowledged} acknowledged, ${String(rows[0]?.[0])} there`);
    }
    const worst = waits.at(-1) ?? Number.POSITIVE_INFINITY;
    if (worst > HEALTH_MS_MAX) wrong.push(`/health took ${worst.toFixed(0)} ms, more than ${HEALTH_MS_MAX}`);
    if (server.log().includes("broken invariant")) wrong.push("the log tells of a broken invariant");
    const part = (of: number): string => (waits[Math.floor(waits.length * of)] ?? Number.NaN).toFixed(1);
    const acknowledged = writers.reduce((sum, each) => sum + each.acknowledged, 0);
    process.stdout.write(`/health: ${waits.length} answers, p50 ${part(0.5)} ms, p99 ${part(0.99)} ms, longest ${worst.toFixed(1)} ms\n`);
    process.stdout.write(`writers: ${acknowledged} rows acknowledged\ndropped: ${dropped}\n`);
  } finally {
    await server.end();
  }
  process.stdout.write(`${wrong.length === 0 ? "all as it should be" : wrong.join("\n")}\n`);
  return wrong.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exit(await main());
