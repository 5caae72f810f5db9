/** Measures a push protocol: a fresh Varve, all bodies acknowledged from the disk, every row counted. */
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import type { PushProtocol, PushReport } from "./push-loader.ts";
import { sqlNumber } from "./sql-client.ts";
import type { Target } from "./target.ts";

/** What to push, and how. */
export interface PushPlan {
  readonly protocols: readonly PushProtocol[];
  readonly target: Target;
  readonly rows: number;
  readonly rowsPerBatch: number;
  readonly connections: number;
  readonly runs: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

const COUNT: Readonly<Record<PushProtocol, string>> = {
  loki: "SELECT count(*) FROM loki_logs",
  "loki-json": "SELECT count(*) FROM loki_logs",
  opentsdb: 'SELECT count(*) FROM "sys.cpu.user"',
  "otlp-metrics": "SELECT count(*) FROM greptime_physical_table",
  "otlp-metrics-gzip": "SELECT count(*) FROM greptime_physical_table",
  "otlp-logs": "SELECT count(*) FROM opentelemetry_logs",
  "otlp-logs-gzip": "SELECT count(*) FROM opentelemetry_logs",
  "otlp-logs-json": "SELECT count(*) FROM opentelemetry_logs",
  "otlp-traces": "SELECT count(*) FROM opentelemetry_traces",
};

/** Measures every protocol and returns a table. @throws Error when a request is refused or a row is missing */
export async function runPush(plan: PushPlan): Promise<string> {
  const lines = ["| protocol | run | rows/s | MB/s sent | ack ms p50 | p99 | server CPU us/row |", "|---|---|---|---|---|---|---|"];
  for (const protocol of plan.protocols) {
    for (let run = 1; run <= plan.runs; run++) {
      plan.progress(`${protocol}, run ${run}`);
      const { rows, bytes, seconds, ackMsP50, ackMsP99, cpuSeconds } = await onePush(plan, protocol, run);
      const rate = Math.round(rows / seconds).toLocaleString("en");
      const speed = (bytes / seconds / 1e6).toFixed(0);
      const cpu = ((cpuSeconds / rows) * 1e6).toFixed(2);
      lines.push(`| ${protocol} | ${run} | ${rate} | ${speed} | ${ackMsP50.toFixed(1)} | ${ackMsP99.toFixed(1)} | ${cpu} |`);
    }
  }
  const load = `${plan.rows} rows, ${plan.rowsPerBatch} a request, ${plan.connections} connections`;
  const shape = `${load}; ${plan.target.durability}; all rows counted.`;
  return `${shape}\n\n${lines.join("\n")}\n`;
}

async function onePush(plan: PushPlan, protocol: PushProtocol, run: number): Promise<PushReport & { readonly cpuSeconds: number }> {
  const running = await plan.target.start(join(plan.workDirectory, `${protocol}-${run}`));
  const { rows, rowsPerBatch, connections } = plan;
  const shape = ["--rows", String(rows), "--batch", String(rowsPerBatch), "--connections", String(connections)];
  const cpuBefore = readProcess(running.server.pid).cpuSeconds;
  const loader = new URL("./push-loader.ts", import.meta.url);
  const report = await runProgram<PushReport>(loader, ["--url", running.baseUrl, "--protocol", protocol, ...shape]);
  if (report.firstBad !== undefined) throw new Error(`${protocol}: a request was refused: ${report.firstBad}`);
  const cpuSeconds = readProcess(running.server.pid).cpuSeconds - cpuBefore; // Of all threads, flushes that began in time included.
  const counted = await sqlNumber(running.baseUrl, COUNT[protocol]);
  await running.server.stop();
  if (counted !== rows) throw new Error(`${protocol}: ${counted} of ${rows} rows are there`);
  return { ...report, cpuSeconds };
}
