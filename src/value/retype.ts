/**
 * Values of one type as values of another, for columns whose type was changed after rows were written: what `CAST` gives under the time
 * zone UTC, and NULL for what `CAST` refuses, since a row that exists cannot be refused any more.
 *
 * Numbers go through one loop; whatever needs text or 64 bits goes value by value, which happens only until the
 * rows are written to a file under the new type.
 */
import { textAt } from "../column/text-table.ts";
import { takeRows } from "../column/take-rows.ts";
import { type DataType, isNested, sameType } from "../column/data-type.ts";
import { scalarAt } from "../column/scalar.ts";
import type { CodedVector, NumberVector, Scalar, Vector } from "../column/vector.ts";
import { vectorOf } from "../column/vector-builder.ts";
import { isInterval } from "./any-value.ts";
import { canCast, castResult } from "./cast.ts";
import { CastFailure } from "./cast-failure.ts";

/** Whether a column of one type may become one of the other: what may be cast, among the types of columns. */
export function canRetype(from: DataType, to: DataType): boolean {
  if (!isOfColumns(from) || !isOfColumns(to)) return false;
  if (to.kind === "json" && to.structured === true) return sameType(from, to); // Most values would have no counterpart.
  return canCast(from, to);
}

/** Types that only values of expressions have are not those of columns. */
function isOfColumns(type: DataType): boolean {
  return type.kind !== "null" && type.kind !== "interval" && type.kind !== "duration" && !isNested(type);
}

/** The value under the new type, or NULL when it has none there. `canRetype(from, to)` holds. */
export function retypeScalar(value: Scalar, from: DataType, to: DataType): Scalar {
  const result = castResult(value, from, to, "UTC");
  return result instanceof CastFailure || isInterval(result) ? undefined : result;
}

/** All values of a column under the new type. The result has as many rows as the vector's arrays. `canRetype(from, to)` holds. */
export function retypeVector(vector: Vector, from: DataType, to: DataType): Vector {
  if (sameType(from, to)) return vector;
  if (vector.kind === "number" && (from.kind === "int" || from.kind === "float" || from.kind === "boolean")) {
    const converted = retypeNumbers(vector, from, to);
    if (converted !== undefined) return converted;
  }
  const count = lengthOf(vector);
  if (vector.kind === "coded" && vector.entries.size <= count) return retypeEntries(vector, from, to);
  const values = new Array<Scalar>(count);
  for (let row = 0; row < count; row++) values[row] = retypeScalar(scalarAt(vector, from, row), from, to);
  return vectorOf(to, values);
}

/** Once an entry. */
function retypeEntries({ codes, entries }: CodedVector, from: DataType, to: DataType): Vector {
  const values = new Array<Scalar>(entries.size);
  for (let code = 0; code < entries.size; code++) values[code] = retypeScalar(textAt(entries, code), from, to);
  return takeRows(vectorOf(to, values), codes);
}

function lengthOf(vector: Vector): number {
  switch (vector.kind) {
    case "number":
    case "wide":
      return vector.values.length;
    case "time":
      return vector.offsets.length;
    case "bytes":
      return vector.offsets.length - 1;
    case "dictionary":
    case "coded":
      return vector.codes.length;
  }
}

/** Plain numbers to booleans and floats, and to integers that all fit; undefined: not so. */
function retypeNumbers({ values, validity }: NumberVector, from: DataType, to: DataType): NumberVector | undefined {
  const count = values.length;
  if (to.kind === "boolean") {
    const bits = new Int8Array(count);
    for (let i = 0; i < count; i++) bits[i] = values[i] === 0 ? 0 : 1;
    return { kind: "number", values: bits, validity };
  }
  if (to.kind === "float")
    return { kind: "number", values: to.bits === 32 ? Float32Array.from(values) : Float64Array.from(values), validity };
  if (to.kind !== "int" || from.kind === "float") return undefined;
  const min = to.signed ? -(2 ** (to.bits - 1)) : 0;
  const max = 2 ** (to.signed ? to.bits - 1 : to.bits);
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if ((value < min || value >= max) && (validity === undefined || validity[i] === 1)) return undefined;
  }
  return { kind: "number", values, validity };
}
