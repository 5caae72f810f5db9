/**
 * Model rows as line protocol, so that random lives also go through the real decoder.
 */
import { BOOLEAN, type DataType, FLOAT64, INT64, STRING, UINT64 } from "../../src/column/data-type.ts";
import type { Scalar } from "../../src/column/vector.ts";
import type { ModelRow, TableModel } from "./model.ts";

/** Types that line protocol has. */
export const LINE_TYPES: readonly DataType[] = [FLOAT64, INT64, UINT64, BOOLEAN, STRING];

/** The rows that line protocol can say: with a field, and without numbers that it cannot write. */
export function sayable(model: TableModel, rows: readonly ModelRow[]): ModelRow[] {
  const fields = model.columns.filter(({ semantic }) => semantic === "field").map(({ name }) => name);
  const isFinite = (value: Scalar): boolean => typeof value !== "number" || Number.isFinite(value);
  return rows.filter((row) => fields.some((name) => row.get(name) !== undefined) && fields.every((name) => isFinite(row.get(name))));
}

/** One line a row. `rows` are sayable; the time index counts nanoseconds. */
export function linesOf(table: string, model: TableModel, rows: readonly ModelRow[]): string {
  const lines = rows.map((row) => {
    let key = table;
    const fields: string[] = [];
    for (const { name, type, semantic } of model.columns) {
      const value = row.get(name);
      if (value === undefined || semantic === "timestamp") continue;
      if (semantic === "tag") key += `,${name}=${String(value)}`;
      else fields.push(`${name}=${fieldText(type, value)}`);
    }
    return `${key} ${fields.join(",")} ${String(row.get(model.timeName))}`;
  });
  return lines.join("\n");
}

function fieldText(type: DataType, value: Scalar): string {
  if (type.kind === "string") return `"${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  if (type.kind === "int") return `${String(value)}${type.signed ? "i" : "u"}`;
  return Object.is(value, -0) ? "-0" : String(value);
}
