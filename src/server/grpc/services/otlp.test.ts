import { afterAll, beforeAll, expect, test } from "bun:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport } from "@connectrpc/connect-node";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  ExportLogsServiceRequestSchema,
  LogsService,
} from "../../../../proto/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { MetricsService } from "../../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { TraceService } from "../../../../proto/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { type GrpcFixture, GrpcClient, otherTransports, startGrpc } from "../../../../test/support/grpc-fixture.ts";
import { RawGrpc } from "../../../../test/support/raw-grpc.ts";
import { systemClock } from "../../../base/clock.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { LocalDb } from "../../../db/local-db.ts";
import { PipelineStore } from "../../../db/pipelines/pipeline-store.ts";
import { versionText } from "../../../db/pipelines/version.ts";

let server: GrpcFixture;
let client: GrpcClient;
const authorization = `Basic ${Buffer.from("writer:w").toString("base64")}`;

beforeAll(async () => {
  server = await startGrpc("static_user_provider:cmd:writer:wo=w,reader:ro=r,both=b");
  client = new GrpcClient(server.port, { authorization });
});

afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

const TIME = 1_700_000_000_000_000_000n;

/** A gauge with so many points, a second apart. */
function gauge(name: string, points: number): object {
  const dataPoints = Array.from({ length: points }, (_, i) => ({
    timeUnixNano: TIME + BigInt(i) * 1_000_000_000n,
    value: { case: "asDouble" as const, value: i + 0.5 },
  }));
  return { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name, data: { case: "gauge", value: { dataPoints } } }] }] }] };
}

async function count(db: LocalDb, table: string): Promise<number> {
  let rows = 0;
  const session = { database: "public", timeZone: "UTC", user: { name: "x", mode: "rw" as const }, signal: new AbortController().signal };
  for await (const result of db.sql(`SELECT * FROM ${table}`, session)) {
    if (result.kind !== "rows") throw new Error("rows are expected");
    for await (const batch of result.batches) rows += batch.rowCount;
  }
  return rows;
}

async function refusal(transport: Transport, headers: Record<string, string>): Promise<string> {
  const error = await createClient(MetricsService, transport)
    .export(gauge("refused", 1), { headers })
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  return `${Code[error?.code ?? 0]} ${error?.metadata.get("x-greptime-err-code")}`;
}

test("metrics, traces and logs are kept, plain and in gzip, by each protocol", async () => {
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const zipped = createGrpcTransport({ baseUrl, sendCompression: compressionGzip, compressMinBytes: 0 });
  const transports = [client.transport, zipped, ...otherTransports(server.port).map(({ transport }) => transport)];
  for (const [i, transport] of transports.entries()) {
    const headers = { authorization };
    expect((await createClient(MetricsService, transport).export(gauge(`temp_${i}`, 20), { headers })).partialSuccess).toBeUndefined();
    expect(await count(server.db, `temp_${i}`)).toBe(20);
    const traceId = new Uint8Array(16).fill(i + 1);
    const spanId = new Uint8Array(8).fill(7);
    const span = { traceId, spanId, name: "work", startTimeUnixNano: TIME, endTimeUnixNano: TIME + 5n };
    await createClient(TraceService, transport).export({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }, { headers });
    const body = { value: { case: "stringValue" as const, value: "hello" } };
    const record = { timeUnixNano: TIME + BigInt(i), body };
    await createClient(LogsService, transport).export({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }, { headers });
  }
  expect(await count(server.db, "opentelemetry_traces")).toBe(transports.length);
  expect(await count(server.db, "opentelemetry_logs")).toBe(transports.length);
});

test("headers of HTTP mean the same", async () => {
  const body = { value: { case: "stringValue" as const, value: "x" } };
  const headers = { "x-greptime-log-table-name": "named", "x-greptime-hints": "ttl=10000d" };
  const logs = createClient(LogsService, client.transport);
  await logs.export({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: TIME, body }] }] }] }, { headers });
  expect(await count(server.db, "named")).toBe(1);
});

/** All rows of a table, the columns that are named, `|` between them. */
async function rowsOf(text: string): Promise<readonly string[]> {
  const session = { database: "public", timeZone: "UTC", user: { name: "x", mode: "rw" as const }, signal: new AbortController().signal };
  const lines: string[] = [];
  for await (const result of server.db.sql(text, session)) {
    if (result.kind !== "rows") throw new Error("rows are expected");
    for await (const { rowCount, vectors } of result.batches) {
      for (let row = 0; row < rowCount; row++)
        lines.push(vectors.map((vector, i) => String(scalarAt(vector, result.headers[i]!.type, row))).join("|"));
    }
  }
  return lines;
}

const PIPELINE = `
processors:
  - dissect: { fields: [Body], patterns: ["%{level} %{text}"] }
transform:
  - { fields: [level], type: string, index: tag }
  - { fields: [text], type: string }
  - { fields: [Timestamp], type: epoch, index: timestamp }
`;

