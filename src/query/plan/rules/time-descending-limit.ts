/**
 * Rule: the newest n rows need only the newest range of the data.
 *
 *   SELECT * FROM t WHERE level = 'error' ORDER BY time DESC LIMIT 100
 *
 * Holds when the first ORDER BY item is the time index descending and there is a LIMIT. Later items order rows of equal time, which
 * lie in one range.
 */
import type { TableSchema } from "../../../table/schema.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";

/** Whether the rule holds. Items are over all columns of the schema. */
export function asksForNewestRows(schema: TableSchema, first: SortItem | undefined): boolean {
  if (first === undefined || !first.descending || first.expression.kind !== "column") return false;
  return schema.columns[first.expression.index]?.semantic === "timestamp";
}
