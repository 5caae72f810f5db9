/**
 * Rule: the newest n buckets of a time axis need only the newest range of the data.
 *
 *   SELECT max(x), date_trunc('minute', time) FROM t GROUP BY 2 ORDER BY 2 DESC LIMIT 5
 *
 * Holds when the only key is a bucket of the time index, that key descending is the first ORDER BY item, there is a LIMIT, and no
 * HAVING drops groups. Groups of different ranges never meet, since ranges end at bucket borders.
 */
import type { TimeBuckets } from "../../function/time/buckets.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";

/** The buckets to walk down, or undefined when the rule does not hold. `items` are over the columns of the aggregation. */
export function newestBuckets(
  keys: readonly GroupKey[],
  having: TypedExpression | undefined,
  first: SortItem | undefined,
): TimeBuckets | undefined {
  const [key] = keys;
  if (keys.length !== 1 || key?.kind !== "bucket" || having !== undefined || first === undefined) return undefined;
  const isKey = first.expression.kind === "column" && first.expression.index === 0;
  return isKey && first.descending ? key.buckets : undefined;
}
