import { expect, test } from "bun:test";
import { rowsOf } from "../../../../test/support/batch-rows.ts";
import { attemptDamaged } from "../../../../test/support/mutations.ts";
import { ProtoError } from "../../../format/proto/reader.ts";
import { protobufOfJson } from "../json.ts";
import { MetricDecoder, type MetricOptions, type MetricResult } from "./decode.ts";
import { labelName, metricName } from "./names.ts";

const NANOS = "1731000000123999999";
const MILLIS = 1_731_000_000_123n;
const OPTIONS: MetricOptions = {
  database: "public",
  physicalTable: "greptime_physical_table",
  schemas: { columnOf: () => undefined },
  strategy: "UnderscoreEscapingWithSuffixes",
  promoteAll: false,
  ignored: new Set(),
  promoted: new Set(),
  promoteScope: false,
  acceptsTable: (name) => /^\w+$/.test(name),
};

function text(key: string, stringValue: string): unknown {
  return { key, value: { stringValue } };
}

const RESOURCE = { attributes: [text("service.name", "shop"), text("service.instance.id", "i1"), text("os", "linux")] };

function body(metrics: readonly unknown[]): Uint8Array {
  const request = { resourceMetrics: [{ resource: RESOURCE, scopeMetrics: [{ scope: { name: "s" }, metrics }] }] };
  return protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), "MetricsRequest");
}

/** Rows as `[table of the metric, time, labels without the resource's, value]`. */
function rows(result: MetricResult): unknown[] {
  const { dictionary, tables } = result.batch;
  const metrics = tables.flatMap(({ keys }) => [...keys].map((key) => dictionary.tagsOf(key).table));
  return rowsOf(result.batch).map(({ time, tags, fields }, i) => {
    const { service_name, service_instance_id, job, instance, ...rest } = tags;
    expect([service_name, service_instance_id, job, instance]).toEqual(["shop", "i1", "shop", "i1"]);
    return [metrics[i], time, rest, fields["greptime_value"]];
  });
}

function check(metrics: readonly unknown[], want: readonly unknown[], decoder = new MetricDecoder()): void {
  expect(rows(decoder.decode(body(metrics), OPTIONS))).toEqual([...want]);
}

const point = {
  timeUnixNano: NANOS,
  attributes: [text("a.b", "x"), { key: "n", value: { intValue: 5 } }, { key: "f", value: { boolValue: true } }],
};

test("gauges and sums; known series have their keys again", () => {
  const decoder = new MetricDecoder();
  const metrics = [
    { name: "temp", unit: "Cel", gauge: { dataPoints: [{ ...point, asDouble: 1.5 }] } },
    {
      name: "hits",
      sum: {
        isMonotonic: true,
        aggregationTemporality: 2,
        dataPoints: [
          { ...point, asInt: "-7" },
          { timeUnixNano: NANOS, asDouble: 2 },
        ],
      },
    },
  ];
  const labels = { a_b: "x", n: "5" };
  const want = [
    ["temp_celsius", MILLIS, labels, 1.5],
    ["hits_total", MILLIS, labels, -7],
    ["hits_total", MILLIS, {}, 2],
  ];
  check(metrics, want, decoder);
  check(metrics, want, decoder);
  const result = decoder.decode(body(metrics), OPTIONS);
  expect([...(result.batch.tables[0]?.keys ?? [])]).toEqual([0, 1, 2]);
  expect(result.tableOptions.get("hits_total")).toEqual({
    "greptime.semantic.metric.type": "counter",
    "greptime.semantic.metric.temporality": "cumulative",
    "greptime.semantic.metric.original_name": "hits",
  });
});

test("a point without a value is NULL", () => {
  check([{ name: "g", gauge: { dataPoints: [{ timeUnixNano: NANOS, flags: 1 }] } }], [["g", MILLIS, {}, undefined]]);
});

