/** What both forms of SELECT are planned from and end with: select list, ORDER BY, LIMIT. */
import type { TimeBuckets } from "../../function/time/buckets.ts";
import type { Table } from "../../../table/catalog.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { printExpression } from "../../sql/print/print.ts";
import type { Expression, OrderItem, Select } from "../../sql/syntax/ast.ts";
import { contains, isAggregateCall } from "../bind/ast-walk.ts";
import { sortItems } from "../bind/bind-aggregates.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { bindInSteps, conditionInSteps } from "../bind/bind-in-steps.ts";
import { expressionKey, type TypedExpression } from "../../expression/expression.ts";
import type { InputPlan } from "./input-plan.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";
import { planError } from "../bind/plan-error.ts";
import type { Planner } from "../common/planner.ts";
import { findColumn } from "../bind/scope.ts";
import { eachInSteps, type Steps } from "../bind/steps.ts";

/** One column of the answer, before binding. */
export interface OutputItem {
  readonly name: string;
  readonly expression: Expression;
  /** The alias as written. */
  readonly alias: string | undefined;
}

/** LIMIT and OFFSET as numbers. */
export interface Limits {
  readonly offset: number;
  readonly count: number | undefined;
}

/** The parts of a SELECT that both forms plan from. */
export interface SelectBody {
  readonly select: Select;
  readonly input: InputPlan;
  readonly items: readonly OutputItem[];
  readonly limits: Limits;
  readonly planner: Planner;
}

/** Selected columns and helper columns of ORDER BY, and the ORDER BY over them. */
export interface OrderedOutput {
  /** Over the relation below the projection: selected ones first, then helpers. */
  readonly expressions: readonly TypedExpression[];
  readonly columns: readonly ColumnHeader[];
  /** Over the projection. */
  readonly order: readonly SortItem[];
  /** DISTINCT ON, over the projection; empty: not that form. */
  readonly firstOf: readonly TypedExpression[];
}

/**
 * Binds the select list and ORDER BY. An ORDER BY item may be an ordinal, an alias, or an expression over the relation below
 * and the aliases.
 *
 * @param binder binds over the relation below the projection
 */
export function* orderedOutput(body: SelectBody, binder: Binder): Steps<OrderedOutput> {
  const { select, items } = body;
  const expressions = yield* eachInSteps(items, (item) => bindInSteps(item.expression, binder));
  const columns: ColumnHeader[] = items.map((item, i) => ({ name: item.name, type: expressions[i]?.type ?? { kind: "null" } }));
  const positions = new Map(expressions.map((expression, i) => [expressionKey(expression), i] as const));
  const places = yield* eachInSteps(select.orderBy, placeOf);
  const order = sortItems(select.orderBy, (_, i) => {
    const index = places[i] ?? -1;
    const type = columns[index]?.type ?? { kind: "null" };
    return { kind: "column", type, index, name: columns[index]?.name ?? "" };
  });
  const firsts = yield* eachInSteps(select.distinctOn, (expression) => placeOf({ expression, descending: false, nullsFirst: undefined }));
  const firstOf = firsts.map((index): TypedExpression => {
    return { kind: "column", type: columns[index]?.type ?? { kind: "null" }, index, name: columns[index]?.name ?? "" };
  });
  checkFirstOf(firstOf, order);
  return { expressions, columns, order, firstOf };

  function* placeOf(item: OrderItem): Steps<number> {
    const position = outputPosition(item, items);
    if (position !== undefined) return position;
    const bound = yield* bindInSteps(item.expression, withAliases(item.expression, body, binder));
    const known = positions.get(expressionKey(bound));
    if (known !== undefined) return known;
    if (select.distinct && select.distinctOn.length === 0) {
      throw planError(`For SELECT DISTINCT, ORDER BY expressions ${printExpression(item.expression)} must appear in select list`);
    }
    columns.push({ name: printExpression(item.expression), type: bound.type });
    positions.set(expressionKey(bound), expressions.length);
    return expressions.push(bound) - 1;
  }
}

