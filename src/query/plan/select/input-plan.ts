/** FROM and WHERE as a plan: scan, pushed-down conditions, residual filter, sub-queries, and only the columns that are needed. */
import type { Expression } from "../../sql/syntax/ast.ts";
import { printExpression } from "../../sql/print/print.ts";
import { containsAggregate } from "../bind/ast-walk.ts";
import type { Binder } from "../bind/bind.ts";
import { conditionInSteps } from "../bind/bind-in-steps.ts";
import { columnsOf, conjunction, conjunctsOf, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { PlannedRequest } from "../../operator/scan/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { planError } from "../bind/plan-error.ts";
import type { Planner } from "../common/planner.ts";
import { planLeaf, planRelation, splitFor } from "../from/plan-relation.ts";
import type { PlannedRelation } from "../common/relation.ts";
import type { Source } from "../from/source.ts";
import type { SplitWhere } from "../../operator/scan/split-where.ts";
import type { Steps } from "../bind/steps.ts";
import { applied, isOfSubQuery, SubQueries, SUB_QUERY_BASE } from "./sub-queries.ts";

/** FROM and WHERE, bound and split, before it is known which columns are needed. */
export interface InputPlan {
  readonly source: Source;
  readonly split: SplitWhere;
  /** The WHERE as written, for EXPLAIN. */
  readonly predicates: readonly string[];
  /** Sub-queries of all expressions over the source. */
  readonly subQueries: SubQueries;
  /** Binds expressions over the source. */
  readonly binder: Binder;
  readonly planner: Planner;
}

/** Binds and splits a WHERE. @throws DbError PlanQuery */
export function* inputPlan(source: Source, where: Expression | undefined, planner: Planner): Steps<InputPlan> {
  const subQueries = new SubQueries(source.scope, planner);
  const binder: Binder = { scope: source.scope, environment: planner.environment, outer: planner.outer, subQueries };
  if (where !== undefined && containsAggregate(where)) throw planError("aggregates are not allowed in WHERE; use HAVING");
  const bound = where === undefined ? undefined : yield* conditionInSteps(where, "WHERE", binder);
  const conjuncts = bound === undefined ? [] : conjunctsOf(bound);
  yield;
  const split = splitFor(source.relation, conjuncts, planner);
  yield;
  return {
    source,
    split,
    predicates: where === undefined || !planner.explains ? [] : [printExpression(where)],
    subQueries,
    binder,
    planner,
  };
}

/** The plan of an input, and where its columns went. */
export interface PrunedInput {
  readonly node: PlanNode;
  /** Rewrites an expression over all columns of the source to one over the columns of `node`. */
  readonly place: (expression: TypedExpression) => TypedExpression;
}

/** The plan of an input that gives the columns that `needed` reads. `extra` adds to the request of a scan. */
export function* prunedInput(input: InputPlan, needed: readonly TypedExpression[], extra: Partial<PlannedRequest>): Steps<PrunedInput> {
  const { split, subQueries } = input;
  const late = split.residual.filter(isOfSubQuery);
  const early = late.length === 0 ? split.residual : split.residual.filter((condition) => !isOfSubQuery(condition));
  const used = new Set<number>();
  for (const expression of [...needed, ...late, ...subQueries.expressions()]) columnsOf(expression, used);
  const columns = new Set([...used].filter((index) => index < SUB_QUERY_BASE));
  const planned = yield* plannedSource(input, { ...split, residual: early }, columns, extra);
  if (subQueries.calls.length === 0) return { node: planned.node, place: (expression) => mapColumns(expression, planned.place) };
  const { node, place, conditions } = yield* applied(planned.node, planned.place, subQueries.calls, late, needed, input.planner);
  const placed = (expression: TypedExpression): TypedExpression => mapColumns(expression, place);
  const predicate = conjunction(conditions.map(placed));
  if (predicate === undefined) return { node, place: placed };
  return { node: { kind: "filter", input: node, columns: node.columns, predicate }, place: placed };
}

function* plannedSource(
  { source, predicates, planner }: InputPlan,
  split: SplitWhere,
  columns: ReadonlySet<number>,
  extra: Partial<PlannedRequest>,
): Steps<PlannedRelation> {
  const { relation } = source;
  if (relation.kind === "table") return planLeaf(relation, columns, split, predicates, extra);
  return yield* planRelation(relation, { columns, conditions: split.residual }, planner);
}
