/**
 * Values of fixed width as 32-bit words, and back: equal values, equal words, whatever vector holds them.
 *
 *   integers, dates, decimals of up to 18 digits   the 64-bit integer, low word first; of up to 32 bits one word
 *   times                                          the absolute time, in the unit of its type
 *   floats                                         the bits of the double; NaN is one value, -0 is 0
 *
 * Words under NULL are arbitrary. One generated loop an array class (style.md "Hot loops, measured").
 */
import type { DataType } from "../../../column/data-type.ts";
import { isWideDecimal } from "../../../column/decimal.ts";
import type { NumberArray, TimeVector, Validity, Vector } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";

/** How values of a type become words. */
export interface LaneForm {
  readonly kind: "integer" | "float" | "times";
  /** Words of a value. */
  readonly width: 1 | 2;
  readonly isSigned: boolean;
}

const INTEGER: LaneForm = { kind: "integer", width: 2, isSigned: true };
const SHORT: LaneForm = { kind: "integer", width: 1, isSigned: true };
const FLOAT: LaneForm = { kind: "float", width: 2, isSigned: true };
const TIMES: LaneForm = { kind: "times", width: 2, isSigned: true };

/** How values of a type become words; undefined for those that are bytes. */
export function laneFormOf(type: DataType): LaneForm | undefined {
  switch (type.kind) {
    case "int":
      return { kind: "integer", width: type.bits <= 32 ? 1 : 2, isSigned: type.signed };
    case "float":
      return FLOAT;
    case "null":
    case "boolean":
    case "date":
      return SHORT;
    case "time":
      return INTEGER;
    case "decimal":
      return isWideDecimal(type) ? undefined : INTEGER;
    case "timestamp":
    case "duration":
      return TIMES;
    default:
      return undefined;
  }
}

const HALF = 2 ** 32;

type NumberLoop = (values: NumberArray, rowCount: number, words: Int32Array, at: number, stride: number) => void;
const loops = new Map<string, NumberLoop>();

/** The body that writes `v` to `words[at]` and, of two words, `words[at + 1]`. */
const INTEGER_BODY: Readonly<Record<1 | 2, string>> = {
  1: "words[at] = v | 0;",
  2: `const l = v | 0;
if (l === v) { words[at] = l; words[at + 1] = l >> 31; }
else { const h = Math.floor(v / ${HALF}); words[at] = v - h * ${HALF}; words[at + 1] = h; }`,
};

function integerLoop(values: NumberArray, width: 1 | 2): NumberLoop {
  const name = values.constructor.name;
  const key = `${name} ${width}`;
  const known = loops.get(key);
  if (known !== undefined) return known;
  const body = `// ${key}\nfor (let i = 0; i < rowCount; i++, at += stride) {\nconst v = values[i];\n${INTEGER_BODY[width]}\n}`;
  const made = generated<NumberLoop>("lanes", ["values", "rowCount", "words", "at", "stride"], body);
  loops.set(key, made);
  return made;
}

const double = new Float64Array(1);
const doubleWords = new Int32Array(double.buffer);

function floatWords(values: NumberArray, rowCount: number, words: Int32Array, at: number, stride: number): void {
  for (let i = 0; i < rowCount; i++, at += stride) {
    const value = values[i]!;
    double[0] = value === value ? value + 0 : Number.NaN; // -0 + 0 is 0.
    words[at] = doubleWords[0]!;
    words[at + 1] = doubleWords[1]!;
  }
}

function timeWords({ base, offsets }: TimeVector, rowCount: number, words: Int32Array, at: number, stride: number): void {
  const baseHigh = Number(base >> 32n);
  const baseLow = Number(base & 0xffff_ffffn);
  for (let i = 0; i < rowCount; i++, at += stride) {
    const offset = offsets[i]!;
    const high = Math.floor(offset / HALF);
    const low = baseLow + (offset - high * HALF);
    const carry = low >= HALF ? 1 : 0;
    words[at] = low - carry * HALF;
    words[at + 1] = baseHigh + high + carry;
  }
}

