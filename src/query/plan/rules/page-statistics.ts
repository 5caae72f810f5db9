/**
 * Rule: counts, sums, averages and extremes of plain columns may come from statistics of pages whose rows are all of one group.
 *
 *   SELECT max(usage), avg(usage), count(*), min(ts) FROM cpu [GROUP BY host | date_bin('1 day', ts)]
 *
 * Holds when no filter is left after push-down, every key depends on tags alone or is a time bucket of fixed width, and every aggregate is
 * one that `AggregateState.addSummary` takes.
 */
import { timeIndexOf, type TableSchema } from "../../../table/schema.ts";
import type { SummaryRequest } from "../../../table/scan.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";

/** What the scan may answer by statistics; undefined when rows are needed. Expressions are over all columns of the schema. */
export function statisticsFor(
  keys: readonly GroupKey[],
  calls: readonly AggregateCall[],
  residual: readonly TypedExpression[],
  schema: TableSchema,
): SummaryRequest | undefined {
  if (residual.length > 0 || calls.length === 0) return undefined;
  const bucketKeys = keys.filter((key) => key.kind === "bucket");
  const [bucket] = bucketKeys;
  const isPerSeries = keys.some((key) => key.kind === "series");
  if (bucketKeys.length > 1 || keys.some((key) => key.kind === "row")) return undefined;
  if (bucket !== undefined && bucket.buckets.kind !== "fixed") return undefined;
  const buckets = bucket?.buckets.kind === "fixed" ? { width: bucket.buckets.width, origin: bucket.buckets.origin } : undefined;
  const wanted = new Map<string, { readonly column: string; wantsBounds: boolean; wantsSum: boolean }>();
  for (const call of calls) {
    const name = argumentOf(call, schema);
    if (name === undefined) return undefined;
    if (name === "") continue;
    const entry = wanted.get(name) ?? { column: name, wantsBounds: false, wantsSum: false };
    wanted.set(name, entry);
    const { kernel } = call.function;
    entry.wantsBounds ||= kernel === "min" || kernel === "max";
    entry.wantsSum ||= kernel === "sum" || kernel === "avg";
  }
  return { columns: [...wanted.values()], buckets, isPerSeries };
}

/** The column that an aggregate is of, "" when it counts rows; undefined when statistics do not answer it. */
function argumentOf({ function: { kernel }, args, distinct, orderBy, filter }: AggregateCall, schema: TableSchema): string | undefined {
  if (distinct || orderBy.length > 0 || filter !== undefined || args.length > 1) return undefined;
  const [argument] = args;
  if (argument === undefined) return kernel === "count" ? "" : undefined;
  const column = argument.kind === "column" ? schema.columns[argument.index] : undefined;
  if (column === undefined || column.semantic === "tag") return undefined;
  const isTimeIndex = column.name === timeIndexOf(schema).name;
  const { kind } = column.type;
  switch (kernel) {
    case "count":
      return isTimeIndex ? "" : column.name; // The time index has no NULL.
    case "min":
    case "max":
      return isTimeIndex || kind === "int" || kind === "float" || kind === "date" ? column.name : undefined;
    case "sum":
    case "avg":
      return kind === "int" || kind === "float" ? column.name : undefined;
    default:
      return undefined;
  }
}
