/**
 * Bodies of OTLP: what a collector sends that gathers a web shop's metrics, log lines and spans. Attributes are encoded once, so that a
 * million rows are made in seconds.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** Nanoseconds of the first row. */
export const OTLP_START: bigint = 1_731_000_000_000_000_000n;
const METRICS = 20;
const HOSTS = 200;
/** Series of metrics: points come from each in turn. */
export const METRICS_SERIES: number = METRICS * HOSTS;
/** Nanoseconds from one point of a series to the next. */
export const METRICS_INTERVAL: bigint = 10_000_000_000n;
const HEX_RANDOM = 0x9e37_79b9_7f4a_7c15n;

/** Field numbers of lists and messages with their wire type, as they are used below. */
type Bytes = Uint8Array<ArrayBuffer>;

function message(parts: readonly (readonly [number, Uint8Array])[]): Bytes {
  const writer = new BinaryWriter();
  for (const [number, bytes] of parts) writer.tag(number, 2).bytes(bytes);
  return writer.finish() as Bytes;
}

function keyValue(key: string, value: string | number): Bytes {
  const any = new BinaryWriter();
  if (typeof value === "string") any.tag(1, 2).string(value);
  else any.tag(3, 0).int64(value);
  return new BinaryWriter().tag(1, 2).string(key).tag(2, 2).bytes(any.finish()).finish() as Bytes;
}

function attributes(number: number, pairs: Readonly<Record<string, string | number>>): Bytes {
  return message(Object.entries(pairs).map(([key, value]) => [number, keyValue(key, value)] as const));
}

const RESOURCE: Bytes = attributes(1, {
  "service.name": "shop",
  "service.version": "1.4.2",
  "service.namespace": "web",
  "k8s.pod.name": "shop-7d9f-1",
  "k8s.node.name": "node-17",
});
const SCOPE: Bytes = new BinaryWriter().tag(1, 2).string("shop.http").tag(2, 2).string("1.0.0").finish() as Bytes;

/** An export request whose one resource and one scope hold these records; all three signals number them alike. */
function request(records: readonly Uint8Array[]): Bytes {
  const writer = new BinaryWriter().tag(1, 2).bytes(SCOPE);
  for (const record of records) writer.tag(2, 2).bytes(record);
  const resource = message([
    [1, RESOURCE],
    [2, writer.finish()],
  ]);
  return message([[1, resource]]);
}

const POINT_ATTRIBUTES: readonly Bytes[] = Array.from({ length: HOSTS }, (_, host) =>
  attributes(7, { host: `web-${host}`, region: "eu-west-1", method: "GET", route: `/api/v1/items/${host % 10}`, status: 200 }),
);

function point(row: number): Bytes {
  const time = OTLP_START + BigInt(Math.floor(row / METRICS_SERIES)) * METRICS_INTERVAL;
  const writer = new BinaryWriter().tag(2, 1).fixed64(OTLP_START).tag(3, 1).fixed64(time);
  writer.tag(4, 1).double((row % 10_007) / 100);
  return writer.raw(POINT_ATTRIBUTES[row % HOSTS] ?? new Uint8Array(0)).finish() as Bytes;
}

/** Points `[first, first + count)`: gauges and sums in turn, 200 hosts each. */
export function metricsBody(first: number, count: number): Bytes {
  const metrics: Bytes[] = [];
  for (let row = first; row < first + count; ) {
    const metric = Math.floor((row % METRICS_SERIES) / HOSTS);
    const end = Math.min(first + count, row + HOSTS - (row % HOSTS));
    const data = new BinaryWriter();
    for (; row < end; row++) data.tag(1, 2).bytes(point(row));
    const isSum = metric % 2 === 1;
    if (isSum) data.tag(2, 0).int32(2).tag(3, 0).bool(true);
    const writer = new BinaryWriter().tag(1, 2).string(`shop.metric.${metric}`).tag(3, 2).string("ms");
    metrics.push(
      writer
        .tag(isSum ? 7 : 5, 2)
        .bytes(data.finish())
        .finish() as Bytes,
    );
  }
  return request(metrics);
}

function traceId(row: number): string {
  return ((BigInt(row + 1) * HEX_RANDOM * HEX_RANDOM) & ((1n << 128n) - 1n)).toString(16).padStart(32, "0");
}

