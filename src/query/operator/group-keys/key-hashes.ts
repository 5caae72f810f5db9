/**
 * Hashes of rows by the values of some columns: rows that are equal as groups are have equal hashes, whatever vectors hold them. NULL
 * equals NULL, NaN equals NaN, -0 is 0.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { isInterval, type Value, valueKey } from "../../function/value/value.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** What NULL hashes to. */
const NULL_HASH = 0x5bd1e995;
const HALF = 2 ** 32;

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
  let mixed = Math.imul(hash ^ value, 0x9e3779b1);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x85ebca6b);
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
  switch (vector.kind) {
    case "number": {
      const { values, validity } = vector;
      const isBoolean = type.kind === "boolean";
      for (let row = 0; row < rowCount; row++) {
        const value = values[row] as number;
        const own = validity?.[row] === 0 ? NULL_HASH : isBoolean ? (value === 0 ? 2 : 1) : numberHash(value);
        hashes[row] = foldHash(hashes[row] as number, own);
      }
      return;
    }
    case "dictionary":
      return addDictionary(hashes, vector, rowCount);
    case "time":
      return addTimes(hashes, vector, rowCount);
    default:
      for (let row = 0; row < rowCount; row++) {
        const value = valueAt(vector, type, row);
        const isTime = typeof value === "bigint" && (type.kind === "timestamp" || type.kind === "duration");
        hashes[row] = foldHash(hashes[row] as number, isTime ? timeHash(value) : valueHash(value));
      }
  }
}

/** Texts are hashed once an entry. */
function addDictionary(hashes: Uint32Array, { codes, dictionary }: Extract<Vector, { kind: "dictionary" }>, rowCount: number): void {
  const known = new Map<number, number>();
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let own = known.get(code);
    if (own === undefined) {
      own = valueHash(dictionary[code]);
      known.set(code, own);
    }
    hashes[row] = foldHash(hashes[row] as number, own);
  }
}

function timeHash(value: bigint): number {
  return foldHash(Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value)));
}

/** As `timeHash` of each time, with numbers: the base in two halves of 32 bits, to which an offset is added. */
function addTimes(hashes: Uint32Array, { base, offsets, validity }: Extract<Vector, { kind: "time" }>, rowCount: number): void {
  const baseHigh = Number(base >> 32n);
  const baseLow = Number(base & 0xffff_ffffn);
  for (let row = 0; row < rowCount; row++) {
    const offset = offsets[row] as number;
    const offsetHigh = Math.floor(offset / HALF);
    const low = baseLow + (offset - offsetHigh * HALF);
    const carry = low >= HALF ? 1 : 0;
    const own = validity?.[row] === 0 ? NULL_HASH : foldHash((baseHigh + offsetHigh + carry) >>> 0, (low - carry * HALF) >>> 0);
    hashes[row] = foldHash(hashes[row] as number, own);
  }
}
