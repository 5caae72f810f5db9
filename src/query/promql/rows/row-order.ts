/**
 * The order of rows that a query asks for: a result of steps has none of its own, rows do.
 *
 *   sort(x), sort_desc(x)      value, then labels and time            topk(2, x)          time, value from the largest
 *   sort_by_label(x, "a")      a, then all labels, then time          count_values(…)     labels of `by`, time, the value counted
 */
import { sortedInTurns } from "../../../base/scheduler/sorted-in-turns.ts";
import { compareByLabels, compareValues } from "../evaluation/functions/label-functions.ts";
import { compareLabels } from "../evaluation/labels.ts";
import type { EvaluationRun, Labels } from "../evaluation/series-source.ts";
import type { AggregateExpression, Expression } from "../syntax/ast.ts";
import { hasNumber, hasRow, type RowSeries } from "./row-series.ts";
import { unwrapped } from "../evaluation/scope.ts";

/** Bytes of a row while rows are put in order. */
const ROW_BYTES = 64;

/** A row: a step of a series. */
export interface Row {
  readonly series: RowSeries;
  readonly step: number;
}

/** Which of two rows comes first. */
export type RowOrder = (a: Row, b: Row) => number;

/** The order that a query asks for; undefined: none. */
export function rowOrderOf(expression: Expression): RowOrder | undefined {
  const node = unwrapped(expression);
  if (node.kind === "AggregateExpression") return aggregateOrder(node);
  if (node.kind !== "Call") return undefined;
  const names = node.args.slice(1).map((arg) => {
    const inner = unwrapped(arg);
    return inner.kind === "StringLiteral" ? inner.value : "";
  });
  switch (node.signature.name) {
    case "sort":
    case "sort_desc": {
      const isDescending = node.signature.name === "sort_desc";
      return (a, b) => byValue(a, b, isDescending) || byLabels(a, b) || byTime(a, b);
    }
    case "sort_by_label":
      return (a, b) => compareByLabels(a.series, b.series, names) || byTime(a, b);
    case "sort_by_label_desc":
      return (a, b) => compareByLabels(b.series, a.series, names) || byTime(a, b);
  }
  return undefined;
}

function aggregateOrder({ operator, parameter }: AggregateExpression): RowOrder | undefined {
  if (operator === "topk") return (a, b) => byTime(a, b) || byValue(a, b, true) || byLabels(b, a);
  if (operator === "bottomk") return (a, b) => byTime(a, b) || byValue(a, b, false) || byLabels(a, b);
  if (operator !== "count_values") return undefined;
  const made = parameter === undefined ? parameter : unwrapped(parameter);
  const target = made?.kind === "StringLiteral" ? made.value : "";
  const others = ({ series }: Row): Labels => series.labels.filter(([name]) => name !== target);
  return (a, b) => compareLabels(others(a), others(b)) || byTime(a, b) || compareByLabels(a.series, b.series, [target]);
}

/** All rows in an order; held and counted. @throws DbError RuntimeResourcesExhausted */
export async function rowsInOrder(all: readonly RowSeries[], steps: number, order: RowOrder, run: EvaluationRun): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const series of all) {
    run.reserve(steps * ROW_BYTES);
    for (let step = 0; step < steps; step++) if (hasRow(series, step)) rows.push({ series, step });
    if (run.pace.isDue()) await run.pace.turn();
  }
  return sortedInTurns(rows, order, run.pace);
}

const byTime = (a: Row, b: Row): number => a.step - b.step;
const byLabels = (a: Row, b: Row): number => compareLabels(a.series.labels, b.series.labels);
const byValue = (a: Row, b: Row, isDescending: boolean): number => compareValues(valueOf(a), valueOf(b), isDescending);

/** Of the first field. */
function valueOf({ series, step }: Row): number {
  const [field] = series.fields;
  return hasNumber(field, step) ? (field.values[step] as number) : Number.NaN;
}
