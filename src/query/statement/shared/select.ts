/** Plans a query and runs it. */
import type { MemoryAccount } from "../../../base/memory/server-memory.ts";
import type { SpillSpace } from "../../../table/spill-space.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Query, Tql } from "../../sql/syntax/ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { inputsOf, type PlanNode } from "../../operator/contract/node.ts";
import type { PlanNames } from "../../plan-format/plan-reader.ts";
import { newPlanner, planInSteps } from "../../plan/plan-query.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { withShownNames } from "../../postgres/shown-names.ts";
import { withObjects } from "../../plan/virtual/with-objects.ts";
import { rowSources, tableOf } from "../../plan/row-sources.ts";
import { planTql } from "../../plan/tql.ts";
import { inTurns, Pace } from "../../../base/scheduler/pace.ts";
import { type ExecContext, SeriesOfTables } from "../../operator/contract/exec-context.ts";
import type { LongCalls } from "../../expression/long-calls.ts";
import { MemoryBudget, QUERY_BYTES_MAX } from "../../../base/memory/memory-budget.ts";
import type { QueryWorkers } from "../../operator/contract/query-workers.ts";
import { answer } from "../../operator/answer.ts";

/** What errors call the tree of a text. */
export const SYNTAX_TREE = "syntax tree";

/** Switches of tests and limits of callers. */
export interface ExecOptions {
  /** Runs the plain plan by the interpreter alone: the oracle of tests. */
  readonly forceInterpreter?: boolean;
  /** Gives what runs in the place of each plan: tests let it travel. */
  readonly travelled?: (plan: PlanNode, names: PlanNames) => PlanNode;
  /** Most bytes the query holds between batches. */
  readonly memoryBytesMax?: number;
  /** What it holds of the memory of all queries. */
  readonly memory?: MemoryAccount;
  /** Bytes of the text's syntax tree, which whoever parsed it has taken. */
  readonly syntaxBytes?: number;
  /** Where it spills rows to; whoever gave it closes it. */
  readonly spill?: SpillSpace;
  /** Where calls of functions run that take long. */
  readonly calls?: LongCalls | undefined;
  /** Other threads for large scans. */
  readonly workers?: QueryWorkers | undefined;
  /** A plan of the statement that is known, and what it was planned by. */
  readonly known?: PlannedBefore | undefined;
  /** Is told of the plan that was made. */
  readonly onPlanned?: ((made: PlannedBefore) => void) | undefined;
  /** Is given, when an EXPLAIN ANALYZE begins to run, what tells how far it is: its operators as FORMAT JSON has them. */
  readonly onAnalyzing?: ((figures: () => object) => void) | undefined;
  /** Rows of a join's right side that are read before its left side is tried too. */
  readonly joinRowsFirst?: number;
  /** Groups from which on they are spread over parts. */
  readonly groupsInOneTable?: number;
}

/** A plan and what it was planned by. */
export interface PlannedBefore {
  readonly plan: PlanNode;
  readonly environment: Environment;
}

/** A planned query that has not begun. */
export interface PreparedSelect {
  readonly plan: PlanNode;
  readonly exec: ExecContext;
}

/** What a plan is made for, beside its rows. */
interface Purpose {
  /** What the run notes. */
  readonly run?: Partial<ExecContext>;
  /** Whether the plan is to be shown. */
  readonly explains?: boolean;
}

/** Plans a query, with turns for others. @throws DbError PlanQuery, TableNotFound, RuntimeResourcesExhausted, Cancelled */
export async function prepareSelect(
  query: Query | Tql,
  context: QueryContext,
  options: ExecOptions,
  { run = {}, explains = false }: Purpose = {},
): Promise<PreparedSelect> {
  const { known, onPlanned } = options;
  const environment = known?.environment ?? withObjects(environmentOf(context.clock, context.variables), context);
  const exec = { ...execContextOf(environment, context, options), ...run };
  if (known !== undefined) {
    exec.budget.shareAmong(spillersOf(known.plan));
    return { plan: known.plan, exec };
  }
  // What the plan holds counts until the query ends.
  const planner = newPlanner(context, environment, options.forceInterpreter !== true, exec.budget.part("plan").reserve, explains);
  const made =
    query.kind === "tql"
      ? planTql(query, planner)
      : await inTurns(planInSteps(environment.isPostgres === true ? withShownNames(query) : query, planner), exec);
  onPlanned?.({ plan: made, environment });
  const plan = travelledPlan(made, context, options);
  exec.budget.shareAmong(spillersOf(plan));
  return { plan, exec };
}

/** The plan itself, unless tests let it travel. */
export function travelledPlan(plan: PlanNode, { catalog }: QueryContext, { travelled }: ExecOptions): PlanNode {
  return travelled === undefined ? plan : travelled(plan, { table: (identity) => tableOf(catalog, identity) });
}

/** How many operators of a plan can spill. */
function spillersOf(node: PlanNode): number {
  const own = SPILLS.has(node.kind) ? 1 : 0;
  return inputsOf(node).reduce((sum, input) => sum + spillersOf(input), own);
}

const SPILLS: ReadonlySet<PlanNode["kind"]> = new Set(["sort", "aggregate", "join", "window", "fill-slots", "set-filter", "first-of-each"]);

/** The shared state of a query that begins now. */
export function execContextOf(environment: Environment, context: QueryContext, options: ExecOptions): ExecContext {
  const { memoryBytesMax = QUERY_BYTES_MAX, syntaxBytes = 0 } = options;
  const budget = new MemoryBudget(memoryBytesMax, options.memory);
  if (syntaxBytes > 0) budget.noteHeld(SYNTAX_TREE, syntaxBytes);
  return {
    environment: withObjects(environment, context),
    signal: context.signal,
    clock: context.clock,
    pace: new Pace(context.scheduler),
    series: new SeriesOfTables(),
    sources: rowSources(context, environment),
    budget,
    spill: options.spill,
    interpretOnly: options.forceInterpreter === true,
    metrics: undefined,
    onSource: undefined,
    calls: options.calls,
    workers: options.workers,
    joinRowsFirst: options.joinRowsFirst,
    groupsInOneTable: options.groupsInOneTable,
  };
}

/** The answer of a query. Rows are computed while they are read. */
export async function select(statement: Query | Tql, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { plan, exec } = await prepareSelect(statement, context, options);
  const batches = answer(plan, exec, context.variables.connection !== undefined);
  return { kind: "rows", headers: plan.columns, batches };
}
