/** OTLP through a real server, as the contract shows tables and answers: names, labels, columns, options, partial success. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Cell, execute, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

type Headers = Readonly<Record<string, string>>;

/** Sends a request in JSON. @returns status and answer */
async function post(signal: string, body: unknown, headers: Headers = {}): Promise<readonly [number, unknown]> {
  const sent = { "content-type": "application/json", "content-encoding": "gzip", ...headers };
  const packed = Bun.gzipSync(Buffer.from(JSON.stringify(body)));
  const response = await fetch(`${server.url}/v1/otlp/v1/${signal}`, { method: "POST", headers: sent, body: packed });
  return [response.status, await response.json()];
}

async function checkRows(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

async function ddlOf(table: string): Promise<string> {
  return String((await queryRows(server.url, `SHOW CREATE TABLE "${table}"`)).rows[0]?.[1]);
}

/** The rows of a table as objects; columns that are NULL are left out. */
async function objectsOf(table: string): Promise<readonly Readonly<Record<string, Cell>>[]> {
  const { columns, rows } = await queryRows(server.url, `SELECT * FROM "${table}"`);
  return rows.map((row) =>
    Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null] as const).filter(([, cell]) => cell !== null)),
  );
}

const text = (key: string, stringValue: string): unknown => ({ key, value: { stringValue } });
const integer = (key: string, intValue: string): unknown => ({ key, value: { intValue } });

