/**
 * Measures log ingestion: NDJSON like that of a web server through `greptime_identity`, and text through `dissect` and `date`. A run fails
 * when a request is refused or a row is missing.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import type { Progress } from "./progress.ts";
import { startVarve } from "./server-process.ts";
import { sqlNumber } from "./sql-client.ts";

/** How much to send. */
export interface LogsPlan {
  readonly lines: number;
  readonly linesPerBody: number;
  readonly connections: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

interface LogsCase {
  readonly name: string;
  readonly table: string;
  readonly pipeline: string;
  readonly contentType: string;
  lineOf(index: number): string;
}

/** Different bodies of a case; they are sent round and round. */
const BODIES = 8;
const DAY_START = Date.UTC(2024, 4, 25);
const AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";
const DISSECT = `processors:
  - dissect:
      field: message
      patterns:
        - '%{ip} %{+ts} %{+ts} "%{method} %{path}" %{status} %{bytes} %{agent}'
  - date:
      field: ts
      formats:
        - "%Y-%m-%d %H:%M:%S%.3f"
  - select:
      type: exclude
      field: message
`;

const CASES: readonly LogsCase[] = [
  {
    name: "NDJSON, identity",
    table: "nginx",
    pipeline: "greptime_identity",
    contentType: "application/x-ndjson",
    lineOf: (i) =>
      JSON.stringify({
        time: timeText(i),
        ip: ipOf(i),
        method: "GET",
        path: `/api/v1/items/${i % 997}`,
        status: statusOf(i),
        bytes: (i * 7919) % 65_536,
        seconds: ((i % 1000) + 1) / 1009,
        agent: AGENT,
      }),
  },
  {
    name: "text, dissect and date",
    table: "access",
    pipeline: "access_log",
    contentType: "text/plain",
    lineOf: (i) => `${ipOf(i)} ${timeText(i)} "GET /api/v1/items/${i % 997}" ${statusOf(i)} ${(i * 7919) % 65_536} ${AGENT}`,
  },
];

/** Measures every case on a server of its own and returns the table of results. @throws Error when a row is missing */
export async function runLogs(plan: LogsPlan): Promise<string> {
  const rows: string[] = ["## Logs", "", "| case | lines/s acknowledged | MB/s | lines |", "|---|---|---|---|"];
  for (const [index, each] of CASES.entries()) {
    plan.progress(`${each.name}: ${plan.lines} lines`);
    const directory = join(plan.workDirectory, `logs-${index}`);
    await mkdir(directory, { recursive: true });
    const port = freePort();
    const server = await startVarve({ directory, port });
    const { seconds, bytes, lines } = await measure(`http://127.0.0.1:${port}`, each, plan);
    await server.stop();
    rows.push(`| ${each.name} | ${Math.round(lines / seconds).toLocaleString("en")} | ${(bytes / seconds / 1e6).toFixed(1)} | ${lines} |`);
  }
  return `${rows.join("\n")}\n`;
}

async function measure(url: string, each: LogsCase, plan: LogsPlan): Promise<{ seconds: number; bytes: number; lines: number }> {
  await post(`${url}/v1/pipelines/access_log`, DISSECT, "application/x-yaml");
  const bodies = Array.from({ length: BODIES }, (_, body) => {
    return Buffer.from(Array.from({ length: plan.linesPerBody }, (_unused, i) => each.lineOf(body * plan.linesPerBody + i)).join("\n"));
  });
  const requests = Math.max(1, Math.ceil(plan.lines / plan.linesPerBody));
  const target = `${url}/v1/ingest?table=${each.table}&pipeline_name=${each.pipeline}`;
  let next = 0;
  let bytes = 0;
  const send = async (): Promise<void> => {
    while (next < requests) {
      const body = bodies[next++ % BODIES];
      if (body === undefined) return;
      bytes += body.length;
      await post(target, body, each.contentType);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: plan.connections }, send));
  const seconds = (performance.now() - started) / 1000;
  const lines = requests * plan.linesPerBody;
  const counted = await sqlNumber(url, `SELECT count(*) FROM ${each.table}`);
  if (counted !== lines) throw new Error(`${each.name}: ${counted} of ${lines} lines are there`);
  return { seconds, bytes, lines };
}

async function post(url: string, body: string | Buffer<ArrayBuffer>, contentType: string): Promise<void> {
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": contentType } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
}

function timeText(i: number): string {
  return new Date(DAY_START + i).toISOString().replace("T", " ").slice(0, -1);
}

function ipOf(i: number): string {
  return `10.${i % 4}.${i % 251}.${i % 13}`;
}

function statusOf(i: number): number {
  return i % 17 === 0 ? 404 : 200;
}
