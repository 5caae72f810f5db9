/** Measures gRPC: a fresh Varve a run, all messages acknowledged from the disk, every row counted; the bare transport beside them. */
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { GRPC_WORKLOADS, type GrpcReport, type GrpcWorkload } from "./grpc-loader.ts";
import { NATIVE_TABLE } from "./native-bodies.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { table } from "./report.ts";
import { sqlNumber } from "./sql-client.ts";
import type { Target } from "./target.ts";

/** What to measure. */
export interface GrpcPlan {
  readonly target: Target;
  readonly rows: number;
  readonly runs: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

const ROWS_PER_MESSAGE = 1000;
const CONNECTIONS = 8;
/** What stores nothing. */
const CEILING: GrpcWorkload = "transport";

/** Measures every workload and returns a table. @throws Error when a call fails or a row is missing */
export async function runGrpc(plan: GrpcPlan): Promise<string> {
  const lines: string[][] = [];
  let ceiling = 0;
  for (const workload of GRPC_WORKLOADS) {
    for (let run = 1; run <= plan.runs; run++) {
      plan.progress(`gRPC ${workload}, run ${run}`);
      const { rows, bytes, seconds, ackMsP50, ackMsP99, cpuSeconds, peakMiB } = await oneRun(plan, workload, run);
      const rate = rows / seconds;
      if (workload === CEILING) ceiling = Math.max(ceiling, rate);
      lines.push([
        workload,
        String(run),
        Math.round(rate).toLocaleString("en"),
        (rate / ceiling).toFixed(2),
        (bytes / seconds / 1e6).toFixed(0),
        ackMsP50.toFixed(1),
        ackMsP99.toFixed(1),
        ((cpuSeconds / rows) * 1e6).toFixed(2),
        peakMiB.toFixed(0),
      ]);
    }
  }
  const head = ["workload", "run", "rows/s", "of the transport", "MB/s sent", "ack ms p50", "p99", "server CPU us/row", "peak MiB"];
  const load = `${plan.rows} rows of 10 columns, ${ROWS_PER_MESSAGE} a message, ${CONNECTIONS} connections`;
  const ceilingIs = `"${CEILING}" sends the same bytes and stores nothing.`;
  return `${load}; ${plan.target.durability}; all rows counted. ${ceilingIs}\n\n${table(head, lines)}`;
}

type Measured = GrpcReport & { readonly cpuSeconds: number; readonly peakMiB: number };

async function oneRun(plan: GrpcPlan, workload: GrpcWorkload, run: number): Promise<Measured> {
  const running = await plan.target.start(join(plan.workDirectory, `${workload}-${run}`));
  const { wirePorts, server, baseUrl } = running;
  const url = `http://127.0.0.1:${wirePorts?.grpc ?? 0}`;
  const loader = new URL("./grpc-loader.ts", import.meta.url);
  const load = async (rows: number): Promise<GrpcReport> => {
    const shape = ["--rows", String(rows), "--batch", String(ROWS_PER_MESSAGE), "--connections", String(CONNECTIONS)];
    const report = await runProgram<GrpcReport>(loader, ["--url", url, "--workload", workload, ...shape]);
    if (report.firstBad !== undefined) throw new Error(`gRPC ${workload}: a call failed: ${report.firstBad}`);
    return report;
  };
  const before = readProcess(server.pid).cpuSeconds;
  const report = await load(plan.rows);
  const { cpuSeconds, rssBytesPeak: peakBytes } = readProcess(server.pid);
  if (workload !== CEILING) {
    const stored = await sqlNumber(baseUrl, `SELECT count(*) FROM ${NATIVE_TABLE}`);
    if (stored !== report.rows) throw new Error(`gRPC ${workload}: ${stored} rows are there of ${report.rows}`);
  }
  await server.stop();
  return { ...report, cpuSeconds: cpuSeconds - before, peakMiB: peakBytes / 1024 / 1024 };
}
