/** Vectors of several batches joined into one, copied: for operators that hold rows past the life of a batch. */
import { joinCoded, plainText, presenceOf } from "../../../column/coded-text.ts";
import type { DataType } from "../../../column/data-type.ts";
import { type AnyTimes, baseOfTimes, copyTimeOffsets, copyWideTimes, isTimes } from "../../../column/times.ts";
import type { NumberArray, Validity, Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import { isTimeType, valueAt, valuesVector } from "../../expression/vector-values.ts";
import { type LaneForm, laneFormOf, writeLanes } from "./lanes.ts";

/** One vector and how many of its rows count. */
export interface VectorPart {
  readonly vector: Vector;
  readonly rowCount: number;
}

/** The rows of all parts in order. Parts may be of different kinds. */
export function concat(type: DataType, parts: readonly VectorPart[]): Vector {
  const total = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const [first] = parts;
  const kind = first?.vector.kind;
  if (isTimeType(type) && parts.every(({ vector }) => isTimes(vector))) return times(parts, total);
  if (kind !== undefined && parts.every((part) => part.vector.kind === kind)) {
    const joined = sameKind(parts, total);
    if (joined !== undefined) return joined;
  }
  if (
    parts.some(({ vector }) => vector.kind === "coded") &&
    parts.every(({ vector }) => vector.kind === "coded" || vector.kind === "bytes")
  )
    return mixedTexts(parts, total);
  const form = laneFormOf(type);
  if (form?.kind === "integer" && parts.every(({ vector }) => vector.kind === "number" || vector.kind === "wide"))
    return mixedIntegers(parts, total, form);
  const values: Value[] = [];
  for (const { vector, rowCount } of parts) for (let i = 0; i < rowCount; i++) values.push(valueAt(vector, type, i));
  return valuesVector(type, values);
}

function sameKind(parts: readonly VectorPart[], total: number): Vector | undefined {
  switch (parts[0]?.vector.kind) {
    case "number":
      return numbers(parts, total);
    case "dictionary":
      return dictionaries(parts, total);
    case "coded":
      return coded(parts, total);
    case "bytes":
      return texts(parts, total);
    case "wide":
      return wides(parts, total);
    default:
      return undefined;
  }
}

function joinedValidity(parts: readonly VectorPart[], total: number): Validity {
  const validities = parts.map(({ vector, rowCount }) => (vector.kind === "dictionary" ? undefined : presenceOf(vector, rowCount)));
  if (validities.every((validity) => validity === undefined)) return undefined;
  const joined = new Uint8Array(total).fill(1);
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    const validity = validities[i];
    if (validity !== undefined) joined.set(validity.subarray(0, rowCount), at);
    at += rowCount;
  }
  return joined;
}

function numbers(parts: readonly VectorPart[], total: number): Vector {
  const arrays = parts.flatMap(({ vector }) => (vector.kind === "number" ? [vector.values] : []));
  const type = arrays[0]?.constructor;
  const uniform = arrays.every((array) => array.constructor === type);
  const values: NumberArray =
    uniform && type !== undefined ? new (type as new (length: number) => NumberArray)(total) : new Float64Array(total);
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    values.set(arrays[i]!.subarray(0, rowCount), at);
    at += rowCount;
  }
  return { kind: "number", values, validity: joinedValidity(parts, total) };
}

/** Wide values of one sign; undefined where there are both. */
function wides(parts: readonly VectorPart[], total: number): Vector | undefined {
  const arrays = parts.flatMap(({ vector }) => (vector.kind === "wide" ? [vector.values] : []));
  const isSigned = arrays[0] instanceof BigInt64Array;
  if (arrays.some((array) => array instanceof BigInt64Array !== isSigned)) return undefined;
  const values = isSigned ? new BigInt64Array(total) : new BigUint64Array(total);
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    values.set(arrays[i]!.subarray(0, rowCount), at);
    at += rowCount;
  }
  return { kind: "wide", values, validity: joinedValidity(parts, total) };
}

