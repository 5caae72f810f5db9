/** Conditions of a scan with the ids of their columns, and whether a page may hold a row that meets them. */
import type { FieldBounds, FieldCondition } from "../../../table/scan.ts";
import type { IndexLookup, LeafCondition } from "../../index/index-lookup.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";

/** A `FieldCondition` with ids. Storage looks conditions up by identity: one object a condition and scan. */
export type ColumnCondition =
  | (LeafCondition & { readonly columnId: number })
  | { readonly kind: "all"; readonly of: readonly ColumnCondition[] }
  | { readonly kind: "any"; readonly of: readonly ColumnCondition[] };

/** Bounds and conditions of a request, joined by AND, with the ids of their columns. */
export function conditionsOf(
  bounds: readonly FieldBounds[],
  conditions: readonly FieldCondition[],
  idOf: (column: string) => number,
): readonly ColumnCondition[] {
  const ranges = bounds.map(({ column, min, max }) => ({ kind: "range", column, columnId: idOf(column), min, max }) as const);
  return joinRanges([...ranges, ...conditions.map((condition) => withColumnId(condition, idOf))]);
}

function withColumnId(condition: FieldCondition, idOf: (column: string) => number): ColumnCondition {
  switch (condition.kind) {
    case "all":
      return { kind: "all", of: joinRanges(condition.of.map((part) => withColumnId(part, idOf))) };
    case "any":
      return { kind: "any", of: condition.of.map((part) => withColumnId(part, idOf)) };
    default:
      return { ...condition, columnId: idOf(condition.column) };
  }
}

type Range = Extract<ColumnCondition, { kind: "range" }>;

/** Brings a lower and an upper bound of one column together: a page may meet each of them and hold nothing in between. */
function joinRanges(conditions: readonly ColumnCondition[]): readonly ColumnCondition[] {
  const joined: ColumnCondition[] = [];
  for (const condition of conditions) {
    const at = joined.findIndex((other) => other.kind === "range" && condition.kind === "range" && fits(other, condition));
    const other = joined[at];
    if (other?.kind !== "range" || condition.kind !== "range") joined.push(condition);
    else joined[at] = { ...other, min: other.min ?? condition.min, max: other.max ?? condition.max };
  }
  return joined;
}

function fits(a: Range, b: Range): boolean {
  return a.columnId === b.columnId && (a.min === undefined || b.min === undefined) && (a.max === undefined || b.max === undefined);
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
