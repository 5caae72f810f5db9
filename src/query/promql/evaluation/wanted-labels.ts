/**
 * Labels that a query looks at, selector by selector: `sum by (zone) (rate(m[5m]))` needs no label of `m` but its zone, and making the
 * others takes longer than the rate. Told for selectors right below an aggregation, or below a function of a range or a sign in it.
 */
import type { Expression, VectorSelector } from "../syntax/ast.ts";

/** Aggregations that look at the labels of their groups alone. */
const OF_GROUPS: ReadonlySet<string> = new Set(["avg", "count", "group", "max", "min", "quantile", "stddev", "stdvar", "sum"]);

/** The function of a range that does not give a series for each. */
const MIXES_SERIES: ReadonlySet<string> = new Set(["absent_over_time"]);

/** By selector; those that are not there need all labels. */
export type WantedLabels = ReadonlyMap<VectorSelector, ReadonlySet<string>>;

/** See the file header. */
export function wantedLabels(expression: Expression): WantedLabels {
  const wanted = new Map<VectorSelector, ReadonlySet<string>>();
  collect(expression, wanted);
  return wanted;
}

function collect(node: Expression, wanted: Map<VectorSelector, ReadonlySet<string>>): void {
  switch (node.kind) {
    case "AggregateExpression": {
      const selector = node.isWithout || !OF_GROUPS.has(node.operator) ? undefined : selectorIn(node.expression);
      if (selector !== undefined) wanted.set(selector, new Set(node.grouping));
      if (node.parameter !== undefined) collect(node.parameter, wanted);
      return collect(node.expression, wanted);
    }
    case "BinaryExpression":
      collect(node.left, wanted);
      return collect(node.right, wanted);
    case "Call":
      for (const arg of node.args) collect(arg, wanted);
      return;
    case "ParenExpression":
    case "UnaryExpression":
    case "SubqueryExpression":
      return collect(node.expression, wanted);
    case "MatrixSelector":
    case "VectorSelector":
    case "NumberLiteral":
    case "StringLiteral":
      return;
  }
}

/** The selector whose series go into an aggregation one by one. */
function selectorIn(node: Expression): VectorSelector | undefined {
  switch (node.kind) {
    case "VectorSelector":
      return node;
    case "ParenExpression":
    case "UnaryExpression":
      return selectorIn(node.expression);
    case "Call":
      return MIXES_SERIES.has(node.signature.name) ? undefined : node.args.map(rangeSelectorIn).find((range) => range !== undefined);
    case "AggregateExpression":
    case "BinaryExpression":
    case "SubqueryExpression":
    case "MatrixSelector":
    case "NumberLiteral":
    case "StringLiteral":
      return undefined;
  }
}

function rangeSelectorIn(node: Expression): VectorSelector | undefined {
  if (node.kind === "ParenExpression") return rangeSelectorIn(node.expression);
  return node.kind === "MatrixSelector" ? node.selector : undefined;
}