describe("metrics", () => {
  const RESOURCE = [text("service.name", "svc"), text("service.instance.id", "i1"), text("host.name", "h"), text("os.type", "linux")];
  const scope = { name: "sc", version: "1", attributes: [text("scope.attr", "sa")] };
  const metrics = (...list: readonly unknown[]): unknown => {
    return { resourceMetrics: [{ resource: { attributes: RESOURCE }, scopeMetrics: [{ scope, metrics: list }] }] };
  };
  const counter = (name: string): unknown => {
    const attributes = [text("model", "m1"), integer("n", "3"), { key: "flag", value: { boolValue: true } }];
    const dataPoints = [{ timeUnixNano: "1753780559836999999", asDouble: 1.5, attributes }];
    return { name, unit: "USD", sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } };
  };
  const POINT = { greptime_timestamp: 1753780559836, greptime_value: 1.5, model: "m1", n: "3", job: "svc", instance: "i1" };
  const SERVICE = { service_name: "svc", service_instance_id: "i1" };

  test("a table of Prometheus' names, with what is declared of it", async () => {
    expect(await post("metrics", metrics(counter("claude_code.cost.usage")))).toEqual([200, {}]);
    expect(await objectsOf("claude_code_cost_usage_USD_total")).toEqual([{ ...POINT, ...SERVICE }]);
    expect(await ddlOf("claude_code_cost_usage_USD_total")).toBe(
      [
        'CREATE TABLE IF NOT EXISTS "claude_code_cost_usage_USD_total" (',
        '  "greptime_timestamp" TIMESTAMP(3) NOT NULL,',
        '  "greptime_value" DOUBLE NULL,',
        '  "instance" STRING NULL,',
        '  "job" STRING NULL,',
        '  "model" STRING NULL,',
        '  "n" STRING NULL,',
        '  "service_instance_id" STRING NULL,',
        '  "service_name" STRING NULL,',
        '  TIME INDEX ("greptime_timestamp"),',
        '  PRIMARY KEY ("instance", "job", "model", "n", "service_instance_id", "service_name")',
        ")",
        "",
        "ENGINE=metric",
        "WITH(",
        "  'comment' = 'Created on insertion',",
        "  'greptime.semantic.metric.metadata_quality' = 'declared',",
        "  'greptime.semantic.metric.original_name' = 'claude_code.cost.usage',",
        "  'greptime.semantic.metric.temporality' = 'cumulative',",
        "  'greptime.semantic.metric.type' = 'counter',",
        "  'greptime.semantic.metric.unit' = 'USD',",
        "  'greptime.semantic.signal_type' = 'metric',",
        "  'greptime.semantic.source' = 'opentelemetry',",
        "  on_physical_table = 'greptime_physical_table',",
        "  otlp_metric_compat = 'prom'",
        ")",
      ].join("\n"),
    );
  });

  test("headers choose which attributes of resource and scope become labels", async () => {
    const all = {
      "x-greptime-otlp-metric-promote-all-resource-attrs": "True",
      "x-greptime-otlp-metric-ignore-resource-attrs": "os.type;x",
    };
    expect((await post("metrics", metrics(counter("all")), { ...all, "x-greptime-otlp-metric-promote-scope-attrs": "1" }))[0]).toBe(200);
    const ofScope = { otel_scope_name: "sc", otel_scope_version: "1", otel_scope_scope_attr: "sa" };
    expect(await objectsOf("all_USD_total")).toEqual([{ ...POINT, ...SERVICE, host_name: "h", ...ofScope }]);
    await post("metrics", metrics(counter("listed")), { "x-greptime-otlp-metric-promote-resource-attrs": "os.type;x" });
    expect(await objectsOf("listed_USD_total")).toEqual([{ ...POINT, ...SERVICE, os_type: "linux" }]);
  });

  test("a header chooses how names are written", async () => {
    const strategy = (name: string): Headers => ({ "x-greptime-otlp-metric-translation-strategy": name });
    await post("metrics", metrics(counter("by.strategy")), strategy("NoTranslation"));
    expect(await objectsOf("by.strategy")).toEqual([{ ...POINT, "service.name": "svc", "service.instance.id": "i1" }]);
    await post("metrics", metrics(counter("by.strategy")), strategy("NoUTF8EscapingWithSuffixes"));
    expect(await objectsOf("by.strategy_USD_total")).toHaveLength(1);
    await post("metrics", metrics(counter("by.strategy")), strategy("UnderscoreEscapingWithoutSuffixes"));
    expect(await objectsOf("by_strategy")).toEqual([{ ...POINT, ...SERVICE }]);
    const [status, answer] = await post("metrics", metrics(counter("x")), strategy("notranslation"));
    expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining("UnderscoreEscapingWithSuffixes")]);
  });

  test("histograms and summaries become several tables", async () => {
    const timeUnixNano = "1753780559836000000";
    const buckets = { timeUnixNano, count: "3", sum: 6, bucketCounts: ["1", "2", "0"], explicitBounds: [1, 2.5] };
    const quantiles = { timeUnixNano, count: "3", sum: 6, quantileValues: [{ quantile: 0.5, value: 2 }] };
    const histogram = { name: "took", unit: "ms", histogram: { aggregationTemporality: 2, dataPoints: [buckets] } };
    await post("metrics", metrics(histogram, { name: "size", summary: { dataPoints: [quantiles] } }));
    await checkRows("SELECT le, greptime_value FROM took_milliseconds_bucket ORDER BY le", [
      ["1", 1],
      ["2.5", 3],
      ["inf", 3],
    ]);
    await checkRows("SELECT s.greptime_value FROM took_milliseconds_sum s", [[6]]);
    await checkRows("SELECT greptime_value FROM took_milliseconds_count", [[3]]);
    await checkRows("SELECT quantile, greptime_value FROM size", [["0.5", 2]]);
    await checkRows("SELECT greptime_value FROM size_count", [[3]]);
  });
});

