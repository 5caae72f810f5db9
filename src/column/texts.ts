/**
 * Texts of rows as ranges of one piece of UTF-8, in any order and overlapping: what functions on text take and give, so that a part of a
 * text is two numbers and no copy.
 *
 *   bytes    …user-17user-4…
 *   starts   row 0: 1, row 1: 8        ends   row 0: 8, row 1: 14
 *
 * Of a vector of bytes both are views of its offsets. Ranges of rows without a value lie within the bytes, too.
 */
import { isAscii } from "node:buffer";
import { checkTextLength, validityOfCodes } from "./coded-text.ts";
import type { TextTable } from "./text-table.ts";
import type { BytesVector, CodedVector, DictionaryVector, Validity, Vector } from "./vector.ts";

/** See the file header. Arrays may be longer than there are rows. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly validity: Validity;
  /** Whether no range begins before the end of the one before it: then one search may run over all bytes. */
  readonly ascending: boolean;
  /** Whether all bytes of the ranges are ASCII, each a character of its own. False says nothing. */
  readonly ascii: boolean;
}

/** Some rows of a batch, by their positions, which ascend. */
export interface PickedRows {
  readonly selection: Uint32Array;
  readonly count: number;
}

/** The texts of rows `[0, rowCount)` of a vector, or of some of them; undefined where it holds no texts. */
export function textsOf(vector: Vector, rowCount: number, picked?: PickedRows): Texts | undefined {
  switch (vector.kind) {
    case "bytes":
      return ofBytes(vector, rowCount, picked);
    case "coded":
      return ofCodes(vector, rowCount, picked);
    case "dictionary":
      return ofStrings(vector, rowCount, picked);
    default:
      return undefined;
  }
}

function ofBytes({ offsets, bytes, validity }: BytesVector, rowCount: number, picked: PickedRows | undefined): Texts {
  const ascii = isAscii(bytes.subarray(offsets[0], offsets[rowCount]));
  if (picked === undefined) return { bytes, starts: offsets, ends: offsets.subarray(1), validity, ascending: true, ascii };
  const { selection, count } = picked;
  const [starts, ends] = [new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0; i < count; i++) {
    const row = selection[i] as number;
    starts[i] = offsets[row] as number;
    ends[i] = offsets[row + 1] as number;
  }
  return { bytes, starts, ends, validity: pickedValidity(validity, picked), ascending: true, ascii };
}

function ofCodes(vector: CodedVector, rowCount: number, picked: PickedRows | undefined): Texts {
  const codes = codesOf(vector.codes, rowCount, picked);
  const { entries } = vector;
  const { bytes, starts: positions } = entries;
  const [starts, ends] = [new Uint32Array(codes.length), new Uint32Array(codes.length)];
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    starts[i] = positions[code] as number;
    ends[i] = positions[code + 1] as number;
  }
  return { bytes, starts, ends, validity: validityOfCodes(codes, codes.length), ascending: false, ascii: isAsciiTable(entries) };
}

const asciiTables = new WeakMap<TextTable, boolean>();

function isAsciiTable(entries: TextTable): boolean {
  const known = asciiTables.get(entries);
  if (known !== undefined) return known;
  const ascii = isAscii(entries.bytes.subarray(0, entries.starts[entries.size]));
  asciiTables.set(entries, ascii);
  return ascii;
}

/** Texts of strings: each entry that rows have becomes bytes once. */
function ofStrings({ codes: all, dictionary }: DictionaryVector, rowCount: number, picked: PickedRows | undefined): Texts {
  const codes = codesOf(all, rowCount, picked);
  const places = new Map<number, number>([[0, 0]]);
  const pieces: Buffer[] = [];
  const positions: number[] = [0, 0];
  const [starts, ends] = [new Uint32Array(codes.length), new Uint32Array(codes.length)];
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    let place = places.get(code);
    if (place === undefined) {
      const piece = Buffer.from(dictionary[code] ?? "");
      pieces.push(piece);
      place = positions.length - 1;
      places.set(code, place);
      positions.push((positions[place] as number) + piece.length);
    }
    starts[i] = positions[place] as number;
    ends[i] = positions[place + 1] as number;
  }
  checkTextLength(positions.at(-1) ?? 0);
  const bytes = new Uint8Array(positions.at(-1) ?? 0);
  for (const [i, piece] of pieces.entries()) bytes.set(piece, positions[i + 1]);
  return { bytes, starts, ends, validity: validityOfCodes(codes, codes.length), ascending: false, ascii: isAscii(bytes) };
}

function codesOf(codes: Uint32Array, rowCount: number, picked: PickedRows | undefined): Uint32Array {
  if (picked === undefined) return codes.subarray(0, rowCount);
  const { selection, count } = picked;
  const own = new Uint32Array(count);
  for (let i = 0; i < count; i++) own[i] = codes[selection[i] as number] as number;
  return own;
}

/** Validity of some rows. */
export function pickedValidity(validity: Validity, { selection, count }: PickedRows): Validity {
  if (validity === undefined) return undefined;
  const own = new Uint8Array(count);
  for (let i = 0; i < count; i++) own[i] = validity[selection[i] as number] as number;
  return own;
}

/** Texts up to this length are copied byte by byte: a native call takes as long as 60 bytes. */
const SHORT_BYTES = 64;

/** Rows `[0, rowCount)` as a vector, on memory of their own unless they lie so. @throws DbError RuntimeResourcesExhausted over 4 GiB */
export function vectorOfTexts(texts: Texts, rowCount: number): BytesVector {
  const { bytes, starts, ends, validity } = texts;
  const offsets = new Uint32Array(rowCount + 1);
  let length = 0;
  let isDense = true;
  let last = rowCount === 0 ? 0 : (starts[0] as number);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (start !== last) isDense = false;
    last = end;
    length += end - start;
    offsets[row + 1] = length;
  }
  checkTextLength(length);
  const first = rowCount === 0 ? 0 : (starts[0] as number);
  if (isDense) return { kind: "bytes", offsets, bytes: bytes.subarray(first, first + length), validity };
  const own = new Uint8Array(length);
  for (let row = 0, to = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (end - start > SHORT_BYTES) {
      own.set(bytes.subarray(start, end), to);
      to += end - start;
    } else for (let at = start; at < end; at++) own[to++] = bytes[at] as number;
  }
  return { kind: "bytes", offsets, bytes: own, validity };
}
