import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkAggregate as check, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { HyperLogLog, hyperLogLogCount } from "../sketch/hyper-log-log.ts";
import { TDigest } from "./t-digest.ts";
import { UddSketch } from "../sketch/udd-sketch.ts";

const within = (value: number | undefined, want: number, share: number): void =>
  expect(Math.abs((value ?? Number.NaN) - want)).toBeLessThanOrEqual(Math.abs(want) * share);

describe("t-digest", () => {
  test("tells quantiles of many numbers", () => {
    const digest = new TDigest(100);
    for (let i = 0; i < 100_000; i++) digest.add((i * 7919) % 100_000, 1);
    for (const portion of [0.001, 0.1, 0.5, 0.9, 0.999]) within(digest.quantile(portion), portion * 100_000, 0.02);
    expect([digest.quantile(0), digest.quantile(1)]).toEqual([0, 99_999]);
  });
  test("is within its extremes and ascending", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 500 }), (values) => {
        const digest = new TDigest(20);
        for (const value of values) digest.add(value, 1);
        const found = [0, 0.25, 0.5, 0.75, 1].map((portion) => digest.quantile(portion) ?? Number.NaN);
        expect(found[0]).toBe(Math.min(...values));
        expect(found[4]).toBe(Math.max(...values));
        for (const value of found) expect(value >= Math.min(...values) && value <= Math.max(...values)).toBe(true);
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});

describe("percentiles", () => {
  const weighted = ["(10, 1", "20, 2", "30, 3", "40, 4", "50, 1)"].map((row) => row.replaceAll(/[()]/g, ""));
  test("weigh values", async () => {
    await check("approx_percentile_cont_with_weight(column2, 0.5) WITHIN GROUP (ORDER BY column1)", weighted, 33);
    await check("approx_percentile_cont_with_weight(column1, column2, 0.25)", weighted, 23);
    await check("approx_percentile_cont_with_weight(column1, column2, 1.0, 50)", weighted, 50);
    await check("approx_percentile_cont_with_weight(column1, column2, 0.5)", ["1, NULL", "NULL, 1"], undefined);
    await check("approx_percentile_cont_with_weight(column1, column2, 0.5)", ["1, 0", "5, 1"], 5);
  });
  test("take their order from WITHIN GROUP", async () => {
    const values = ["1.0", "2.0", "3.0", "4.0"];
    await check("percentile_cont(0.25) WITHIN GROUP (ORDER BY column1)", values, 1.75);
    await check("percentile_cont(0.25) WITHIN GROUP (ORDER BY column1 DESC)", values, 3.25);
    await check("approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY column1) FILTER (WHERE column1 > 3)", values, 4);
    await check("approx_median(column1)", ["1", "3"], 2);
  });
  test("refuse what is no portion and no percentile", async () => {
    await fails("approx_percentile_cont(1.0, 1.5)", "3001 Execution error: the portion of a percentile must be 0.0..1.0, got 1.5");
    await fails("approx_percentile_cont(1.0, 0.5, 0)", "the centroids of a percentile must be 1..100000");
    await fails("sum(1) WITHIN GROUP (ORDER BY 2)", "WITHIN GROUP (ORDER BY value) goes with a percentile, not with sum()");
  });
});

describe("HyperLogLog", () => {
  test("counts within its error, sparse and dense", () => {
    for (const count of [0, 1, 10, 1000, 3000, 100_000]) {
      const sketch = new HyperLogLog();
      for (let i = 0; i < 2 * count; i++) sketch.add(`value ${i % count}`);
      within(hyperLogLogCount(sketch.encoded()), count, count <= 10 ? 0 : 0.03);
    }
  });
  test("merges states of both forms", () => {
    const [small, large, both] = [new HyperLogLog(), new HyperLogLog(), new HyperLogLog()];
    for (let i = 0; i < 50; i++) small.add(`a${i}`);
    for (let i = 0; i < 20_000; i++) large.add(`b${i}`);
    both.merge(small.encoded());
    both.merge(large.encoded());
    within(hyperLogLogCount(both.encoded()), 20_050, 0.03);
  });
  test("reads the state of version 1", () => {
    expect(hyperLogLogCount(Uint8Array.fromHex("480100410000008100000001010000"))).toBe(3);
  });
  test("refuses bytes that are no state", async () => {
    await fails("hll_count(X'00')", "3001 cannot read the state of hll: its shape is another");
    await fails("hll_count(X'480100FFFFFFFF')", "a register is out of range");
    await fails("hll_count(hll_merge(X'4802'))", "cannot read the state of hll");
  });
  test("keeps states in tables", async () => {
    const fixture = new QueryFixture();
    const { rows } = await fixture.both(
      "SELECT hll_count(hll_merge(s)) FROM (SELECT hll(column1) AS s FROM (VALUES ('a'), ('b'), (NULL)) AS t UNION ALL SELECT hll('c'))",
    );
    expect(rows).toEqual([[3]]);
    await check("hll_count(hll(column1::STRING))", ["NULL"], 0);
    await check("count_hash(column1)", ["1", "1", "2"], 2);
  });
});

