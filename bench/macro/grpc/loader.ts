/**
 * The load generator of gRPC: a process of its own that makes its messages, sends some to warm both sides up, then all others, and prints
 * one line of JSON.
 *
 *   bun bench/macro/grpc/loader.ts '{"load":"rows","port":4001,"serverPid":4242,"rows":1000000,"rowsPerMessage":1000,"connections":8,…}'
 */
import { bodyAt, timedColumns, timedRows, type TimedBody } from "../native-bodies.ts";
import { mainThreadCpuSeconds, readProcess } from "../process-meter.ts";
import { percentile } from "../statistics.ts";
import { drivePosts, driveStreams, driveUnary, type Sending } from "./drive-calls.ts";
import { driveGets, drivePuts } from "./drive-flight.ts";
import type { Driver, LoadPlan, LoadReport } from "./load-plan.ts";
import { otlpMessages, type OtlpSignal } from "./otlp-messages.ts";

const DATABASE = "/greptime.v1.GreptimeDatabase";
/** Part of the messages that are sent before the clock starts. */
const WARM_SHARE = 1 / 8;
/** Bodies of rows that are made one by one; others are these at other times. */
const MADE_MAX = 16;
/** Traces go to the table of this pipeline. */
const TRACES: Readonly<Record<string, string>> = { "x-greptime-pipeline-name": "greptime_trace_v1" };

const EXPORT: Readonly<
  Record<OtlpSignal, { readonly grpc: string; readonly http: string; readonly headers: Readonly<Record<string, string>> }>
> = {
  metrics: { grpc: "metrics.v1.MetricsService", http: "/v1/otlp/v1/metrics", headers: {} },
  logs: { grpc: "logs.v1.LogsService", http: "/v1/otlp/v1/logs", headers: {} },
  traces: { grpc: "trace.v1.TraceService", http: "/v1/otlp/v1/traces", headers: TRACES },
};

function warmUnits(units: number, connections: number): number {
  return Math.max(Math.ceil(units * WARM_SHARE), connections);
}

function nativeMessages(make: (body: number, rowCount: number) => TimedBody, count: number, rowsEach: number): readonly Uint8Array[] {
  const made = Array.from({ length: Math.min(count, MADE_MAX) }, (_, i) => make(i, rowsEach));
  return Array.from({ length: count }, (_, i) => bodyAt(made[i % made.length] ?? make(i, rowsEach), i));
}

function otlpDriver(signal: OtlpSignal, isHttp: boolean, to: Omit<Sending, "path" | "headers">, count: number): Promise<Driver> {
  const { grpc, http, headers } = EXPORT[signal];
  const messages = otlpMessages(signal, count, to.rowsPerMessage);
  if (isHttp) return drivePosts({ ...to, path: http, headers: { ...headers, "content-type": "application/x-protobuf" } }, messages);
  return driveUnary({ ...to, path: `/opentelemetry.proto.collector.${grpc}/Export`, headers }, messages);
}

async function driverOf(plan: LoadPlan): Promise<Driver> {
  const { load, port, rows, rowsPerMessage, connections, dataset } = plan;
  const units = Math.ceil(rows / rowsPerMessage);
  const count = units + warmUnits(units, connections);
  const to = { port, connections, rowsPerMessage, units, headers: {} };
  switch (load) {
    case "transport":
      return await driveUnary(
        { ...to, path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export" },
        nativeMessages(timedRows, count, rowsPerMessage),
      );
    case "rows":
      return await driveUnary({ ...to, path: `${DATABASE}/Handle` }, nativeMessages(timedRows, count, rowsPerMessage));
    case "columns":
      return await driveUnary({ ...to, path: `${DATABASE}/Handle` }, nativeMessages(timedColumns, count, rowsPerMessage));
    case "rows-stream":
      return await driveStreams({ ...to, path: `${DATABASE}/HandleRequests` }, nativeMessages(timedRows, count, rowsPerMessage));
    case "doput":
    case "doput-text":
      return await drivePuts(port, connections, { dataset, rowsPerBatch: rowsPerMessage, withText: load === "doput-text" }, units);
    case "doget":
      return await driveGets(port, connections, plan.sql, rows, plan.queries);
    case "otlp-metrics":
    case "otlp-metrics-http":
      return await otlpDriver("metrics", load.endsWith("-http"), to, count);
    case "otlp-logs":
    case "otlp-logs-http":
      return await otlpDriver("logs", load.endsWith("-http"), to, count);
    case "otlp-traces":
    case "otlp-traces-http":
      return await otlpDriver("traces", load.endsWith("-http"), to, count);
    default:
      throw new Error(`cannot send ${String(load satisfies never)}`);
  }
}

/** Sends everything. @throws Error when a call fails or a row is missing */
async function load(plan: LoadPlan): Promise<LoadReport> {
  const driver = await driverOf(plan);
  const warm = warmUnits(driver.units, plan.connections);
  const first = await driver.run(0, warm);
  const before = readProcess(plan.serverPid);
  const mainBefore = mainThreadCpuSeconds(plan.serverPid);
  const ownBefore = process.cpuUsage();
  const started = performance.now();
  const part = await driver.run(warm, warm + driver.units);
  const seconds = (performance.now() - started) / 1000;
  const own = process.cpuUsage(ownBefore);
  const after = readProcess(plan.serverPid);
  const mainCpuSeconds = mainThreadCpuSeconds(plan.serverPid) - mainBefore;
  driver.close();
  return {
    rowsStored: first.rows + part.rows,
    sum: first.sum + part.sum,
    rows: part.rows,
    bytes: part.bytes,
    seconds,
    ackMsP50: percentile(part.ackMs, 0.5),
    ackMsP99: percentile(part.ackMs, 0.99),
    serverCpuSeconds: after.cpuSeconds - before.cpuSeconds,
    mainCpuSeconds,
    loaderCpuSeconds: (own.user + own.system) / 1e6,
    serverRssBytesPeak: after.rssBytesPeak,
  };
}

if (import.meta.main) {
  const report = await load(JSON.parse(process.argv[2] ?? "") as LoadPlan);
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
