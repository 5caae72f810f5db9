/** SELECT with GROUP BY or aggregates. */
import { GROUP_KEYS_MAX } from "../../../base/limits.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { printExpression, printWhole } from "../../sql/print/print.ts";
import { aggregatedQueriesIn, containsAggregate, containsSubQuery } from "../bind/ast-walk.ts";
import { aggregateScope } from "../bind/bind-aggregates.ts";
import { bindInSteps, planQueriesIn } from "../bind/bind-in-steps.ts";
import { bindQualify, qualified, Windows } from "./bind-windows.ts";
import { mapColumns, type TypedExpression } from "../../expression/expression.ts";
import { groupKeyOf, placeKey } from "../common/group-keys.ts";
import { aggregationBySets, distinctKeys, keyName, type WrittenKey } from "../bind/grouping-sets.ts";
import { prunedInput } from "./input-plan.ts";
import { type Applied, applied, SubQueries } from "./sub-queries.ts";
import { type AggregateCall, changedAggregate } from "../../operator/node-parts/aggregate-call.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { planError } from "../bind/plan-error.ts";
import { distinct } from "../../operator/aggregate/distinct-rows.ts";
import { bindOutputCondition, finish, finishFirstOf, newestFirst, orderedOutput, resolveAlias, type SelectBody } from "./select-body.ts";
import { eachInSteps, type Steps } from "../bind/steps.ts";
import { Unnests, withoutStructs } from "./unnests.ts";
import { newestBuckets } from "../rules/newest-buckets-first.ts";
import { asksForNewestPerSeries } from "../rules/newest-per-series.ts";
import { groupedTwice } from "../rules/distinct-by-groups.ts";
import { shiftedSums } from "../rules/sums-of-shifted.ts";
import { statisticsFor } from "../rules/page-statistics.ts";

/** The plan of a SELECT whose rows are groups. */
export function* planAggregate(given: SelectBody): Steps<PlanNode> {
  const { select, input, limits, planner } = given;
  const { length: keyCount } = select.groupBy;
  if (keyCount > GROUP_KEYS_MAX) throw planError(`GROUP BY has ${keyCount} keys; it may have ${GROUP_KEYS_MAX}`);
  const body = { ...given, items: withoutStructs(given.items, input.binder) };
  const lower = new Unnests(input.binder);
  const below = lower.binder;
  const keysByText = new Map<string, TypedExpression>();
  const written = yield* eachInSteps(select.groupBy, function* (item): Steps<WrittenKey> {
    const expression = resolveAlias(item, body, true);
    if (containsAggregate(expression)) throw planError(`aggregates are not allowed in GROUP BY: ${printExpression(expression)}`);
    const text = containsSubQuery(expression) ? printWhole(expression) : undefined;
    const known = text === undefined ? undefined : keysByText.get(text);
    const key = known ?? (yield* bindInSteps(expression, below));
    if (text !== undefined) keysByText.set(text, key);
    return { key, name: keyName(key, expression) };
  });
  const groupKeys = distinctKeys(written, select.groupingSets);
  const subQueries = new SubQueries(input.source.scope, planner);
  const above = aggregateScope(below, groupKeys, subQueries, keysByText);
  for (const { expression } of [...body.items, ...select.orderBy, ...(select.having === undefined ? [] : [{ expression: select.having }])])
    for (const part of aggregatedQueriesIn(expression)) yield* planQueriesIn(part, below);
  const upper = new Unnests(above.binder, lower);
  const windows = new Windows(upper.binder, select.windows ?? []);
  const output = yield* orderedOutput(body, windows.binder);
  const having = select.having === undefined ? undefined : yield* bindOutputCondition(select.having, "HAVING", body, above.binder);
  const qualify = yield* bindQualify(body, windows);
  yield;
  const { keys, sets } = groupKeys;
  const grouped = yield* sets === undefined
    ? aggregation(body, keys, above.calls, lower)
    : setAggregation(body, keys, sets, above.calls, lower);
  const { node, place } =
    subQueries.calls.length === 0 ? unchanged(grouped) : yield* applied(grouped, ITSELF, subQueries.calls, [], [], planner);
  const placed = (expression: TypedExpression): TypedExpression => mapColumns(expression, place);
  const filtered: PlanNode =
    having === undefined ? node : { kind: "filter", input: node, columns: node.columns, predicate: placed(having) };
  const unnested = upper.over(filtered, placed);
  const windowed = qualified(windows.over(unnested.node, unnested.place), qualify);
  const expressions = output.expressions.map(windowed.place);
  const projected: PlanNode = { kind: "project", input: windowed.node, columns: output.columns, expressions };
  if (output.firstOf.length > 0) return finishFirstOf(projected, output, limits, body.items.length);
  if (select.distinct) return finish(distinct(projected), output.order, limits, body.items.length);
  const isPlain = windows.isEmpty && upper.isEmpty && grouped.kind === "aggregate";
  const newest = newestFirst(body, output, projected, (first) => {
    const buckets = isPlain ? newestBuckets(grouped.keys, having, first) : undefined;
    return buckets === undefined ? undefined : { buckets };
  });
  return newest ?? finish(projected, output.order, limits, body.items.length);
}

