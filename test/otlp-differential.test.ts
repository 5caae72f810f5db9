/**
 * The decoders of OTLP beside messages that a library reads by the definitions in `proto/`: random requests give the rows that a plain
 * reading of the messages gives, and of requests with bytes changed the decoders keep or reject as many records as the library finds.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { create, createFileRegistry, type DescMessage, type FileRegistry, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { join } from "node:path";
import { DbError } from "../src/base/error.ts";
import { canonicalJson } from "../src/value/json-text.ts";
import { floatText } from "../src/value/number-text.ts";
import { ProtoError } from "../src/format/proto/reader.ts";
import { LogDecoder, MetricDecoder, TraceDecoder } from "../src/ingest/otlp/decode.ts";
import type { MetricOptions } from "../src/ingest/otlp/metrics/decode.ts";
import { type PlainRow, rowsOf } from "./support/batch-rows.ts";
import { ROOT } from "./tidy/source-tree.ts";

/** A message as plain data; its fields are known from the definitions alone. */
// oxlint-disable-next-line typescript/no-explicit-any -- no type says what the definitions say
type Plain = { readonly [field: string]: any };

const built = Bun.spawnSync([join(ROOT, "node_modules/.bin/buf"), "build", "-o", "-#format=binpb"], { cwd: join(ROOT, "proto") });
const missing = built.exitCode !== 0;
if (missing) process.stderr.write(`otlp-differential.test.ts is skipped: buf cannot run here: ${built.stderr.toString()}\n`);

let registry: FileRegistry;

beforeAll(() => {
  if (!missing) registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(built.stdout)));
});

function definition(signal: "logs" | "trace" | "metrics"): DescMessage {
  const name = `Export${signal[0]?.toUpperCase()}${signal.slice(1)}ServiceRequest`;
  const found = registry.getMessage(`opentelemetry.proto.collector.${signal}.v1.${name}`);
  if (found === undefined) throw new Error(`no ${name} in proto/`);
  return found;
}

// ---- Random requests ----

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("service.name", "a", ""));
const bytes = fc.uint8Array({ maxLength: 20 });
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(undefined),
    text.map((value) => ({ case: "stringValue", value })),
    fc.boolean().map((value) => ({ case: "boolValue", value })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ case: "intValue", value })),
    fc.double({ noNaN: true }).map((value) => ({ case: "doubleValue", value })),
    bytes.map((value) => ({ case: "bytesValue", value })),
    fc.array(tie("value"), { maxLength: 3 }).map((values) => ({ case: "arrayValue", value: { values: values.map(held) } })),
    fc
      .array(fc.record({ key: text, value: tie("value") }), { maxLength: 3 })
      .map((list) => ({ case: "kvlistValue", value: { values: list.map(({ key, value }) => ({ key, value: held(value) })) } })),
  ),
}));
const attributes = fc.array(
  fc.record({ key: text, value: anyValue }).map(({ key, value }) => ({ key, value: held(value) })),
  { maxLength: 5 },
);
const time = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 1_731_000_000_000_000_000n, max: 1_731_000_100_000_000_000n }),
);

function held(value: unknown): { readonly value?: unknown } {
  return value === undefined ? {} : { value };
}

function requests(resourceList: string, scopeList: string, recordList: string, record: fc.Arbitrary<unknown>): fc.Arbitrary<Plain> {
  const scope = fc.record({ name: text, version: text, attributes });
  const scopes = fc.record({
    scope: fc.option(scope, { nil: undefined }),
    [recordList]: fc.array(record, { maxLength: 4 }),
    schemaUrl: text,
  });
  const resource = fc.record({ resource: fc.record({ attributes }), [scopeList]: fc.array(scopes, { maxLength: 3 }), schemaUrl: text });
  return fc.record({ [resourceList]: fc.array(resource, { maxLength: 3 }) });
}

