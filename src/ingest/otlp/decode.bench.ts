/**
 * Points and records a second of the OTLP decoders, in process, on one thread: `bun src/ingest/otlp/decode.bench.ts`.
 *
 * A request of metrics has 100 gauges of 100 points with 4 labels (99 B a point), one of logs 2,000 records of 199 B with 3 attributes.
 */
import { measure } from "mitata";
import { LogDecoder, MetricDecoder } from "./decode.ts";
import { protobufOfJson, type RequestName } from "./json.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const METRICS: number = SMALL ? 2 : 100;
const POINTS = 100;
const RECORDS: number = SMALL ? 10 : 2000;
const START = 1_731_000_000_000_000_000n;

function text(key: string, stringValue: string): unknown {
  return { key, value: { stringValue } };
}

function bodyOf(request: unknown, name: RequestName): Uint8Array {
  return protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), name);
}

function metricsBody(): Uint8Array {
  const pointsOf = (metric: number): unknown[] =>
    Array.from({ length: POINTS }, (_, i) => {
      const attributes = [text("host", `host-${i}`), text("region", "eu-west-1"), text("method", "GET"), text("route", `/api/${metric}`)];
      return { timeUnixNano: String(START + BigInt(i)), asDouble: i * 1.5, attributes };
    });
  const metrics = Array.from({ length: METRICS }, (_, i) => ({ name: `metric.${i}`, gauge: { dataPoints: pointsOf(i) } }));
  return bodyOf(
    { resourceMetrics: [{ resource: { attributes: [text("service.name", "shop")] }, scopeMetrics: [{ metrics }] }] },
    "MetricsRequest",
  );
}

function logsBody(): Uint8Array {
  const logRecords = Array.from({ length: RECORDS }, (_, i) => ({
    timeUnixNano: String(START + BigInt(i)),
    severityNumber: 9,
    severityText: "INFO",
    body: { stringValue: `GET /api/v1/items/${i} took ${i * 7} ms and answered 200 to the client at 10.0.0.${i % 255}` },
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    attributes: [text("http.method", "GET"), text("http.route", "/api/v1/items"), { key: "status", value: { intValue: 200 } }],
  }));
  return bodyOf({ resourceLogs: [{ scopeLogs: [{ scope: { name: "lib" }, logRecords }] }] }, "LogsRequest");
}

async function report(name: string, decode: () => number): Promise<void> {
  const rows = decode();
  const { p50 } = await measure(decode);
  console.log(`${name}: ${((rows / p50) * 1000).toFixed(2)} M/s (${rows} a request)`);
}

const metrics = metricsBody();
const metricDecoder = new MetricDecoder();
const names = {
  strategy: "UnderscoreEscapingWithSuffixes",
  promoteAll: false,
  ignored: new Set<string>(),
  promoted: new Set<string>(),
} as const;
const schemas = { columnOf: () => undefined };
await report("points", () => {
  const where = { database: "public", physicalTable: "greptime_physical_table", schemas, acceptsTable: () => true };
  return metricDecoder.decode(metrics, { ...names, ...where, promoteScope: false }).rowCount;
});
const logs = logsBody();
const logDecoder = new LogDecoder();
await report("log records", () => logDecoder.decode(logs, { database: "public", table: "logs", extractKeys: [], schemas }).rowCount);
