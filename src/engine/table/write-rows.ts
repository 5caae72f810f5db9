/**
 * The columns of a table write as the region takes them: column ids, the table's time unit, and values for columns that were left out.
 */
import { presenceOf } from "../../column/coded-text.ts";
import { type DbError, invalidArguments } from "../../base/error.ts";
import type { Clock } from "../../base/clock.ts";
import type { DataType, TimeUnit } from "../../column/data-type.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ColumnSource } from "../../storage/memtable/chunk-builder.ts";
import { defaultValueOf } from "../../storage/region/default-value.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { TableWrite } from "../../table/write-batch.ts";

/** What of a schema matters for each write, computed once a schema version. */
export interface WritePlan {
  readonly version: number;
  readonly columnOf: ReadonlyMap<string, ColumnSchema>;
  readonly timeUnit: TimeUnit;
  /**
   * Fields that take a value when a write leaves them out, or refuse to be left out. A NULL that a write means is written out where rows
   * that lack the field are taken for older ones.
   */
  readonly demanding: readonly ColumnSchema[];
}

/** The plan of a schema. */
export function writePlanOf(schema: TableSchema): WritePlan {
  let timeUnit: TimeUnit = "nanosecond";
  for (const { type } of schema.columns.filter(({ semantic }) => semantic === "timestamp"))
    if (type.kind === "timestamp") timeUnit = type.unit;
  return {
    version: schema.version,
    columnOf: new Map(schema.columns.map((column) => [column.name, column])),
    timeUnit,
    demanding: schema.columns.filter(
      ({ semantic, nullable, ...column }) =>
        semantic === "field" && (!nullable || column.default !== undefined || column.initial !== undefined),
    ),
  };
}

/**
 * The fields of a write with their column ids, defaults added. All fields exist.
 *
 * @throws DbError InvalidArguments for NULL in a NOT NULL field
 */
export function columnSources(schema: TableSchema, plan: WritePlan, write: TableWrite, clock: Clock): ColumnSource[] {
  const sources: ColumnSource[] = [];
  for (const field of write.fields) {
    const column = plan.columnOf.get(field.name) as ColumnSchema;
    if (!column.nullable) checkNoNull(schema, column, field.vector, write.rowCount);
    sources.push({ columnId: column.id, type: column.type, vector: field.vector });
  }
  for (const column of plan.demanding) {
    if (write.fields.some(({ name }) => name === column.name)) continue;
    const value = defaultValueOf(column, clock);
    if (value === undefined && !column.nullable) throw nullRefused(schema, column);
    sources.push({ columnId: column.id, type: column.type, vector: constant(column.type, value, write.rowCount) });
  }
  return sources;
}

function checkNoNull(schema: TableSchema, column: ColumnSchema, vector: Vector, rowCount: number): void {
  if (vector.kind === "dictionary") return;
  if (presenceOf(vector, rowCount)?.subarray(0, rowCount).includes(0) === true) throw nullRefused(schema, column);
}

function nullRefused(schema: TableSchema, column: ColumnSchema): DbError {
  return invalidArguments(`Invalid request to region, reason: column ${column.name} is not null but input has null (table ${schema.name})`);
}

function constant(type: DataType, value: Scalar, rowCount: number): Vector {
  return vectorOf(type, new Array<Scalar>(rowCount).fill(value));
}
