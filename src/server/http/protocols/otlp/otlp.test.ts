import { afterAll, expect, test } from "bun:test";
import { ProtobufMetricsSerializer } from "@opentelemetry/otlp-transformer";
import { startFixture } from "../../../../../test/support/http-fixture.ts";
import { protobufOfJson } from "../../../../ingest/otlp/json.ts";

const { server, url, db } = await startFixture();
afterAll(() => server.stop(50));

const JSON_HEADERS = { "content-type": "application/json" };
const V1 = { "x-greptime-pipeline-name": "greptime_trace_v1" };
const LOGS = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: "5", body: { stringValue: "x" } }] }] }] };

function metrics(data: unknown): unknown {
  return { resourceMetrics: [{ scopeMetrics: [{ metrics: [data] }] }] };
}

function spans(...list: unknown[]): unknown {
  return { resourceSpans: [{ scopeSpans: [{ spans: list }] }] };
}

async function post(
  signal: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/otlp/v1/${signal}`, { method: "POST", body, headers });
}

/** Sends JSON and compares the status and the answer. */
async function check(
  signal: string,
  body: unknown,
  status: number,
  want: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await post(signal, JSON.stringify(body), { ...JSON_HEADERS, ...headers });
  expect([response.status, await response.json()]).toEqual([status, want]);
}

test("an answer has the form of its request, and is empty when all was kept", async () => {
  await check("logs", LOGS, 200, {});
  const body = new Uint8Array(protobufOfJson(new TextEncoder().encode(JSON.stringify(LOGS)), "LogsRequest"));
  for (const [sent, headers] of [
    [body, {}],
    [Bun.gzipSync(body), { "content-encoding": "gzip" }],
    [new Uint8Array(Bun.zstdCompressSync(body)), { "content-encoding": "zstd" }],
    [new Uint8Array(0), {}],
  ] as const) {
    const response = await post("logs", sent, { "content-type": "application/x-protobuf", ...headers });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-protobuf"]);
    expect((await response.bytes()).length).toBe(0);
  }
});

test("what is left out is a partial success", async () => {
  const body = metrics({ name: "e", exponentialHistogram: { dataPoints: [{}] } });
  const errorMessage = "metric e is an exponential histogram, which has no tables";
  await check("metrics", body, 200, { partialSuccess: { rejectedDataPoints: "1", errorMessage } });
  const bytes = new Uint8Array(protobufOfJson(new TextEncoder().encode(JSON.stringify(body)), "MetricsRequest"));
  const answer = ProtobufMetricsSerializer.deserializeResponse(await (await post("metrics", bytes)).bytes());
  expect(answer).toEqual({ partialSuccess: { rejectedDataPoints: 1, errorMessage } });
});

test("metrics go to logical tables with options of their own", async () => {
  await check("metrics", metrics({ name: "g", gauge: { dataPoints: [{ asDouble: 1 }] } }), 200, {});
  const options = db.writes.at(-1)?.options;
  expect(options?.physicalTable).toBe("greptime_physical_table");
  expect(options?.tableOptions).toMatchObject({ otlp_metric_compat: "prom" });
  expect(options?.optionsOfTables?.get("g")).toEqual({ "greptime.semantic.metric.type": "gauge" });
  const headers = { "x-greptime-otlp-metric-translation-strategy": "notranslation" };
  const error =
    "cannot use translation strategy notranslation: it must be one of UnderscoreEscapingWithSuffixes, " +
    "UnderscoreEscapingWithoutSuffixes, NoUTF8EscapingWithSuffixes, NoTranslation";
  await check("metrics", {}, 400, { error }, headers);
});

test("traces without a pipeline are those of greptime_trace_v1, as a plain Collector sends them", async () => {
  for (const headers of [{}, { "x-greptime-pipeline-name": " " }]) {
    db.writes.length = 0;
    await check("traces", spans({ spanId: "aa", name: "x" }), 200, {}, headers);
    expect(db.writes.some(({ options }) => options.tableOptions["table_data_model"] === "greptime_trace_v1")).toBe(true);
  }
});

test("traces through a pipeline that nobody knows are refused, and a request of which nothing is kept", async () => {
  const headers = { "x-greptime-pipeline-name": "mine" };
  const error = "Unsupported pipeline for traces: mine; it must be greptime_trace_v0 or greptime_trace_v1";
  await check("traces", {}, 400, { error }, headers);
  await check("traces", spans({ spanId: "aa", name: "x" }), 200, {}, V1);
  const bad = { spanId: "aa", endTimeUnixNano: "18446744073709551615" };
  const message =
    "Accepted 0 spans, rejected 1 spans: Rejected span :aa (InvalidArguments): its times are beyond what 64 bits hold in nanoseconds";
  await check("traces", spans(bad), 400, { code: 0, message }, V1);
});

test("bodies that are no request are refused", async () => {
  const response = await post("logs", Uint8Array.of(0x0a, 0x05, 0x01));
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: "Failed to decode OTLP request: a length of 5 where 1 bytes are left at byte 1" },
  ]);
  await check("logs", [], 400, { error: "Failed to decode OTLP request: the body is not an object" });
  await check(
    "logs",
    LOGS,
    400,
    { error: "Invalid table name: 1 x: it holds a control character" },
    { "x-greptime-log-table-name": "1\tx" },
  );
  await check("logs", LOGS, 400, { error: "Unsupported pipeline for logs." }, V1);
});
