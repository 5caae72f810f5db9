/** A row that a statement gives, completed to one of all columns: what says what an INSERT writes, and which of its errors is told. */
import { invalidArguments } from "../../../base/error.ts";
import { STRING } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { RowColumn } from "../../../table/rows/row-batch-builder.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { tagText } from "../../../table/tag-value.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { hintedDocument } from "../../function/json/json-hints.ts";
import { rescale } from "../../../value/time-units.ts";
import { isInterval, type Value } from "../../function/value/value.ts";

/** Where values of a statement go. */
export interface Target {
  readonly schema: TableSchema;
  /** The columns named, in the order of the values. */
  readonly named: readonly ColumnSchema[];
  readonly environment: Environment;
  /** Columns in which a NULL of a query is refused, since it would not be written as one. */
  readonly neverNull?: ReadonlySet<string> | undefined;
}

/** Values that a builder takes: tags as text. */
export function rowColumns(schema: TableSchema): readonly RowColumn[] {
  return schema.columns.map(({ name, type, semantic }) => ({ name, type: semantic === "tag" ? STRING : type, semantic }));
}

/** What VALUES gives for a column, or DEFAULT. */
export type Given = { readonly value: Value } | "default";

/** A row of all columns: given values, defaults, NULLs; tags as text. @throws DbError InvalidArguments for a NULL where none may be */
export function completeRow(given: readonly Given[], target: Target): readonly Scalar[] {
  return target.schema.columns.map((column) => {
    const position = target.named.indexOf(column);
    const known = position < 0 ? undefined : given[position];
    const value = known === undefined || known === "default" ? defaultValue(column, known === "default", target) : known.value;
    return completeValue(value, column, position >= 0);
  });
}

/** A value of a column as it is written: tags as text. @throws DbError InvalidArguments for a NULL where none may be */
export function completeValue(value: Value, column: ColumnSchema, isNamed: boolean): Scalar {
  if (value === undefined && !column.nullable) {
    if (column.semantic === "timestamp" && !isNamed)
      throw invalidArguments(`Invalid request for region, reason: missing required time index column ${column.name}`);
    throw invalidArguments(`Invalid request to region, reason: column ${column.name} is not null but input has null`);
  }
  if (column.hints !== undefined && typeof value === "string") return hintedDocument(value, column.hints, column.name);
  return column.semantic === "tag" ? tagText(scalar(value), column.type) : scalar(value);
}

/** Whether every value of a column's type is written as it is. */
export function isCompleteAsItIs({ nullable, hints, semantic, type }: ColumnSchema): boolean {
  return nullable && hints === undefined && type.kind !== "interval" && (semantic !== "tag" || type.kind === "string");
}

/** What a column holds that is left out, or for which DEFAULT is given (`asked`). @throws DbError InvalidArguments when there is nothing */
export function defaultValue(column: ColumnSchema, asked: boolean, { environment }: Target): Value {
  if (column.default?.kind === "literal") return column.default.value;
  if (column.default?.kind === "now")
    return column.type.kind === "timestamp" ? rescale(environment.now, "nanosecond", column.type.unit) : environment.now;
  if (asked && !column.nullable) throw invalidArguments(`No valid default value can be built automatically, column: ${column.name}`);
  return undefined;
}

function scalar(value: Value): Scalar {
  if (isInterval(value)) throw invalidArguments("Invalid SQL, error: an interval cannot be stored");
  return value;
}

/** @throws DbError InvalidArguments for a NULL that a table would take for "as it was" */
export function checkNoNull(given: readonly Given[], named: readonly ColumnSchema[], neverNull: ReadonlySet<string>): void {
  for (const [i, { name }] of named.entries()) {
    const value = given[i];
    if (neverNull.has(name) && value !== "default" && value?.value === undefined)
      throw invalidArguments(`cannot set column ${name} to NULL: with merge_mode 'last_non_null' a NULL keeps the older value`);
  }
}
