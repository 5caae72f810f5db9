/** Columns of one width a value: adopted as they lie where the layouts agree, else made anew. */
import { type DataType, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { decimalMax } from "../../../column/decimal.ts";
import { exactInteger } from "../../../column/exact-integer.ts";
import { intervalBytes, type IntervalParts } from "../../../column/interval-bytes.ts";
import type { NumberArray, Scalar, Validity, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { malformed } from "./arrow-failure.ts";
import type { ArrowField, ArrowShape } from "./arrow-field.ts";
import type { Body } from "./body.ts";
import { narrowIntegers, timeOffsets, unpackedBits, wholeDoubles } from "./kernels/words.ts";
import { needBytes } from "./read-bytes.ts";
import type { Scratch } from "../scratch.ts";

const DAY_MILLIS = 86_400_000;
const DAY_SECONDS = 86_400;
const INTERVAL_BYTES = { months: 4, "day-time": 8, "month-day-nano": 16 } as const;

/** The shapes that are read here. */
export type ValueShape = Extract<
  ArrowShape,
  { kind: "bits" | "int" | "float16" | "float" | "date64" | "time" | "times" | "decimal" | "interval" }
>;

const number = (values: NumberArray, validity: Validity): Vector => ({ kind: "number", values, validity });

/** Rows of a column. @throws DbError InvalidArguments */
export function readValues(shape: ValueShape, body: Body, field: ArrowField, rowCount: number, validity: Validity): Vector {
  const buffer = body.nextBuffer();
  const { scratch } = body;
  const read = (width: number): Uint8Array => {
    needBytes(buffer, rowCount * width, field);
    return scratch.aligned(buffer.subarray(0, rowCount * width), Math.min(width, 8));
  };
  switch (shape.kind) {
    case "bits":
      needBytes(buffer, Math.ceil(rowCount / 8), field);
      body.allowance.take(rowCount);
      return number(unpackedBits(buffer, rowCount, scratch.bytes(rowCount)), validity);
    case "int":
      if (shape.bits !== 64) return number(smallIntegers(read(shape.bits / 8), shape.bits, shape.signed, rowCount), validity);
      needBytes(buffer, rowCount * 8, field);
      return integers(buffer, shape.signed, rowCount, validity, scratch);
    case "float16": {
      const bytes = read(2);
      return number(Float32Array.from(new Float16Array(bytes.buffer, bytes.byteOffset, rowCount)), validity);
    }
    case "float": {
      const bytes = read(shape.bits / 8);
      const { buffer: data, byteOffset } = bytes;
      return number(
        shape.bits === 32 ? new Float32Array(data, byteOffset, rowCount) : new Float64Array(data, byteOffset, rowCount),
        validity,
      );
    }
    case "date64":
      return number(daysOf(read(8), field, rowCount, validity), validity);
    case "time": {
      const most = DAY_SECONDS * UNITS_PER_SECOND[shape.unit] - 1;
      return number(clockTimes(read(shape.bits / 8), shape.bits, most, field, rowCount, validity), validity);
    }
    case "times":
      return times(read(8), rowCount, validity, scratch);
    case "decimal":
      return decimals(read(shape.bits / 8), shape.bits, field, rowCount, validity);
    case "interval":
      return intervals(read(INTERVAL_BYTES[shape.unit]), shape.unit, rowCount, validity);
  }
}

function wordsOf(bytes: Uint8Array, rowCount: number): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, rowCount * 2);
}

function integers(bytes: Uint8Array, signed: boolean, rowCount: number, validity: Validity, scratch: Scratch): Vector {
  const narrow = scratch.integers(rowCount);
  if (narrowIntegers(bytes, rowCount, signed, narrow)) return number(narrow, validity);
  const words = scratch.aligned(bytes.subarray(0, rowCount * 8), 8);
  const doubles = scratch.doubles(rowCount);
  if (wholeDoubles(wordsOf(words, rowCount), rowCount, signed, validity, doubles)) return number(doubles, validity);
  const { buffer, byteOffset } = words;
  const values = signed ? new BigInt64Array(buffer, byteOffset, rowCount) : new BigUint64Array(buffer, byteOffset, rowCount);
  return { kind: "wide", values, validity };
}