test("logs go through pipelines: the built-in one, stored ones by version, with flags, as over HTTP", async () => {
  const logRecords = ["warn low oil", "info all is well", "unparsed"].map((value, i) => ({
    timeUnixNano: TIME + BigInt(i),
    severityText: "x",
    body: { value: { case: "stringValue" as const, value } },
  }));
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
  const logs = createClient(LogsService, client.transport);
  const send = async (headers: Record<string, string>): Promise<string> => {
    try {
      const { partialSuccess } = await logs.export(request, { headers });
      return partialSuccess === undefined ? "kept" : `${partialSuccess.rejectedLogRecords}: ${partialSuccess.errorMessage}`;
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      return `${Code[error.code]} ${error.metadata.get("x-greptime-err-code")}: ${error.rawMessage}`;
    }
  };
  const table = (name: string): Record<string, string> => ({ "x-greptime-log-table-name": name });
  expect(await send({ ...table("by_identity"), "x-greptime-pipeline-name": "greptime_identity" })).toBe("kept");
  expect((await rowsOf('SELECT "Body", "SeverityText" FROM by_identity ORDER BY "Timestamp"'))[0]).toBe("warn low oil|x");

  const stored = await new PipelineStore(server.db, systemClock).add("oil", PIPELINE);
  const named = { ...table("by_oil"), "x-greptime-pipeline-name": "oil", "x-greptime-hints": "ttl=10000d" };
  expect(await send(named)).toStartWith("InvalidArgument 1004: ");
  const skipping = { ...named, "x-greptime-pipeline-params": "skip_error=true" };
  const version = versionText(stored.createdAtNanos);
  expect(await send({ ...skipping, "x-greptime-pipeline-version": version })).toBe("1: 1 records failed in the pipeline");
  expect(await rowsOf("SELECT level, text FROM by_oil ORDER BY level")).toEqual(["info|all is well", "warn|low oil"]);
  expect(String(await rowsOf("SHOW CREATE TABLE by_oil"))).toMatch(/append_mode = 'true'[^]*signal_type' = 'log'[^]*ttl = /);
  expect(await send({ ...skipping, "x-greptime-pipeline-version": "2001-01-01 00:00:00" })).toContain("Pipeline not found, name: oil");
  expect(await send({ ...table("none"), "x-greptime-pipeline-name": "nobody" })).toStartWith("InvalidArgument 1004: Pipeline not found");
  expect(await send({ "x-greptime-pipeline-name": "greptime_trace_v1" })).toContain("Unsupported pipeline for logs.");
  const text = await server.metrics.registry.metrics();
  expect(text).toContain('varve_log_rows_skipped_total{protocol="otlp",outcome="failed"} 1');
});

test("what is refused is a partial success with its reason, and spans that are all refused an error", async () => {
  const body = { value: { case: "stringValue" as const, value: "x" } };
  const logRecords = [TIME, 2n ** 63n + 1n].map((timeUnixNano) => ({ timeUnixNano, body }));
  const kept = await createClient(LogsService, client.transport).export({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
  expect(kept.partialSuccess?.rejectedLogRecords).toBe(1n);
  expect(kept.partialSuccess?.errorMessage).toContain("beyond what 64 bits hold");
  const spans = [
    { traceId: new Uint8Array(16).fill(1), spanId: new Uint8Array(8).fill(1), name: "bad", startTimeUnixNano: 2n ** 63n + 1n },
  ];
  const bad = await createClient(TraceService, client.transport)
    .export({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  expect([bad?.code, bad?.metadata.get("x-greptime-err-code")]).toEqual([Code.InvalidArgument, "1004"]);
});

test("who may not write, is not known or names no database is refused as over HTTP", async () => {
  const as = (user: string): Record<string, string> => ({ authorization: `Basic ${Buffer.from(user).toString("base64")}` });
  using nobody = new GrpcClient(server.port);
  expect(await refusal(nobody.transport, {})).toBe("Unauthenticated 7003");
  expect(await refusal(nobody.transport, as("writer:wrong"))).toBe("Unauthenticated 7002");
  expect(await refusal(nobody.transport, as("reader:r"))).toBe("PermissionDenied 7006");
  expect(await refusal(nobody.transport, { ...as("both:b"), "x-greptime-db-name": "none" })).toBe("NotFound 4004");
  expect(await refusal(nobody.transport, { ...as("both:b"), "x-greptime-hints": "auto_create_table=false" })).toMatch(
    /^(?:NotFound|InvalidArgument) /,
  );
});

/** Requests of some MiB take a while to make, on a busy machine. */
const LARGE_MS_MAX = 30_000;

test(
  "a large request is kept whole in parts, or refused whole",
  async () => {
    const points = 160_000;
    await createClient(MetricsService, client.transport).export(gauge("large_gauge", points));
    expect(await count(server.db, "large_gauge")).toBe(points);

    const body = { value: { case: "stringValue" as const, value: "x".repeat(1000) } };
    const logRecords = Array.from({ length: 6000 }, (_, i) => ({ body, timeUnixNano: TIME + BigInt(i) }));
    const logs = { resourceLogs: [{ scopeLogs: [{ scope: { name: "s" }, logRecords }] }] };
    const headers = { "x-greptime-log-table-name": "large_logs" };
    await createClient(LogsService, client.transport).export(logs, { headers });
    expect(await count(server.db, "large_logs")).toBe(logRecords.length);

    using raw = new RawGrpc(`127.0.0.1:${server.port}`);
    const bytes = toBinary(ExportLogsServiceRequestSchema, create(ExportLogsServiceRequestSchema, logs));
    const broken = Buffer.concat([bytes, Uint8Array.of(0x0a, 5, 0x12, 3, 0x12, 1, 0xff)]);
    const call = { headers: { ...headers, authorization } };
    const answer = await raw.call("/opentelemetry.proto.collector.logs.v1.LogsService/Export", [broken], call);
    expect([answer.status, answer.code]).toEqual([Code.InvalidArgument, "1004"]);
    expect(await count(server.db, "large_logs")).toBe(logRecords.length);
  },
  LARGE_MS_MAX,
);
