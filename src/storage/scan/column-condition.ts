/** Conditions of a scan with the ids of their columns, and whether a page may hold a row that meets them. */
import type { FieldBounds, FieldCondition } from "../../table/scan.ts";
import type { IndexLookup, LeafCondition } from "../index/index-lookup.ts";
import type { OpenSst } from "../sst/sst-file.ts";

/** A `FieldCondition` with ids. Storage looks conditions up by identity: one object a condition and scan. */
export type ColumnCondition =
  | (LeafCondition & { readonly columnId: number })
  | { readonly kind: "all"; readonly of: readonly ColumnCondition[] }
  | { readonly kind: "any"; readonly of: readonly ColumnCondition[] };

/** Puts ids to the columns of a condition. */
export function withColumnIds(condition: FieldCondition, idOf: (column: string) => number): ColumnCondition {
  if (condition.kind === "all" || condition.kind === "any") {
    return { kind: condition.kind, of: condition.of.map((part) => withColumnIds(part, idOf)) };
  }
  return { ...condition, columnId: idOf(condition.column) };
}

/** Bounds as a condition. */
export function conditionOfBounds(bounds: FieldBounds, columnId: number): ColumnCondition {
  return { kind: "range", column: bounds.column, columnId, min: bounds.min, max: bounds.max };
}

/** Whether statistics leave room for a row of a page that meets the condition. A column that the file does not have may hold anything. */
export function statisticsMayMeet(file: OpenSst, condition: ColumnCondition, page: number): boolean {
  switch (condition.kind) {
    case "all":
      return condition.of.every((part) => statisticsMayMeet(file, part, page));
    case "any":
      return condition.of.some((part) => statisticsMayMeet(file, part, page));
    default: {
      const column = file.columnOf(condition.columnId);
      return column < 0 || file.pageMayMeet(column, page, condition);
    }
  }
}

/** Whether the indexes of columns leave room for a row of `[start, end)` that meets the condition. */
export async function indexesMayMeet(lookup: IndexLookup, condition: ColumnCondition, start: number, end: number): Promise<boolean> {
  switch (condition.kind) {
    case "all":
      for (const part of condition.of) if (!(await indexesMayMeet(lookup, part, start, end))) return false;
      return true;
    case "any":
      for (const part of condition.of) if (await indexesMayMeet(lookup, part, start, end)) return true;
      return false;
    default:
      return lookup.mayMeet(condition, condition.columnId, start, end);
  }
}
