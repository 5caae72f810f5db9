/**
 * Values of one type as values of another, for columns whose type was changed after rows were written. What `CAST` would refuse becomes
 * NULL, since a row that exists cannot be refused any more; everything else is what `CAST` gives under the time zone UTC.
 *
 * Numbers go through one loop; whatever needs text or 64 bits goes value by value, which happens only until the
 * rows are written to a file under the new type.
 */
import { clockNanosOfText, clockOfTimestamp, clockText, rescaledClock } from "./clock-time.ts";
import { type DataType, sameType, type TimeUnit, UNITS_PER_SECOND } from "./data-type.ts";
import {
  decimalOfDecimal,
  decimalOfFloat,
  decimalOfInteger,
  decimalOfText,
  type DecimalResult,
  decimalText,
  type DecimalType,
  floatOfDecimal,
  wholeOfDecimal,
} from "./decimal.ts";
import { embeddingOfText, embeddingText } from "./embedding.ts";
import { shortestFloat32 } from "./float32.ts";
import { canonicalJson } from "./json-text.ts";
import { scalarAt } from "./scalar.ts";
import { booleanOfText, dateOfText, floatOfText, floatText, timestampOfText, dateText, timestampText } from "./retype-text.ts";
import type { NumberVector, Scalar, Vector } from "./vector.ts";
import { vectorOf } from "./vector-builder.ts";

const DAY_SECONDS = 86_400n;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What values of each kind can become; a kind can always become itself with other parameters. */
const TARGETS: Readonly<Partial<Record<DataType["kind"], readonly DataType["kind"][]>>> = {
  boolean: ["boolean", "int", "float", "string"],
  int: ["boolean", "int", "float", "string", "date", "timestamp", "decimal"],
  float: ["boolean", "int", "float", "string", "timestamp", "decimal"],
  decimal: ["decimal", "int", "float", "string"],
  string: ["boolean", "int", "float", "string", "binary", "date", "timestamp", "time", "decimal", "json", "vector"],
  binary: ["binary", "string"],
  date: ["date", "int", "string", "timestamp"],
  timestamp: ["timestamp", "int", "string", "date", "time"],
  time: ["time", "int", "string"],
  json: ["json", "string"],
  vector: ["vector", "binary", "string"],
};

/** Whether a column of one type may become one of the other. */
export function canRetype(from: DataType, to: DataType): boolean {
  if (to.kind === "json" && to.structured === true) return sameType(from, to); // Most values would have no counterpart.
  return TARGETS[from.kind]?.includes(to.kind) === true;
}

/** The value under the new type, or NULL when it has none there. `canRetype(from, to)` holds. */
export function retypeScalar(value: Scalar, from: DataType, to: DataType): Scalar {
  if (value === undefined) return undefined;
  switch (to.kind) {
    case "boolean":
      return typeof value === "string" ? booleanOfText(value) : Number(value) !== 0;
    case "int":
      return integerWithin(from.kind === "decimal" ? wholeOfDecimal(value as number | bigint, from.scale) : wholeOf(value), to);
    case "float": {
      if (from.kind === "decimal") return floatWithin(floatOfDecimal(value as number | bigint, from.scale), to.bits);
      const number = typeof value === "string" ? floatOfText(value) : Number(value);
      return number === undefined ? undefined : floatWithin(number, to.bits);
    }
    case "string":
      return textOf(value, from);
    case "binary":
      return typeof value === "string" ? encoder.encode(value) : value;
    case "date":
      return dateOf(value, from);
    case "timestamp":
      return timestampOf(value, from, to);
    case "time":
      return clockOf(value, from, to.unit);
    case "decimal": {
      const decimal = decimalOf(value, from, to);
      return decimal.ok ? decimal.value : undefined;
    }
    case "json": {
      const json = typeof value === "string" ? canonicalJson(value) : undefined;
      return json?.ok === true ? json.text : undefined;
    }
    case "vector":
      return embeddingOf(value, to.dimension);
    default:
      return undefined;
  }
}

