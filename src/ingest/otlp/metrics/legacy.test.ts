import { describe, expect, test } from "bun:test";
import { rowsOf } from "../../../../test/support/batch-rows.ts";
import { DbError } from "../../../base/error.ts";
import { protobufOfJson } from "../json.ts";
import { decodeLegacy } from "./legacy.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { legacyName, MetricWay } from "./legacy-mode.ts";

function text(key: string, stringValue: string): unknown {
  return { key, value: { stringValue } };
}

function body(...metrics: readonly unknown[]): Uint8Array {
  const resource = { attributes: [text("Service.Name", "shop")] };
  const scope = { name: "lib", attributes: [text("scope-attr", "s")] };
  const request = { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
  return protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), "MetricsRequest");
}

const POINT = { timeUnixNano: "1731000000000000005", attributes: [text("host.name", "h"), { key: "n", value: { intValue: 3 } }] };
const TAGS = { service_name: "shop", scope_attr: "s", host_name: "h", n: "3" };

function check(metric: unknown, want: readonly unknown[]): void {
  const { batch } = decodeLegacy(body(metric), { acceptsTable: (name) => name !== "" });
  expect(rowsOf(batch).map(({ table, time, tags, fields }): unknown => [table, time, tags, fields])).toEqual([...want]);
}

describe("points", () => {
  const time = 1731000000000000005n;

  test("gauges and sums, with all attributes as tags", () => {
    check({ name: "My-Gauge.x", gauge: { dataPoints: [{ ...POINT, asInt: "7" }] } }, [["my_gauge_x", time, TAGS, { greptime_value: 7 }]]);
    check({ name: "s", sum: { isMonotonic: true, dataPoints: [{ ...POINT, asDouble: 0.5 }] } }, [
      ["s", time, TAGS, { greptime_value: 0.5 }],
    ]);
    check({ name: "none", gauge: { dataPoints: [POINT] } }, [["none", time, TAGS, {}]]);
  });

  test("a summary is one row", () => {
    const quantileValues = [
      { quantile: 0.05, value: 1 },
      { quantile: 0.5, value: 2 },
      { quantile: 0.999, value: 3 },
    ];
    const fields = { greptime_p05: 1, greptime_p50: 2, "greptime_p99.9": 3, greptime_count: 9 };
    check({ name: "q", summary: { dataPoints: [{ ...POINT, count: "9", sum: 4, quantileValues }] } }, [["q", time, TAGS, fields]]);
  });

  test("a histogram has three tables", () => {
    const point = { ...POINT, count: "3", sum: 2.5, bucketCounts: ["1", "2"], explicitBounds: [0.5] };
    check({ name: "h", histogram: { dataPoints: [point] } }, [
      ["h_bucket", time, { ...TAGS, le: "0.5" }, { greptime_value: 1 }],
      ["h_bucket", time, { ...TAGS, le: "inf" }, { greptime_value: 3 }],
      ["h_sum", time, TAGS, { greptime_value: 2.5 }],
      ["h_count", time, TAGS, { greptime_value: 3 }],
    ]);
  });

  test("what cannot be kept is told", () => {
    const metrics = [
      { name: "e", exponentialHistogram: { dataPoints: [{}, {}] } },
      { name: "t", gauge: { dataPoints: [{ timeUnixNano: "18446744073709551615", asInt: "1" }] } },
      { name: "", gauge: { dataPoints: [POINT] } },
    ];
    const { rejected, rowCount } = decodeLegacy(body(...metrics), { acceptsTable: (name) => name !== "" });
    expect([rejected.count, rowCount]).toEqual([4, 0]);
  });
});

describe("which way", () => {
  const tables: Readonly<Record<string, { engine: string; options: Record<string, string> }>> = {
    old_one: { engine: "mito", options: {} },
    prom: { engine: "metric", options: { otlp_metric_compat: "prom" } },
    plain_prom: { engine: "mito", options: { otlp_metric_compat: "prom" } },
    remote: { engine: "metric", options: {} },
  };
  const schemas = { columnOf: () => undefined, rolesOf: (_: string, table: string) => tables[table] };
  const isOlder = (known: SchemaLookup, ...parts: readonly (readonly string[])[]): boolean => {
    const found = new MetricWay("public", known);
    for (const names of parts) found.look(body(...names.map((name) => ({ name, gauge: { dataPoints: [POINT] } }))));
    return found.isOlder;
  };
  const way = (...names: string[]): boolean => isOlder(schemas, names);

  test("tables decide", () => {
    expect(way("new.metric")).toBe(false);
    expect(way("Old.One", "new.metric")).toBe(true);
    expect(way("prom", "remote", "plain-prom")).toBe(false);
    expect(isOlder({ columnOf: () => undefined }, ["old_one"])).toBe(false);
    expect(isOlder(schemas, ["new.metric"], ["old_one"])).toBe(true);
    expect(legacyName("A.b-C_d")).toBe("a_b_c_d");
  });

  test("metrics of both ways are refused", () => {
    expect(() => way("old_one", "prom")).toThrow(DbError);
    expect(() => isOlder(schemas, ["prom"], ["new"], ["old_one"])).toThrow(DbError);
    expect(() => way("old_one", "prom")).toThrow(/"old_one" is of the older form, that of "prom" of the newer one/);
  });
});
