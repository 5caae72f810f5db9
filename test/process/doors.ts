/** Every write door of the HTTP server with one good request: what tests send whole, broken, and to the wrong place. */
import { compress } from "snappyjs";
import { bytesField, messageV1, messageV2, textField, varint } from "../support/prometheus/messages.ts";

/** How a door tells what is wrong. */
export type ErrorShape = "plain" | "bulk" | "splunk";

/** A door and a request that it takes. */
export interface Door {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One good request, as sent. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Table that gets its one row, named after the door. */
  readonly table: string;
  readonly shape: ErrorShape;
  /** The body's outermost form. */
  readonly form: "snappy" | "protobuf" | "json" | "lines";
  /** What this door makes of a body that is a whole message of its form: bytes of the message to the body. */
  readonly packed: (message: Uint8Array) => Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const TIME_MS = 1_700_000_000_000;

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encoder.encode(text));
}

function snappy(message: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(compress(message));
}

function plain(message: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(message);
}

/** Eight bytes of a time in nanoseconds, the lowest first. */
export function fixed64(value: bigint): number[] {
  return [...new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, value)).buffer)];
}

const NANOS: readonly number[] = fixed64(BigInt(TIME_MS) * 1_000_000n);

/** `ExportLogsServiceRequest` with one record. */
export function otlpLogMessage(line: string | Uint8Array, time: readonly number[] = NANOS): Uint8Array {
  const text = typeof line === "string" ? encoder.encode(line) : line;
  const record = Buffer.concat([Uint8Array.of(0x09, ...time), within(5, within(1, text))]);
  return within(1, within(2, within(2, record)));
}

/** `ExportMetricsServiceRequest` with one gauge of one point. */
export function otlpMetricMessage(name: string, time: readonly number[] = NANOS, value = 1): Uint8Array {
  const double = [...new Uint8Array(Float64Array.of(value).buffer)];
  const point = [0x19, ...time, 0x21, ...double];
  const metric = [...textField(1, name), ...bytesField(5, bytesField(1, point))];
  return Uint8Array.from(bytesField(1, bytesField(2, bytesField(2, metric))));
}

/** `ExportTraceServiceRequest` with one span. */
export function otlpSpanMessage(name: string, start: readonly number[] = NANOS): Uint8Array {
  const span = [
    ...bytesField(1, Array(16).fill(1)),
    ...bytesField(2, Array(8).fill(2)),
    ...textField(5, name),
    0x39,
    ...start,
    0x41,
    ...NANOS,
  ];
  return Uint8Array.from(bytesField(1, bytesField(2, bytesField(2, span))));
}

/** `PushRequest` with one stream of one line. */
export function lokiMessage(labels: string, line: string | readonly number[], seconds: number = TIME_MS / 1000): Uint8Array {
  const text = typeof line === "string" ? [...encoder.encode(line)] : line;
  const entry = [...bytesField(1, [0x08, ...varint(seconds)]), ...bytesField(2, text)];
  return Uint8Array.from(bytesField(1, [...textField(1, labels), ...bytesField(2, entry)]));
}

/** A length-delimited field of many bytes. */
function within(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(...varint(number * 8 + 2), ...varint(bytes.length)), bytes]);
}

