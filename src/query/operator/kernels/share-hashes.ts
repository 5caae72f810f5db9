/**
 * Hashes of keys that say which thread takes a row. They are the same on all threads, so they have no secret: whoever makes keys that meet
 * gets no table with long chains (those have secrets), but a query that runs on one thread instead of two. So of a long text its
 * end is enough.
 */
import type { Validity } from "../../../column/vector.ts";

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

/** Folds texts by code, 0 for NULL: each entry is hashed once where there are no more of them than rows. */
export function foldShareCodes(
  view: DataView,
  starts: Uint32Array,
  codes: Uint32Array,
  size: number,
  rowCount: number,
  hashes: Int32Array,
): void {
  if (size > rowCount) {
    for (let i = 0; i < rowCount; i++) {
      const code = codes[i]!;
      hashes[i] = folded(hashes[i]!, code === 0 ? NULL_WORD : shareHashOfText(view, starts[code]!, starts[code + 1]!));
    }
    return;
  }
  const known = new Int32Array(size);
  known[0] = NULL_WORD;
  for (let entry = 1; entry < size; entry++) known[entry] = shareHashOfText(view, starts[entry]!, starts[entry + 1]!);
  for (let i = 0; i < rowCount; i++) hashes[i] = folded(hashes[i]!, known[codes[i]!]!);
}

/** Positions of the rows of one share, ascending; returns how many there are. */
export function rowsOfShare(hashes: Int32Array, rowCount: number, share: number, shares: number, into: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    const h = Math.imul(hashes[i]! ^ (hashes[i]! >>> 15), 0x2c1b3c6d);
    into[count] = i; // Written in any case: half of the branches would be guessed wrong.
    count += (((h ^ (h >>> 13)) >>> 16) * shares) >>> 16 === share ? 1 : 0;
  }
  return count;
}