/** Which row comes first must not hang on what DISTINCT ON does not name. */
function checkFirstOf(firstOf: readonly TypedExpression[], order: readonly SortItem[]): void {
  if (firstOf.length === 0 || order.length === 0) return;
  const keys = new Set(firstOf.map(expressionKey));
  const leading = new Set(order.slice(0, keys.size).map((item) => expressionKey(item.expression)));
  if (leading.size < keys.size || [...leading].some((key) => !keys.has(key)))
    throw planError("SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
}

function outputPosition(item: OrderItem, items: readonly OutputItem[]): number | undefined {
  const { expression } = item;
  if (expression.kind === "number" && /^\d+$/.test(expression.text)) {
    const ordinal = Number(expression.text);
    if (ordinal >= 1 && ordinal <= items.length) return ordinal - 1;
    throw planError(`Order by column out of bounds, specified: ${ordinal}, max: ${items.length}`);
  }
  if (expression.kind !== "column" || expression.name.length !== 1) return undefined;
  const [name] = expression.name;
  const position = items.findIndex((candidate) => candidate.alias === name);
  if (position >= 0) return position;
  // `SELECT t.a … ORDER BY a` means the one that is selected, also where several relations have such a column.
  const named = items.flatMap((item, i) => (item.expression.kind === "column" && item.expression.name.at(-1) === name ? [i] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** What a GROUP BY item or a name in HAVING stands for: an ordinal, a column, or the alias of a selected expression. */
export function resolveAlias(expression: Expression, body: SelectBody, ordinals: boolean): Expression {
  const { items, input } = body;
  if (ordinals && expression.kind === "number" && /^\d+$/.test(expression.text)) {
    const item = items[Number(expression.text) - 1];
    if (item === undefined)
      throw planError(`Cannot find column with position ${expression.text} in SELECT clause. Valid columns: 1 to ${items.length}`);
    return item.expression;
  }
  if (expression.kind !== "column" || expression.name.length !== 1 || findColumn(input.source.scope, expression.name) !== undefined)
    return expression;
  return items.find((item) => item.alias === expression.name[0])?.expression ?? expression;
}

/** The condition of HAVING or QUALIFY, which may name aliases of the select list. */
export function* bindOutputCondition(expression: Expression, clause: string, body: SelectBody, binder: Binder): Steps<TypedExpression> {
  return yield* conditionInSteps(expression, clause, withAliases(expression, body, binder));
}

/**
 * HAVING where nothing is grouped, a condition on rows: a name means the alias of the select list before a column, as in MySQL. Undefined
 * without HAVING.
 */
export function* bindRowFilter({ select, items }: SelectBody, binder: Binder): Steps<TypedExpression | undefined> {
  if (select.having === undefined) return undefined;
  const intercept: NonNullable<Binder["intercept"]> = (inner) => {
    const [name] = inner.kind === "column" && inner.name.length === 1 ? inner.name : [];
    const item = name === undefined ? undefined : items.find(({ alias }) => alias === name);
    return item === undefined ? binder.intercept?.(inner) : bind(item.expression, binder);
  };
  return yield* conditionInSteps(select.having, "HAVING", { ...binder, intercept });
}

/**
 * A binder for `expression` that also knows the aliases of the select list, where they hide no column of the input. What an alias is a part
 * of stands for no group key as it is written, so only its parts are looked for there.
 */
function withAliases(expression: Expression, body: SelectBody, binder: Binder): Binder {
  const isAlias = (node: Expression): boolean => resolveAlias(node, body, false) !== node;
  if (!contains(expression, isAlias)) return binder;
  const intercept: NonNullable<Binder["intercept"]> = (inner) => {
    const resolved = resolveAlias(inner, body, false);
    if (resolved !== inner) return bind(resolved, binder);
    const isCall = inner.kind === "call" && (inner.over !== undefined || isAggregateCall(inner));
    return !isCall && contains(inner, isAlias) ? undefined : binder.intercept?.(inner);
  };
  return { ...binder, intercept };
}

/** Adds sort, limit and the removal of helper columns above a projection. */
export function finish(projected: PlanNode, order: readonly SortItem[], limits: Limits, visible: number): PlanNode {
  const { columns } = projected;
  const keep = limits.count === undefined ? undefined : limits.count + limits.offset;
  const sorted: PlanNode = order.length === 0 ? projected : { kind: "sort", input: projected, columns, items: order, keep };
  return dropHelpers(limited(sorted, limits), visible);
}

/** The same for DISTINCT ON: the first row of each group in the order asked for. */
export function finishFirstOf(projected: PlanNode, output: OrderedOutput, limits: Limits, visible: number): PlanNode {
  const { columns } = projected;
  const sorted: PlanNode =
    output.order.length === 0 ? projected : { kind: "sort", input: projected, columns, items: output.order, keep: undefined };
  return dropHelpers(limited({ kind: "first-of-each", input: sorted, columns, keys: output.firstOf }, limits), visible);
}

/**
 * The same for an ORDER BY with a LIMIT whose first rows lie in the newest part of a table, which is read from its newest rows on;
 * undefined where they may lie anywhere.
 *
 * @param rangesOf at whose borders ranges end, if the rule holds for the first ORDER BY item, which is over the projection's input
 */
export function newestFirst(
  { input, limits, planner, items }: SelectBody,
  { order, expressions }: OrderedOutput,
  projected: PlanNode,
  rangesOf: (first: SortItem, table: Table) => { readonly buckets: TimeBuckets | undefined } | undefined,
): PlanNode | undefined {
  const { table } = input.source;
  const [first] = order;
  if (table === undefined || !planner.optimise || limits.count === undefined || first?.expression.kind !== "column") return undefined;
  const expression = expressions[first.expression.index];
  const ranges = expression === undefined ? undefined : rangesOf({ ...first, expression }, table);
  if (ranges === undefined) return undefined;
  const wanted = limits.count + limits.offset;
  const { columns } = projected;
  const sort: PlanNode = { kind: "sort", input: projected, columns, items: order, keep: wanted };
  const { timeRange } = input.split;
  const walk: PlanNode = { kind: "newest-first", input: sort, columns, table, timeRange, ...ranges, wanted };
  return dropHelpers(limited(walk, limits), items.length);
}

/** Adds LIMIT and OFFSET. */
function limited(input: PlanNode, limits: Limits): PlanNode {
  if (limits.count === undefined && limits.offset === 0) return input;
  const wanted = limits.count === undefined ? undefined : limits.count + limits.offset;
  return { kind: "limit", input: wanted === undefined ? input : longEnough(input, wanted), columns: input.columns, ...limits };
}

/** A projection of rows that are as many as are wanted, with that many. */
function longEnough(node: PlanNode, wanted: number): PlanNode {
  if (node.kind === "project") return { ...node, input: longEnough(node.input, wanted) };
  return node.kind === "source" ? { ...node, rowsWanted: wanted } : node;
}

/** Leaves only the first `visible` columns. */
function dropHelpers(input: PlanNode, visible: number): PlanNode {
  if (input.columns.length === visible) return input;
  const columns = input.columns.slice(0, visible);
  const expressions = columns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
  return { kind: "project", input, columns, expressions };
}