const logRecord = fc.record({
  timeUnixNano: time,
  observedTimeUnixNano: time,
  severityNumber: fc.integer({ min: 0, max: 24 }),
  severityText: text,
  body: fc.option(anyValue.map(held), { nil: undefined }),
  attributes,
  flags: fc.nat(),
  traceId: bytes,
  spanId: bytes,
});
const event = fc.record({ timeUnixNano: time, name: text, attributes });
const span = fc.record({
  traceId: bytes,
  spanId: bytes,
  parentSpanId: bytes,
  traceState: text,
  name: text,
  kind: fc.integer({ min: 0, max: 5 }),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  events: fc.array(event, { maxLength: 2 }),
  links: fc.array(fc.record({ traceId: bytes, spanId: bytes, traceState: text, attributes }), { maxLength: 2 }),
  status: fc.option(fc.record({ message: text, code: fc.integer({ min: 0, max: 2 }) }), { nil: undefined }),
});
const number = fc.double({ noNaN: true });
const point = fc.record({
  attributes,
  timeUnixNano: time,
  value: fc.oneof(
    number.map((value) => ({ case: "asDouble", value })),
    fc.integer().map((value) => ({ case: "asInt", value: BigInt(value) })),
  ),
});
const histogramPoint = fc
  .record({ attributes, timeUnixNano: time, sum: fc.option(number, { nil: undefined }), buckets: fc.array(fc.nat(1000), { maxLength: 6 }) })
  .map(({ buckets, sum, ...rest }) => ({
    ...rest,
    ...(sum === undefined ? {} : { sum }),
    count: BigInt(buckets.length),
    bucketCounts: buckets.map(BigInt),
    explicitBounds: buckets.slice(1).map((_, i) => i + 0.5),
  }));
const metric = fc
  .record({
    name: fc.constantFrom("a.b", "c", "d"),
    data: fc.oneof(
      fc.array(point, { maxLength: 4 }).map((dataPoints) => ({ case: "gauge", value: { dataPoints } })),
      fc.array(point, { maxLength: 4 }).map((dataPoints) => ({ case: "sum", value: { dataPoints, aggregationTemporality: 2 } })),
      fc.array(histogramPoint, { maxLength: 3 }).map((dataPoints) => ({ case: "histogram", value: { dataPoints } })),
    ),
  })
  // One kind a name, so that no label of one clashes with another's.
  .map(({ name, data }) => ({ name: `${name}.${data.case}`, data }));

// ---- What a plain reading gives ----

function valueText(value: Plain | undefined): string {
  const kind = value?.["value"];
  switch (kind?.case) {
    case "stringValue":
      return JSON.stringify(kind.value);
    case "boolValue":
    case "intValue":
      return String(kind.value);
    case "doubleValue":
      return Number.isFinite(kind.value) ? floatText(kind.value) : "null";
    case "bytesValue":
      return JSON.stringify(Buffer.from(kind.value).toString("base64"));
    case "arrayValue":
      return `[${kind.value.values.map(valueText).join(",")}]`;
    case "kvlistValue":
      return objectText(kind.value.values);
    default:
      return "null";
  }
}

function objectText(list: readonly Plain[]): string {
  return `{${list.map(({ key, value }) => `${JSON.stringify(key)}:${valueText(value)}`).join(",")}}`;
}

function canonical(raw: string): string {
  const found = canonicalJson(raw);
  if (!found.ok) throw new Error(`${found.why}: ${raw}`);
  return found.text;
}

function hex(id: Uint8Array): string {
  return Buffer.from(id).toString("hex");
}

function wantedLogs(request: Plain): unknown[] {
  return request["resourceLogs"].flatMap((resource: Plain) =>
    resource["scopeLogs"].flatMap((scope: Plain) =>
      scope["logRecords"].map((record: Plain) => {
        const body = record["body"]?.value;
        const bodyText =
          body?.case === "stringValue" ? body.value : body?.case === undefined ? undefined : canonical(valueText(record["body"]));
        const name = scope["scope"]?.name ?? "";
        return {
          time: record["timeUnixNano"] || record["observedTimeUnixNano"],
          tags: name === "" ? {} : { scope_name: name },
          fields: {
            trace_id: hex(record["traceId"]),
            span_id: hex(record["spanId"]),
            severity_text: record["severityText"],
            severity_number: record["severityNumber"],
            ...(bodyText === undefined ? {} : { body: bodyText }),
            log_attributes: canonical(objectText(record["attributes"])),
            trace_flags: record["flags"],
            scope_version: scope["scope"]?.version ?? "",
            scope_attributes: canonical(objectText(scope["scope"]?.attributes ?? [])),
            scope_schema_url: scope["schemaUrl"],
            resource_attributes: canonical(objectText(resource["resource"]?.attributes ?? [])),
            resource_schema_url: resource["schemaUrl"],
          },
        };
      }),
    ),
  );
}