test("histograms are cumulative buckets, sum and count", () => {
  const dataPoints = [{ timeUnixNano: NANOS, count: 6, sum: 4.5, bucketCounts: ["1", "2", "3"], explicitBounds: [0.5, 10] }];
  check(
    [{ name: "h", histogram: { dataPoints } }],
    [
      ["h_bucket", MILLIS, { le: "0.5" }, 1],
      ["h_bucket", MILLIS, { le: "10" }, 3],
      ["h_bucket", MILLIS, { le: "inf" }, 6],
      ["h_sum", MILLIS, {}, 4.5],
      ["h_count", MILLIS, {}, 6],
    ],
  );
});

test("summaries are quantiles, sum and count", () => {
  const dataPoints = [{ timeUnixNano: NANOS, count: 6, sum: 4.5, quantileValues: [{ quantile: 0.9, value: 2 }] }];
  check(
    [{ name: "s", summary: { dataPoints } }],
    [
      ["s", MILLIS, { quantile: "0.9" }, 2],
      ["s_sum", MILLIS, {}, 4.5],
      ["s_count", MILLIS, {}, 6],
    ],
  );
});

test("what has no tables is told as rejected, the rest is kept", () => {
  const metrics = [
    { name: "e", exponentialHistogram: { dataPoints: [{}, {}] } },
    { name: "", gauge: { dataPoints: [point] } },
    { name: "h", histogram: { dataPoints: [{ timeUnixNano: NANOS, bucketCounts: [1], explicitBounds: [1] }] } },
    { name: "g", gauge: { dataPoints: [{ timeUnixNano: NANOS, asDouble: 1 }] } },
  ];
  const result = new MetricDecoder().decode(body(metrics), OPTIONS);
  expect([result.rowCount, result.rejected.count]).toEqual([1, 4]);
  expect(result.rejected.message).toMatch(/exponential histogram.*can be no table's name.*1 counts for 1 bounds/);
});

test("names of metrics and labels", () => {
  const name = (metric: string, unit = "", isMonotonicSum = false, isGauge = false): string =>
    metricName({ name: metric, unit, isMonotonicSum, isGauge }, "UnderscoreEscapingWithSuffixes");
  expect(name("claude_code.cost.usage", "USD", true)).toBe("claude_code_cost_usage_USD_total");
  expect(name("system.io", "By/s")).toBe("system_io_bytes_per_second");
  expect(name("use", "1", false, true)).toBe("use_ratio");
  expect(name("total.hits.seconds", "s", true)).toBe("hits_seconds_total");
  expect(name("2x", "{packets}")).toBe("_2x");
  expect(metricName({ name: "a.b", unit: "s", isMonotonicSum: false, isGauge: true }, "NoTranslation")).toBe("a.b");
  expect(metricName({ name: "a.b", unit: "s", isMonotonicSum: true, isGauge: false }, "NoUTF8EscapingWithSuffixes")).toBe(
    "a.b_seconds_total",
  );
  expect(["1a", "_a", "__a", "a-é"].map((key) => labelName(key, "UnderscoreEscapingWithSuffixes"))).toEqual([
    "key_1a",
    "key_a",
    "__a",
    "a__",
  ]);
});

test("bodies cut short or with bytes changed do no harm", () => {
  const good = body([
    { name: "h", histogram: { dataPoints: [{ ...point, count: 6, sum: 4.5, bucketCounts: ["1", "2"], explicitBounds: [0.5] }] } },
    { name: "g", gauge: { dataPoints: [{ ...point, asDouble: 1 }] } },
  ]);
  const decoder = new MetricDecoder();
  const attempt = (bytes: Uint8Array): void => {
    try {
      rowsOf(decoder.decode(bytes, OPTIONS).batch);
    } catch (error) {
      expect(error).toBeInstanceOf(ProtoError);
    }
  };
  attemptDamaged(good, { seed: 9, numRuns: 500 }, attempt);
});
