/** OpenTelemetry's own SDK sends metrics, spans and logs through authentication, by HTTP in both forms and by gRPC; SQL reads it back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Metadata } from "@grpc/grpc-js";
import { type Context, ROOT_CONTEXT, SeverityNumber, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import { OTLPLogExporter as GrpcLogs } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtoLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter as GrpcMetrics } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtoMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as GrpcTraces } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonTraces } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoTraces } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { type Cell, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const AUTHORIZATION = { authorization: `Basic ${btoa("client:s3cret")}` };
const RESOURCE = resourceFromAttributes({ "service.name": "shop", "service.instance.id": "shop-1", "host.arch": "arm64" });
const TEXT = 'first "line"\nsecond, ü';
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

/** What SQL shows of the two log records. */
const TRACED: readonly Cell[] = [TEXT, "WARN", 13, TRACE_ID, "b7ad6b7169203331", 1, "shop.logger", "9", "t1"];
const PLAIN: readonly Cell[] = ['{"structured":true}', "", 0, "", "", 0, "shop.logger", "9", null];

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:client=s3cret"] });
});
afterAll(async () => {
  await server.end();
});

type Headers = Readonly<Record<string, string>>;
type GrpcConfig = NonNullable<ConstructorParameters<typeof GrpcMetrics>[0]>;

/** Exporters of one form. @param headers of every request */
interface Exporters {
  readonly form: string;
  metrics(headers: Headers): PushMetricExporter;
  traces(headers: Headers): SpanExporter;
  logs(headers: Headers): LogRecordExporter;
}

const over = (signal: string, headers: Headers): { url: string; headers: Record<string, string> } => ({
  url: `${server.url}/v1/otlp/v1/${signal}`,
  headers: { ...headers },
});

function grpc(form: string, compression: "gzip" | "none"): Exporters {
  const config = (headers: Headers): GrpcConfig => {
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
    return { url: `http://${server.grpcAddress}`, metadata, compression: compression as NonNullable<GrpcConfig["compression"]> };
  };
  return {
    form,
    metrics: (headers) => new GrpcMetrics(config(headers)),
    traces: (headers) => new GrpcTraces(config(headers)),
    logs: (headers) => new GrpcLogs(config(headers)),
  };
}

const FORMS: readonly Exporters[] = [
  {
    form: "proto",
    metrics: (headers) => new ProtoMetrics(over("metrics", headers)),
    traces: (headers) => new ProtoTraces(over("traces", headers)),
    logs: (headers) => new ProtoLogs(over("logs", headers)),
  },
  {
    form: "json",
    metrics: (headers) => new JsonMetrics(over("metrics", headers)),
    traces: (headers) => new JsonTraces(over("traces", headers)),
    logs: (headers) => new JsonLogs(over("logs", headers)),
  },
  grpc("grpc", "none"),
  grpc("grpc_gzip", "gzip"),
];

async function rows(sql: string): Promise<readonly (readonly Cell[])[]> {
  return (await queryRows(server.url, sql, { headers: AUTHORIZATION })).rows;
}