function linkText(link: Plain): string {
  const ids = `"trace_id":"${hex(link["traceId"])}","span_id":"${hex(link["spanId"])}"`;
  return `{${ids},"trace_state":${JSON.stringify(link["traceState"])},"attributes":${objectText(link["attributes"])}}`;
}

function wantedSpans(request: Plain): unknown[] {
  return request["resourceSpans"].flatMap((resource: Plain) =>
    resource["scopeSpans"].flatMap((scope: Plain) =>
      scope["spans"].map((each: Plain) => ({
        time: each["startTimeUnixNano"],
        timestamp_end: each["endTimeUnixNano"],
        trace_id: hex(each["traceId"]),
        parent_span_id: each["parentSpanId"].length === 0 ? undefined : hex(each["parentSpanId"]),
        span_name: each["name"],
        span_status_message: each["status"]?.message ?? "",
        span_attributes: canonical(objectText(each["attributes"])),
        scope_name: scope["scope"]?.name ?? "",
        scope_attributes: canonical(objectText(scope["scope"]?.attributes ?? [])),
        resource_attributes: canonical(objectText(resource["resource"]?.attributes ?? [])),
        links: canonical(`[${each["links"].map(linkText).join(",")}]`),
        events: each["events"].map(({ name }: Plain) => name),
      })),
    ),
  );
}

/** Values by table and time in milliseconds, sorted. */
function wantedPoints(request: Plain): string[] {
  const scopes: readonly Plain[] = request["resourceMetrics"].flatMap((resource: Plain) => resource["scopeMetrics"]);
  const metrics: readonly Plain[] = scopes.flatMap((scope) => scope["metrics"]);
  return metrics.flatMap(wantedOfMetric).sort();
}

function wantedOfMetric({ name, data }: Plain): string[] {
  const found: string[] = [];
  for (const each of data.value?.dataPoints ?? []) {
    const add = (suffix: string, value: number): void => {
      found.push(`${name.replaceAll(".", "_")}${suffix} ${each.timeUnixNano / 1_000_000n} ${value}`);
    };
    if (data.case !== "histogram") {
      add("", Number(each.value.value));
      continue;
    }
    let sum = 0n;
    for (const count of each.bucketCounts) add("_bucket", Number((sum += count)));
    if (each.sum !== undefined) add("_sum", each.sum);
    add("_count", Number(each.count));
  }
  return found;
}

// ---- The decoders ----

const schemas = { columnOf: () => undefined };
const metricOptions: MetricOptions = {
  database: "public",
  physicalTable: "p",
  schemas,
  acceptsTable: () => true,
  strategy: "UnderscoreEscapingWithoutSuffixes",
  promoteAll: true,
  promoteScope: false,
  ignored: new Set(),
  promoted: new Set(),
};
const logDecoder = new LogDecoder();
const traceDecoder = new TraceDecoder();
const metricDecoder = new MetricDecoder();

function decodeLogs(body: Uint8Array): ReturnType<LogDecoder["decode"]> {
  return logDecoder.decode(body, { database: "public", table: "t", extractKeys: [], schemas });
}

function decodeSpans(body: Uint8Array, model: "v0" | "v1" = "v0"): ReturnType<TraceDecoder["decode"]> {
  return traceDecoder.decode(body, { database: "public", table: "t", model, schemas });
}

/** Encodes a request and reads it back, so that what is absent looks as the library shows it. */
function encoded(signal: "logs" | "trace" | "metrics", init: Plain): { readonly body: Uint8Array; readonly message: Plain } {
  const schema = definition(signal);
  const body = toBinary(schema, create(schema, init as never));
  return { body, message: fromBinary(schema, body) as Message & Plain };
}

/** Rows in the order of their records: parts of a request whose times are far apart come one after the other. */
function sorted(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))).sort();
}