const PROTOBUF = { "content-type": "application/x-protobuf" };
const JSON_TYPE = { "content-type": "application/json" };
const V2_TYPE = { "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "content-encoding": "snappy" };
const series = (metric: string): Parameters<typeof messageV1>[0] => [
  { labels: { __name__: metric, job: "a" }, samples: [{ time: TIME_MS, value: 1 }] },
];
const INGEST = "/v1/ingest?pipeline_name=greptime_identity";

/** All of them. */
export const DOORS: readonly Door[] = [
  {
    name: "InfluxDB",
    path: "/v1/influxdb/write",
    headers: {},
    body: bytes(`door_influx,host=a v=1 ${TIME_MS}000000`),
    table: "door_influx",
    shape: "plain",
    form: "lines",
    packed: plain,
  },
  {
    name: "remote write 1.0",
    path: "/v1/prometheus/write",
    headers: PROTOBUF,
    body: snappy(messageV1(series("door_write1"))),
    table: "door_write1",
    shape: "plain",
    form: "snappy",
    packed: snappy,
  },
  {
    name: "remote write 2.0",
    path: "/v1/prometheus/write",
    headers: V2_TYPE,
    body: snappy(messageV2(series("door_write2"))),
    table: "door_write2",
    shape: "plain",
    form: "snappy",
    packed: snappy,
  },
  {
    name: "OTLP metrics",
    path: "/v1/otlp/v1/metrics",
    headers: PROTOBUF,
    body: plain(otlpMetricMessage("door_gauge")),
    table: "door_gauge",
    shape: "plain",
    form: "protobuf",
    packed: plain,
  },
  {
    name: "OTLP logs",
    path: "/v1/otlp/v1/logs",
    headers: { ...PROTOBUF, "x-greptime-log-table-name": "door_otlp" },
    body: plain(otlpLogMessage("line")),
    table: "door_otlp",
    shape: "plain",
    form: "protobuf",
    packed: plain,
  },
  {
    name: "OTLP traces",
    path: "/v1/otlp/v1/traces",
    headers: { ...PROTOBUF, "x-greptime-pipeline-name": "greptime_trace_v1", "x-greptime-trace-table-name": "door_spans" },
    body: plain(otlpSpanMessage("span")),
    table: "door_spans",
    shape: "plain",
    form: "protobuf",
    packed: plain,
  },
  {
    name: "Loki protobuf",
    path: "/v1/loki/api/v1/push",
    headers: { ...PROTOBUF, "x-greptime-log-table-name": "door_loki" },
    body: snappy(lokiMessage('{job="a"}', "line")),
    table: "door_loki",
    shape: "plain",
    form: "snappy",
    packed: snappy,
  },
  {
    name: "Loki JSON",
    path: "/v1/loki/api/v1/push",
    headers: { ...JSON_TYPE, "x-greptime-log-table-name": "door_loki_json" },
    body: bytes(`{"streams":[{"stream":{"job":"a"},"values":[["${TIME_MS}000000","line"]]}]}`),
    table: "door_loki_json",
    shape: "plain",
    form: "json",
    packed: plain,
  },
  {
    name: "OpenTSDB",
    path: "/v1/opentsdb/api/put",
    headers: JSON_TYPE,
    body: bytes(`{"metric":"door_tsdb","timestamp":${TIME_MS},"value":1,"tags":{"host":"a"}}`),
    table: "door_tsdb",
    shape: "plain",
    form: "json",
    packed: plain,
  },
  {
    name: "JSON through a pipeline",
    path: `${INGEST}&table=door_json`,
    headers: JSON_TYPE,
    body: bytes('[{"a":1}]'),
    table: "door_json",
    shape: "plain",
    form: "json",
    packed: plain,
  },
  {
    name: "NDJSON through a pipeline",
    path: `${INGEST}&table=door_ndjson`,
    headers: { "content-type": "application/x-ndjson" },
    body: bytes('{"a":1}\n'),
    table: "door_ndjson",
    shape: "plain",
    form: "json",
    packed: plain,
  },
  {
    name: "text through a pipeline",
    path: `${INGEST}&table=door_text`,
    headers: { "content-type": "text/plain" },
    body: bytes("line\n"),
    table: "door_text",
    shape: "plain",
    form: "lines",
    packed: plain,
  },
  {
    name: "Elasticsearch",
    path: "/v1/elasticsearch/door_bulk/_bulk",
    headers: { "content-type": "application/x-ndjson" },
    body: bytes('{"create":{}}\n{"a":1}\n'),
    table: "door_bulk",
    shape: "bulk",
    form: "json",
    packed: plain,
  },
  {
    name: "Splunk events",
    path: "/v1/splunk/services/collector/event?table=door_events",
    headers: {},
    body: bytes('{"event":"line"}'),
    table: "door_events",
    shape: "splunk",
    form: "json",
    packed: plain,
  },
  {
    name: "Splunk raw",
    path: "/v1/splunk/services/collector/raw?table=door_raw",
    headers: {},
    body: bytes("line"),
    table: "door_raw",
    shape: "splunk",
    form: "lines",
    packed: plain,
  },
];