describe("UDDSketch", () => {
  test("tells quantiles within its error", async () => {
    const values = Array.from({ length: 10 }, (_, i) => `${(i + 1) * 10}.0`);
    const calc = (portion: number): string => `round(uddsketch_calc(${portion}, uddsketch_state(128, 0.01, column1)), 9)`;
    await check(calc(0.1), values, 19.886670241);
    await check(calc(0.5), values, 59.74504981);
    await check(calc(0.95), values, 100.494567709);
    await check("uddsketch_calc(0.5, uddsketch_state(128, 0.01, column1::DOUBLE))", ["NULL"], undefined);
    await check("round(uddsketch_calc(0.0, uddsketch_state(128, 0.01, column1)), 1)", ["-10.0", "0.0", "5.0"], -10.1);
    await check("uddsketch_calc(0.4, uddsketch_state(128, 0.01, column1))", ["-10.0", "0.0", "5.0"], 0);
  });
  test("collapses when it has too many buckets, and so do both sides of a merge", () => {
    const [few, many] = [new UddSketch(32, 0.01), new UddSketch(32, 0.01)];
    for (let i = 1; i <= 5000; i++) many.add(i);
    few.add(2500);
    const merged = UddSketch.decoded(few.encoded());
    merged.merge(UddSketch.decoded(many.encoded()));
    expect(merged.encoded().length).toBeLessThanOrEqual(15 + 32 * 12);
    within(merged.quantile(0.5), 2500, 0.3);
    const other = UddSketch.decoded(many.encoded());
    other.merge(few);
    expect(other.quantile(0.9)).toBe(merged.quantile(0.9));
  });
  test("reads the state of version 1", () => {
    const sketch = UddSketch.decoded(Uint8Array.fromHex("550180000000" + "7b14ae47e17a843f" + "00" + "5a020000" + "000000000000f03f"));
    within(sketch.quantile(0.5), 20, 0.01);
  });
  test("refuses other parameters and bytes that are no state", async () => {
    const state = "uddsketch_state(128, 0.01, 1.0)";
    const merge = (buckets: number): string => `uddsketch_merge(${buckets}, 0.01, s) FROM (SELECT ${state} AS s)`;
    await fails(
      merge(64),
      "3001 Error during planning: Merging UDDSketch with different parameters: arguments=(64, 0.01) vs actual input=(128, 0.01)",
    );
    await fails("uddsketch_state(0, 0.01, 1.0)", "the number of buckets is 0");
    await fails("uddsketch_state(10, 1.5, 1.0)", "the error rate is 1.5");
    await fails("uddsketch_state(10, 0.1, 'inf'::DOUBLE)", "it cannot take Infinity");
    await fails("uddsketch_calc(0.5, X'5501')", "cannot read the state of a UDDSketch");
    await fails("uddsketch_calc(2.0, X'5501')", "3001");
  });
});

describe("other aggregates", () => {
  const pairs = ["1.0, 2.0", "3.0, 4.0", "5.0, 7.0", "NULL, 1.0"];
  test("fit a line", async () => {
    await check("regr_count(column1, column2)", pairs, 3);
    await check("round(regr_slope(column1, column2), 9)", pairs, 0.789473684);
    await check("round(regr_intercept(column1, column2), 9)", pairs, -0.421052632);
    await check("round(regr_r2(column1, column2), 9)", pairs, 0.986842105);
    await check("regr_avgx(column1, column2) + regr_avgy(column1, column2)", ["1.0, 2.0"], 3);
    await check("regr_sxx(column1, column2)", ["1.0, 2.0", "1.0, 4.0"], 2);
    await check("regr_slope(column1, column2)", ["1.0, 2.0"], undefined);
  });
  test("pick the n-th row", async () => {
    await check("nth_value(column1, 2 ORDER BY column1 DESC)", ["1", "3", "2"], 2);
    await check("nth_value(column1, -1 ORDER BY column1)", ["1", "3", "2"], 3);
    await check("nth_value(column1, 5)", ["1"], undefined);
    await fails("nth_value(1, 0)", "nth_value() counts rows from 1");
  });
  test("count rows without an argument", async () => {
    await check("count()", ["1", "NULL"], 2);
  });
});
