/** Values out of vectors and back. */
import { DbError } from "../../base/error.ts";
import { NESTED_BATCH_BYTES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type DataType, isNested } from "../../column/data-type.ts";
import { intervalBytes, intervalOfBytes } from "../../column/interval-bytes.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { isInterval, type Value } from "../function/value/value.ts";
import type { RowReader } from "./interpreter.ts";

/** Whether values of a type are times or spans of time. */
export const isTimeType = (type: DataType): boolean => type.kind === "timestamp" || type.kind === "duration";

/** The value of one row. Intervals, which are bytes between operators, are taken apart. */
export function valueAt(vector: Vector, type: DataType, row: number): Value {
  if (type.kind !== "interval" || vector.kind !== "bytes") return scalarAt(vector, type, row);
  if (vector.validity?.[row] === 0) return undefined;
  return intervalOfBytes(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
}

/** Reads one row of a batch after another: set `row`, then call `read`. */
export class BatchRow {
  row = 0;
  private readonly vectors: readonly Vector[];
  private readonly headers: readonly ColumnHeader[];

  constructor(batch: Batch, headers: readonly ColumnHeader[]) {
    this.vectors = batch.vectors;
    this.headers = headers;
  }

  readonly read: RowReader = (column) => {
    const vector = this.vectors[column];
    const header = this.headers[column];
    return vector === undefined || header === undefined ? undefined : valueAt(vector, header.type, this.row);
  };
}

/** The same for some rows, by their number among those. */
export class PickedRow {
  private readonly all: BatchRow;
  private readonly selection: Uint32Array;

  constructor(all: BatchRow, selection: Uint32Array) {
    this.all = all;
    this.selection = selection;
  }

  get row(): number {
    return this.all.row;
  }

  set row(at: number) {
    this.all.row = this.selection[at] as number;
  }

  get read(): RowReader {
    return this.all.read;
  }
}

/** A vector of computed values. */
export function valuesVector(type: DataType, values: readonly Value[]): Vector {
  return vectorOf(
    type,
    values.map((value): Scalar => (isInterval(value) ? intervalBytes(value) : value)),
  );
}

/** The error of a batch whose texts or lists are too large together. */
export function batchTooLarge(): DbError {
  return new DbError(
    StatusCode.RuntimeResourcesExhausted,
    `cannot run query: texts or lists of more than ${NESTED_BATCH_BYTES_MAX / 1024 / 1024} MiB are computed for one batch of rows; ` +
      "shorten them",
  );
}

/** One value in every row. @throws DbError RuntimeResourcesExhausted for a value that is too large for that */
export function constantVector(type: DataType, value: Value, rowCount: number): Vector {
  if (isNested(type) && value instanceof Uint8Array && value.length * rowCount > NESTED_BATCH_BYTES_MAX) throw batchTooLarge();
  if (typeof value === "string") return { kind: "dictionary", codes: new Uint32Array(rowCount).fill(1), dictionary: [undefined, value] };
  const one = valuesVector(type, [value]);
  const validity = value === undefined ? new Uint8Array(rowCount) : undefined;
  switch (one.kind) {
    case "number":
      return { ...one, values: new Float64Array(rowCount).fill(one.values[0] ?? 0), validity };
    case "time":
      return { ...one, offsets: new Float64Array(rowCount), validity };
    default:
      return valuesVector(type, new Array<Value>(rowCount).fill(value));
  }
}
