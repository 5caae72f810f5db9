/**
 * SELECT → plan:
 *
 *   scan → filter → [aggregate → having] → [window … → qualify] → project → [distinct] → sort → limit → project without helper columns
 *
 * ORDER BY expressions that are not selected ride along as helper columns behind the selected ones.
 */
import { DbError } from "../../base/error.ts";
import { SELECT_COLUMNS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { displayName } from "../../column/data-type.ts";
import type { Expression, Select } from "../sql/ast.ts";
import { printExpression } from "../sql/print.ts";
import { contains, containsAggregate, containsRange, containsWindow, windowParts } from "./ast-walk.ts";
import { type Binder, bindConstant } from "./bind.ts";
import type { TypedExpression } from "./expression.ts";
import { inputPlan } from "./input-plan.ts";
import type { PlanNode } from "./node.ts";
import { planAggregate } from "./plan-aggregate.ts";
import { planError } from "./plan-error.ts";
import { planRows } from "./plan-rows.ts";
import { planRange } from "./range/plan-range.ts";
import { rangeError } from "./range/range-error.ts";
import type { Planner } from "./planner.ts";
import { type Scope, unknownColumn } from "./scope.ts";
import type { Limits, OutputItem } from "./select-body.ts";
import { sourceOf } from "./source.ts";
import type { Steps } from "./steps.ts";

/** The plan of a SELECT. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function* planSelect(written: Select, planner: Planner): Steps<PlanNode> {
  const source = yield* sourceOf(written.from, planner);
  const input = yield* inputPlan(source, written.where, planner);
  const pinned = new Map<Expression, TypedExpression>();
  const items = outputItems(written, source.scope, pinned);
  const select = written.groupAll === true ? { ...written, groupBy: keysOfAll(items) } : written;
  if (items.length === 0) throw planError("SELECT list is empty");
  if (items.length > SELECT_COLUMNS_MAX)
    throw planError(`a SELECT gives ${SELECT_COLUMNS_MAX} columns at most; this one gives ${items.length}`);
  planner.environment.planSize?.add(items.length);
  const binder: Binder = { ...input.binder, intercept: (expression) => pinned.get(expression) };
  const limits = limitsOf(select, planner);
  const expressions = [
    ...items.map((item) => item.expression),
    ...select.orderBy.map((item) => item.expression),
    ...(select.windows ?? []).flatMap((each) => windowParts(each.window)),
    ...(select.qualify === undefined ? [] : [select.qualify]),
  ];
  const onlyFilters = filtersRows(select, expressions);
  const aggregated =
    select.groupBy.length > 0 ||
    select.groupingSets !== undefined ||
    select.groupAll === true ||
    (select.having !== undefined && !onlyFilters) ||
    expressions.some(containsAggregate);
  const body = { select, input: { ...input, binder }, items, limits, planner };
  if (select.align !== undefined) return yield* planRange(body, select.align);
  if (expressions.some(containsRange)) throw rangeError("ALIGN argument cannot be omitted in the range select query");
  yield;
  return yield* aggregated ? planAggregate(body) : planRows(body);
}

/**
 * Whether HAVING only filters rows, as in MySQL: nothing groups or is an aggregate, and columns are selected, which of one group of all
 * rows could not be. Clients of that server list tables so.
 */
function filtersRows(select: Select, expressions: readonly Expression[]): boolean {
  const { having, groupBy, groupAll, groupingSets, align } = select;
  if (having === undefined || groupBy.length > 0 || groupAll === true || groupingSets !== undefined || align !== undefined) return false;
  return ![...expressions, having].some(containsAggregate) && expressions.some((each) => contains(each, ({ kind }) => kind === "column"));
}

/** What GROUP BY ALL groups by. A number there would be a position. */
function keysOfAll(items: readonly OutputItem[]): readonly Expression[] {
  return items
    .map((item) => item.expression)
    .filter((expression) => expression.kind !== "number" && !containsAggregate(expression) && !containsWindow(expression));
}

/** @param pinned takes what the columns of a `*` stand for, which their names need not tell apart */
function outputItems(select: Select, scope: Scope, pinned: Map<Expression, TypedExpression>): readonly OutputItem[] {
  return select.items.flatMap((item): readonly OutputItem[] => {
    if (item.kind === "expression")
      return [{ name: item.alias ?? nameOf(item.expression), expression: item.expression, alias: item.alias }];
    if (scope.length === 0) throw planError("SELECT * needs a FROM clause");
    const shown = scope.filter((column) => (item.table === undefined ? column.shown !== "hidden" : column.qualifier === item.table));
    if (shown.length === 0) throw planError(`Invalid qualifier ${item.table ?? "*"}: no table of this query has that name`);
    for (const name of [...(item.excluded ?? []), ...(item.replaced ?? []).map(({ column }) => column)])
      if (!shown.some((column) => column.name === name)) throw unknownColumn(shown, [name]);
    const kept = item.excluded === undefined ? shown : shown.filter(({ name }) => item.excluded?.includes(name) !== true);
    return kept.map(({ name, qualifier, expression, shown: other }) => {
      const replaced = item.replaced?.find(({ column }) => column === name);
      if (replaced !== undefined) return { name, expression: replaced.expression, alias: undefined };
      const path = qualifier === undefined ? [name] : [qualifier, name];
      const column: Expression = { kind: "column", name: path, quoted: true, span: item.span };
      pinned.set(column, item.table !== undefined || other === undefined || other === "hidden" ? expression : other);
      return { name, expression: column, alias: undefined };
    });
  });
}

/** The name of a column that has no alias: a column keeps its own, whatever table it is of. */
function nameOf(expression: Expression): string {
  return expression.kind === "column" ? (expression.name.at(-1) ?? "") : printExpression(expression);
}

function limitsOf(select: Select, planner: Planner): Limits {
  return { offset: limitOf(select.offset, "OFFSET", planner) ?? 0, count: limitOf(select.limit, "LIMIT", planner) };
}

function limitOf(expression: Expression | undefined, clause: string, planner: Planner): number | undefined {
  if (expression === undefined) return undefined;
  const { type, value } = bindConstant(expression, planner.environment);
  if (value === undefined) return undefined;
  if (type.kind !== "int") {
    throw new DbError(
      StatusCode.EngineExecuteQuery,
      `Error during planning: Expected ${clause} to be an integer or null, but got ${displayName(type)}`,
    );
  }
  const count = Number(value);
  if (count < 0) throw planError(`${clause} must be >= 0, '${count}' was provided.`);
  return count;
}
