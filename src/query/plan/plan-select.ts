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
import type { Expression, Select } from "../sql/syntax/ast.ts";
import { printExpression } from "../sql/print/print.ts";
import { contains, containsAggregate, containsRange, containsWindow, windowParts } from "./bind/ast-walk.ts";
import { type Binder, bindConstant } from "./bind/bind.ts";
import type { TypedExpression } from "../expression/expression.ts";
import { inputPlan } from "./select/input-plan.ts";
import type { PlanNode } from "../operator/contract/node.ts";
import { planAggregate } from "./select/plan-aggregate.ts";
import { planError } from "./bind/plan-error.ts";
import { planRows } from "./select/plan-rows.ts";
import { planRange } from "./range/plan-range.ts";
import { rangeError } from "./bind/range-error.ts";
import type { Planner } from "./common/planner.ts";
import { type Scope, unknownColumn } from "./bind/scope.ts";
import type { Limits, OutputItem } from "./select/select-body.ts";
import { sourceOf } from "./from/source.ts";
import type { Steps } from "./bind/steps.ts";

/** The plan of a SELECT. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function* planSelect(written: Select, planner: Planner): Steps<PlanNode> {
  const source = yield* sourceOf(written.from, planner);
  const input = yield* inputPlan(source, written.where, planner);
  const pinned = new Map<Expression, TypedExpression>();
  const items = outputItems(written, source.scope, pinned);
  const select = written.groupAll === true ? { ...written, groupBy: keysOfAll(items) } : written;
  if (items.length === 0) throw planError("SELECT list is empty");
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

/**
 * @param pinned takes what the columns of a `*` stand for, which their names need not tell apart
 * @throws DbError PlanQuery as soon as they are too many
 */
function outputItems(select: Select, scope: Scope, pinned: Map<Expression, TypedExpression>): readonly OutputItem[] {
  const items: OutputItem[] = [];
  const shownOf = new Map<string | undefined, Scope>();
  for (const item of select.items) {
    if (item.kind === "expression") {
      items.push({ name: item.alias ?? nameOf(item.expression), expression: item.expression, alias: item.alias });
    } else {
      const shown = shownOf.get(item.table) ?? shownColumns(item.table, scope);
      shownOf.set(item.table, shown);
      addStar(item, shown, items, pinned);
    }
    if (items.length > SELECT_COLUMNS_MAX)
      throw planError(`a SELECT gives ${SELECT_COLUMNS_MAX} columns at most; this one gives ${items.length} or more`);
  }
  return items;
}

/** What `*` or `table.*` shows. */
function shownColumns(table: string | undefined, scope: Scope): Scope {
  if (scope.length === 0) throw planError("SELECT * needs a FROM clause");
  const shown = scope.filter((column) => (table === undefined ? column.shown !== "hidden" : column.qualifier === table));
  if (shown.length === 0) throw planError(`Invalid qualifier ${table ?? "*"}: no table of this query has that name`);
  return shown;
}

function addStar(
  { table, excluded = [], replaced = [], span }: Extract<Select["items"][number], { kind: "star" }>,
  shown: Scope,
  items: OutputItem[],
  pinned: Map<Expression, TypedExpression>,
): void {
  const left = new Set(excluded);
  const others = new Map(replaced.map(({ column, expression }) => [column, expression] as const));
  if (left.size + others.size > 0) {
    const names = new Set(shown.map(({ name }) => name));
    for (const name of [...left, ...others.keys()]) if (!names.has(name)) throw unknownColumn(shown, [name]);
  }
  for (const { name, qualifier, expression, shown: other } of shown) {
    if (left.has(name)) continue;
    const instead = others.get(name);
    if (instead !== undefined) {
      items.push({ name, expression: instead, alias: undefined });
      continue;
    }
    const path = qualifier === undefined ? [name] : [qualifier, name];
    const column: Expression = { kind: "column", name: path, quoted: true, span };
    pinned.set(column, table !== undefined || other === undefined || other === "hidden" ? expression : other);
    items.push({ name, expression: column, alias: undefined });
  }
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
