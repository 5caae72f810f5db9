/**
 * Figures of a cluster on this machine, beside a standalone server: `bun run figures:cluster [--rows N] [--tail-rows N] [--runs N]`.
 *
 *   demo      one frontend, two data nodes, one NATS that syncs each message (`varve cluster demo`): rows/s of line protocol; milliseconds
 *             of a write of ten rows and of a point query, one after the other, in turns with a standalone server
 *   take-over a data node dies whose shards have so many rows in their logs alone: seconds until a count of all rows is right again
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../bench/macro/free-port.ts";
import { generateFile } from "../../bench/macro/generator.ts";
import type { LoadReport } from "../../bench/macro/loader.ts";
import { loaderArguments } from "../../bench/macro/loader.ts";
import { startServer } from "../../bench/macro/server-process.ts";
import { sqlNumber, sqlTable } from "../../bench/macro/sql-client.ts";
import { median, percentile } from "../../bench/macro/statistics.ts";
import { TestCluster } from "../support/cluster/test-cluster.ts";
import { launchVarve } from "../support/server-process.ts";

const PROGRAM = Bun.fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const LOADER = Bun.fileURLToPath(new URL("../../bench/macro/loader.ts", import.meta.url));
const HOSTS = 4000;
const START_SECONDS = 1_451_606_400;
const SMALL_WRITES = 400;
const POINT_QUERIES = 400;
/** Times that do not count. */
const COLD = 50;
const POINT = "SELECT * FROM cpu WHERE hostname = 'host_7' ORDER BY greptime_timestamp DESC LIMIT 1";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Sends a file with four connections, batches of 10,000 rows. */
async function load(url: string, file: string): Promise<LoadReport> {
  const options = { url: `${url}/v1/influxdb/write`, file, rowsPerBatch: 10_000, connections: 4, status: 204 };
  const child = Bun.spawn([process.execPath, LOADER, ...loaderArguments(options)], { stdout: "pipe", stderr: "inherit" });
  const report = (await new Response(child.stdout).json()) as LoadReport;
  if (report.bad > 0) throw new Error(`${report.bad} requests failed, the first: ${report.firstBad}`);
  return report;
}