function lineOf(row: number): string {
  const asked = `"GET /api/v1/items/${row * 31}?page=${row % 9} HTTP/1.1"`;
  return `10.0.${row % 251}.${row % 241} - - ${asked} 200 ${row * 97} "-" "agent/1.${row % 5}"`;
}

const LOG_ATTRIBUTES: readonly Readonly<Record<string, string | number>>[] = Array.from({ length: 100 }, (_, i) => ({
  "http.request.method": "GET",
  "http.route": `/api/v1/items/${i % 10}`,
  "http.response.status_code": i % 17 === 0 ? 404 : 200,
  "client.address": `10.0.0.${i}`,
}));
const LOG_ATTRIBUTE_BYTES: readonly Bytes[] = LOG_ATTRIBUTES.map((pairs) => attributes(6, pairs));

/** Log records `[first, first + count)`: a line like that of a web server, 4 attributes, a trace. */
export function logsBody(first: number, count: number): Bytes {
  return request(
    Array.from({ length: count }, (_, i) => {
      const row = first + i;
      const body = new BinaryWriter().tag(1, 2).string(lineOf(row)).finish();
      const writer = new BinaryWriter()
        .tag(1, 1)
        .fixed64(OTLP_START + BigInt(row))
        .tag(2, 0)
        .int32(9)
        .tag(3, 2)
        .string("INFO");
      writer
        .tag(5, 2)
        .bytes(body)
        .raw(LOG_ATTRIBUTE_BYTES[row % 100] ?? new Uint8Array(0));
      const id = Buffer.from(traceId(row), "hex");
      return writer.tag(9, 2).bytes(id).tag(10, 2).bytes(id.subarray(0, 8)).finish();
    }),
  );
}

/** The same records in JSON. */
export function logsJson(first: number, count: number): Bytes {
  const logRecords = Array.from({ length: count }, (_, i) => {
    const row = first + i;
    const pairs = Object.entries(LOG_ATTRIBUTES[row % 100] ?? {});
    return {
      timeUnixNano: String(OTLP_START + BigInt(row)),
      severityNumber: 9,
      severityText: "INFO",
      body: { stringValue: lineOf(row) },
      attributes: pairs.map(([key, value]) => ({ key, value: typeof value === "string" ? { stringValue: value } : { intValue: value } })),
      traceId: traceId(row),
      spanId: traceId(row).slice(0, 16),
    };
  });
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
  const scopeLogs = [{ scope: { name: "shop.http", version: "1.0.0" }, logRecords }];
  return new TextEncoder().encode(JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] }));
}

const SPAN_ATTRIBUTES: readonly Bytes[] = Array.from({ length: 100 }, (_, i) =>
  attributes(9, {
    "http.request.method": "GET",
    "http.route": `/api/v1/items/${i % 10}`,
    "http.response.status_code": i % 17 === 0 ? 404 : 200,
    "url.path": `/api/v1/items/${i}`,
    "server.address": "10.0.0.1",
  }),
);

/** Spans `[first, first + count)`: traces of eight spans, 5 attributes each. */
export function tracesBody(first: number, count: number): Bytes {
  const ok = new BinaryWriter().tag(3, 0).int32(1).finish();
  return request(
    Array.from({ length: count }, (_, i) => {
      const row = first + i;
      const start = OTLP_START + BigInt(row) * 1000n;
      const writer = new BinaryWriter().tag(1, 2).bytes(Buffer.from(traceId(row >> 3), "hex"));
      writer.tag(2, 2).bytes(Buffer.from(traceId(row).slice(0, 16), "hex"));
      if (row % 8 !== 0) writer.tag(4, 2).bytes(Buffer.from(traceId(row - 1).slice(0, 16), "hex"));
      writer
        .tag(5, 2)
        .string(`GET /api/v1/items/${row % 10}`)
        .tag(6, 0)
        .int32(2);
      writer
        .tag(7, 1)
        .fixed64(start)
        .tag(8, 1)
        .fixed64(start + BigInt((row % 977) * 1000));
      return writer
        .raw(SPAN_ATTRIBUTES[row % 100] ?? new Uint8Array(0))
        .tag(15, 2)
        .bytes(ok)
        .finish();
    }),
  );
}
