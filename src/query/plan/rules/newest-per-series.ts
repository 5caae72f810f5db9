/**
 * Rule: when a query asks only for the newest value of columns by tags, storage need return only the newest row of each series.
 *
 *   SELECT last_value(a ORDER BY time), max(time) FROM t GROUP BY host
 *
 * Holds when every aggregate is `last_value(x ORDER BY <time index>)` or `max(<time index>)`, every key depends on tags alone, and
 * no filter is left after push-down. A group may hold several series: the aggregation then picks the newest of their newest rows.
 */
import { timeIndexOf, type TableSchema } from "../../../table/schema.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";

/** Whether the rule holds. Expressions are over all columns of the schema. */
export function asksForNewestPerSeries(
  keys: readonly GroupKey[],
  aggregates: readonly AggregateCall[],
  residual: readonly TypedExpression[],
  schema: TableSchema,
): boolean {
  if (residual.length > 0 || aggregates.length === 0 || !keys.every((key) => key.kind === "series")) return false;
  const time = timeIndexOf(schema).name;
  return aggregates.every((call) => isNewest(call, time));
}

function isNewest(call: AggregateCall, time: string): boolean {
  if (call.distinct || call.filter !== undefined) return false;
  const isTime = (expression: TypedExpression | undefined): boolean => expression?.kind === "column" && expression.name === time;
  if (call.function.name === "max") return isTime(call.args[0]);
  const [order] = call.orderBy;
  return (
    call.function.name === "last_value" && call.orderBy.length === 1 && order !== undefined && !order.descending && isTime(order.expression)
  );
}
