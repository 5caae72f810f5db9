/**
 * Hints of histograms of which counts and sums alone are asked for.
 *
 * Prometheus reads such series without their buckets, and so finds out beforehand where they were reset. Its annotations show that, and so
 * it is done here: `histogram_count(sum(x))` warns of resets that collide where `sum(x)` does not know of them.
 */
import type { Expression, VectorSelector } from "../../syntax/ast.ts";
import type { NativeHistogram } from "../series-source.ts";
import type { QueryScope } from "../scope.ts";
import { isReset } from "./reset.ts";
import { eachHistogram } from "./turns.ts";

const OF_STATISTICS: ReadonlySet<string> = new Set(["histogram_avg", "histogram_count", "histogram_sum"]);
const OF_BUCKETS: ReadonlySet<string> = new Set([
  "histogram_fraction",
  "histogram_quantile",
  "histogram_quantiles",
  "histogram_stddev",
  "histogram_stdvar",
]);

/** The selectors whose histograms are asked for counts and sums alone. */
export function selectorsOfStatistics(expression: Expression): ReadonlySet<VectorSelector> {
  const found = new Set<VectorSelector>();
  collect(expression, false, false, found);
  return found;
}

function collect(node: Expression, isStatistic: boolean, needsBuckets: boolean, found: Set<VectorSelector>): void {
  const inside = (child: Expression): void => collect(child, isStatistic, needsBuckets, found);
  switch (node.kind) {
    case "VectorSelector":
      if (isStatistic && !needsBuckets) found.add(node);
      return;
    case "MatrixSelector":
      return inside(node.selector);
    case "SubqueryExpression":
      return collect(node.expression, isStatistic, true, found);
    case "ParenExpression":
    case "UnaryExpression":
    case "AggregateExpression":
      return inside(node.expression);
    case "BinaryExpression": {
      // Cut histograms get their counts and sums from buckets.
      const cuts = node.operator === "</" || node.operator === ">/";
      for (const child of [node.left, node.right]) collect(child, isStatistic, needsBuckets || cuts, found);
      return;
    }
    case "Call": {
      const { name } = node.signature;
      for (const child of node.args) collect(child, isStatistic || OF_STATISTICS.has(name), needsBuckets || OF_BUCKETS.has(name), found);
      return;
    }
    case "NumberLiteral":
    case "StringLiteral":
      return;
  }
}

/** The same histograms, told whether each was reset since the one before. */
export async function withResolvedHints(
  histograms: readonly (NativeHistogram | undefined)[],
  query: QueryScope,
): Promise<(NativeHistogram | undefined)[]> {
  const resolved = [...histograms];
  let before: NativeHistogram | undefined;
  await eachHistogram(query, histograms.length, (at) => {
    const histogram = histograms[at];
    if (histogram === undefined) return;
    if (before !== undefined && histogram.resetHint === "unknown")
      resolved[at] = { ...histogram, resetHint: isReset(histogram, before) ? "reset" : "not-reset" };
    before = histogram;
  });
  return resolved;
}
