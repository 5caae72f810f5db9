/** Decides how each GROUP BY key is computed: once a series, by time bucket, or once a row. */
import type { TableSchema } from "../../../table/schema.ts";
import { bucketOf } from "../../expression/bucket-of.ts";
import { columnsOf, isVolatile, type TypedExpression } from "../../expression/expression.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import { staysShort } from "../../operator/scan/stays-short.ts";

/** Keys over all columns of a table's schema; `row` keys and bucket columns are placed by the caller. */
export function groupKeyOf(expression: TypedExpression, schema: TableSchema): GroupKey {
  const { type } = expression;
  const columns = [...columnsOf(expression)];
  const timeIndex = schema.columns.findIndex((column) => column.semantic === "timestamp");
  const isOfTags = columns.every((index) => schema.columns[index]?.semantic === "tag") && !isVolatile(expression);
  if (isOfTags && staysShort(expression)) return { kind: "series", type, expression };
  const buckets = bucketOf(expression, timeIndex);
  return buckets === undefined ? { kind: "row", type, expression } : { kind: "bucket", type, column: timeIndex, buckets };
}

/** A key over other columns. */
export function placeKey(key: GroupKey, place: (expression: TypedExpression) => TypedExpression): GroupKey {
  switch (key.kind) {
    case "series":
      return key;
    case "row":
      return { ...key, expression: place(key.expression) };
    case "bucket": {
      const time = place({ kind: "column", type: key.type, index: key.column, name: "time" });
      return { ...key, column: time.kind === "column" ? time.index : -1 };
    }
  }
}
