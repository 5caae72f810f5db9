/**
 * Runs statements that ask for much work against a real server, one after the other, and prints for each how long a probe of `/health`
 * waited beside it, how it ended, and the most memory that the process held.
 *
 *   bun run test:hostile [--only part of a name] [--scale 0.1] [--timeout seconds]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { TestServer } from "../support/server-process.ts";
import { HOSTILE_SETUP, hostileStatements } from "./hostile-statements.ts";
import type { HostileStatement } from "./hostile-texts.ts";
import type { ProbeCommand, ProbeResult } from "./hostile-probe.ts";

/** Work of the main thread within one wait that is shown as too much. */
const WORK_MS_MAX = 50;
/** Memory limit of the server. */
const MEMORY_LIMIT_MIB = 1024;

/** How a statement went. */
interface Outcome extends ProbeResult {
  readonly status: string;
  readonly seconds: number;
  readonly peakMiB: number;
}

function peakOf(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return Number(kib) / 1024;
}

async function outcomeOf({ sql }: HostileStatement, server: TestServer, probe: Worker, timeoutSeconds: number): Promise<Outcome> {
  const { pid } = server.running;
  writeFileSync(`/proc/${pid}/clear_refs`, "5"); // the peak counts from here
  const result = new Promise<ProbeResult>((resolve) => {
    probe.onmessage = ({ data }: MessageEvent<ProbeResult>) => resolve(data);
  });
  probe.postMessage({ kind: "begin", url: server.url, pid } satisfies ProbeCommand);
  const begun = performance.now();
  const status = await statusOf(server.url, sql, timeoutSeconds);
  const seconds = (performance.now() - begun) / 1000;
  probe.postMessage({ kind: "end" } satisfies ProbeCommand);
  return { ...(await result), status, seconds, peakMiB: peakOf(pid) };
}

async function statusOf(url: string, sql: string, timeoutSeconds: number): Promise<string> {
  try {
    const response = await fetch(`${url}/v1/sql`, {
      method: "POST",
      body: new URLSearchParams({ sql }),
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    });
    const text = await response.text();
    const error = /"error":"((?:[^"\\]|\\.)*)"/.exec(text.slice(0, 100_000))?.[1];
    return error === undefined ? String(response.status) : `${response.status} ${error.slice(0, 110)}`;
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function line(name: string, { wallMs, workMs, status, seconds, peakMiB, questions }: Outcome): string {
  const isSlow = workMs > WORK_MS_MAX ? "!" : " ";
  const figures = [workMs.toFixed(0), wallMs.toFixed(0), seconds.toFixed(2), peakMiB.toFixed(0), String(questions)];
  return `${isSlow} ${name.slice(0, 60).padEnd(60)} ${figures.map((each) => each.padStart(7)).join("")}  ${status}\n`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, scale: { type: "string", default: "1" }, timeout: { type: "string", default: "60" } },
  });
  const config = `[memory]\nlimit = "${MEMORY_LIMIT_MIB}MiB"\n`;
  let server = await TestServer.start({ config });
  const probe = new Worker(new URL("hostile-probe.ts", import.meta.url).href);
  let slow = 0;
  try {
    for (const sql of HOSTILE_SETUP) await statusOf(server.url, sql, 10);
    process.stdout.write(`  ${"statement".padEnd(60)}    work   wall seconds    peak  probes  answer   (ms, ms, s, MiB)\n`);
    for (const statement of hostileStatements(Number(values.scale))) {
      if (values.only !== undefined && !statement.name.includes(values.only)) continue;
      const outcome = await outcomeOf(statement, server, probe, Number(values.timeout));
      if (outcome.workMs > WORK_MS_MAX) slow++;
      process.stdout.write(line(statement.name, outcome));
      const alive = await fetch(`${server.url}/health`, { signal: AbortSignal.timeout(5000) }).then(
        (answer) => answer.ok,
        () => false,
      );
      if (alive) continue;
      process.stdout.write("  the server does not answer; a new one is started\n");
      await server.end();
      server = await TestServer.start({ config });
      for (const sql of HOSTILE_SETUP) await statusOf(server.url, sql, 10);
    }
    process.stdout.write(`${slow} statements held the thread for more than ${WORK_MS_MAX} ms\n`);
  } finally {
    probe.terminate();
    await server.end();
  }
  return slow === 0 ? 0 : 1;
}

if (import.meta.main) process.exit(await main());
