/**
 * The load generator of the benchmarks of push protocols: a process of its own that makes all bodies first, posts them, and prints one JSON
 * line.
 *
 *   bun bench/macro/push-loader.ts --url http://127.0.0.1:4000 --protocol loki --rows 1000000 --batch 2000 --connections 4
 */
import { parseArgs } from "node:util";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import { logsBody, logsJson, metricsBody, tracesBody } from "./otlp-bodies.ts";
import { percentile } from "./statistics.ts";

/** What is pushed. */
export const PUSH_PROTOCOLS = [
  "loki",
  "loki-json",
  "opentsdb",
  "otlp-metrics",
  "otlp-metrics-gzip",
  "otlp-logs",
  "otlp-logs-gzip",
  "otlp-logs-json",
  "otlp-traces",
] as const;

/** One of them. */
export type PushProtocol = (typeof PUSH_PROTOCOLS)[number];

/** What one run measured. */
export interface PushReport {
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  /** The first answer that was none of success. */
  readonly firstBad: string | undefined;
}

interface Pushing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of rows `[first, first + count)`. */
  readonly body: (first: number, count: number) => Uint8Array<ArrayBuffer>;
}

const SECONDS = 1_731_000_000;
const STREAMS = 100;
const encoder = new TextEncoder();

function lineOf(row: number): string {
  const request = `"GET /api/v1/items/${row * 31}?page=${row % 9} HTTP/1.1"`;
  return `10.0.${row % 251}.${row % 241} - - ${request} 200 ${row * 97} "-" "agent/1.${row % 5}"`;
}

function labelsOf(stream: number): Record<string, string> {
  return { app: "shop", cluster: "eu-1", job: "default/shop", pod: `shop-7d9f-${stream}` };
}

/** Rows of a body by stream: each stream has a run of them. */
function runsOf(first: number, count: number): { readonly stream: number; readonly rows: readonly number[] }[] {
  const size = Math.ceil(count / 20);
  return Array.from({ length: Math.ceil(count / size) }, (_, run) => ({
    stream: ((first / count + run) % STREAMS) | 0,
    rows: Array.from({ length: Math.min(size, count - run * size) }, (_row, i) => first + run * size + i),
  }));
}

const OTLP = "/v1/otlp/v1";
const PROTOBUF = { "content-type": "application/x-protobuf" } as const;
const GZIP = { ...PROTOBUF, "content-encoding": "gzip" } as const;

const PUSHING: Readonly<Record<PushProtocol, Pushing>> = {
  "otlp-metrics": { path: `${OTLP}/metrics`, headers: PROTOBUF, body: metricsBody },
  "otlp-metrics-gzip": { path: `${OTLP}/metrics`, headers: GZIP, body: (first, count) => gzipped(metricsBody(first, count)) },
  "otlp-logs": { path: `${OTLP}/logs`, headers: PROTOBUF, body: logsBody },
  "otlp-logs-gzip": { path: `${OTLP}/logs`, headers: GZIP, body: (first, count) => gzipped(logsBody(first, count)) },
  "otlp-logs-json": { path: `${OTLP}/logs`, headers: { "content-type": "application/json" }, body: logsJson },
  "otlp-traces": { path: `${OTLP}/traces`, headers: { ...PROTOBUF, "x-greptime-pipeline-name": "greptime_trace_v1" }, body: tracesBody },
  loki: {
    path: "/v1/loki/api/v1/push",
    headers: { "content-type": "application/x-protobuf" },
    body: (first, count) => {
      const writer = new BinaryWriter();
      for (const { stream, rows } of runsOf(first, count)) {
        const labels = Object.entries(labelsOf(stream)).map(([name, value]) => `${name}="${value}"`);
        const message = new BinaryWriter().tag(1, 2).string(`{${labels.join(", ")}}`);
        for (const row of rows) {
          const time = new BinaryWriter().tag(1, 0).int64(SECONDS).tag(2, 0).int32(row).finish();
          message.tag(2, 2).bytes(new BinaryWriter().tag(1, 2).bytes(time).tag(2, 2).string(lineOf(row)).finish());
        }
        writer.tag(1, 2).bytes(message.finish());
      }
      return new Uint8Array(compress(writer.finish()));
    },
  },
  "loki-json": {
    path: "/v1/loki/api/v1/push",
    headers: { "content-type": "application/json" },
    body: (first, count) => {
      const streams = runsOf(first, count).map(({ stream, rows }) => ({
        stream: labelsOf(stream),
        values: rows.map((row) => [String(BigInt(SECONDS) * 1_000_000_000n + BigInt(row)), lineOf(row)]),
      }));
      return encoder.encode(JSON.stringify({ streams }));
    },
  },
  opentsdb: {
    path: "/v1/opentsdb/api/put",
    headers: { "content-type": "application/json" },
    body: (first, count) => {
      const points = Array.from({ length: count }, (_, i) => {
        const row = first + i;
        const tags = { host: `web${row % 400}`, dc: "lga", region: "us-east-1", cpu: String(row % 4) };
        return { metric: "sys.cpu.user", timestamp: SECONDS * 1000 + row, value: (row % 10_000) / 100, tags };
      });
      return encoder.encode(JSON.stringify(points));
    },
  },
};

function gzipped(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(body, { level: 1 });
}

/** Sends `rows` rows in batches of `batch`. */
async function push(url: string, protocol: PushProtocol, rows: number, batch: number, connections: number): Promise<PushReport> {
  const { path, headers, body } = PUSHING[protocol];
  const bodies = Array.from({ length: Math.ceil(rows / batch) }, (_, i) => body(i * batch, Math.min(batch, rows - i * batch)));
  const ackMs = new Float64Array(bodies.length);
  let next = 0;
  let firstBad: string | undefined;
  const connection = async (): Promise<void> => {
    while (next < bodies.length) {
      const index = next++;
      const started = performance.now();
      const response = await fetch(url + path, { method: "POST", headers, body: bodies[index] ?? null });
      const answer = await response.text();
      ackMs[index] = performance.now() - started;
      if (!response.ok) firstBad ??= `${response.status} ${answer.slice(0, 300)}`;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  const seconds = (performance.now() - started) / 1000;
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  return { rows, bytes, seconds, ackMsP50: percentile(ackMs, 0.5), ackMsP99: percentile(ackMs, 0.99), firstBad };
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { url: text, protocol: text, rows: text, batch: text, connections: text } });
  const protocol = PUSH_PROTOCOLS.find((name) => name === values.protocol);
  if (values.url === undefined || protocol === undefined) throw new Error("cannot push: --url and --protocol are needed");
  const report = await push(values.url, protocol, Number(values.rows), Number(values.batch), Number(values.connections));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
