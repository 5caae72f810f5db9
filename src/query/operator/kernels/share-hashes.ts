/**
 * Hashes of keys that say which thread takes a row. They are the same on all threads, so they have no secret: whoever makes keys that meet
 * gets no table with long chains (those have secrets), but a query that runs on one thread instead of two. So of a long text its
 * end is enough.
 */
import type { TextTable } from "../../../column/text-table.ts";
import type { Validity } from "../../../column/vector.ts";
import { viewOf } from "./texts/text-hash.ts";

/** What NULL folds as. */
const NULL_WORD = 0x2c1b3c6d;
const BEGIN = 0x3779fb9b;
/** Bytes of a text that are read: addresses and paths begin alike. */
const READ_BYTES = 64;

function folded(hash: number, word: number): number {
  const h = Math.imul(hash ^ word, 0x7feb352d);
  return Math.imul(h ^ (h >>> 16), 0x846ca68b);
}

/** Begins the hashes of rows. */
export function beginShares(hashes: Int32Array, rowCount: number): void {
  hashes.fill(BEGIN, 0, rowCount);
}

/** Folds words as `lanes.ts` writes them, `width` a row; words under NULL are arbitrary. */
export function foldShareWords(words: Int32Array, width: 1 | 2, validity: Validity, rowCount: number, hashes: Int32Array): void {
  if (validity === undefined && width === 1) {
    for (let i = 0; i < rowCount; i++) hashes[i] = folded(hashes[i]!, words[i]!);
    return;
  }
  if (validity === undefined) {
    for (let i = 0; i < rowCount; i++) hashes[i] = folded(folded(hashes[i]!, words[2 * i]!), words[2 * i + 1]!);
    return;
  }
  for (let i = 0; i < rowCount; i++) {
    if (validity[i] === 0) hashes[i] = folded(hashes[i]!, NULL_WORD);
    else if (width === 1) hashes[i] = folded(hashes[i]!, words[i]!);
    else hashes[i] = folded(folded(hashes[i]!, words[2 * i]!), words[2 * i + 1]!);
  }
}

/** A hash of a text: of its length and its last bytes. */
export function shareHashOfText(view: DataView, start: number, end: number): number {
  let a = BEGIN ^ (end - start);
  let b = BEGIN;
  let at = end - start > READ_BYTES ? end - READ_BYTES : start;
  for (; at + 8 <= end; at += 8) {
    a = Math.imul(a ^ view.getInt32(at, true), 0x7feb352d);
    a ^= a >>> 15;
    b = Math.imul(b ^ view.getInt32(at + 4, true), 0x846ca68b);
    b ^= b >>> 13;
  }
  for (; at < end; at++) b = Math.imul(b ^ view.getUint8(at), 0x9e3779b1);
  return folded(a, b);
}

/** Folds texts, each between two offsets. */
export function foldShareTexts(view: DataView, offsets: Uint32Array, validity: Validity, rowCount: number, hashes: Int32Array): void {
  for (let i = 0; i < rowCount; i++) {
    const isNull = validity !== undefined && validity[i] === 0;
    hashes[i] = folded(hashes[i]!, isNull ? NULL_WORD : shareHashOfText(view, offsets[i]!, offsets[i + 1]!));
  }
}

/** The hashes of texts of a table, by code; 0 is NULL. */
export function shareHashesOf({ bytes, starts, size }: TextTable): Int32Array {
  const view = viewOf(bytes);
  const hashes = new Int32Array(size);
  hashes[0] = NULL_WORD;
  for (let entry = 1; entry < size; entry++) hashes[entry] = shareHashOfText(view, starts[entry]!, starts[entry + 1]!);
  return hashes;
}

/** Folds texts by code, of a table with these hashes. */
export function foldShareCodes(known: Int32Array, codes: Uint32Array, rowCount: number, hashes: Int32Array): void {
  for (let i = 0; i < rowCount; i++) hashes[i] = folded(hashes[i]!, known[codes[i]!]!);
}

/** Positions of the rows of one share, ascending; returns how many there are. */
export function rowsOfShare(hashes: Int32Array, rowCount: number, share: number, shares: number, into: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    const given = hashes[i]!;
    const h = Math.imul(given ^ (given >>> 15), 0x2c1b3c6d);
    into[count] = i; // Written in any case: half of the branches would be guessed wrong.
    count += Math.imul(((h ^ (h >>> 13)) >> 16) & 0xffff, shares) >> 16 === share ? 1 : 0;
  }
  return count;
}
