/**
 * Rule: aggregates of the distinct values of one expression are grouped twice, first by the keys and that expression, then by the keys.
 *
 *   SELECT host, count(DISTINCT user), sum(bytes) FROM t GROUP BY host
 *     = SELECT host, count(user), sum(s) FROM (SELECT host, user, sum(bytes) AS s FROM t GROUP BY host, user) GROUP BY host
 *
 * In the inner groups each value comes once for each key, so what is left to do needs no set a group; the others are put together from
 * those groups: counts and sums are added, extremes are those of extremes. Grouping runs in loops, on workers, and over the disk where it
 * must, none of which a set does.
 *
 * Holds when every DISTINCT is of the same expression, without ORDER BY and FILTER, in an aggregate to which the order of values is
 * nothing, and the others can be put together so. Without keys a count beside it would be NULL of no rows. Sums of decimals may be too
 * large in part.
 *
 * 8.64M rows, one thread, before → after: of a field of 101 values 1.4 s → 0.15 s, the same by 4,000 hosts 1.8 → 0.43 s, of a tag of 4,000
 * values 1.6 s → 10 ms, of an expression of 1M values 16.7 → 2.5 s.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import { EXACT_SUM } from "../../function/aggregate/sums.ts";
import { expressionKey, type TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";

/** How the calls of an aggregation are computed in two. */
export interface GroupedTwice {
  /** What the inner groups have as a key more: the last one. */
  readonly argument: TypedExpression;
  /** Of the inner groups. */
  readonly inner: readonly AggregateCall[];
  /** Over the inner groups, whose columns are the keys, the argument and `inner`. */
  readonly outer: readonly AggregateCall[];
}

/** What stands for one call: in the inner groups, if anything, and above, given the column of the argument or of what is inside. */
interface Step {
  readonly inner: AggregateCall | undefined;
  readonly outer: (column: TypedExpression) => AggregateCall;
}

/** The rule, for calls of an aggregation with `keyCount` keys; undefined where it does not hold. */
export function groupedTwice(calls: readonly AggregateCall[], keyCount: number): GroupedTwice | undefined {
  const argument = calls.find(({ distinct }) => distinct)?.args[0];
  if (argument === undefined) return undefined;
  const key = expressionKey(argument);
  const steps: Step[] = [];
  for (const call of calls) {
    const step = call.distinct ? distinctStep(call, key) : plainStep(call, keyCount);
    if (step === undefined) return undefined;
    steps.push(step);
  }
  const column = (index: number, { name, type }: ColumnHeader): TypedExpression => ({ kind: "column", type, index, name });
  const inner: AggregateCall[] = [];
  const outer = steps.map((step) => {
    if (step.inner === undefined) return step.outer(column(keyCount, { name: "distinct", type: argument.type }));
    inner.push(step.inner);
    return step.outer(column(keyCount + inner.length, { name: step.inner.function.name, type: step.inner.type.result }));
  });
  return { argument, inner, outer };
}

/** Aggregates to which the order of values is nothing. */
const UNORDERED: readonly (string | undefined)[] = ["count", "sum", "avg", "min", "max"];

function distinctStep(call: AggregateCall, argument: string): Step | undefined {
  const [own] = call.args;
  if (own === undefined || call.args.length > 1 || expressionKey(own) !== argument || !isBare(call)) return undefined;
  if (!UNORDERED.includes(call.function.kernel)) return undefined;
  return { inner: undefined, outer: (column) => ({ ...call, distinct: false, args: [column] }) };
}

function plainStep(call: AggregateCall, keyCount: number): Step | undefined {
  if (call.orderBy.length > 0) return undefined;
  const { kernel } = call.function;
  const { result } = call.type;
  switch (kernel) {
    case "count":
      return keyCount === 0 ? undefined : mergedBy("sum", call);
    case "sum":
      if (result.kind !== "int") return result.kind === "float" ? mergedBy("sum", call) : undefined;
      return mergedBy("sum", call, EXACT_SUM);
    case "min":
    case "max":
      return mergedBy(kernel, call);
    default:
      return undefined;
  }
}

/** @param part the type of what is inside: wider than the whole where a part may be larger than that */
function mergedBy(name: string, call: AggregateCall, part: DataType = call.type.result): Step | undefined {
  const merge = aggregateNamed(name);
  if (merge === undefined) return undefined;
  const type = { args: [part], result: call.type.result };
  return {
    inner: { ...call, type: { ...call.type, result: part } },
    outer: (column) => ({ function: merge, type, args: [column], distinct: false, orderBy: [], filter: undefined }),
  };
}

function isBare({ orderBy, filter }: AggregateCall): boolean {
  return orderBy.length === 0 && filter === undefined;
}
