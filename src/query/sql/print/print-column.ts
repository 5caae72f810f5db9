/** Column definitions and option lists as text, as CREATE TABLE and ALTER TABLE have them. */
import { sqlName } from "../../../column/data-type.ts";
import type { Expression } from "../syntax/ast.ts";
import type { ColumnClause, HintClause } from "../syntax/definition-ast.ts";
import { printPart, printString } from "./print-name.ts";
import { print, UPPER } from "./print.ts";

/** `"a" BIGINT NOT NULL DEFAULT 1 COMMENT 'x'`. */
export function printColumnClause(column: ColumnClause): string {
  const hints = column.hints === undefined ? "" : ` (${column.hints.map(printHint).join(", ")})`;
  const parts = [printPart(column.name), sqlName(column.type) + hints];
  if (column.nullable !== undefined) parts.push(column.nullable ? "NULL" : "NOT NULL");
  if (column.default !== undefined) parts.push(`DEFAULT ${printDefault(column.default)}`);
  if (column.comment !== undefined) parts.push(`COMMENT ${printString(column.comment)}`);
  if (column.primaryKey) parts.push("PRIMARY KEY");
  if (column.timeIndex) parts.push("TIME INDEX");
  for (const { kind, options } of column.indexes) parts.push(`${kind.toUpperCase()} INDEX${printOptions(options)}`);
  return parts.join(" ");
}

/** `"user".id BIGINT NOT NULL DEFAULT 1`. */
function printHint({ path, type, nullable, default: value }: HintClause): string {
  const parts = [path.map(printPart).join("."), sqlName(type)];
  if (!nullable) parts.push("NOT NULL");
  if (value !== undefined) parts.push(`DEFAULT ${printDefault(value)}`);
  return parts.join(" ");
}

/** A default: only what binds tighter than a predicate may stand without parentheses, since options follow. */
export function printDefault(value: Expression): string {
  const text = print(value, { ...UPPER, keepQuotes: true }); // in quotes it is a text
  return value.kind === "number" || value.kind === "string" || value.kind === "call" || value.kind === "null" ? text : `(${text})`;
}

/** ` WITH ('k' = 'v')` with a blank before it, or nothing. */
export function printOptions(options: Readonly<Record<string, string>>): string {
  const entries = Object.entries(options);
  return entries.length === 0 ? "" : ` WITH (${entries.map(([key, value]) => `${printString(key)} = ${printString(value)}`).join(", ")})`;
}
