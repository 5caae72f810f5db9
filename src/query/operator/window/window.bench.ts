/**
 * Speed of window calls over computed rows; run with `bun src/query/operator/window/window.bench.ts`. Times are those of the processor and
 * include making the rows.
 */
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { systemClock } from "../../../base/clock.ts";
import type { Catalog } from "../../../table/catalog.ts";
import { rowSources } from "../../plan/row-sources.ts";
import { newPlanner, planQuery } from "../../plan/plan-query.ts";
import type { Select } from "../../sql/syntax/ast.ts";
import { parseSql } from "../../sql/parse.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import { SeriesOfTables } from "../contract/exec-context.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { run } from "../run.ts";

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

async function query(call: string): Promise<number> {
  const environment = { now: 0n, timeZone: "UTC", database: "public" };
  const catalog = { table: () => undefined, view: () => undefined } as unknown as Catalog; // planning finds nothing there
  const [statement] = parseSql(`SELECT ${call} FROM (SELECT ${COLUMNS} FROM numbers LIMIT ${ROWS}) AS t`);
  const plan = planQuery(statement as Select, newPlanner({ catalog }, environment, true));
  const exec = {
    environment,
    signal: new AbortController().signal,
    clock: systemClock,
    pace: new Pace(new Scheduler(systemClock)),
    series: new SeriesOfTables(),
    sources: rowSources({ catalog }, environment),
    budget: new MemoryBudget(),
    spill: undefined,
    interpretOnly: false,
    metrics: undefined,
    onSource: undefined,
    workers: undefined,
  };
  let rows = 0;
  for await (const batch of run(plan, exec)) rows += batch.rowCount;
  return rows;
}

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
