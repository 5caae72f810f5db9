/**
 * Speed of window calls over computed rows, many and few; run with `bun src/query/bench/window.bench.ts`. Times are those of the processor
 * and include making the rows; those of few rows are of the clock, without planning.
 */
import { planOf, rowsOfPlan, rowsOfQuery } from "../../../test/support/plan-run.ts";

const SMOKE = process.env["VARVE_BENCH_SMOKE"] !== undefined;
const ROWS = SMOKE ? 1000 : 500_000;
const TURNS = SMOKE ? 1 : 5;

/** `i` ascends, `k` has 100 values, `v` is spread over a million, `x` is a float. */
const COLUMNS = "number AS i, number % 100 AS k, (number::BIGINT * 7919) % 1000003 AS v, (number % 977)::DOUBLE AS x";
const CALLS: Readonly<Record<string, string>> = {
  "no window": "i + v",
  "row_number in order": "row_number() OVER (ORDER BY i)",
  "row_number of 100 partitions": "row_number() OVER (PARTITION BY k ORDER BY i)",
  "rank, to be sorted": "rank() OVER (ORDER BY v)",
  "sum of integers, 100 rows": "sum(v) OVER (ORDER BY i ROWS 99 PRECEDING)",
  "avg of floats, range of 1,000": "avg(x) OVER (ORDER BY i RANGE 1000 PRECEDING)",
  "min of floats, 1,000 rows": "min(x) OVER (ORDER BY i ROWS 999 PRECEDING)",
  lag: "lag(x) OVER (ORDER BY i)",
  "stddev so far": "stddev(x) OVER (ORDER BY i)",
  "anomaly_score_zscore, 100 rows": "anomaly_score_zscore(x) OVER (ORDER BY i ROWS 99 PRECEDING)",
  "anomaly_score_mad, 100 rows": "anomaly_score_mad(x) OVER (ORDER BY i ROWS 99 PRECEDING)",
};

/** Over ten rows, where each promise and generator shows. */
const FEW_CALLS: readonly string[] = [
  "i + v",
  "row_number() OVER (ORDER BY i)",
  "lag(x) OVER (ORDER BY i)",
  "lag(x) OVER (ORDER BY i), avg(x) OVER (ORDER BY i ROWS 2 PRECEDING)",
  "sum(k) OVER (ORDER BY i)",
];
const FEW_RUNS = SMOKE ? 10 : 5000;

const NO_TABLES = { table: () => undefined, view: () => undefined };
const text = (call: string, rows: number): string => `SELECT ${call} FROM (SELECT ${COLUMNS} FROM numbers LIMIT ${rows}) AS t`;
const query = (call: string): Promise<number> => rowsOfQuery(text(call, ROWS), NO_TABLES);

for (const [name, call] of Object.entries(CALLS)) {
  let [best, out] = [Number.POSITIVE_INFINITY, 0];
  // Time of the processor, the least of several: other work on the machine only ever adds.
  for (let turn = 0; turn < TURNS; turn++) {
    const since = process.cpuUsage();
    out = await query(call);
    const { user, system } = process.cpuUsage(since);
    best = Math.min(best, user + system);
  }
  console.log(`${((best * 1e3) / ROWS).toFixed(0).padStart(7)} ns/row  ${name}, ${out} rows`);
}

for (const call of FEW_CALLS) {
  const { plan, sources } = planOf(text(call, 10), NO_TABLES);
  let [best, out] = [Number.POSITIVE_INFINITY, 0];
  for (let turn = 0; turn < TURNS; turn++) {
    const since = performance.now();
    for (let i = 0; i < FEW_RUNS; i++) out = await rowsOfPlan(plan, sources);
    best = Math.min(best, (performance.now() - since) / FEW_RUNS);
  }
  console.log(`${(best * 1e3).toFixed(1).padStart(7)} µs/query  ${call}, ${out} rows`);
}