/** All values of a column under the new type. The result has as many rows as the vector's arrays. `canRetype(from, to)` holds. */
export function retypeVector(vector: Vector, from: DataType, to: DataType): Vector {
  if (sameType(from, to)) return vector;
  if (vector.kind === "number" && (from.kind === "int" || from.kind === "float" || from.kind === "boolean")) {
    const converted = retypeNumbers(vector, from, to);
    if (converted !== undefined) return converted;
  }
  const count = lengthOf(vector);
  const values = new Array<Scalar>(count);
  for (let row = 0; row < count; row++) values[row] = retypeScalar(scalarAt(vector, from, row), from, to);
  return vectorOf(to, values);
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

/** The whole number that a value stands for, fractions cut off; undefined when it stands for none. */
function wholeOf(value: Exclude<Scalar, undefined>): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return /^[+-]?\d{1,40}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
}

function integerWithin(value: bigint | undefined, to: Extract<DataType, { kind: "int" }>): number | bigint | undefined {
  if (value === undefined) return undefined;
  const min = to.signed ? -(2n ** BigInt(to.bits - 1)) : 0n;
  const max = 2n ** BigInt(to.signed ? to.bits - 1 : to.bits) - 1n;
  if (value < min || value > max) return undefined;
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

function textOf(value: Exclude<Scalar, undefined>, from: DataType): string | undefined {
  if (value instanceof Uint8Array) return from.kind === "vector" ? embeddingText(value) : textOfBytes(value);
  switch (from.kind) {
    case "decimal":
      return decimalText(value as number | bigint, from.scale);
    case "time":
      return clockText(Number(value), from.unit);
    case "float":
      return floatText(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value));
    case "date":
      return dateText(Number(value));
    case "timestamp":
      return timestampText(BigInt(value), from.unit);
    default:
      return String(value);
  }
}

function floatWithin(value: number, bits: 32 | 64): number {
  return bits === 32 ? Math.fround(value) : value;
}

function decimalOf(value: Exclude<Scalar, undefined>, from: DataType, to: DecimalType): DecimalResult {
  if (from.kind === "decimal") return decimalOfDecimal(value as number | bigint, from.scale, to);
  if (typeof value === "string") return decimalOfText(value, to);
  return from.kind === "float"
    ? decimalOfFloat(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value), to)
    : decimalOfInteger(value as number | bigint, to);
}

function clockOf(value: Exclude<Scalar, undefined>, from: DataType, unit: TimeUnit): number | undefined {
  if (from.kind === "time") return rescaledClock(Number(value), from.unit, unit);
  if (from.kind === "timestamp") return rescaledClock(clockOfTimestamp(BigInt(value as bigint), from.unit), from.unit, unit);
  const nanos = typeof value === "string" ? clockNanosOfText(value) : undefined;
  return nanos === undefined ? undefined : rescaledClock(nanos, "nanosecond", unit);
}

/** A vector of another dimension has no counterpart. */
function embeddingOf(value: Exclude<Scalar, undefined>, dimension: number): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value.length === dimension * 4 ? value : undefined;
  const parsed = typeof value === "string" ? embeddingOfText(value, dimension) : undefined;
  return parsed?.ok === true ? parsed.bytes : undefined;
}

function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // Not UTF-8: such bytes have no text.
    throw error;
  }
}

function dateOf(value: Exclude<Scalar, undefined>, from: DataType): number | undefined {
  if (typeof value === "string") return dateOfText(value);
  const isTime = from.kind === "timestamp";
  const days = isTime ? Number(floorDivide(BigInt(value as bigint), DAY_SECONDS * BigInt(UNITS_PER_SECOND[from.unit]))) : Number(value);
  return days >= -(2 ** 31) && days < 2 ** 31 ? days : undefined;
}

function timestampOf(value: Exclude<Scalar, undefined>, from: DataType, to: Extract<DataType, { kind: "timestamp" }>): bigint | undefined {
  let time: bigint | undefined;
  if (from.kind === "timestamp") {
    const [have, want] = [BigInt(UNITS_PER_SECOND[from.unit]), BigInt(UNITS_PER_SECOND[to.unit])];
    time = want >= have ? BigInt(value as bigint) * (want / have) : floorDivide(BigInt(value as bigint), have / want);
  } else if (from.kind === "date") time = BigInt(value as number) * DAY_SECONDS * BigInt(UNITS_PER_SECOND[to.unit]);
  else if (typeof value === "string") {
    const nanos = timestampOfText(value);
    time = nanos === undefined ? undefined : floorDivide(nanos, BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[to.unit]));
  } else time = wholeOf(value);
  return time === undefined || time < INT64_MIN || time > INT64_MAX ? undefined : time;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}
