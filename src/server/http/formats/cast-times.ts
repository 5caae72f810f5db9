/**
 * Times in another unit. Coarser units round towards the past, as a clock shows them.
 */
import { type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { TimeVector, Vector, WideVector } from "../../../column/vector.ts";
import { floorDivide } from "../../../value/civil.ts";
import { coarserTimes } from "../../../value/coarser-times.ts";

/** The vector with its times in `to`; the same vector when the units are equal. Results beyond 64 bits wrap around. */
export function castTimes(vector: TimeVector | WideVector, rowCount: number, from: TimeUnit, to: TimeUnit): Vector {
  const source = UNITS_PER_SECOND[from];
  const target = UNITS_PER_SECOND[to];
  if (source === target) return vector;
  if (vector.kind === "wide") return castWide(vector, rowCount, BigInt(source), BigInt(target));
  return source > target ? coarserTimes(vector, rowCount, source / target) : finer(vector, rowCount, target / source);
}

function finer(vector: TimeVector, rowCount: number, factor: number): Vector {
  const scale = BigInt(factor);
  const offsets = new Float64Array(rowCount);
  let exact = true;
  for (let row = 0; row < rowCount; row++) {
    const offset = (vector.offsets[row] ?? 0) * factor;
    exact &&= Number.isSafeInteger(offset);
    offsets[row] = offset;
  }
  if (exact) return { kind: "time", base: vector.base * scale, offsets, validity: vector.validity };
  const values = new BigInt64Array(rowCount);
  for (let row = 0; row < rowCount; row++) values[row] = (vector.base + BigInt(vector.offsets[row] ?? 0)) * scale;
  return { kind: "wide", values, validity: vector.validity };
}

function castWide(vector: WideVector, rowCount: number, source: bigint, target: bigint): WideVector {
  const values = new BigInt64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const value = vector.values[row] ?? 0n;
    if (target > source) values[row] = value * (target / source);
    else values[row] = floorDivide(value, source / target);
  }
  return { kind: "wide", values, validity: vector.validity };
}
