/**
 * The texts of a dictionary column, row by row: each text is made bytes once, and a run of one text is one copy that doubles. Rows of one
 * series stand together where storage gives them, so that a run is hundreds of rows.
 *
 * With whole numbers that need no division, memory that is used again and the faster LZ4, DoGet of 5 columns (flight.bench.ts, Bun 1.4.5)
 * went from 0.19 to 0.11 us of CPU a row of memory, from 0.19 to 0.08 of files; without compression from 0.095 and 0.055 to 0.06 and 0.04.
 */
import { copyTexts, validityOfCodes } from "../../column/coded-text.ts";
import type { CodedVector, DictionaryVector } from "../../column/vector.ts";
import type { Scratch } from "./scratch.ts";

/** Entries of a dictionary up to which it has a table of them all, and not of those that the batch has. */
const TABLE_MAX = 65_536;
/** Up to so many bytes a loop is faster than a call. */
const LOOP_BYTES_MAX = 32;

const encoder = new TextEncoder();

/** Texts of some rows; no validity: none is NULL. */
export interface RowTexts {
  readonly validity: Uint8Array | undefined;
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Texts by their codes, each made bytes when it is met first. */
class Entries {
  private readonly dictionary: DictionaryVector["dictionary"];
  private readonly known: (Uint8Array | undefined)[] | Map<number, Uint8Array>;

  constructor(dictionary: DictionaryVector["dictionary"]) {
    this.dictionary = dictionary;
    this.known = dictionary.length <= TABLE_MAX ? [] : new Map();
  }

  of(code: number): Uint8Array {
    const { known } = this;
    const found = known instanceof Map ? known.get(code) : known[code];
    if (found !== undefined) return found;
    const entry = encoder.encode(this.dictionary[code] ?? "");
    if (known instanceof Map) known.set(code, entry);
    else known[code] = entry;
    return entry;
  }
}

/** Rows `[0, rowCount)` of a column; undefined: they have more than `bytesMax` bytes. */
export function dictionaryText(vector: DictionaryVector, rowCount: number, bytesMax: number, scratch: Scratch): RowTexts | undefined {
  const { codes, dictionary } = vector;
  const entries = new Entries(dictionary);
  const offsets = scratch.words(rowCount + 1);
  offsets[0] = 0;
  let length = 0;
  let hasNulls = false;
  for (let row = 0; row < rowCount; ) {
    const code = codes[row]!;
    const size = entries.of(code).length;
    if (dictionary[code] === undefined) hasNulls = true;
    for (; row < rowCount && codes[row]! === code; row++) {
      length += size;
      offsets[row + 1] = length;
    }
    if (length > bytesMax) return undefined;
  }
  const bytes = scratch.bytes(length);
  for (let row = 0; row < rowCount; ) {
    const code = codes[row]!;
    const from = row;
    do row++;
    while (row < rowCount && codes[row]! === code);
    repeat(entries.of(code), bytes, offsets[from]!, offsets[row]!);
  }
  return { validity: hasNulls ? validityOf(vector, rowCount, scratch) : undefined, offsets, bytes };
}

/** As `dictionaryText`, of texts that are bytes already. */
export function codedText({ codes, entries }: CodedVector, rowCount: number, bytesMax: number, scratch: Scratch): RowTexts | undefined {
  const { starts } = entries;
  const offsets = scratch.words(rowCount + 1);
  offsets[0] = 0;
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row]!;
    length += starts[code + 1]! - starts[code]!;
    offsets[row + 1] = length;
  }
  if (length > bytesMax) return undefined;
  const bytes = scratch.bytes(length);
  copyTexts(codes, 0, rowCount, entries, bytes, 0);
  return { validity: validityOfCodes(codes, rowCount), offsets, bytes };
}

/** Fills `[from, to)`, which holds an entry a whole number of times. */
function repeat(entry: Uint8Array, bytes: Uint8Array, from: number, to: number): void {
  const size = entry.length;
  if (size > LOOP_BYTES_MAX) bytes.set(entry, from);
  else for (let i = 0; i < size; i++) bytes[from + i] = entry[i]!;
  for (let filled = size; filled > 0 && from + filled < to; filled *= 2)
    bytes.copyWithin(from + filled, from, Math.min(from + filled, to - filled));
}

function validityOf({ codes, dictionary }: DictionaryVector, rowCount: number, scratch: Scratch): Uint8Array {
  const validity = scratch.bytes(rowCount);
  for (let row = 0; row < rowCount; row++) validity[row] = dictionary[codes[row]!] === undefined ? 0 : 1;
  return validity;
}