describe.skipIf(missing)("random requests", () => {
  test("logs", () => {
    fc.assert(
      fc.property(requests("resourceLogs", "scopeLogs", "logRecords", logRecord), (request) => {
        const { body, message } = encoded("logs", request);
        const rows = rowsOf(decodeLogs(body).batch).map(({ time, tags, fields }) => {
          const { trace_id, span_id, severity_text, severity_number, body, ...rest } = fields;
          const head = { trace_id, span_id, severity_text, severity_number };
          return { time, tags, fields: { ...head, ...(body === undefined ? {} : { body }), ...rest } };
        });
        expect(sorted(rows)).toEqual(sorted(wantedLogs(message)));
      }),
      { seed: 41, numRuns: 50 },
    );
  });

  test("spans, model v0", () => {
    fc.assert(
      fc.property(requests("resourceSpans", "scopeSpans", "spans", span), (request) => {
        const { body, message } = encoded("trace", request);
        const rows = rowsOf(decodeSpans(body).batch).map(({ time, fields: f }: PlainRow) => ({
          time,
          timestamp_end: f["timestamp_end"],
          trace_id: f["trace_id"],
          parent_span_id: f["parent_span_id"],
          span_name: f["span_name"],
          span_status_message: f["span_status_message"],
          span_attributes: f["span_attributes"],
          scope_name: f["scope_name"],
          scope_attributes: f["scope_attributes"],
          resource_attributes: f["resource_attributes"],
          links: f["span_links"],
          events: JSON.parse(String(f["span_events"])).map(({ name }: Plain) => name),
        }));
        expect(sorted(rows)).toEqual(sorted(wantedSpans(message)));
      }),
      { seed: 42, numRuns: 40 },
    );
  });

  test("points", () => {
    fc.assert(
      fc.property(requests("resourceMetrics", "scopeMetrics", "metrics", metric), (request) => {
        const { body, message } = encoded("metrics", request);
        const { batch } = metricDecoder.decode(body, metricOptions);
        const points = batch.tables.flatMap(({ rowCount, keys, times, fields }) =>
          Array.from({ length: rowCount }, (_, row) => {
            const vector = fields[0]?.vector;
            const value = vector?.kind === "number" ? vector.values[row] : undefined;
            return `${batch.dictionary.tagsOf(keys[row] ?? 0).table} ${times.base + BigInt(times.offsets[row] ?? 0)} ${value}`;
          }),
        );
        expect(points.sort()).toEqual(wantedPoints(message));
      }),
      { seed: 43, numRuns: 50 },
    );
  });
});

/** How many records the library finds in a request that has bytes changed; undefined when it finds no request. */
function countOf(signal: "logs" | "trace", body: Uint8Array): number | undefined {
  try {
    const message: Plain = fromBinary(definition(signal), body) as Message & Plain;
    const [resources, scopes, records] =
      signal === "logs" ? ["resourceLogs", "scopeLogs", "logRecords"] : ["resourceSpans", "scopeSpans", "spans"];
    let count = 0;
    for (const resource of message[resources as string])
      for (const scope of resource[scopes as string]) count += scope[records as string].length;
    return count;
  } catch {
    return undefined;
  }
}

describe.skipIf(missing)("requests with bytes changed", () => {
  const mutations = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  const mutated = (body: Uint8Array, changes: readonly (readonly [number, number])[]): Uint8Array => {
    const bad = body.slice();
    for (const [at, byte] of changes) if (bad.length > 0) bad[at % bad.length] = byte;
    return bad;
  };

  function check(
    signal: "logs" | "trace",
    body: Uint8Array,
    decode: (body: Uint8Array) => { rowCount: number; rejected: { count: number } },
  ): void {
    const count = countOf(signal, body);
    try {
      const { rowCount, rejected } = decode(body);
      if (count !== undefined) expect(rowCount + rejected.count).toBe(count);
    } catch (error) {
      expect(error instanceof ProtoError || error instanceof DbError).toBe(true);
    }
  }

  test("logs", () => {
    fc.assert(
      fc.property(requests("resourceLogs", "scopeLogs", "logRecords", logRecord), mutations, (request, changes) => {
        check("logs", mutated(encoded("logs", request).body, changes), decodeLogs);
      }),
      { seed: 44, numRuns: 100 },
    );
  });

  test("spans", () => {
    fc.assert(
      fc.property(requests("resourceSpans", "scopeSpans", "spans", span), mutations, (request, changes) => {
        const body = mutated(encoded("trace", request).body, changes);
        check("trace", body, (bytes) => decodeSpans(bytes, "v0"));
        check("trace", body, (bytes) => decodeSpans(bytes, "v1"));
      }),
      { seed: 45, numRuns: 60 },
    );
  });

  test("metrics do no harm", () => {
    fc.assert(
      fc.property(requests("resourceMetrics", "scopeMetrics", "metrics", metric), mutations, (request, changes) => {
        const body = mutated(encoded("metrics", request).body, changes);
        try {
          metricDecoder.decode(body, metricOptions);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtoError);
        }
      }),
      { seed: 46, numRuns: 80 },
    );
  });
});
