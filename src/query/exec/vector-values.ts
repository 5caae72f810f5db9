/**
 * Values out of vectors and back.
 *
 * Times of one vector lie within 2^53 units of its base. Rows that an operator holds or computes may lie further apart; between operators
 * of one query such a column is "wide" with absolute times ("held"), and `timedBatches` cuts it into batches that keep the rule.
 */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { formatInterval } from "../function/time/format-time.ts";
import { isInterval, type Value } from "../function/value.ts";
import { sliceBatch } from "./kernels/slice.ts";
import type { RowReader } from "./interpreter.ts";

/** Whether values of a type are times or spans of time. */
export const isTimeType = (type: DataType): boolean => type.kind === "timestamp" || type.kind === "duration";

/** The value of one row; times are bigint even out of a held vector. */
export function valueAt(vector: Vector, type: DataType, row: number): Scalar {
  const value = scalarAt(vector, type, row);
  return typeof value === "number" && vector.kind === "wide" && isTimeType(type) ? BigInt(value) : value;
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

/** A vector of computed values. Intervals, which no vector holds, become text; times far apart come out held. */
export function heldVector(type: DataType, values: readonly Value[]): Vector {
  const scalars = values.map((value): Scalar => (isInterval(value) ? formatInterval(value) : value));
  if (isTimeType(type) && !timesFit(scalars)) {
    const validity = scalars.includes(undefined) ? Uint8Array.from(scalars, (value) => (value === undefined ? 0 : 1)) : undefined;
    return { kind: "wide", values: BigInt64Array.from(scalars, (value) => (typeof value === "bigint" ? value : 0n)), validity };
  }
  return vectorOf(type, scalars);
}

function timesFit(values: readonly Scalar[]): boolean {
  const first = values.find((value) => value !== undefined);
  if (typeof first !== "bigint") return true;
  return values.every((value) => typeof value !== "bigint" || Number.isSafeInteger(Number(value - first)));
}

/** One value in every row. */
export function constantVector(type: DataType, value: Value, rowCount: number): Vector {
  if (typeof value === "string") return { kind: "dictionary", codes: new Uint32Array(rowCount).fill(1), dictionary: [undefined, value] };
  const one = heldVector(type, [value]);
  const validity = value === undefined ? new Uint8Array(rowCount) : undefined;
  switch (one.kind) {
    case "number":
      return { ...one, values: new Float64Array(rowCount).fill(one.values[0] ?? 0), validity };
    case "time":
      return { ...one, offsets: new Float64Array(rowCount), validity };
    default:
      return heldVector(type, new Array<Value>(rowCount).fill(value));
  }
}

/** Cuts a batch so that times of each vector lie within 2^53 units. Batches without held times pass through. */
export function* timedBatches(headers: readonly ColumnHeader[], batch: Batch): Iterable<Batch> {
  const isHeld = (vector: Vector, i: number): boolean => vector.kind === "wide" && isTimeType(headers[i]?.type ?? { kind: "null" });
  if (!batch.vectors.some(isHeld)) {
    yield batch;
    return;
  }
  const vectors: Vector[] = [];
  for (const [i, vector] of batch.vectors.entries()) {
    const timed = isHeld(vector, i) && vector.kind === "wide" ? timeVector(vector, batch.rowCount) : vector;
    if (timed === undefined) {
      const middle = batch.rowCount >> 1;
      yield* timedBatches(headers, sliceBatch(batch, 0, middle));
      yield* timedBatches(headers, sliceBatch(batch, middle, batch.rowCount));
      return;
    }
    vectors.push(timed);
  }
  yield { rowCount: batch.rowCount, vectors };
}

/** The held times as offsets from the first, or undefined when they lie too far apart. */
function timeVector(vector: Extract<Vector, { kind: "wide" }>, rowCount: number): Vector | undefined {
  const { values, validity } = vector;
  const offsets = new Float64Array(rowCount);
  let base: bigint | undefined;
  for (let row = 0; row < rowCount; row++) {
    const value = values[row];
    if (value === undefined || validity?.[row] === 0) continue;
    base ??= value;
    const offset = Number(value - base);
    if (!Number.isSafeInteger(offset)) return undefined;
    offsets[row] = offset;
  }
  return { kind: "time", base: base ?? 0n, offsets, validity };
}