function smallIntegers({ buffer, byteOffset }: Uint8Array, bits: 8 | 16 | 32, signed: boolean, rowCount: number): NumberArray {
  if (bits === 8) return signed ? new Int8Array(buffer, byteOffset, rowCount) : new Uint8Array(buffer, byteOffset, rowCount);
  if (bits === 16) return signed ? new Int16Array(buffer, byteOffset, rowCount) : new Uint16Array(buffer, byteOffset, rowCount);
  return signed ? new Int32Array(buffer, byteOffset, rowCount) : new Uint32Array(buffer, byteOffset, rowCount);
}

function times(bytes: Uint8Array, rowCount: number, validity: Validity, scratch: Scratch): Vector {
  const values = new BigInt64Array(bytes.buffer, bytes.byteOffset, rowCount);
  const first = validity === undefined ? 0 : validity.indexOf(1);
  const base = values[Math.max(first, 0)] ?? 0n;
  const offsets = scratch.doubles(rowCount);
  const isNear = timeOffsets(wordsOf(bytes, rowCount), rowCount, base, validity, offsets);
  return isNear ? { kind: "time", base, offsets, validity } : { kind: "wide", values, validity };
}

/** Days out of milliseconds, which are whole days. */
function daysOf(bytes: Uint8Array, field: ArrowField, rowCount: number, validity: Validity): Float64Array {
  const millis = new Float64Array(rowCount);
  const isWhole = wholeDoubles(wordsOf(bytes, rowCount), rowCount, true, validity, millis);
  const days = millis.map((value, row) => (validity !== undefined && validity[row] === 0 ? 0 : value / DAY_MILLIS));
  if (!isWhole || days.some((day) => !Number.isInteger(day) || Math.abs(day) >= 2 ** 31))
    throw malformed(`column ${field.path} has a date64 that is no whole day; send a timestamp`);
  return days;
}

function clockTimes(bytes: Uint8Array, bits: 32 | 64, most: number, field: ArrowField, rowCount: number, validity: Validity): NumberArray {
  const values = new Float64Array(rowCount);
  let isWhole = true;
  if (bits === 32) values.set(new Int32Array(bytes.buffer, bytes.byteOffset, rowCount));
  else isWhole = wholeDoubles(wordsOf(bytes, rowCount), rowCount, true, validity, values);
  for (let row = 0; row < rowCount; row++) {
    const value = values[row]!;
    if (isWhole && value >= 0 && value <= most) continue;
    if (validity === undefined || validity[row]! !== 0 || !isWhole) throw malformed(`column ${field.path} has a time beyond a day`);
    values[row] = 0;
  }
  return values;
}

function decimals(bytes: Uint8Array, bits: number, field: ArrowField, rowCount: number, validity: Validity): Vector {
  const { type } = field;
  const most = decimalMax(type.kind === "decimal" ? type.precision : 0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values: Scalar[] = [];
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row]! === 0) {
      values.push(undefined);
      continue;
    }
    const value = wholeAt(view, (row * bits) / 8, bits);
    if (value > most || value < -most) throw malformed(`column ${field.path} has a decimal with more digits than its type`);
    values.push(exactInteger(value));
  }
  return vectorOf(type, values);
}

/** A signed number, its lowest byte first. */
function wholeAt(view: DataView, at: number, bits: number): bigint {
  if (bits === 32) return BigInt(view.getInt32(at, true));
  let value = view.getBigInt64(at + bits / 8 - 8, true);
  for (let place = bits / 8 - 16; place >= 0; place -= 8) value = (value << 64n) | view.getBigUint64(at + place, true);
  return value;
}

/** Intervals as their 16 bytes (`column/interval-bytes.ts`). */
function intervals(bytes: Uint8Array, unit: keyof typeof INTERVAL_BYTES, rowCount: number, validity: Validity): Vector {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = (at: number): IntervalParts => {
    if (unit === "months") return { months: view.getInt32(at, true), days: 0, nanos: 0n };
    const [first, second] = [view.getInt32(at, true), view.getInt32(at + 4, true)];
    if (unit === "day-time") return { months: 0, days: first, nanos: BigInt(second) * 1_000_000n };
    return { months: first, days: second, nanos: view.getBigInt64(at + 8, true) };
  };
  const values = Array.from({ length: rowCount }, (_, row) =>
    validity !== undefined && validity[row]! === 0 ? undefined : intervalBytes(parts(row * INTERVAL_BYTES[unit])),
  );
  return vectorOf(INTERVALS_AS_BYTES, values);
}

/** The type under which intervals are bytes: as scalars they are texts. */
export const INTERVALS_AS_BYTES: DataType = { kind: "binary" };
