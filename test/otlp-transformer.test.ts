/**
 * The decoders of OTLP beside OpenTelemetry's own serialisers: of random spans, log records and metrics, the request in protobuf and the
 * one in JSON give the same rows, and these rows are what was recorded.
 */
import { describe, expect, test } from "bun:test";
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import {
  type ISerializer,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { AggregationTemporality, DataPointType, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import fc from "fast-check";
import { LogDecoder, MetricDecoder, TraceDecoder } from "../src/ingest/otlp/decode.ts";
import { protobufOfJson, type RequestName } from "../src/ingest/otlp/json.ts";
import type { MetricOptions } from "../src/ingest/otlp/metrics/decode.ts";
import { type PlainRow, rowsOf } from "./support/batch-rows.ts";

const SEED = { seed: 20_261_123, numRuns: 60 };
const NO_DROPS = { droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 };
const RESOURCE = resourceFromAttributes({ "service.name": "shop", "host.arch": "arm64" });
const SCOPE = { name: "shop.scope", version: "9" };
const LOG_OPTIONS = { database: "public", table: "t", extractKeys: [], schemas: { columnOf: () => undefined } };

const text = fc.string({ maxLength: 12 });
const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const attributes = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), value, { maxKeys: 4 });
const time: fc.Arbitrary<HrTime> = fc.tuple(fc.integer({ min: 1_731_000_000, max: 1_731_000_100 }), fc.nat(999_999_999));
const hex = (digits: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[1-9a-f]{${digits}}$`));
const context = fc.record({ traceId: hex(32), spanId: hex(16), traceFlags: fc.constantFrom(TraceFlags.NONE, TraceFlags.SAMPLED) });

const nanosOf = ([seconds, nanos]: HrTime): bigint => BigInt(seconds) * 1_000_000_000n + BigInt(nanos);

/** The request in protobuf, and the protobuf of the one in JSON. */
function forms<T>(recorded: T, proto: ISerializer<T, unknown>, json: ISerializer<T, unknown>, name: RequestName): readonly Uint8Array[] {
  const [plain, text] = [proto.serializeRequest(recorded), json.serializeRequest(recorded)];
  if (plain === undefined || text === undefined) throw new Error("nothing was serialised");
  return [plain, protobufOfJson(text, name)];
}

/** Rows in an order that both forms share. */
function sorted(rows: readonly PlainRow[]): string[] {
  return rows.map((row) => JSON.stringify(row, (_, each: unknown) => (typeof each === "bigint" ? `${each}n` : each))).sort();
}

/** Checks that both forms decode to the same rows and gives these. */
function decoded(bodies: readonly Uint8Array[], decode: (body: Uint8Array) => readonly PlainRow[]): readonly PlainRow[] {
  const [plain = [], fromJson = []] = bodies.map(decode);
  expect(sorted(fromJson)).toEqual(sorted(plain));
  return plain;
}

describe("both forms of a request give the rows of what was recorded", () => {
  test("spans", () => {
    const decoder = new TraceDecoder();
    const span: fc.Arbitrary<ReadableSpan> = fc
      .record({
        name: text,
        kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT),
        own: context,
        startTime: time,
        endTime: time,
        status: fc.record({ code: fc.constantFrom(SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR), message: text }),
        attributes,
        links: fc.array(fc.record({ context, attributes }), { maxLength: 2 }),
        events: fc.array(fc.record({ time, name: text, attributes }), { maxLength: 2 }),
      })
      .map(({ own, ...rest }) => ({
        ...rest,
        spanContext: () => own,
        duration: [0, 0],
        ended: true,
        resource: RESOURCE,
        instrumentationScope: SCOPE,
        ...NO_DROPS,
      }));
    const property = fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (spans) => {
      const rows = decoded(forms(spans, ProtobufTraceSerializer, JsonTraceSerializer, "TracesRequest"), (body) =>
        rowsOf(decoder.decode(body, { database: "public", table: "t", model: "v0", schemas: LOG_OPTIONS.schemas }).batch),
      );
      const got = rows.map(({ time, fields }) => [time, fields["span_name"], fields["span_id"], fields["span_status_message"]]);
      const want = spans.map((each) => [nanosOf(each.startTime), each.name, each.spanContext().spanId, each.status.message]);
      const order = (a: readonly unknown[], b: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
      expect(got.sort(order)).toEqual(want.sort(order) as never);
    });
    fc.assert(property, SEED);
  });

  test("log records", () => {
    const decoder = new LogDecoder();
    const record: fc.Arbitrary<ReadableLogRecord> = fc
      .record({
        hrTime: time,
        spanContext: context,
        severityText: text,
        severityNumber: fc.integer({ min: 1, max: 24 }),
        body: text,
        attributes,
      })
      .map((each) => ({
        ...each,
        hrTimeObserved: each.hrTime,
        resource: RESOURCE,
        instrumentationScope: SCOPE,
        droppedAttributesCount: 0,
      }));
    const property = fc.property(fc.array(record, { minLength: 1, maxLength: 4 }), (records) => {
      const rows = decoded(forms(records, ProtobufLogsSerializer, JsonLogsSerializer, "LogsRequest"), (body) =>
        rowsOf(decoder.decode(body, LOG_OPTIONS).batch),
      );
      const got = rows.map(({ time, fields }) =>
        [time, fields["body"], fields["severity_number"], fields["trace_id"]].map(String).join(" "),
      );
      const want = records.map(
        ({ hrTime, body, severityNumber, spanContext }) => `${nanosOf(hrTime)} ${String(body)} ${severityNumber} ${spanContext?.traceId}`,
      );
      expect(got.sort()).toEqual(want.sort());
    });
    fc.assert(property, SEED);
  });

  test("points of counters, gauges and histograms", () => {
    const decoder = new MetricDecoder();
    const options: MetricOptions = {
      database: "public",
      physicalTable: "p",
      schemas: LOG_OPTIONS.schemas,
      acceptsTable: () => true,
      strategy: "UnderscoreEscapingWithoutSuffixes",
      promoteAll: true,
      promoteScope: false,
      ignored: new Set(),
      promoted: new Set(),
    };
    const points = (body: Uint8Array): string[] =>
      decoder
        .decode(body, options)
        .batch.tables.flatMap(({ rowCount, keys, times, fields }) =>
          Array.from({ length: rowCount }, (_, row) => {
            const vector = fields[0]?.vector;
            const found = vector?.kind === "number" ? vector.values[row] : undefined;
            return `${String(keys[row])} ${times.base + BigInt(times.offsets[row] ?? 0)} ${found}`;
          }),
        )
        .sort();
    const number = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    const property = fc.property(fc.array(fc.tuple(time, number), { minLength: 1, maxLength: 5 }), fc.boolean(), (samples, isMonotonic) => {
      const own = { attributes: { route: "/" }, startTime: [0, 0] as HrTime };
      const dataPoints = samples.map(([endTime, value]) => ({ ...own, endTime, value }));
      const histograms = samples.map(([endTime, sum]) => ({
        ...own,
        endTime,
        value: { sum, count: 3, buckets: { boundaries: [0.5, 2], counts: [1, 0, 2] } },
      }));
      const descriptor = { description: "", unit: "", valueType: 1 };
      const aggregationTemporality = AggregationTemporality.CUMULATIVE;
      const metrics: ResourceMetrics = {
        resource: RESOURCE,
        scopeMetrics: [
          {
            scope: SCOPE,
            metrics: [
              { descriptor: { ...descriptor, name: "g" }, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints },
              {
                descriptor: { ...descriptor, name: "c" },
                aggregationTemporality,
                dataPointType: DataPointType.SUM,
                isMonotonic,
                dataPoints,
              },
              {
                descriptor: { ...descriptor, name: "h" },
                aggregationTemporality,
                dataPointType: DataPointType.HISTOGRAM,
                dataPoints: histograms,
              },
            ],
          },
        ],
      };
      const [plain = [], fromJson = []] = forms(metrics, ProtobufMetricsSerializer, JsonMetricsSerializer, "MetricsRequest").map(points);
      expect(fromJson).toEqual(plain);
      expect(plain).toHaveLength(samples.length * (1 + 1 + 5)); // three buckets, sum, count
      for (const [, each] of samples) expect(plain.filter((point) => point.endsWith(` ${each}`)).length).toBeGreaterThanOrEqual(3);
    });
    fc.assert(property, SEED);
  });
});

test("a number without a fraction that 64 bits do not hold is a double in both forms", () => {
  const decoder = new LogDecoder();
  const check = (a: number, want: string): void => {
    const bodies = forms<ReadableLogRecord[]>(
      [{ hrTime: [5, 0], hrTimeObserved: [5, 0], attributes: { a }, resource: RESOURCE, instrumentationScope: SCOPE, ...NO_DROPS }],
      ProtobufLogsSerializer,
      JsonLogsSerializer,
      "LogsRequest",
    );
    const [row] = decoded(bodies, (body) => rowsOf(decoder.decode(body, LOG_OPTIONS).batch));
    expect(row?.fields["log_attributes"]).toBe(want);
  };
  check(2 ** 53, '{"a":9007199254740992}');
  check(-(2 ** 63), '{"a":-9223372036854775808}');
  check(2 ** 63, '{"a":9.223372036854776e18}');
  check(1e300, '{"a":1e300}');
});