describe("traces", () => {
  const V1 = { "x-greptime-pipeline-name": "greptime_trace_v1" };
  const span = (spanId: string, attributes: readonly unknown[]): unknown => ({
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId,
    name: "op",
    kind: 2,
    startTimeUnixNano: "1736480942444376000",
    endTimeUnixNano: "1736480942444499000",
    attributes,
    status: { code: 2, message: "bad" },
    events: [{ timeUnixNano: "1736480942444380000", name: "ev", attributes: [text("k", "v")] }],
    links: [{ traceId: "5b8efff798038103d269b633813fc60d", spanId: "eee19b7ec3c1b175" }],
  });
  const traces = (...spans: readonly unknown[]): unknown => {
    const resource = { attributes: [text("service.name", "svc"), text("host", "h1")] };
    return { resourceSpans: [{ schemaUrl: "https://x/1", resource, scopeSpans: [{ scope: { name: "sc", version: "1" }, spans }] }] };
  };
  const ROW = {
    timestamp: 1736480942444376000n,
    timestamp_end: 1736480942444499000n,
    duration_nano: 123000,
    trace_id: "5b8efff798038103d269b633813fc60c",
    span_kind: "SPAN_KIND_SERVER",
    span_name: "op",
    span_status_code: "STATUS_CODE_ERROR",
    span_status_message: "bad",
    trace_state: "",
    scope_name: "sc",
    scope_version: "1",
    service_name: "svc",
    span_events: [{ attributes: { k: "v" }, name: "ev", time: "2025-01-10 03:49:02.444380000+0000" }],
    span_links: [{ attributes: {}, span_id: "eee19b7ec3c1b175", trace_id: "5b8efff798038103d269b633813fc60d", trace_state: "" }],
  };

  test("model v1: a column an attribute, services and operations once each", async () => {
    const sent = traces(span("0000000000000001", [text("peer", "a"), integer("n", "1")]), span("0000000000000002", [integer("n", "2")]));
    expect(await post("traces", sent, V1)).toEqual([200, {}]);
    expect(await post("traces", sent, V1)).toEqual([200, {}]);
    const rows = await objectsOf("opentelemetry_traces");
    expect(rows).toHaveLength(4);
    const first = rows.find(({ span_id: id }) => id === "0000000000000001") as unknown;
    const own = { span_id: "0000000000000001", "span_attributes.peer": "a", "span_attributes.n": 1, "resource_attributes.host": "h1" };
    expect(first).toEqual({ ...ROW, ...own });
    const ddl = await ddlOf("opentelemetry_traces");
    const columns = [...ddl.matchAll(/^ {2}"([^"]+)" ([A-Z]+)/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(columns).toEqual([
      "timestamp TIMESTAMP",
      "timestamp_end TIMESTAMP",
      "duration_nano BIGINT",
      "parent_span_id STRING",
      "trace_id STRING",
      "span_id STRING",
      "span_kind STRING",
      "span_name STRING",
      "span_status_code STRING",
      "span_status_message STRING",
      "trace_state STRING",
      "scope_name STRING",
      "scope_version STRING",
      "service_name STRING",
      "span_attributes.peer STRING",
      "span_attributes.n BIGINT",
      "resource_attributes.host STRING",
      "span_events JSON",
      "span_links JSON",
    ]);
    for (const part of [
      'PRIMARY KEY ("service_name")',
      "append_mode = 'true'",
      "table_data_model = 'greptime_trace_v1'",
      "'greptime.semantic.trace.conventions' = 'https://x/1'",
      "'greptime.semantic.entity.service.id' = 'service_name'",
    ]) {
      expect(ddl).toContain(part);
    }
    expect(ddl.match(/SKIPPING INDEX/g)).toHaveLength(3);
    await checkRows("SELECT * FROM opentelemetry_traces_services", [[4102444800000000000n, "svc"]]);
    await checkRows("SELECT * FROM opentelemetry_traces_operations", [[4102444800000000000n, "svc", "op", "SPAN_KIND_SERVER"]]);
    expect(await ddlOf("opentelemetry_traces_operations")).toContain('PRIMARY KEY ("service_name", "span_name", "span_kind")');
  });

  test("what does not fit its column is a partial success; nothing at all is an error", async () => {
    const bad = span("0000000000000003", [text("n", "zz")]);
    const why = "failed to coerce trace column 'span_attributes.n' in table 'opentelemetry_traces' from String(\"zz\") to";
    const errorMessage = expect.stringMatching(
      new RegExp(`^Accepted 1 spans, rejected 1 spans: Rejected span .*${why.replace(/[().]/g, "\\$&")}`),
    );
    expect(await post("traces", traces(bad, span("0000000000000004", [text("n", "7")])), V1)).toEqual([
      200,
      { partialSuccess: { rejectedSpans: "1", errorMessage } },
    ]);
    await checkRows(`SELECT "span_attributes.n" FROM opentelemetry_traces WHERE span_id = '0000000000000004'`, [[7]]);
    expect(await post("traces", traces(bad), V1)).toEqual([400, { code: 0, message: expect.stringContaining("rejected 1 spans") }]);
  });

  test("model v0 keeps attributes as JSON, in a table that the header names", async () => {
    const headers = { "x-greptime-pipeline-name": "greptime_trace_v0", "x-greptime-trace-table-name": "spans0" };
    expect(await post("traces", traces(span("0000000000000005", [text("n", "zz")])), headers)).toEqual([200, {}]);
    expect((await objectsOf("spans0")) as unknown).toEqual([
      {
        ...ROW,
        span_id: "0000000000000005",
        span_attributes: { n: "zz" },
        scope_attributes: {},
        resource_attributes: { host: "h1", "service.name": "svc" },
      },
    ]);
    expect((await queryRows(server.url, "SELECT service_name FROM spans0_services")).rows).toEqual([["svc"]]);
  });

  test("a pipeline that is named has to be one of traces", async () => {
    expect((await post("traces", traces(), { "x-greptime-pipeline-name": "greptime_identity" }))[0]).toBe(400);
  });
});

