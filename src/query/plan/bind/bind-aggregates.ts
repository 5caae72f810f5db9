/**
 * Binding above a GROUP BY. There an expression is made of group keys, aggregates and constants: a sub-expression equal to a key
 * becomes that key's column, an aggregate call becomes a column of its own, any other column is an error.
 */
import { BOOLEAN, type DataType, INT64 } from "../../../column/data-type.ts";
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import type { Expression, OrderItem } from "../../sql/syntax/ast.ts";
import { printExpression, printWhole } from "../../sql/print/print.ts";
import { containsAggregate, containsSubQuery, containsWindow, isAggregateCall, isGroupingCall } from "./ast-walk.ts";
import { type Binder, bind, bindCondition } from "./bind.ts";
import { rowOf } from "./bind-nested.ts";
import { castTo } from "./coerce.ts";
import { conjunction, expressionKey, type TypedExpression } from "../../expression/expression.ts";
import { type GroupKeys, groupingValue, keyName, SET_NUMBER } from "./grouping-sets.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";
import { noMatch } from "./no-match.ts";
import { planError } from "./plan-error.ts";

type CallExpression = Extract<Expression, { kind: "call" }>;

/** Collects the aggregates of a query while its expressions are bound. */
export interface AggregateScope {
  readonly binder: Binder;
  /** Aggregates found so far; their columns follow those of the keys. */
  readonly calls: readonly AggregateCall[];
}

/**
 * A binder for expressions above GROUP BY, whose keys are expressions over the scope of `input`.
 *
 * @param keysByText keys with sub-queries, as they are printed: bound once more, a sub-query would be another column
 */
export function aggregateScope(
  input: Binder,
  groupKeys: GroupKeys,
  subQueries: Binder["subQueries"],
  keysByText: ReadonlyMap<string, TypedExpression>,
): AggregateScope {
  const keys = groupKeys.sets === undefined ? groupKeys.keys : [...groupKeys.keys, SET_NUMBER];
  const positions = new Map(groupKeys.names.map((name, i) => [name, i] as const));
  if (groupKeys.sets !== undefined) positions.set(expressionKey(SET_NUMBER), groupKeys.keys.length);
  const hasConstants = groupKeys.sets !== undefined && groupKeys.keys.some(({ kind }) => kind === "literal");
  const calls: AggregateCall[] = [];
  const seen = new Map<string, number>();
  const keyColumn = (index: number, type: DataType): TypedExpression => ({ kind: "column", type, index, name: `key ${index}` });

  const grouping = (expression: CallExpression): TypedExpression => {
    const args = expression.args.map((argument) => {
      const position = positions.get(keyName(bind(argument, input), argument));
      if (position === undefined) throw planError(`grouping() takes expressions of GROUP BY; ${printExpression(argument)} is none`);
      return position;
    });
    if (args.length === 0 || args.length > GROUPING_ARGUMENTS_MAX)
      throw planError(`grouping() takes 1 to ${GROUPING_ARGUMENTS_MAX} expressions of GROUP BY; got ${args.length}`);
    return groupingValue(args, groupKeys, groupKeys.sets && keyColumn(groupKeys.keys.length, SET_NUMBER.type));
  };

  const intercept = (expression: Expression): TypedExpression | undefined => {
    if (isGroupingCall(expression)) return grouping(expression);
    if (isAggregateCall(expression)) {
      const call = bindAggregate(expression, input);
      const key = callKey(call);
      const position = seen.get(key) ?? calls.push(call) - 1;
      seen.set(key, position);
      return { kind: "column", type: call.type.result, index: keys.length + position, name: call.function.name };
    }
    const withQuery = keysByText.size > 0 && containsSubQuery(expression) ? keysByText.get(printWhole(expression)) : undefined;
    if (withQuery !== undefined) return keyColumn(positions.get(keyName(withQuery, expression)) ?? -1, withQuery.type);
    if (containsAggregate(expression) || containsSubQuery(expression) || containsWindow(expression)) return undefined;
    if (input.hasNewUnnest?.(expression) === true) return undefined;
    const bound = bind(expression, input);
    const position = positions.get(keyName(bound, expression));
    if (position !== undefined) return keyColumn(position, bound.type);
    // A part of it may be a key that is constant, and NULL in some sets.
    if (bound.kind === "literal" && hasConstants) return undefined;
    if (bound.kind === "literal" || bound.kind === "parameter") return bound;
    if (expression.kind === "column") throw notGrouped(expression.name.join("."));
    return undefined;
  };
  return { binder: { scope: [], environment: input.environment, intercept, outer: input.outer, subQueries }, calls };
}

