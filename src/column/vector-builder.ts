/**
 * Builds a vector from scalars, one value at a time: for answers, INSERT and tests. Hot paths fill typed arrays themselves.
 */
import type { DataType } from "./data-type.ts";
import { isWideDecimal, WIDE_DECIMAL_BYTES, writeWideDecimal } from "./decimal.ts";
import type { Scalar, Validity, Vector } from "./vector.ts";

const encoder = new TextEncoder();

/**
 * The vector of `values` under `type`.
 *
 * Integers and decimals of up to 18 digits become `number` unless one lies beyond ±2^53, then `wide`. Timestamps and durations become
 * `time` unless one lies 2^53 units or more from the first, then `wide`.
 */
export function vectorOf(type: DataType, values: readonly Scalar[]): Vector {
  const validity = validityOf(values);
  switch (type.kind) {
    case "string":
    case "binary":
    case "json":
    case "interval":
    case "vector":
    case "list":
    case "struct":
    case "map":
      return bytesOf(values, validity);
    case "timestamp":
    case "duration":
      return timesOf(values, validity);
    case "float": {
      const array = type.bits === 32 ? new Float32Array(values.length) : new Float64Array(values.length);
      for (let i = 0; i < values.length; i++) array[i] = Number(values[i] ?? 0);
      return { kind: "number", values: array, validity };
    }
    case "int":
      return integersOf(values, validity, type.signed);
    case "decimal":
      return isWideDecimal(type) ? wideDecimalsOf(values, validity) : integersOf(values, validity, true);
    case "boolean":
    case "date":
    case "time":
    case "null": {
      const array = new Float64Array(values.length);
      for (let i = 0; i < values.length; i++) array[i] = Number(values[i] ?? 0);
      return { kind: "number", values: array, validity };
    }
  }
}

function validityOf(values: readonly Scalar[]): Validity {
  if (!values.includes(undefined)) return undefined;
  return Uint8Array.from(values, (value) => (value === undefined ? 0 : 1));
}

function integersOf(values: readonly Scalar[], validity: Validity, signed: boolean): Vector {
  if (!values.some((value) => typeof value === "bigint" && !Number.isSafeInteger(Number(value)))) {
    return { kind: "number", values: Float64Array.from(values, (value) => Number(value ?? 0)), validity };
  }
  const wide = signed ? new BigInt64Array(values.length) : new BigUint64Array(values.length);
  for (let i = 0; i < values.length; i++) wide[i] = BigInt((values[i] as number | bigint | undefined) ?? 0);
  return { kind: "wide", values: wide, validity };
}

function timesOf(values: readonly Scalar[], validity: Validity): Vector {
  const first = values.find((value) => value !== undefined);
  const base = BigInt((first as bigint | number | undefined) ?? 0);
  const offsets = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === undefined) continue;
    const offset = Number(BigInt(value as bigint | number) - base);
    if (!Number.isSafeInteger(offset)) return wideTimesOf(values, validity);
    offsets[i] = offset;
  }
  return { kind: "time", base, offsets, validity };
}

function wideTimesOf(values: readonly Scalar[], validity: Validity): Vector {
  return { kind: "wide", values: BigInt64Array.from(values, (value) => BigInt((value as bigint | number | undefined) ?? 0)), validity };
}

/** NULL rows are as long as others, so that positions are multiples of 16. */
function wideDecimalsOf(values: readonly Scalar[], validity: Validity): Vector {
  const offsets = Uint32Array.from({ length: values.length + 1 }, (_, i) => i * WIDE_DECIMAL_BYTES);
  const bytes = new Uint8Array(values.length * WIDE_DECIMAL_BYTES);
  for (const [i, value] of values.entries()) {
    if (value !== undefined) writeWideDecimal(BigInt(value as number | bigint), bytes, i * WIDE_DECIMAL_BYTES);
  }
  return { kind: "bytes", offsets, bytes, validity };
}

function bytesOf(values: readonly Scalar[], validity: Validity): Vector {
  const parts = values.map((value) =>
    value === undefined ? new Uint8Array(0) : value instanceof Uint8Array ? value : encoder.encode(String(value)),
  );
  const offsets = new Uint32Array(values.length + 1);
  let length = 0;
  for (let i = 0; i < parts.length; i++) {
    length += parts[i]?.length ?? 0;
    offsets[i + 1] = length;
  }
  const bytes = new Uint8Array(length);
  for (let i = 0; i < parts.length; i++) bytes.set(parts[i] as Uint8Array, offsets[i]);
  return { kind: "bytes", offsets, bytes, validity };
}