async function millisOf(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

let smallWrites = 0;

async function writeTen(url: string): Promise<void> {
  const time = START_SECONDS + smallWrites++;
  const lines = Array.from({ length: 10 }, (_, i) => `small,host=h${i} v=${i}i ${time}000000000`).join("\n");
  const { status } = await fetch(`${url}/v1/influxdb/write`, { method: "POST", body: lines });
  if (status !== 204) throw new Error(`a write was answered ${status}`);
}

/** Figures of the demo beside a standalone server. */
async function ofDemo(directory: string, file: string, rows: number, runs: number): Promise<void> {
  const rates: number[] = [];
  for (let run = 0; run < runs; run++) {
    const home = join(directory, `demo-${run}`);
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    const args = ["cluster", "demo", "--data-home", home, "--http-addr", `127.0.0.1:${port}`, "--log-level", "warn"];
    const command = [process.execPath, PROGRAM, ...args];
    const demo = await startServer({ name: "demo", command, readyUrl: `${url}/ready`, logPath: join(directory, "demo.log") });
    try {
      const { seconds } = await load(url, file);
      if ((await sqlNumber(url, "SELECT count(*) FROM cpu")) !== rows) throw new Error("rows are missing");
      rates.push(rows / seconds);
      if (run === runs - 1) await besideStandalone(directory, url, file);
    } finally {
      await demo.stop();
    }
  }
  const shown = rates.map((rate) => Math.round(rate / 1000)).join(" ");
  say(`demo, ${rows} rows of line protocol, durable: ${shown} thousand rows/s, median ${Math.round(median(rates) / 1000)}`);
}

/** Milliseconds of some work at two places, in turns, without the first times, in which code runs that never ran. */
async function inTurns(
  urls: Readonly<Record<"cluster" | "standalone", string>>,
  count: number,
  work: (url: string) => Promise<unknown>,
): Promise<string> {
  const found = { cluster: [] as number[], standalone: [] as number[] };
  for (let i = 0; i < count + COLD; i++) {
    for (const name of ["cluster", "standalone"] as const) {
      const millis = await millisOf(() => work(urls[name]));
      if (i >= COLD) found[name].push(millis);
    }
  }
  return Object.entries(found)
    .map(([name, all]) => `${name} p50 ${median(all).toFixed(2)}, p99 ${percentile(all, 0.99).toFixed(2)} ms`)
    .join("; ");
}

/** Latencies of a cluster and of a standalone server with the same rows, in turns. */
async function besideStandalone(directory: string, cluster: string, file: string): Promise<void> {
  const port = freePort();
  const standalone = `http://127.0.0.1:${port}`;
  const others = ["--grpc-bind-addr", "127.0.0.1:0", "--mysql-addr", "127.0.0.1:0", "--postgres-addr", "127.0.0.1:0"];
  const args = ["standalone", "start", "--data-home", join(directory, "one"), "--http-addr", `127.0.0.1:${port}`, ...others];
  const command = [process.execPath, PROGRAM, ...args];
  const server = await startServer({ name: "standalone", command, readyUrl: `${standalone}/ready`, logPath: join(directory, "one.log") });
  try {
    await load(standalone, file);
    const urls = { cluster, standalone };
    for (const [what, count, work] of [
      ["a write of ten rows", SMALL_WRITES, writeTen],
      ["a point query", POINT_QUERIES, (url: string) => sqlTable(url, POINT)],
    ] as const) {
      say(`${what}: ${await inTurns(urls, count, work)}`);
    }
  } finally {
    await server.stop();
  }
}

/** Seconds that a take-over takes. */
async function ofTakeOver(directory: string, file: string, rows: number): Promise<void> {
  const large = { VARVE__STORAGE__MEMTABLE_SIZE: "1GiB", VARVE__STORAGE__WRITE_BUFFER_LIMIT: "8GiB", VARVE__STORAGE__FLUSH_INTERVAL: "0s" };
  const more = { ...large, VARVE__CLUSTER__LOG_SIZE: "2GiB" };
  const cluster = await TestCluster.start(join(directory, "takeover"), launchVarve, { nodes: 2, shards: 4, env: more });
  const frontend = launchVarve(["frontend", "start", "--http-addr", "127.0.0.1:0", "--data-home", join(directory, "front")], cluster.env);
  try {
    const url = String((await frontend.logged("ready"))["address"]);
    await load(url, file);
    const count = (): Promise<number> => sqlNumber(url, "SELECT count(*) FROM cpu");
    while ((await count()) !== rows) await Bun.sleep(100);
    const { bytes } = (await (await fetch(`${cluster.env["VARVE__CLUSTER__NATS__MONITORS"]}/jsz`)).json()) as { readonly bytes: number };
    const files = await sqlNumber(url, "SELECT sum(sst_num) FROM information_schema.region_statistics");
    say(`take-over: ${rows} rows in logs of ${Math.round(bytes / 2 ** 20)} MiB and ${files} files, one data node of two is killed`);
    const since = performance.now();
    cluster.nodes[0]?.signal("SIGKILL");
    const ok = await count();
    say(`  the first count after it: ${ok === rows ? "right" : `WRONG, ${ok}`} after ${((performance.now() - since) / 1000).toFixed(1)} s`);
  } finally {
    frontend.signal("SIGKILL");
    await frontend.ended();
    await cluster.end();
  }
}

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { rows: text, "tail-rows": text, runs: text } });
  const rows = Number(values.rows ?? 2_000_000);
  const tailRows = Number(values["tail-rows"] ?? 40_000_000);
  const directory = await mkdtemp(join(tmpdir(), "varve-figures-"));
  try {
    await mkdir(directory, { recursive: true });
    const dataset = { hosts: HOSTS, seed: 1, startSeconds: START_SECONDS };
    const file = join(directory, "cpu.lp");
    if (rows > 0) {
      generateFile({ ...dataset, rows }, file);
      await ofDemo(directory, file, rows, Number(values.runs ?? 3));
    }
    if (tailRows > 0) {
      generateFile({ ...dataset, rows: tailRows }, file);
      await ofTakeOver(directory, file, tailRows);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