const ITSELF = (index: number): number => index;

const unchanged = (node: PlanNode): Pick<Applied, "node" | "place"> => ({ node, place: ITSELF });

type Aggregation = Extract<PlanNode, { kind: "aggregate" }>;

function* aggregation(
  body: SelectBody,
  keys: readonly TypedExpression[],
  calls: readonly AggregateCall[],
  unnests: Unnests,
): Steps<PlanNode> {
  const columns: ColumnHeader[] = [
    ...keys.map((key, i) => ({ name: `key ${i}`, type: key.type })),
    ...calls.map((call) => ({ name: call.function.name, type: call.type.result })),
  ];
  const mayChange = body.planner.optimise && !mayWalkBuckets(body, keys);
  const shifted = mayChange ? shiftedSums(calls, keys.length) : undefined;
  if (shifted !== undefined) {
    const input = yield* aggregation(body, keys, shifted.calls, unnests);
    const own = columns.slice(0, keys.length).map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
    return { kind: "project", input, columns, expressions: [...own, ...shifted.results] };
  }
  const twice = mayChange ? groupedTwice(calls, keys.length) : undefined;
  if (twice === undefined) return yield* aggregationOf(body, keys, calls, columns, unnests);
  const innerColumns: ColumnHeader[] = [
    ...columns.slice(0, keys.length),
    { name: "distinct", type: twice.argument.type },
    ...twice.inner.map((call) => ({ name: call.function.name, type: call.type.result })),
  ];
  const input = yield* aggregationOf(body, [...keys, twice.argument], twice.inner, innerColumns, unnests);
  const again = columns.slice(0, keys.length).map(({ name, type }, index): GroupKey => {
    return { kind: "row", type, expression: { kind: "column", type, index, name } };
  });
  return { kind: "aggregate", input, columns, keys: again, aggregates: twice.outer, table: undefined };
}

/** Whether the plan may become a walk from the newest bucket on: it reads few rows, of plain groups. */
function mayWalkBuckets({ limits, input }: SelectBody, keys: readonly TypedExpression[]): boolean {
  const { table } = input.source;
  return limits.count !== undefined && table !== undefined && keys.some((key) => groupKeyOf(key, table.schema).kind === "bucket");
}

function* aggregationOf(
  body: SelectBody,
  keys: readonly TypedExpression[],
  calls: readonly AggregateCall[],
  columns: readonly ColumnHeader[],
  unnests: Unnests,
): Steps<Aggregation> {
  const { input, planner } = body;
  const { table } = input.source;
  const optimised = planner.optimise && table !== undefined && input.subQueries.calls.length === 0 && unnests.isEmpty;
  const plain = (expression: TypedExpression): GroupKey => ({ kind: "row", type: expression.type, expression });
  const planned = keys.map((key) => (optimised ? groupKeyOf(key, table.schema) : plain(key)));
  const needed = [...keys.filter((_, i) => planned[i]?.kind !== "series"), ...calls.flatMap(callExpressions), ...unnests.expressions()];
  const newest = optimised && asksForNewestPerSeries(planned, calls, input.split.residual, table.schema);
  const statistics = optimised && !newest ? statisticsFor(planned, calls, input.split.residual, table.schema) : undefined;
  const extra = newest ? { newestPerSeries: true } : statistics === undefined ? {} : { summaries: statistics };
  const pruned = yield* prunedInput(input, needed, extra);
  const { node, place } = unnests.over(pruned.node, pruned.place);
  const placedKeys = planned.map((key) => placeKey(key, place));
  const aggregates = calls.map((call) => changedAggregate(call, place));
  return { kind: "aggregate", input: node, columns, keys: placedKeys, aggregates, table: optimised ? table : undefined };
}

function* setAggregation(
  { input }: SelectBody,
  keys: readonly TypedExpression[],
  sets: readonly (readonly number[])[],
  calls: readonly AggregateCall[],
  unnests: Unnests,
): Steps<PlanNode> {
  const pruned = yield* prunedInput(input, [...keys, ...calls.flatMap(callExpressions), ...unnests.expressions()], {});
  const { node, place } = unnests.over(pruned.node, pruned.place);
  const aggregates = calls.map((call) => changedAggregate(call, place));
  return aggregationBySets(node, keys.map(place), sets, aggregates);
}

/** What a call reads. */
export function callExpressions(call: AggregateCall): readonly TypedExpression[] {
  const own = [...call.args, ...call.orderBy.map((item) => item.expression)];
  return call.filter === undefined ? own : [...own, call.filter];
}
