/** GROUP BY, and rows once for each grouping set. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { dataType, expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import type { TimeBuckets } from "../../function/time/buckets.ts";
import { kinds, list, optional, type Shape, whole } from "../../plan-format/shape.ts";
import { type AggregateCall, aggregateCall, callText } from "../node-parts/aggregate-call.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { scannedTable } from "../node-parts/table-identity.ts";
import { timeBuckets } from "../node-parts/time-shapes.ts";

/** What rows are grouped by. */
export type GroupKey =
  /** Depends on tags alone: evaluated once a series. Its columns are positions in the table's schema. */
  | { readonly kind: "series"; readonly type: DataType; readonly expression: TypedExpression }
  /** A bucket of the time index, which is `column` of the input. */
  | { readonly kind: "bucket"; readonly type: DataType; readonly column: number; readonly buckets: TimeBuckets }
  /** Anything else: evaluated once a row. */
  | { readonly kind: "row"; readonly type: DataType; readonly expression: TypedExpression };

/** Groups with their aggregates. */
export interface AggregateNode<N> {
  readonly kind: "aggregate";
  readonly input: N;
  /** Keys, then aggregates. */
  readonly columns: readonly ColumnHeader[];
  readonly keys: readonly GroupKey[];
  readonly aggregates: readonly AggregateCall[];
  /** The scanned table when there are series keys. */
  readonly table: ScannedTable | undefined;
}

/**
 * Each row once for each set, with a column more for each expression of `keys`, NULL where it is not of the set, and the number of
 * the set at the end.
 */
export interface GroupingSetsNode<N> {
  readonly kind: "grouping-sets";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly keys: readonly TypedExpression[];
  readonly sets: readonly (readonly number[])[];
}

const type = dataType;
const groupKey: Shape<GroupKey> = kinds<GroupKey>({
  series: { type, expression },
  bucket: { type, column: whole(0), buckets: timeBuckets },
  row: { type, expression },
});

/** Groupings. */
export const AGGREGATE: NodeKind<AggregateNode<AnyNode>> = nodeKind<AggregateNode<AnyNode>>({
  kind: "aggregate",
  fields: { input, keys: list(groupKey), aggregates: list(aggregateCall), table: optional(scannedTable) },
  explain: ({ keys, aggregates }) =>
    `AggregateExec: by=[${keys.map(keyText).join(", ")}], aggregates=[${aggregates.map(callText).join(", ")}]`,
  readable: ({ input: { columns }, table }) => Math.max(columns.length, table?.schema.columns.length ?? 0),
  wrong: ({ columns, keys, aggregates }) =>
    columns.length === keys.length + aggregates.length ? undefined : "its columns are not its keys and aggregates",
});

/** Rows for grouping sets. */
export const GROUPING_SETS: NodeKind<GroupingSetsNode<AnyNode>> = nodeKind<GroupingSetsNode<AnyNode>>({
  kind: "grouping-sets",
  fields: { input, keys: list(expression), sets: list(list(whole(0))) },
  explain: ({ keys, sets }) =>
    `GroupingSetsExec: keys=[${keys.map(expressionText).join(", ")}], sets=[${sets.map((set) => `(${set.join(" ")})`).join(", ")}]`,
  wrong: ({ input: { columns }, columns: made, keys, sets }) =>
    made.length === columns.length + keys.length + 1 && sets.every((set) => set.every((key) => key < keys.length))
      ? undefined
      : "its columns are not those of its input, its keys and the number of a set",
});

function keyText(key: GroupKey): string {
  switch (key.kind) {
    case "series":
      return `${expressionText(key.expression)} (once a series)`;
    case "bucket":
      return key.buckets.kind === "fixed"
        ? `time bucket of ${key.buckets.width} ${key.buckets.unit}s`
        : `time bucket of ${key.buckets.months} months`;
    case "row":
      return expressionText(key.expression);
  }
}
