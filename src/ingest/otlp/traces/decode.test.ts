import { expect, test } from "bun:test";
import { rowsOf } from "../../../../test/support/batch-rows.ts";
import { attemptDamaged } from "../../../../test/support/mutations.ts";
import { INT64 } from "../../../column/data-type.ts";
import { ProtoError } from "../../../format/proto/reader.ts";
import type { KnownColumn } from "../../../table/write-batch.ts";
import { protobufOfJson } from "../json.ts";
import { TraceDecoder, type TraceModel, type TraceResult } from "./decode.ts";

const START = 1_731_000_000_000_000_005n;

function body(
  spans: readonly unknown[],
  attributes: readonly unknown[] = [{ key: "service.name", value: { stringValue: "shop" } }],
): Uint8Array {
  const request = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: "lib" }, spans }] }] };
  return protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), "TracesRequest");
}

function span(attributes: readonly unknown[] = [], more: Readonly<Record<string, unknown>> = {}): unknown {
  const times = { startTimeUnixNano: String(START), endTimeUnixNano: String(START + 7n) };
  return { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", name: "GET /", kind: 2, ...times, attributes, ...more };
}

function decode(bytes: Uint8Array, model: TraceModel = "v1", known: Readonly<Record<string, KnownColumn>> = {}): TraceResult {
  const schemas = { columnOf: (_: string, __: string, column: string) => known[column] };
  return new TraceDecoder().decode(bytes, { database: "public", table: "spans", model, schemas });
}

function attribute(key: string, value: unknown): unknown {
  return { key, value };
}

test("a span with all its parts, model v1", () => {
  const more = {
    status: { code: 2, message: "bad" },
    events: [{ timeUnixNano: "1715151660000000001", name: 'e"', attributes: [attribute("k", { intValue: 1 })] }],
    links: [{ traceId: "aa", spanId: "bb", traceState: "x" }],
  };
  const attributes = [
    attribute("i", { intValue: 1 }),
    attribute("d", { doubleValue: 0.5 }),
    attribute("b", { boolValue: true }),
    attribute("l", { arrayValue: { values: [] } }),
    attribute("none", {}),
  ];
  const result = decode(body([span(attributes, more)]));
  expect(rowsOf(result.batch)).toEqual([
    {
      table: "spans",
      time: START,
      tags: { service_name: "shop" },
      fields: {
        timestamp_end: START + 7n,
        duration_nano: 7,
        trace_id: "0af7651916cd43dd8448eb211c80319c",
        span_id: "b7ad6b7169203331",
        span_kind: "SPAN_KIND_SERVER",
        span_name: "GET /",
        span_status_code: "STATUS_CODE_ERROR",
        span_status_message: "bad",
        trace_state: "",
        scope_name: "lib",
        scope_version: "",
        span_events: '[{"attributes":{"k":1},"name":"e\\"","time":"2024-05-08 07:01:00.000000001+0000"}]',
        span_links: '[{"attributes":{},"span_id":"bb","trace_id":"aa","trace_state":"x"}]',
        "span_attributes.i": 1,
        "span_attributes.d": 0.5,
        "span_attributes.b": 1,
        "span_attributes.l": "[]",
      },
    },
  ]);
  expect(rowsOf(result.auxiliary).map(({ table, tags }) => [table, tags])).toEqual([
    ["spans_services", { service_name: "shop" }],
    ["spans_operations", { service_name: "shop", span_name: "GET /", span_kind: "SPAN_KIND_SERVER" }],
  ]);
  expect(result.conventions).toBe("unknown");
});

test("model v0 keeps attributes as JSON", () => {
  const [row] = rowsOf(decode(body([span([attribute("i", { intValue: 1 })])]), "v0").batch);
  expect(row?.fields).toMatchObject({ span_attributes: '{"i":1}', resource_attributes: '{"service.name":"shop"}', scope_attributes: "{}" });
});

test("one type for mixed values of a new column", () => {
  const column = (...values: unknown[]): unknown[] => {
    const result = decode(body(values.map((value) => span([attribute("x", value)]))));
    return [...rowsOf(result.batch).map(({ fields }) => fields["span_attributes.x"]), result.rejected.count];
  };
  expect(column({ intValue: 1 }, { doubleValue: 2.5 })).toEqual([1, 2.5, 0]);
  expect(column({ intValue: 1 }, { stringValue: "7" })).toEqual([1, 7, 0]);
  expect(column({ intValue: 1 }, { stringValue: "x" })).toEqual([1, 1]);
  expect(column({ boolValue: true }, { intValue: 3 }, { stringValue: "s" })).toEqual(["true", "3", "s", 0]);
});

test("the conventions and the table settle types; what does not fit rejects its span", () => {
  const status = (value: unknown): unknown => span([attribute("http.response.status_code", value)]);
  const result = decode(body([status({ stringValue: "200" }), status({ stringValue: "x" }), status({ intValue: 404 })]));
  expect(rowsOf(result.batch).map(({ fields }) => fields["span_attributes.http.response.status_code"])).toEqual([200, 404]);
  expect(result.rejected.message).toBe(
    "Rejected span 0af7651916cd43dd8448eb211c80319c:b7ad6b7169203331 (InvalidArguments): failed to coerce trace column " +
      "'span_attributes.http.response.status_code' in table 'spans' from String(\"x\") to Int64",
  );
  const known = { "span_attributes.x": { type: INT64, semantic: "field" } } as const;
  expect(decode(body([span([attribute("x", { boolValue: true })])]), "v1", known).rejected.count).toBe(1);
});

test("doubles make a BIGINT column of the table DOUBLE, beside integers alone and not against the conventions", () => {
  const known = (name: string): Record<string, KnownColumn> => ({ [`span_attributes.${name}`]: { type: INT64, semantic: "field" } });
  const sent = (name: string, ...values: readonly unknown[]): unknown[] => {
    const { batch, rejected } = decode(body(values.map((value) => span([attribute(name, value)]))), "v1", known(name));
    const found = batch.tables[0]?.fields.find((each) => each.name === `span_attributes.${name}`);
    return [found?.type.kind, found?.widens ?? false, rejected.count];
  };
  expect(sent("x", { intValue: 1 }, { doubleValue: 2.5 })).toEqual(["float", true, 0]);
  expect(sent("x", { doubleValue: 2.5 })).toEqual(["float", true, 0]);
  expect(sent("x", { intValue: 1 }, { stringValue: "2" })).toEqual(["int", false, 0]);
  expect(sent("x", { intValue: 1 }, { stringValue: "2" }, { doubleValue: 2.5 })).toEqual(["int", false, 1]);
  expect(sent("server.port", { intValue: 1 }, { doubleValue: 2.5 })).toEqual(["int", false, 1]);
});

test("without a service's name the first attribute stands for it; times beyond 64 bits are rejected", () => {
  const [row] = rowsOf(decode(body([span()], [attribute("z", { stringValue: "first" }), attribute("a", { stringValue: "x" })])).batch);
  expect(row?.tags).toEqual({ service_name: "first" });
  expect(decode(body([span([], { endTimeUnixNano: "18446744073709551615" })])).rejected.count).toBe(1);
});

test("bodies cut short or with bytes changed do no harm", () => {
  const good = body([span([attribute("a", { stringValue: "b" })], { events: [{ timeUnixNano: "1", name: "e" }], status: { code: 1 } })]);
  const attempt = (bytes: Uint8Array): void => {
    try {
      rowsOf(decode(bytes).batch);
    } catch (error) {
      expect(error).toBeInstanceOf(ProtoError);
    }
  };
  attemptDamaged(good, { seed: 8, numRuns: 300 }, attempt);
});

test("attributes that only some spans have, and integers beyond 2^53", () => {
  const spans = [
    span([attribute("a", { stringValue: "x" })]),
    span([attribute("n", { intValue: "9223372036854775807" }), attribute("c", { bytesValue: "aGk=" })]),
    span([attribute("n", { intValue: -1 }), attribute("a", { stringValue: "old" }), attribute("a", { stringValue: "y" })]),
    span([attribute("b", { boolValue: false })]),
  ];
  const fields = rowsOf(decode(body(spans)).batch).map((row) =>
    Object.fromEntries(Object.entries(row.fields).filter(([name]) => name.startsWith("span_attributes."))),
  );
  expect(fields).toEqual([
    { "span_attributes.a": "x" },
    { "span_attributes.n": 9223372036854775807n, "span_attributes.c": "hi" },
    { "span_attributes.n": -1n, "span_attributes.a": "y" },
    { "span_attributes.b": 0 },
  ]);
});

test("spans that are refused leave no gaps and no columns behind", () => {
  const known = { "span_attributes.n": { type: INT64, semantic: "field" } } as const;
  const bad = span([attribute("n", { boolValue: true }), attribute("only", { stringValue: "here" })], { name: "bad" });
  const far = span([attribute("n", { intValue: 2 })], { name: "far", startTimeUnixNano: "7", endTimeUnixNano: "9" });
  const result = decode(body([span([attribute("n", { intValue: 1 })]), bad, far, bad, span()]), "v1", known);
  const seen = rowsOf(result.batch).map(({ time, fields }) => [time, fields["span_name"], fields["span_attributes.n"]]);
  expect(seen.sort(([a], [b]) => Number((b as bigint) - (a as bigint)))).toEqual([
    [START, "GET /", 1],
    [START, "GET /", undefined],
    [7n, "far", 2],
  ]);
  expect([result.rowCount, result.rejected.count]).toEqual([3, 2]);
  const columns = result.batch.tables[0]?.shape?.map(({ name }) => name) ?? [];
  expect(columns).not.toContain("span_attributes.only");
  expect(rowsOf(result.auxiliary).map(({ tags }) => tags["span_name"])).toEqual([undefined, "GET /", "far"]);
});

test("columns come as span, scope and resource; resources that differ keep theirs apart", () => {
  const resource = (name: string, more: readonly unknown[] = []): unknown => ({
    resource: { attributes: [attribute("service.name", { stringValue: name }), ...more] },
    scopeSpans: [{ scope: { attributes: [attribute("s", { intValue: 1 })] }, spans: [span([attribute(name, { boolValue: true })])] }],
  });
  const request = { resourceSpans: [resource("one", [attribute("r", { doubleValue: 1 })]), resource("two")] };
  const result = decode(protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), "TracesRequest"));
  const rows = rowsOf(result.batch).map(({ tags, fields }) => [tags["service_name"], fields["resource_attributes.r"]]);
  expect(rows).toEqual([
    ["one", 1],
    ["two", undefined],
  ]);
  const shape = result.batch.tables[0]?.shape?.map(({ name }) => name).filter((name) => name.includes("attributes."));
  expect(shape).toEqual(["span_attributes.one", "span_attributes.two", "scope_attributes.s", "resource_attributes.r"]);
});

test("too many attributes refuse the request", () => {
  const attributes = Array.from({ length: 4097 }, (_, i) => attribute(`a${i}`, { boolValue: true }));
  expect(() => decode(body([span(attributes)]))).toThrow(/more than 4096 different attributes/);
});
