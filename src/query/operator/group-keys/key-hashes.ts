/**
 * Hashes of rows by the values of some columns: rows that are equal as groups are have equal hashes, whatever vectors hold them. NULL
 * equals NULL, NaN equals NaN, -0 is 0.
 */
import { bytesHash, HASH_FACTOR, HASH_SEED } from "../../../base/bytes/hash.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { CodedVector, Vector } from "../../../column/vector.ts";
import { isInterval, type Value, valueKey } from "../../function/value/value.ts";
import { valueAt } from "../../expression/vector-values.ts";
import { type LaneForm, laneFormOf, lanesInPlace, writeLanes } from "../kernels/lanes.ts";
import { isBytesKey } from "./text-codes.ts";

const encoder = new TextEncoder();

/** What NULL hashes to. */
const NULL_HASH = 0x5bd1e995;

/**
 * A 32-bit hash of each row. `types` are those of the vectors.
 *
 * @param hashes what those of the rows are folded into: of what goes before these keys
 */
export function keyHashes(
  vectors: readonly Vector[],
  types: readonly DataType[],
  rowCount: number,
  hashes: Uint32Array = new Uint32Array(rowCount),
): Uint32Array {
  for (const [c, vector] of vectors.entries()) addColumn(hashes, vector, types[c] ?? { kind: "null" }, rowCount);
  return hashes;
}

/** Folds the hash of one more value into that of a row. */
export function foldHash(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ HASH_SEED, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ value, HASH_FACTOR);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** The hash of one value. */
export function valueHash(value: Value): number {
  switch (typeof value) {
    case "undefined":
      return NULL_HASH;
    case "number":
      return numberHash(value);
    case "bigint":
      return bigintHash(value);
    case "boolean":
      return value ? 1 : 2;
    case "string":
      return Bun.hash.xxHash32(value);
    default:
      return isInterval(value) ? Bun.hash.xxHash32(valueKey(value)) : Bun.hash.xxHash32(value);
  }
}

const bits = new DataView(new ArrayBuffer(8));

function numberHash(value: number): number {
  bits.setFloat64(0, Number.isNaN(value) ? Number.NaN : value + 0); // -0 + 0 is 0.
  return foldHash(bits.getUint32(0), bits.getUint32(4));
}

/** Integers that doubles hold come as either kind of value. */
function bigintHash(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number)
    ? numberHash(number)
    : foldHash(Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value)));
}

function addColumn(hashes: Uint32Array, vector: Vector, type: DataType, rowCount: number): void {
  const form = laneFormOf(type);
  if (vector.kind === "dictionary") return addDictionary(hashes, vector, rowCount);
  if (vector.kind === "coded") return addCoded(hashes, vector, rowCount);
  const { validity } = vector;
  if (form !== undefined) {
    const { width } = form;
    const words = lanesInPlace(vector, form, rowCount) ?? writtenLanes(vector, form, rowCount);
    for (let row = 0; row < rowCount; row++) {
      let own = words[row * width] as number;
      if (width === 2) own = foldHash(own, words[row * 2 + 1] as number);
      hashes[row] = foldHash(hashes[row] as number, validity?.[row] === 0 ? NULL_HASH : own);
    }
    return;
  }
  const isBytes = vector.kind === "bytes" && isBytesKey(type);
  for (let row = 0; row < rowCount; row++) {
    let own = NULL_HASH;
    if (validity?.[row] === 0) own = NULL_HASH;
    else if (isBytes) own = bytesHash(vector.bytes, vector.offsets[row] as number, vector.offsets[row + 1] as number);
    else own = valueHash(valueAt(vector, type, row));
    hashes[row] = foldHash(hashes[row] as number, own);
  }
}

function writtenLanes(vector: Vector, form: LaneForm, rowCount: number): Int32Array {
  const words = new Int32Array(rowCount * form.width);
  writeLanes(vector, form, rowCount, words, 0, form.width);
  return words;
}

/** Texts are hashed once an entry, unless there are few rows. */
function addCoded(hashes: Uint32Array, { codes, entries }: CodedVector, rowCount: number): void {
  const { starts, bytes, size } = entries;
  const known = size <= rowCount ? new Int32Array(size) : undefined;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let own = known?.[code] ?? 0;
    if (own === 0) {
      own = code === 0 ? NULL_HASH : bytesHash(bytes, starts[code] as number, starts[code + 1] as number);
      if (known !== undefined) known[code] = own;
    }
    hashes[row] = foldHash(hashes[row] as number, own);
  }
}

/** Texts are hashed once an entry. */
function addDictionary(hashes: Uint32Array, { codes, dictionary }: Extract<Vector, { kind: "dictionary" }>, rowCount: number): void {
  const known = new Map<number, number>();
  let scratch: Uint8Array = new Uint8Array(256);
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let own = known.get(code);
    if (own === undefined) {
      const text = dictionary[code];
      if (text !== undefined && scratch.length < text.length * 3) scratch = new Uint8Array(text.length * 3);
      own = text === undefined ? NULL_HASH : bytesHash(scratch, 0, encoder.encodeInto(text, scratch).written);
      known.set(code, own);
    }
    hashes[row] = foldHash(hashes[row] as number, own);
  }
}
