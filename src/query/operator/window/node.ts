/** Window calls. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { dataType, expression, withExpressions } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { bool, kinds, list, oneOf, optional, record, type Shape, whole } from "../../plan-format/shape.ts";
import { type AggregateCall, aggregateCall, callText } from "../node-parts/aggregate-call.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { itemText, type SortItem, sortItem } from "../node-parts/sort-item.ts";

/** Where a frame begins or ends. */
export type FrameBound =
  | { readonly kind: "unbounded" }
  | { readonly kind: "current" }
  /** Rows or peer groups from the current one; negative: before it. */
  | { readonly kind: "steps"; readonly steps: number }
  /** Rows count whose `key`, the only one of the order, has passed `value` of the current row; where that is NULL, its peers. */
  | { readonly kind: "value"; readonly key: TypedExpression; readonly value: TypedExpression };

/** Rows of its partition that a window call sees from a row. Rows that are equal in the order are peers, a group. */
export interface WindowFrame {
  readonly unit: "rows" | "range" | "groups";
  readonly start: FrameBound;
  readonly end: FrameBound;
}

/** Window calls that look at the order alone. */
export type RankName = "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile";

/** Scores of a row's value among those of its frame. */
export type AnomalyName = "zscore" | "mad" | "iqr";

/** One window call. */
export type WindowCall =
  /** `buckets`: of ntile, at least 1. */
  | { readonly kind: "rank"; readonly name: RankName; readonly type: DataType; readonly buckets: number }
  /** The value so many rows before (positive) or after; `otherwise`, over the current row, where there is none. */
  | {
      readonly kind: "shift";
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly steps: number;
      readonly otherwise: TypedExpression;
      readonly ignoreNulls: boolean;
    }
  /** The value of the n-th row of the frame, from 1; negative: counted from its end. */
  | {
      readonly kind: "pick";
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly nth: number;
      readonly ignoreNulls: boolean;
      readonly frame: WindowFrame;
    }
  | { readonly kind: "aggregate"; readonly type: DataType; readonly call: AggregateCall; readonly frame: WindowFrame }
  /** `factor`: of iqr, constant or not. */
  | {
      readonly kind: "anomaly";
      readonly name: AnomalyName;
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly factor: TypedExpression | undefined;
      readonly frame: WindowFrame;
    };

/** Rows sorted by `partitionBy`, then `orderBy`, with a column more for each call. */
export interface WindowNode<N> {
  readonly kind: "window";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly partitionBy: readonly SortItem[];
  readonly orderBy: readonly SortItem[];
  readonly calls: readonly WindowCall[];
}

const bound: Shape<FrameBound> = kinds<FrameBound>({
  unbounded: {},
  current: {},
  steps: { steps: whole() },
  value: { key: expression, value: expression },
});
const frame: Shape<WindowFrame> = record<WindowFrame>({ unit: oneOf("rows", "range", "groups"), start: bound, end: bound });
const type = dataType;

const windowCall: Shape<WindowCall> = kinds<WindowCall>({
  rank: {
    name: oneOf("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"),
    type,
    buckets: whole(),
  },
  shift: { type, value: expression, steps: whole(), otherwise: expression, ignoreNulls: bool },
  pick: { type, value: expression, nth: whole(), ignoreNulls: bool, frame },
  aggregate: { type, call: aggregateCall, frame },
  anomaly: { name: oneOf("zscore", "mad", "iqr"), type, value: expression, factor: optional(expression), frame },
});

/** The same window call with each of its expressions changed. */
export function changedWindowCall(call: WindowCall, change: (expression: TypedExpression) => TypedExpression): WindowCall {
  return withExpressions(windowCall, call, change);
}

/** See the file header. */
export const WINDOW: NodeKind<WindowNode<AnyNode>> = nodeKind<WindowNode<AnyNode>>({
  kind: "window",
  fields: { input, partitionBy: list(sortItem), orderBy: list(sortItem), calls: list(windowCall) },
  explain({ partitionBy, orderBy, calls }) {
    const [partition, order] = [partitionBy, orderBy].map((items) => items.map(itemText).join(", "));
    return `WindowExec: partition=[${partition}], order=[${order}], calls=[${calls.map(windowText).join(", ")}]`;
  },
  wrong: (node) =>
    node.columns.length === node.input.columns.length + node.calls.length
      ? undefined
      : "its columns are not those of its input and one for each call",
});

function windowText(call: WindowCall): string {
  switch (call.kind) {
    case "rank":
      return `${call.name}(${call.name === "ntile" ? call.buckets : ""})`;
    case "shift":
      return `lag(${expressionText(call.value)}, ${call.steps}, ${expressionText(call.otherwise)})`;
    case "pick":
      return `nth_value(${expressionText(call.value)}, ${call.nth}) ${frameText(call.frame)}`;
    case "aggregate":
      return `${callText(call.call)} ${frameText(call.frame)}`;
    case "anomaly":
      return `anomaly_score_${call.name}(${expressionText(call.value)}) ${frameText(call.frame)}`;
  }
}

function frameText({ unit, start, end }: WindowFrame): string {
  const text = (given: FrameBound, unbounded: string): string => {
    if (given.kind === "unbounded") return `UNBOUNDED ${unbounded}`;
    if (given.kind === "current") return "CURRENT ROW";
    if (given.kind === "value") return expressionText(given.value);
    return `${Math.abs(given.steps)} ${given.steps < 0 ? "PRECEDING" : "FOLLOWING"}`;
  };
  return `${unit.toUpperCase()} BETWEEN ${text(start, "PRECEDING")} AND ${text(end, "FOLLOWING")}`;
}
