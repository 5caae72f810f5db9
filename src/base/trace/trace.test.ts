import { describe, expect, test } from "bun:test";
import { fromBinary } from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { systemClock } from "../clock.ts";
import { silentLogger } from "../log.ts";
import { MetricRegistry } from "../metrics.ts";
import { traceContextInComment, traceContextOf, TraceIds, traceParentText } from "./trace-context.ts";
import { QUEUE_MAX, Tracer, type TracerParts } from "./tracer.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const resource = { attributes: { "service.name": "varve", pid: 7 }, scope: { name: "varve", version: "1" } };

/** A tracer whose batches are kept. */
function recorder(changes: Partial<TracerParts> = {}): {
  readonly tracer: Tracer;
  readonly batches: Uint8Array[];
  readonly metrics: MetricRegistry;
} {
  const batches: Uint8Array[] = [];
  const metrics = new MetricRegistry();
  const send = async (body: Uint8Array): Promise<void> => void batches.push(body);
  const tracer = new Tracer({ send, resource, sampleRatio: 1, clock: systemClock, logger: silentLogger, metrics, ...changes });
  tracer.isOn = true;
  return { tracer, batches, metrics };
}

function spansOf(batches: readonly Uint8Array[]) {
  return batches.flatMap((batch) =>
    fromBinary(ExportTraceServiceRequestSchema, batch).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

async function counted(metrics: MetricRegistry, name: string): Promise<number> {
  const families = await metrics.registry.getMetricsAsJSON();
  return families.find((family) => family.name === name)?.values.reduce((sum, { value }) => sum + Number(value), 0) ?? 0;
}

describe("a traceparent", () => {
  test("is read from a comment of a statement, and from nothing else", () => {
    const context = traceContextOf(PARENT);
    const long = "x".repeat(100_000);
    for (const text of [
      `SELECT 1 /*traceparent='${PARENT}'*/`,
      `SELECT 1 /*db_driver='pg',traceparent='${PARENT}',tracestate='a%3D1'*/;`,
      `/* traceparent='${PARENT}' */ SELECT '${long}'`,
      `SELECT '${long}' -- more\n/*traceparent='${PARENT}'*/`,
    ]) {
      expect(traceContextInComment(text)).toEqual(context);
    }
    for (const text of [
      "",
      "traceparent='",
      `SELECT 'traceparent=''${PARENT}'''`,
      `SELECT traceparent='${PARENT}'`,
      `/* a */ SELECT traceparent='${PARENT}' /* b */`,
      `/*traceparent='${PARENT.slice(0, 50)}'*/`,
      `SELECT '${long}' /*traceparent='${PARENT}'*/ '${long}'`,
    ]) {
      expect(traceContextInComment(text)).toBeUndefined();
    }
  });

  test("is read as the standard has it", () => {
    const context = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
    expect(traceContextOf(PARENT)).toEqual({ ...context, isSampled: true });
    expect(traceContextOf(PARENT.replace(/01$/, "02"))).toEqual({ ...context, isSampled: false });
    expect(traceContextOf(`01${PARENT.slice(2)}-more`)).toEqual({ ...context, isSampled: true });
    expect(traceParentText({ ...context, isSampled: true })).toBe(PARENT);
  });

  test("that is none begins no trace", () => {
    const none = [
      null,
      "",
      "x",
      `${PARENT}-more`,
      `ff${PARENT.slice(2)}`,
      PARENT.toUpperCase(),
      PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
      PARENT.replace("00f067aa0ba902b7", "0".repeat(16)),
      `01${PARENT.slice(2)}-${"x".repeat(8192)}`,
    ];
    for (const text of none) expect([text, traceContextOf(text)]).toEqual([text, undefined]);
  });

  test("ids do not come twice", () => {
    const ids = new TraceIds();
    const made = Array.from({ length: 5000 }, (_, i) => ids.next(i % 2 === 0 ? 32 : 16));
    expect(new Set(made).size).toBe(5000);
    expect(made.every((id, i) => id.length === (i % 2 === 0 ? 32 : 16) && /^[0-9a-f]+$/.test(id))).toBe(true);
  });
});

test("spans are sent as they were recorded", async () => {
  const { tracer, batches, metrics } = recorder();
  const open = tracer.begin("POST", traceContextOf(PARENT));
  tracer.record({ name: "select", parent: open?.context, millis: 1.5, attributes: { rows: 3, ratio: 0.5, ok: true, none: undefined } });
  open?.end({ path: "/v1/sql" }, "status 500");
  await tracer.close(1000);
  const [inner, outer] = spansOf(batches);
  const hex = (bytes: Uint8Array | undefined): string => bytes?.toHex() ?? "";
  expect([hex(outer?.traceId), hex(outer?.parentSpanId)]).toEqual(["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"]);
  expect([hex(inner?.traceId), hex(inner?.parentSpanId)]).toEqual([hex(outer?.traceId), hex(outer?.spanId)]);
  expect([outer?.name, outer?.kind, outer?.status?.code, outer?.status?.message]).toEqual(["POST", 2, 2, "status 500"]);
  expect(inner?.attributes.map(({ key, value }) => [key, value?.value.value])).toEqual([
    ["rows", 3n],
    ["ratio", 0.5],
    ["ok", true],
  ]);
  expect((inner?.endTimeUnixNano ?? 0n) - (inner?.startTimeUnixNano ?? 0n)).toBe(1_500_000n);
  expect(await counted(metrics, "varve_trace_spans_sent_total")).toBe(2);
});

test("nothing is recorded while it is off, nor where the client says so, nor beyond the ratio", async () => {
  const { tracer, batches } = recorder();
  tracer.isOn = false;
  expect(tracer.begin("GET", undefined)).toBeUndefined();
  tracer.isOn = true;
  expect(tracer.begin("GET", traceContextOf(PARENT.replace(/01$/, "00")))).toBeUndefined();
  await tracer.close(1000);
  expect(batches).toEqual([]);
  const half = recorder({ sampleRatio: 0.25 }).tracer;
  const begun = Array.from({ length: 4000 }, () => half.begin("GET", undefined)).filter((span) => span !== undefined).length;
  expect(Math.abs(begun - 1000)).toBeLessThan(150);
  expect(half.begin("GET", traceContextOf(PARENT))).toBeDefined();
  expect(recorder({ sampleRatio: 0 }).tracer.begin("GET", undefined)).toBeUndefined();
});

test("a collector that is away costs what it may, and is told of", async () => {
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const { promise, reject } = Promise.withResolvers<void>();
  const { tracer, metrics } = recorder({ send: () => promise, logger });
  const work = { name: "x", parent: undefined, millis: 1, attributes: {} };
  for (let i = 0; i < QUEUE_MAX * 2; i++) tracer.record(work);
  expect(await counted(metrics, "varve_trace_spans_dropped_total")).toBe(QUEUE_MAX);
  const closing = tracer.close(1000);
  reject(new Error("connection refused"));
  await closing;
  expect(await counted(metrics, "varve_trace_spans_dropped_total")).toBe(QUEUE_MAX * 2);
  expect(warnings.length).toBe(1);
});
