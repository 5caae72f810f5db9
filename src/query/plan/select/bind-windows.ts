/**
 * Window calls. Each becomes a column behind those of the relation that its expressions read; calls over one window share an operator:
 *
 *   relation → window → window → [QUALIFY] → projection
 */
import { WINDOWS_MAX } from "../../../base/limits.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { displayName, FLOAT64, NULL, UINT64 } from "../../../column/data-type.ts";
import { aggregateNamed, aggregateNames } from "../../function/aggregate/registry.ts";
import { nearestName } from "../../../base/text/nearest.ts";
import { functionNames } from "../../function/registry.ts";
import { isNumeric } from "../../function/signature/signature.ts";
import { WINDOW_FUNCTION_NAMES, type WindowFunctionName, windowFunctionNamed } from "../../function/family/window-functions.ts";
import { textOf } from "../../function/value/value.ts";
import { executionError } from "../../function/value/execution-error.ts";
import type { Expression, NamedWindow, WindowClause } from "../../sql/syntax/ast.ts";
import { bindAggregate, sortItems } from "../bind/bind-aggregates.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { castTo, unify } from "../bind/coerce.ts";
import { columnsOf, expressionKey, literal, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import { changedWindowCall, type WindowCall } from "../../operator/window/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";
import { planError } from "../bind/plan-error.ts";
import { bindOutputCondition, type SelectBody } from "./select-body.ts";
import type { Steps } from "../bind/steps.ts";
import { frameOf } from "../bind/window-frame.ts";

/** Position of the column that the first window call over a relation becomes, until the operator that computes it has its place. */
const WINDOW_BASE = 2_000_000;

type Call = Extract<Expression, { kind: "call" }>;

/** Calls over one window. */
interface Group {
  readonly partitionBy: readonly SortItem[];
  readonly orderBy: readonly SortItem[];
  readonly calls: WindowCall[];
  /** The columns that they stand for, counted from `WINDOW_BASE`. */
  readonly numbers: number[];
}

/** Collects the window calls of the expressions over one relation. */
export class Windows {
  /** Binds expressions that may hold window calls. */
  readonly binder: Binder;
  private readonly below: Binder;
  private readonly named = new Map<string, WindowClause>();
  private readonly groups = new Map<string, Group>();
  private readonly columns = new Map<string, TypedExpression>();

  /** @param below binds what window calls read @throws DbError PlanQuery for names given twice */
  constructor(below: Binder, named: readonly NamedWindow[]) {
    this.below = below;
    for (const { name, window } of named) {
      if (this.named.has(name)) throw planError(`window "${name}" is defined twice`);
      this.named.set(name, this.resolved(window));
    }
    const intercept: NonNullable<Binder["intercept"]> = (expression) =>
      expression.kind === "call" && expression.over !== undefined
        ? this.column(expression, expression.over)
        : below.intercept?.(expression);
    this.binder = { ...below, intercept };
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.columns.size === 0;
  }

  /** What the calls read of the relation. */
  expressions(): readonly TypedExpression[] {
    const found: TypedExpression[] = [];
    const take = (expression: TypedExpression): TypedExpression => {
      found.push(expression);
      return expression;
    };
    for (const group of this.groups.values()) {
      for (const item of [...group.partitionBy, ...group.orderBy]) take(item.expression);
      for (const call of group.calls) changedWindowCall(call, take);
    }
    return found;
  }

  /** The operators that compute the calls above a plan, and where columns of the relation and results went. */
  over(input: PlanNode, place: Placed["place"]): Placed {
    if (this.isEmpty) return { node: input, place };
    const positions = new Map<number, number>();
    let node = input;
    for (const group of [...this.groups.values()].sort(compareGroups)) {
      const changeSort = (items: readonly SortItem[]): readonly SortItem[] =>
        items.map((item) => ({ ...item, expression: place(item.expression) }));
      for (const [i, number] of group.numbers.entries()) positions.set(number, node.columns.length + i);
      node = {
        kind: "window",
        input: node,
        columns: [...node.columns, ...group.calls.map((call): ColumnHeader => ({ name: call.kind, type: call.type }))],
        partitionBy: changeSort(group.partitionBy),
        orderBy: changeSort(group.orderBy),
        calls: group.calls.map((call) => changedWindowCall(call, place)),
      };
    }
    const placeColumn = (index: number): number => {
      const position = positions.get(index);
      if (position !== undefined) return position;
      const placed = place({ kind: "column", type: NULL, index, name: "" });
      return placed.kind === "column" ? placed.index : -1;
    };
    return { node, place: (expression) => mapColumns(expression, placeColumn) };
  }

  private column(expression: Call, over: WindowClause): TypedExpression {
    const { partitionBy, orderBy, frame } = this.resolved(over);
    const order = sortItems(orderBy, (item) => bind(item.expression, this.below));
    const partition = this.partition(partitionBy, order);
    const call = callOf(expression, order, { ...over, frame }, this.below);
    const key = `${partition.map(itemKey).join(";")}|${order.map(itemKey).join(";")}`;
    const group = this.groups.get(key) ?? { partitionBy: partition, orderBy: order, calls: [], numbers: [] };
    this.groups.set(key, group);
    if (this.groups.size > WINDOWS_MAX)
      throw planError(`a SELECT has more than ${WINDOWS_MAX} different windows; calls may share one: OVER w … WINDOW w AS (…)`);
    const columnKey = `${key}|${callKey(call)}`;
    const known = this.columns.get(columnKey);
    if (known !== undefined) return known;
    const index = WINDOW_BASE + this.columns.size;
    const column: TypedExpression = { kind: "column", type: call.type, index, name: expression.name };
    this.columns.set(columnKey, column);
    group.calls.push(call);
    group.numbers.push(index);
    return column;
  }

  /** Keys of partitions are sorted like the order where that names them too, else ascending. Constants tell no rows apart. */
  private partition(keys: readonly Expression[], order: readonly SortItem[]): readonly SortItem[] {
    const bound = keys.map((key) => bind(key, this.below)).filter((key) => key.kind !== "literal");
    return bound.map((expression) => {
      const key = expressionKey(expression);
      return order.find((item) => expressionKey(item.expression) === key) ?? { expression, descending: false, nullsFirst: false };
    });
  }

  /** A window without the name that it may build on. */
  private resolved(window: WindowClause): WindowClause {
    const { base, partitionBy, orderBy, frame } = window;
    if (base === undefined) return window;
    const found = this.named.get(base);
    if (found === undefined) {
      const near = nearestName(base, [...this.named.keys()]);
      throw planError(`window "${base}" does not exist; define it with WINDOW${near === undefined ? "" : `. Did you mean "${near}"?`}`);
    }
    const isBare = partitionBy.length === 0 && orderBy.length === 0 && frame === undefined;
    if (isBare) return found;
    if (partitionBy.length > 0) throw planError(`cannot add PARTITION BY to window "${base}"; give it a definition of its own`);
    if (orderBy.length > 0 && found.orderBy.length > 0) throw planError(`cannot replace the ORDER BY of window "${base}"`);
    if (found.frame !== undefined) throw planError(`cannot build on window "${base}": it has a frame`);
    return { base: undefined, partitionBy: found.partitionBy, orderBy: orderBy.length > 0 ? orderBy : found.orderBy, frame };
  }
}

/** A plan, and where the columns of the relation below and those of window calls are in it. */
export interface Placed {
  readonly node: PlanNode;
  readonly place: (expression: TypedExpression) => TypedExpression;
}

/** The condition of QUALIFY, which may name aliases of the select list. @throws DbError PlanQuery without any window call */
export function* bindQualify(body: SelectBody, windows: Windows): Steps<TypedExpression | undefined> {
  const { qualify } = body.select;
  if (qualify === undefined) return undefined;
  const condition = yield* bindOutputCondition(qualify, "QUALIFY", body, windows.binder);
  if (windows.isEmpty) throw planError("QUALIFY needs a window call in the select list or in itself; use WHERE or HAVING");
  return condition;
}

/** The rows that QUALIFY keeps. */
export function qualified({ node, place }: Placed, condition: TypedExpression | undefined): Placed {
  if (condition === undefined) return { node, place };
  return { node: { kind: "filter", input: node, columns: node.columns, predicate: place(condition) }, place };
}

/**
 * In which order windows run: by the columns that they sort by, and of two of which one goes on where the other ends, the longer first,
 * since the rows are sorted for the other then. The last one decides in which order rows come out.
 */
function compareGroups(a: Group, b: Group): number {
  const [x, y] = [keysOf(a), keysOf(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const [left = [], right = []] = [x[i], y[i]];
    for (let k = 0; k < Math.max(left.length, right.length); k++) {
      const difference = (left[k] ?? -1) - (right[k] ?? -1);
      if (difference !== 0) return difference;
    }
  }
  return y.length - x.length;
}

function keysOf(group: Group): readonly (readonly number[])[] {
  return [...group.partitionBy, ...group.orderBy].map((item) => [
    ...[...columnsOf(item.expression)].sort((a, b) => a - b),
    Number(item.descending),
    Number(item.nullsFirst),
  ]);
}

function itemKey(item: SortItem): string {
  return `${expressionKey(item.expression)} ${item.descending} ${item.nullsFirst}`;
}

/** A text equal for two calls over one window exactly when they are the same. */
function callKey(call: WindowCall): string {
  const parts: string[] = [];
  changedWindowCall(call, (expression) => {
    parts.push(expressionKey(expression));
    return expression;
  });
  const plain = JSON.stringify(call, (key, value: unknown) => {
    if (["value", "otherwise", "factor", "args", "expression", "type", "key"].includes(key)) return undefined;
    if (key === "function") return aggregateNameOf(value);
    return key === "filter" ? value !== undefined : value;
  });
  return `${plain} ${parts.join(";")}`;
}

function aggregateNameOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "name" in value ? value.name : value;
}

/** A window call. @throws DbError PlanQuery for unknown names and wrong arguments */
function callOf(expression: Call, orderBy: readonly SortItem[], over: WindowClause, binder: Binder): WindowCall {
  const frame = frameOf(over.frame, orderBy, binder);
  const name = windowFunctionNamed(expression.name);
  if (name === undefined) {
    if (aggregateNamed(expression.name) === undefined) throw unknownFunction(expression.name);
    if (expression.nulls === "ignore") throw planError(`IGNORE NULLS does not go with the aggregate ${expression.name}()`);
    const call = bindAggregate(expression, binder);
    return { kind: "aggregate", type: call.type.result, call, frame };
  }
  if (expression.star || expression.distinct || expression.orderBy.length > 0 || expression.filter !== undefined)
    throw planError(`${name}() OVER takes no *, DISTINCT, ORDER BY or FILTER of its own`);
  const args = expression.args.map((argument) => bind(argument, binder));
  const ignoreNulls = expression.nulls === "ignore";
  if (ignoreNulls && !["lag", "lead", "first_value", "last_value", "nth_value"].includes(name))
    throw planError(`IGNORE NULLS does not go with ${name}()`);
  const made = { name, args, ignoreNulls, frame, binder };
  return rankCall(made) ?? shiftCall(made) ?? pickCall(made) ?? anomalyCall(made);
}

interface Made {
  readonly name: WindowFunctionName;
  readonly args: readonly TypedExpression[];
  readonly ignoreNulls: boolean;
  readonly frame: ReturnType<typeof frameOf>;
  readonly binder: Binder;
}

function rankCall({ name, args }: Made): WindowCall | undefined {
  switch (name) {
    case "row_number":
    case "rank":
    case "dense_rank":
      checkCount(name, args, 0, 0, "");
      return { kind: "rank", name, type: UINT64, buckets: 0 };
    case "percent_rank":
    case "cume_dist":
      checkCount(name, args, 0, 0, "");
      return { kind: "rank", name, type: FLOAT64, buckets: 0 };
    case "ntile":
      checkCount(name, args, 1, 1, "count");
      return { kind: "rank", name, type: UINT64, buckets: bucketsOf(args[0]) };
    default:
      return undefined;
  }
}

function bucketsOf(argument: TypedExpression | undefined): number {
  const isConstant = argument?.kind === "literal";
  if (isConstant && argument.value !== undefined && argument.type.kind === "int" && Number(argument.value) > 0)
    return Number(argument.value);
  const found = !isConstant ? "an expression that is no constant" : argument.value === undefined ? "NULL" : textOf(argument.value);
  throw executionError(`NTILE requires a positive integer, but finds ${found}`);
}

function shiftCall({ name, args, ignoreNulls, binder }: Made): WindowCall | undefined {
  if (name !== "lag" && name !== "lead") return undefined;
  checkCount(name, args, 1, 3, "value[, distance[, default]]");
  const [given = literal(FLOAT64, undefined), distance, other] = args;
  const steps = distance === undefined ? 1 : wholeNumber(name, "distance", distance);
  const [value = given, otherwise = literal(given.type, undefined)] = other === undefined ? [given] : withDefault(given, other, binder);
  return { kind: "shift", type: value.type, value, steps: name === "lag" ? steps : -steps, otherwise, ignoreNulls };
}

/** A value and what stands for it: of the value's type, unless that is a whole number and the default is none. */
function withDefault(value: TypedExpression, other: TypedExpression, { environment }: Binder): readonly TypedExpression[] {
  const isWider = value.type.kind === "null" || (value.type.kind === "int" && ["float", "decimal"].includes(other.type.kind));
  return isWider ? unify([value, other], "the default of lag or lead", environment) : [value, castTo(other, value.type, environment)];
}

function pickCall({ name, args, ignoreNulls, frame }: Made): WindowCall | undefined {
  if (name !== "first_value" && name !== "last_value" && name !== "nth_value") return undefined;
  if (name === "nth_value") checkCount(name, args, 2, 2, "value, n");
  else checkCount(name, args, 1, 1, "value");
  const [value = literal(FLOAT64, undefined), n] = args;
  const nth = n === undefined ? (name === "first_value" ? 1 : -1) : wholeNumber(name, "n", n);
  if (nth === 0) throw planError("nth_value() counts from 1, or from -1 backwards; got 0");
  return { kind: "pick", type: value.type, value, nth, ignoreNulls, frame };
}

function anomalyCall({ name, args, frame, binder }: Made): WindowCall {
  const isIqr = name === "anomaly_score_iqr";
  checkCount(name, args, isIqr ? 2 : 1, isIqr ? 2 : 1, isIqr ? "value, k" : "value");
  const [value = literal(FLOAT64, undefined), factor] = args.map((argument) => {
    const { kind } = argument.type;
    if (!isNumeric(argument.type) && kind !== "decimal" && kind !== "null")
      throw planError(`${name}() takes numbers, not ${displayName(argument.type)}`);
    return castTo(argument, FLOAT64, binder.environment);
  });
  const score = isIqr ? "iqr" : name === "anomaly_score_mad" ? "mad" : "zscore";
  return { kind: "anomaly", name: score, type: FLOAT64, value, factor, frame };
}

function wholeNumber(name: string, what: string, argument: TypedExpression): number {
  const isWhole = argument.kind === "literal" && argument.type.kind === "int" && argument.value !== undefined;
  if (isWhole && Number.isSafeInteger(Number(argument.value))) return Number(argument.value);
  throw planError(`${what} of ${name}() must be a constant whole number`);
}

function checkCount(name: string, args: readonly TypedExpression[], least: number, most: number, signature: string): void {
  if (args.length >= least && args.length <= most) return;
  const types = args.map((argument) => displayName(argument.type)).join(", ");
  throw planError(`No function matches ${name}(${types}); use ${name}(${signature})`);
}

function unknownFunction(name: string): Error {
  if (functionNames().includes(name)) return planError(`${name}() is no aggregate and no window function; OVER does not go with it`);
  const near = nearestName(name, [...aggregateNames(), ...WINDOW_FUNCTION_NAMES]);
  return planError(`Invalid function '${name}'.${near === undefined ? "" : `\nDid you mean '${near}'?`}`);
}