/** Integers of which only some parts lie within ±2^53. */
function mixedIntegers(parts: readonly VectorPart[], total: number, { isSigned }: LaneForm): Vector {
  const words = new Int32Array(total * 2);
  let at = 0;
  for (const { vector, rowCount } of parts) {
    writeLanes(vector, { kind: "integer", width: 2, isSigned }, rowCount, words, at * 2, 2);
    at += rowCount;
  }
  const values = isSigned ? new BigInt64Array(words.buffer) : new BigUint64Array(words.buffer);
  return { kind: "wide", values, validity: joinedValidity(parts, total) };
}

/** Times far apart do not fit offsets from one base: they come out as "wide". */
function times(parts: readonly VectorPart[], total: number): Vector {
  const vectors = parts.flatMap(({ vector }) => (isTimes(vector) ? [vector] : []));
  const validity = joinedValidity(parts, total);
  let base: bigint | undefined;
  for (const [i, { rowCount }] of parts.entries()) base ??= baseOfTimes(vectors[i]!, 0, rowCount);
  const offsets = new Float64Array(total);
  if (base === undefined) return { kind: "time", base: 0n, offsets, validity };
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    if (!copyTimeOffsets(vectors[i]!, 0, rowCount, base, offsets, at)) return wideTimes(vectors, parts, total, validity);
    at += rowCount;
  }
  return { kind: "time", base, offsets, validity };
}

function wideTimes(vectors: readonly AnyTimes[], parts: readonly VectorPart[], total: number, validity: Validity): Vector {
  const values = new BigInt64Array(total);
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    copyWideTimes(vectors[i]!, 0, rowCount, values, at);
    at += rowCount;
  }
  return { kind: "wide", values, validity };
}

function dictionaries(parts: readonly VectorPart[], total: number): Vector {
  const vectors = parts.flatMap(({ vector }) => (vector.kind === "dictionary" ? [vector] : []));
  const shared = vectors[0]?.dictionary ?? [undefined];
  const codes = new Uint32Array(total);
  const uniform = vectors.every((vector) => vector.dictionary === shared);
  const own: (string | undefined)[] = [undefined];
  const known = new Map<string, number>();
  let at = 0;
  for (const [i, { rowCount }] of parts.entries()) {
    const vector = vectors[i]!;
    if (uniform) codes.set(vector.codes.subarray(0, rowCount), at);
    else for (let row = 0; row < rowCount; row++) codes[at + row] = codeOf(vector.dictionary[vector.codes[row]!], own, known);
    at += rowCount;
  }
  return { kind: "dictionary", codes, dictionary: uniform ? shared : own };
}

function codeOf(value: string | undefined, dictionary: (string | undefined)[], known: Map<string, number>): number {
  if (value === undefined) return 0;
  const code = known.get(value);
  if (code !== undefined) return code;
  known.set(value, dictionary.length);
  return dictionary.push(value) - 1;
}

/** Text by code; undefined where bytes are cheaper. */
function coded(parts: readonly VectorPart[], total: number): Vector | undefined {
  const all = parts.flatMap(({ vector, rowCount }) => (vector.kind === "coded" ? [{ vector, from: 0, to: rowCount }] : []));
  return joinCoded(all, total);
}

/** Text by code and as bytes: as bytes. */
function mixedTexts(parts: readonly VectorPart[], total: number): Vector {
  const plain = parts.map(({ vector, rowCount }) => ({ vector: vector.kind === "coded" ? plainText(vector, rowCount) : vector, rowCount }));
  return texts(plain, total);
}

function texts(parts: readonly VectorPart[], total: number): Vector {
  const vectors = parts.flatMap(({ vector }) => (vector.kind === "bytes" ? [vector] : []));
  const offsets = new Uint32Array(total + 1);
  const pieces: Uint8Array[] = [];
  let [row, length] = [0, 0];
  for (const [i, { rowCount }] of parts.entries()) {
    const vector = vectors[i]!;
    const start = vector.offsets[0]!;
    for (let k = 1; k <= rowCount; k++) offsets[row + k] = length + vector.offsets[k]! - start;
    const piece = vector.bytes.subarray(start, vector.offsets[rowCount]!);
    pieces.push(piece);
    length += piece.length;
    row += rowCount;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { kind: "bytes", offsets, bytes, validity: joinedValidity(parts, total) };
}
