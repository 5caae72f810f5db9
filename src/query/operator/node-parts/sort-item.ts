/** Keys of an ORDER BY. */
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { bool, record, type Shape } from "../../plan-format/shape.ts";

/** One key of an ORDER BY. `nullsFirst` is resolved. */
export interface SortItem {
  readonly expression: TypedExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Its shape. */
export const sortItem: Shape<SortItem> = record<SortItem>({ expression, descending: bool, nullsFirst: bool });

/** The key as a person would write it. */
export function itemText(item: SortItem): string {
  return `${expressionText(item.expression)} ${item.descending ? "DESC" : "ASC"} NULLS ${item.nullsFirst ? "FIRST" : "LAST"}`;
}