/** Most arguments of grouping(), whose bits a 32-bit integer holds. */
const GROUPING_ARGUMENTS_MAX = 31;

/** The error of a column that is neither grouped by nor aggregated. */
function notGrouped(name: string): Error {
  return planError(
    `Column in SELECT must be in GROUP BY or an aggregate function: column "${name}" is neither; ` +
      `add it to GROUP BY or wrap it, e.g. max(${name})`,
  );
}

/** A text equal for two calls exactly when they are the same. */
export function callKey(call: AggregateCall): string {
  const parts = [call.function.name, String(call.distinct), ...call.args.map(expressionKey)];
  for (const item of call.orderBy) parts.push(`order ${expressionKey(item.expression)} ${item.descending} ${item.nullsFirst}`);
  if (call.filter !== undefined) parts.push(`filter ${expressionKey(call.filter)}`);
  return parts.join(";");
}

/** An aggregate call, or the aggregate of a window call. @throws DbError PlanQuery */
export function bindAggregate(expression: CallExpression, input: Binder): AggregateCall {
  const found = aggregateNamed(expression.name);
  if (found === undefined) throw planError(`Invalid function '${expression.name}'.`);
  for (const argument of expression.args)
    if (expression.over === undefined && containsAggregate(argument))
      throw planError(`aggregate ${found.name}() has an aggregate inside; use a sub-query`);
  if (expression.star && found.name !== "count") throw planError(`* is an argument of count() only, not of ${found.name}()`);
  const ofRows = expression.star && expression.distinct;
  const given = ofRows ? [wholeRow(input)] : expression.star ? [] : expression.args.map((argument) => bind(argument, input));
  const types = given.map((argument) => argument.type);
  const type = expression.star && !ofRows ? { args: [], result: INT64 } : found.resolve(types);
  if (type === undefined) throw noMatch(found.name, found, types);
  const cast = given.map((argument, i) => castTo(argument, type.args[i] ?? argument.type, input.environment));
  // count(1) counts rows, as count(*) does.
  const args =
    found.kernel === "count" &&
    !expression.distinct &&
    cast.every((argument) => argument.kind === "literal" && argument.value !== undefined)
      ? []
      : cast;
  const [first] = cast;
  const filter = conjunction([
    ...(expression.filter === undefined ? [] : [bindCondition(expression.filter, "FILTER", input)]),
    ...(expression.nulls === "ignore" && first !== undefined ? [isPresent(first)] : []),
  ]);
  return {
    function: found,
    type,
    args,
    distinct: expression.distinct,
    orderBy: sortItems(expression.orderBy, (item) => bind(item.expression, input)),
    filter,
  };
}

/** All columns of the relation as one value: `count(DISTINCT *)` counts rows that differ in any of them. */
function wholeRow({ scope, environment }: Binder): TypedExpression {
  const columns = scope.filter((column) => column.shown !== "hidden");
  if (columns.length === 0) throw planError("count(DISTINCT *) needs a FROM clause");
  const args = columns.map(({ expression, shown }) => (shown === undefined || shown === "hidden" ? expression : shown));
  return rowOf(args, environment);
}

function isPresent(operand: TypedExpression): TypedExpression {
  return { kind: "is", type: BOOLEAN, operand, test: "null", negated: true };
}

/** ORDER BY items with their NULL order resolved: last when ascending, first when descending. */
export function sortItems(items: readonly OrderItem[], resolve: (item: OrderItem, index: number) => TypedExpression): readonly SortItem[] {
  return items.map((item, i) => ({
    expression: resolve(item, i),
    descending: item.descending,
    nullsFirst: item.nullsFirst ?? item.descending,
  }));
}
