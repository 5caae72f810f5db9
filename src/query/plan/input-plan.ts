/** FROM and WHERE as a plan: scan, pushed-down conditions, residual filter, and only the columns that are needed. */
import { ALL_TIME } from "../../table/scan.ts";
import type { Expression } from "../sql/ast.ts";
import { bindCondition } from "./bind.ts";
import { columnsOf, conjunction, conjunctsOf, mapColumns, type TypedExpression } from "./expression.ts";
import type { PlannedRequest, PlanNode } from "./node.ts";
import type { Planner } from "./planner.ts";
import type { Source } from "./source.ts";
import { intersect, type SplitWhere, splitWhere } from "./split-where.ts";
import { printExpression } from "../sql/print.ts";
import { planError } from "./plan-error.ts";
import { containsAggregate } from "./ast-walk.ts";

/** FROM and WHERE, bound and split, before it is known which columns are needed. */
export interface InputPlan {
  readonly source: Source;
  readonly split: SplitWhere;
  /** The WHERE as written, for EXPLAIN. */
  readonly predicates: readonly string[];
}

/** Binds and splits a WHERE. @throws DbError PlanQuery */
export function inputPlan(source: Source, where: Expression | undefined, planner: Planner): InputPlan {
  const binder = { scope: source.scope, environment: planner.environment };
  if (where !== undefined && containsAggregate(where)) throw planError("aggregates are not allowed in WHERE; use HAVING");
  const bound = where === undefined ? undefined : bindCondition(where, "WHERE", binder);
  const conjuncts = bound === undefined ? [] : conjunctsOf(bound);
  const split: SplitWhere =
    source.table === undefined || !planner.optimise
      ? { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], fieldConditions: [], residual: conjuncts }
      : splitWhere(conjuncts, source.table.schema, planner.environment);
  return { source, split, predicates: where === undefined ? [] : [printExpression(where)] };
}

/** The plan of an input, and where its columns went. */
export interface PrunedInput {
  readonly node: PlanNode;
  /** Rewrites an expression over all columns of the source to one over the columns of `node`. */
  readonly place: (expression: TypedExpression) => TypedExpression;
}

/** The plan of an input that gives the columns that `needed` reads. `extra` adds to the request of a scan. */
export function prunedInput(input: InputPlan, needed: readonly TypedExpression[], extra: Partial<PlannedRequest>): PrunedInput {
  const { source, split } = input;
  const used = new Set<number>();
  for (const expression of [...needed, ...split.residual]) columnsOf(expression, used);
  const kept = source.table === undefined ? source.columns.map((_, i) => i) : [...used].sort((a, b) => a - b);
  const positions = new Map(kept.map((index, position) => [index, position] as const));
  const place = (expression: TypedExpression): TypedExpression => mapColumns(expression, (index) => positions.get(index) ?? -1);
  const columns = kept.flatMap((index) => source.columns[index] ?? []);
  const predicate = conjunction(split.residual);
  const leaf: PlanNode =
    source.table === undefined
      ? { kind: "source", name: source.name, columns, batches: source.batches }
      : {
          kind: "scan",
          table: source.table,
          columns,
          request: requestOf(
            columns.map((column) => column.name),
            split,
            extra,
          ),
          predicates: input.predicates,
        };
  if (predicate === undefined) return { node: leaf, place };
  return { node: { kind: "filter", input: leaf, columns, predicate: place(predicate) }, place };
}

function requestOf(projection: readonly string[], split: SplitWhere, extra: Partial<PlannedRequest>): PlannedRequest {
  const { timeRange, tagPredicates, fieldBounds, fieldConditions } = split;
  return { projection, timeRange: intersect(timeRange, ALL_TIME), tagPredicates, fieldBounds, fieldConditions, order: "none", ...extra };
}
