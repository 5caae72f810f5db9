/**
 * The columns of a table write as the region takes them: column ids, the table's time unit, and values for columns that were left out.
 */
import { DbError } from "../base/error.ts";
import type { Clock } from "../base/clock.ts";
import { StatusCode } from "../base/status-code.ts";
import { type DataType, type TimeUnit, UNITS_PER_SECOND } from "../column/data-type.ts";
import type { Scalar, TimeVector, Vector } from "../column/vector.ts";
import { vectorOf } from "../column/vector-builder.ts";
import type { ColumnSource } from "../storage/memtable/chunk-builder.ts";
import type { ColumnSchema, TableSchema } from "../table/schema.ts";
import type { TableWrite } from "../table/write-batch.ts";

/** What of a schema matters for each write, computed once a schema version. */
export interface WritePlan {
  readonly version: number;
  readonly columnOf: ReadonlyMap<string, ColumnSchema>;
  readonly timeUnit: TimeUnit;
  /** Fields that take a value when a write leaves them out, or refuse to be left out. */
  readonly demanding: readonly ColumnSchema[];
}

/** The plan of a schema. */
export function writePlanOf(schema: TableSchema): WritePlan {
  let timeUnit: TimeUnit = "nanosecond";
  for (const { type } of schema.columns.filter(({ semantic }) => semantic === "timestamp")) if (type.kind === "timestamp") timeUnit = type.unit;
  return {
    version: schema.version,
    columnOf: new Map(schema.columns.map((column) => [column.name, column])),
    timeUnit,
    demanding: schema.columns.filter(({ semantic, nullable, ...column }) => semantic === "field" && (!nullable || column.default !== undefined)),
  };
}

/** The fields of a write with their column ids, defaults added. All fields exist. @throws DbError InvalidArguments for a missing NOT NULL field */
export function columnSources(schema: TableSchema, plan: WritePlan, write: TableWrite, clock: Clock): ColumnSource[] {
  const sources: ColumnSource[] = [];
  for (const field of write.fields) {
    const column = plan.columnOf.get(field.name) as ColumnSchema;
    if (!column.nullable) checkNoNull(schema, column, field.vector, write.rowCount);
    sources.push({ columnId: column.id, type: column.type, vector: field.vector });
  }
  for (const column of plan.demanding) {
    if (write.fields.some(({ name }) => name === column.name)) continue;
    const value = defaultOf(schema, column, clock);
    sources.push({ columnId: column.id, type: column.type, vector: constant(column.type, value, write.rowCount) });
  }
  return sources;
}

function checkNoNull(schema: TableSchema, column: ColumnSchema, vector: Vector, rowCount: number): void {
  if (vector.kind === "dictionary" || vector.validity === undefined) return;
  if (vector.validity.subarray(0, rowCount).includes(0)) throw nullRefused(schema, column);
}

function defaultOf(schema: TableSchema, column: ColumnSchema, clock: Clock): Scalar {
  if (column.default === undefined) throw nullRefused(schema, column);
  if (column.default.kind === "literal") return column.default.value;
  const unit = column.type.kind === "timestamp" ? column.type.unit : "nanosecond";
  return clock.nowNanos() / BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[unit]);
}

function nullRefused(schema: TableSchema, column: ColumnSchema): DbError {
  return new DbError(
    StatusCode.InvalidArguments,
    `Invalid request to region, reason: column ${column.name} is not null but input has null (table ${schema.name})`,
  );
}

function constant(type: DataType, value: Scalar, rowCount: number): Vector {
  return vectorOf(type, new Array<Scalar>(rowCount).fill(value));
}

/** Times in another unit: finer to coarser rounds down, coarser to finer is exact. @throws DbError InvalidArguments beyond 64 bits */
export function convertTimes(times: TimeVector, rowCount: number, from: TimeUnit, to: TimeUnit): TimeVector {
  if (from === to) return times;
  const offsets = new Float64Array(rowCount);
  if (UNITS_PER_SECOND[from] > UNITS_PER_SECOND[to]) {
    const divisor = BigInt(UNITS_PER_SECOND[from] / UNITS_PER_SECOND[to]);
    const base = floorDivide(times.base, divisor);
    const rest = Number(times.base - base * divisor);
    const step = Number(divisor);
    for (let i = 0; i < rowCount; i++) {
      const offset = times.offsets[i] as number;
      const quotient = Math.floor(offset / step);
      offsets[i] = quotient + Math.floor((rest + (offset - quotient * step)) / step); // Each part is exact; rest + offset need not be.
    }
    return { kind: "time", base, offsets, validity: undefined };
  }
  const factor = UNITS_PER_SECOND[to] / UNITS_PER_SECOND[from];
  for (let i = 0; i < rowCount; i++) {
    const offset = (times.offsets[i] as number) * factor;
    const time = times.base * BigInt(factor) + BigInt(offset);
    if (time !== BigInt.asIntN(64, time) || !Number.isSafeInteger(offset)) {
      throw new DbError(StatusCode.InvalidArguments, `cannot write time ${times.base + BigInt(times.offsets[i] as number)} ${from}s: out of range`);
    }
    offsets[i] = offset;
  }
  return { kind: "time", base: times.base * BigInt(factor), offsets, validity: undefined };
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}
