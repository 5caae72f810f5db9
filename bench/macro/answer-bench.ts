/**
 * Memory and time of one large answer in each format: `bun bench/macro/answer-bench.ts [rows]` (1,600,000 rows of 11 columns, as
 * TSBS' high-cpu-all gives). The client reads as fast as it can and keeps nothing; then the same with a client that reads slowly, and the
 * same query sorted with so little memory that it goes over the disk.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import { killAllServers, startVarve } from "./server-process.ts";

const ROWS_PER_BATCH = 10_000;
const HOSTS = 4000;
const FIELDS = 10;
const MIB = 1024 * 1024;
const FORMATS = ["greptimedb_v1", "influxdb_v1", "csv", "json", "arrow", "null"];
const SAMPLE_MS = 5;

/** Bytes that were read, milliseconds until the first and the last, and how much the server grew meanwhile. */
interface Figures {
  readonly bytes: number;
  readonly firstMs: number;
  readonly ms: number;
  readonly grownBytes: number;
}

async function write(url: string, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += ROWS_PER_BATCH) {
    const lines: string[] = [];
    for (let row = from; row < Math.min(rows, from + ROWS_PER_BATCH); row++) {
      const fields = Array.from({ length: FIELDS }, (_, f) => `f${f}=${(row * 31 + f * 17) % 100}i`);
      lines.push(`cpu,host=host_${row % HOSTS} ${fields.join(",")} ${1_700_000_000_000 + Math.floor(row / HOSTS) * 10_000}`);
    }
    const answer = await fetch(`${url}/v1/influxdb/write?precision=ms`, { method: "POST", body: lines.join("\n") });
    if (!answer.ok) throw new Error(`cannot write: ${await answer.text()}`);
  }
}

async function sql(url: string, text: string, format: string): Promise<Response> {
  const body = new URLSearchParams({ sql: text, format });
  const answer = await fetch(`${url}/v1/sql`, { method: "POST", body });
  if (!answer.ok) throw new Error(`cannot run ${text}: ${await answer.text()}`);
  return answer;
}

async function measure(url: string, pid: number, text: string, format: string, pauseMs = 0): Promise<Figures> {
  const before = readProcess(pid).rssBytes;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, readProcess(pid).rssBytes);
  }, SAMPLE_MS);
  const started = performance.now();
  const answer = await sql(url, text, format);
  let bytes = 0;
  let firstMs = 0;
  for await (const chunk of answer.body ?? []) {
    if (bytes === 0) firstMs = performance.now() - started;
    bytes += chunk.length;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
  clearInterval(timer);
  return { bytes, firstMs, ms: performance.now() - started, grownBytes: most - before };
}

function line(name: string, { bytes, firstMs, ms, grownBytes }: Figures): string {
  return `| ${name} | ${(bytes / MIB).toFixed(0)} | ${firstMs.toFixed(0)} | ${ms.toFixed(0)} | ${(grownBytes / MIB).toFixed(0)} |\n`;
}

async function main(rows: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "varve-answers-"));
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  try {
    const server = await startVarve({ directory, port, settings: { query: { memory_limit: '"128MiB"' } } });
    await write(url, rows);
    await (await sql(url, "ADMIN flush_table('cpu')", "json")).text();
    await waitUntilIdle(server.pid, 10);
    process.stdout.write("| answer | MiB | first byte ms | ms | grown MiB |\n|---|---|---|---|---|\n");
    for (const format of FORMATS) process.stdout.write(line(format, await measure(url, server.pid, "SELECT * FROM cpu", format)));
    process.stdout.write(line("csv, slow reader", await measure(url, server.pid, `SELECT * FROM cpu LIMIT ${rows / 4}`, "csv", 1)));
    const spilled = "SELECT * FROM cpu ORDER BY f0, f1, host, greptime_timestamp";
    process.stdout.write(line("csv, sorted over the disk", await measure(url, server.pid, spilled, "csv")));
    process.stdout.write(`resident at the end: ${(readProcess(server.pid).rssBytes / MIB).toFixed(0)} MiB\n`);
    await server.stop();
  } finally {
    killAllServers();
    await rm(directory, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 1_600_000));