describe("logs", () => {
  const logs = (attributes: readonly unknown[], body = "line"): unknown => {
    const record = {
      timeUnixNano: "1736480942444376000",
      severityText: "Info",
      severityNumber: 9,
      body: { stringValue: body },
      attributes,
    };
    const scope = { name: "sc", version: "1", attributes: [text("instance_num", "10")] };
    const resource = { attributes: [text("resource-attr", "r"), text("host", "resource-host")] };
    return { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [record] }] }] };
  };

  test("the default table, in its order", async () => {
    expect(await post("logs", logs([text("app", "server")]))).toEqual([200, {}]);
    const { columns, rows } = await queryRows(server.url, "SELECT * FROM opentelemetry_logs");
    expect(columns).toEqual([
      "timestamp",
      "trace_id",
      "span_id",
      "severity_text",
      "severity_number",
      "body",
      "log_attributes",
      "trace_flags",
      "scope_name",
      "scope_version",
      "scope_attributes",
      "scope_schema_url",
      "resource_attributes",
      "resource_schema_url",
    ]);
    const resource = { host: "resource-host", "resource-attr": "r" };
    const scope = { instance_num: "10" };
    const want: unknown = [[1736480942444376000n, "", "", "Info", 9, "line", { app: "server" }, 0, "sc", "1", scope, "", resource, ""]];
    expect(rows as unknown).toEqual(want);
    const ddl = await ddlOf("opentelemetry_logs");
    for (const part of ['PRIMARY KEY ("scope_name")', '"body" STRING NULL FULLTEXT INDEX', "append_mode = 'true'"])
      expect(ddl).toContain(part);
  });

  test("extracted keys are tags: the record's before the scope's before the resource's", async () => {
    const headers = { "x-greptime-log-table-name": "extracted", "x-greptime-log-extract-keys": "instance_num,app,host" };
    expect(await post("logs", logs([text("app", "server"), text("host", "log-host")]), headers)).toEqual([200, {}]);
    await checkRows("SELECT instance_num, app, host FROM extracted", [["10", "server", "log-host"]]);
    expect(await ddlOf("extracted")).toContain('PRIMARY KEY ("scope_name", "host", "instance_num", "app")');
  });

  test("a table that exists lends its types and roles; what cannot be is refused, and nothing is written", async () => {
    const columns = "timestamp TIMESTAMP(3) TIME INDEX, severity_number STRING, host STRING PRIMARY KEY";
    await execute(server.url, `CREATE TABLE aligned (${columns})`);
    const headers = { "x-greptime-log-table-name": "aligned", "x-greptime-log-extract-keys": "host" };
    expect(await post("logs", logs([]), headers)).toEqual([200, {}]);
    await checkRows("SELECT timestamp, severity_number, host, scope_name FROM aligned", [[1736480942444, "9", "resource-host", "sc"]]);
    expect(await ddlOf("aligned")).toContain('PRIMARY KEY ("host")');
    await execute(server.url, "CREATE TABLE narrow (timestamp TIMESTAMP(9) TIME INDEX, body BIGINT)");
    expect(await post("logs", logs([]), { "x-greptime-log-table-name": "narrow" })).toEqual([
      400,
      { error: expect.stringMatching(/^failed to align log column 'body' in table 'narrow' from .* to Int64/) },
    ]);
    await checkRows("SELECT count(*) FROM narrow", [[0]]);
  });
});