describe.each(FORMS)("exporters in $form", ({ form, ...exporters }) => {
  test("metrics of all kinds", async () => {
    const exporter = exporters.metrics(AUTHORIZATION);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000, exportTimeoutMillis: 30_000 });
    const provider = new MeterProvider({ resource: RESOURCE, readers: [reader] });
    const meter = provider.getMeter("shop.meter", "1.2");
    const attributes = { route: "/items", status: 200, cached: true };
    meter.createCounter(`${form}.requests`, { unit: "1" }).add(7, attributes);
    meter.createUpDownCounter(`${form}.queue`).add(-3, attributes);
    meter.createGauge(`${form}.load`).record(0.25, attributes);
    meter.createHistogram(`${form}.duration`, { unit: "s", advice: { explicitBucketBoundaries: [0.5, 2] } }).record(1.5, attributes);
    meter.createObservableGauge(`${form}.heap`, { unit: "By" }).addCallback((result) => result.observe(1024, attributes));
    await provider.shutdown(); // Exports what there is, once more after a flush.
    const valueOf = async (table: string, more = ""): Promise<unknown> =>
      await rows(`SELECT greptime_value, route, status, job, instance ${more} FROM ${form}_${table} ORDER BY greptime_value`);
    const tags = ["/items", "200", "shop", "shop-1"];
    expect(await valueOf("requests_total")).toEqual([[7, ...tags]]);
    expect(await valueOf("queue")).toEqual([[-3, ...tags]]);
    expect(await valueOf("load")).toEqual([[0.25, ...tags]]);
    expect(await valueOf("heap_bytes")).toEqual([[1024, ...tags]]);
    expect(await valueOf("duration_seconds_sum")).toEqual([[1.5, ...tags]]);
    expect(await valueOf("duration_seconds_count")).toEqual([[1, ...tags]]);
    const buckets = await rows(`SELECT le, greptime_value FROM ${form}_duration_seconds_bucket ORDER BY le`);
    expect(buckets).toEqual([
      ["0.5", 0],
      ["2", 1],
      ["inf", 1],
    ]);
  });

  test("spans with attributes, events and links", async () => {
    const table = `${form}_spans`;
    const headers = {
      ...AUTHORIZATION,
      "x-greptime-pipeline-name": "greptime_trace_v1",
      "x-greptime-trace-table-name": table,
    };
    const processor = new BatchSpanProcessor({ exporter: exporters.traces(headers) });
    const provider = new TracerProvider({ resource: RESOURCE, spanProcessors: [processor] });
    const tracer = provider.getTracer("shop.tracer", "3");
    const parent = tracer.startSpan("parent", {
      kind: SpanKind.SERVER,
      attributes: { "http.request.method": "GET", size: 12, ratio: 0.5 },
    });
    const context: Context = trace.setSpan(ROOT_CONTEXT, parent);
    const link = {
      context: { traceId: TRACE_ID, spanId: "b7ad6b7169203331", traceFlags: TraceFlags.SAMPLED },
      attributes: { why: "retry" },
    };
    const child = tracer.startSpan("child", { kind: SpanKind.CLIENT, links: [link], attributes: { ok: true, list: ["a", "b"] } }, context);
    child.addEvent("lookup", { key: "item:1" });
    child.setStatus({ code: SpanStatusCode.ERROR, message: "not found" });
    child.end();
    parent.end();
    await provider.forceFlush();
    await provider.shutdown();
    const columns = "span_name, span_kind, span_status_code, span_status_message, scope_name, scope_version, service_name";
    const { spanId, traceId } = parent.spanContext();
    expect(await rows(`SELECT ${columns}, trace_id, parent_span_id FROM ${table} ORDER BY span_name`)).toEqual([
      ["child", "SPAN_KIND_CLIENT", "STATUS_CODE_ERROR", "not found", "shop.tracer", "3", "shop", traceId, spanId],
      ["parent", "SPAN_KIND_SERVER", "STATUS_CODE_UNSET", "", "shop.tracer", "3", "shop", traceId, null],
    ]);
    const names = ["http.request.method", "size", "ratio", "ok", "list"].map((name) => `"span_attributes.${name}"`);
    expect(await rows(`SELECT ${names.join(", ")}, "resource_attributes.host.arch" FROM ${table} ORDER BY span_name`)).toEqual([
      [null, null, null, true, ["a", "b"], "arm64"],
      ["GET", 12, 0.5, null, null, "arm64"],
    ] as never);
    const [nested] = await rows(`SELECT span_events, span_links FROM ${table} WHERE span_name = 'child'`);
    expect(nested?.[0] as unknown).toMatchObject([{ name: "lookup", attributes: { key: "item:1" } }]);
    expect(nested?.[1] as unknown).toMatchObject([{ trace_id: TRACE_ID, span_id: "b7ad6b7169203331", attributes: { why: "retry" } }]);
    expect(await rows(`SELECT span_name, span_kind FROM ${table}_operations ORDER BY span_name`)).toEqual([
      ["child", "SPAN_KIND_CLIENT"],
      ["parent", "SPAN_KIND_SERVER"],
    ]);
    expect(await rows(`SELECT service_name FROM ${table}_services`)).toEqual([["shop"]]);
  });

  test("all three without a header of ours, as a plain SDK or Collector sends them", async () => {
    const processor = new BatchSpanProcessor({ exporter: exporters.traces(AUTHORIZATION) });
    const spans = new TracerProvider({ resource: RESOURCE, spanProcessors: [processor] });
    spans.getTracer("plain").startSpan(`${form}_plain`).end();
    await spans.shutdown();
    expect(await rows(`SELECT service_name FROM opentelemetry_traces WHERE span_name = '${form}_plain'`)).toEqual([["shop"]]);
    const logs = new LoggerProvider({
      resource: RESOURCE,
      processors: [new BatchLogRecordProcessor({ exporter: exporters.logs(AUTHORIZATION) })],
    });
    logs.getLogger("plain").emit({ body: `${form}_plain` });
    await logs.shutdown();
    expect(await rows(`SELECT scope_name FROM opentelemetry_logs WHERE body = '${form}_plain'`)).toEqual([["plain"]]);
  });

  test("logs", async () => {
    const table = `${form}_logs`;
    const headers = { ...AUTHORIZATION, "x-greptime-log-table-name": table, "x-greptime-log-extract-keys": "tenant" };
    const processor = new BatchLogRecordProcessor({ exporter: exporters.logs(headers) });
    const provider = new LoggerProvider({ resource: RESOURCE, processors: [processor] });
    const logger = provider.getLogger("shop.logger", "9");
    const context = trace.setSpanContext(ROOT_CONTEXT, { traceId: TRACE_ID, spanId: "b7ad6b7169203331", traceFlags: TraceFlags.SAMPLED });
    const attributes = { tenant: "t1", nested: { deep: [1, 2.5, null] } };
    logger.emit({
      severityNumber: SeverityNumber.WARN,
      severityText: "WARN",
      body: TEXT,
      attributes,
      context,
      timestamp: 1_731_000_000_000,
    });
    logger.emit({ body: { structured: true }, timestamp: 1_731_000_000_001 });
    await provider.forceFlush();
    await provider.shutdown();
    const columns = "body, severity_text, severity_number, trace_id, span_id, trace_flags, scope_name, scope_version, tenant";
    expect(await rows(`SELECT ${columns}, log_attributes, resource_attributes FROM ${table} ORDER BY timestamp`)).toEqual([
      [
        ...TRACED,
        { tenant: "t1", nested: { deep: [1, 2.5, null] } },
        { "service.name": "shop", "service.instance.id": "shop-1", "host.arch": "arm64" },
      ],
      [...PLAIN, {}, { "service.name": "shop", "service.instance.id": "shop-1", "host.arch": "arm64" }],
    ] as never);
  });

  test("a wrong password is told", async () => {
    const exporter = exporters.traces({ authorization: `Basic ${btoa("client:wrong")}` });
    const provider = new TracerProvider({ resource: RESOURCE, spanProcessors: [new BatchSpanProcessor({ exporter })] });
    provider.getTracer("plain").startSpan(`${form}_refused`).end();
    const told = await provider.shutdown().then(() => "nothing", String);
    expect(told).toMatch(/Unauthorized|16 UNAUTHENTICATED: Username and password does not match/);
    expect(await rows(`SELECT count(*) FROM opentelemetry_traces WHERE span_name = '${form}_refused'`)).toEqual([[0]]);
  });
});
