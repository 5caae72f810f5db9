/** Runs plans by themselves, without a statement around them: for benchmarks. */
import { systemClock } from "../../src/base/clock.ts";
import { MemoryBudget } from "../../src/base/memory/memory-budget.ts";
import { Pace } from "../../src/base/scheduler/pace.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { type ExecContext, SeriesOfTables } from "../../src/query/operator/contract/exec-context.ts";
import type { PlanNode } from "../../src/query/operator/contract/node.ts";
import { run } from "../../src/query/operator/run.ts";
import { newPlanner, planQuery } from "../../src/query/plan/plan-query.ts";
import { rowSources } from "../../src/query/plan/row-sources.ts";
import { parseSql } from "../../src/query/sql/parse.ts";
import type { Query } from "../../src/query/sql/syntax/ast.ts";
import type { Catalog } from "../../src/table/catalog.ts";

const ENVIRONMENT = { now: 0n, timeZone: "UTC", database: "public" };

/** What operators share, with memory that is not limited, unless `more` says so. */
export function planContext(sources: ExecContext["sources"], more: Partial<ExecContext> = {}): ExecContext {
  return {
    environment: ENVIRONMENT,
    signal: new AbortController().signal,
    clock: systemClock,
    pace: new Pace(new Scheduler(systemClock)),
    series: new SeriesOfTables(),
    sources,
    budget: new MemoryBudget(),
    spill: undefined,
    interpretOnly: false,
    metrics: undefined,
    onSource: undefined,
    workers: undefined,
    ...more,
  };
}

/** Runs a plan and counts its rows. @param more what its context has beside */
export async function rowsOfPlan(plan: PlanNode, sources: ExecContext["sources"], more: Partial<ExecContext> = {}): Promise<number> {
  const context = planContext(sources, more);
  let rows = 0;
  for await (const batch of run(plan, context)) rows += batch.rowCount;
  return rows;
}

/** The plan of a query and where its rows come from. @param catalog what planning and reading ask it for is enough */
export function planOf(sql: string, catalog: Partial<Catalog>): { readonly plan: PlanNode; readonly sources: ExecContext["sources"] } {
  const sources = { catalog: catalog as Catalog };
  const [statement] = parseSql(sql);
  const plan = planQuery(statement as Query, newPlanner(sources, ENVIRONMENT, true));
  return { plan, sources: rowSources(sources, ENVIRONMENT) };
}

/** Runs a query and counts its rows. @param catalog as of `planOf` */
export async function rowsOfQuery(sql: string, catalog: Partial<Catalog>): Promise<number> {
  const { plan, sources } = planOf(sql, catalog);
  return rowsOfPlan(plan, sources);
}