function wideWords(
  values: BigInt64Array | BigUint64Array,
  width: 1 | 2,
  rowCount: number,
  words: Int32Array,
  at: number,
  stride: number,
): void {
  const halves = new Int32Array(values.buffer, values.byteOffset, rowCount * 2);
  for (let i = 0; i < rowCount; i++, at += stride) {
    words[at] = halves[2 * i]!;
    if (width === 2) words[at + 1] = halves[2 * i + 1]!;
  }
}

/** Writes the words of rows `[0, rowCount)` to `words[at]`, `words[at + stride]` … */
export function writeLanes(vector: Vector, form: LaneForm, rowCount: number, words: Int32Array, at: number, stride: number): void {
  switch (vector.kind) {
    case "number":
      if (form.kind === "float") floatWords(vector.values, rowCount, words, at, stride);
      else integerLoop(vector.values, form.width)(vector.values, rowCount, words, at, stride);
      return;
    case "time":
      return timeWords(vector, rowCount, words, at, stride);
    case "wide":
      return wideWords(vector.values, form.width, rowCount, words, at, stride);
    case "dictionary":
    case "coded":
    case "bytes":
      // All NULL, of any type: there are no values.
      for (let i = 0; i < rowCount; i++, at += stride) words[at] = 0;
  }
}

/** The words of a vector that lie in it as they are, without a copy; undefined: they have to be written. */
export function lanesInPlace(vector: Vector, { kind, width }: LaneForm, rowCount: number): Int32Array | undefined {
  if (vector.kind === "wide" && width === 2) return new Int32Array(vector.values.buffer, vector.values.byteOffset, rowCount * 2);
  if (vector.kind !== "number" || width !== 1 || kind !== "integer") return undefined;
  const { values } = vector;
  if (values instanceof Int32Array) return values;
  return values instanceof Uint32Array ? new Int32Array(values.buffer, values.byteOffset, rowCount) : undefined;
}

/** The vector of the values whose words begin at `words[rows[i] * stride + at]`. */
export function lanesVector(
  type: DataType,
  { kind, width, isSigned }: LaneForm,
  words: Int32Array,
  rows: Uint32Array,
  stride: number,
  at: number,
  validity: Validity,
): Vector {
  const { length } = rows;
  if (width === 1) {
    const values = isSigned ? new Int32Array(length) : new Uint32Array(length);
    for (let i = 0; i < length; i++) values[i] = words[rows[i]! * stride + at]!;
    return { kind: "number", values, validity };
  }
  const pairs = new Int32Array(length * 2);
  for (let i = 0; i < length; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const from = rows[i]! * stride + at;
    pairs[2 * i] = words[from]!;
    pairs[2 * i + 1] = words[from + 1]!;
  }
  if (kind === "times") return timesOf(pairs, length, validity);
  if (kind === "integer") return integersOf(pairs, length, isSigned, validity);
  const doubles = new Float64Array(pairs.buffer);
  return { kind: "number", values: type.kind === "float" && type.bits === 32 ? Float32Array.from(doubles) : doubles, validity };
}

/** Numbers where all lie within ±2^53, else whole. */
function integersOf(pairs: Int32Array, length: number, isSigned: boolean, validity: Validity): Vector {
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const high = isSigned ? pairs[2 * i + 1]! : pairs[2 * i + 1]! >>> 0;
    const value = high * HALF + (pairs[2 * i]! >>> 0);
    if (!Number.isSafeInteger(value)) {
      const wide = isSigned ? new BigInt64Array(pairs.buffer) : new BigUint64Array(pairs.buffer);
      return { kind: "wide", values: wide, validity };
    }
    values[i] = value;
  }
  return { kind: "number", values, validity };
}

/** Offsets from the first time where all lie within 2^53 of it, else whole. */
function timesOf(pairs: Int32Array, length: number, validity: Validity): Vector {
  const wide = new BigInt64Array(pairs.buffer);
  const first = validity === undefined ? 0 : validity.indexOf(1);
  const base = first < 0 || first >= length ? 0n : wide[first]!;
  const baseHigh = Number(base >> 32n);
  const baseLow = Number(base & 0xffff_ffffn);
  const offsets = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const offset = (pairs[2 * i + 1]! - baseHigh) * HALF + ((pairs[2 * i]! >>> 0) - baseLow);
    if (!Number.isSafeInteger(offset)) return { kind: "wide", values: wide, validity };
    offsets[i] = offset;
  }
  return { kind: "time", base, offsets, validity };
}
