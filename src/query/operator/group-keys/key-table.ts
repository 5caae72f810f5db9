/**
 * Numbers rows by the values of some columns, densely and in the order they come: equal rows, equal numbers. What groups, DISTINCT, joins
 * and set operations tell rows by.
 *
 *   one column of fixed width    its words (`kernels/lanes.ts`) ─► kernels/word-table.ts
 *   one column of bytes          kernels/texts/text-numbers.ts
 *   several                      flags of NULL, prefix, words, numbers of bytes, side by side ─► kernels/word-table.ts
 */
import { presenceOf } from "../../../column/coded-text.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { growth, type Reserve } from "../../function/aggregate/accumulator.ts";
import { CompactTable } from "../kernels/compact-table.ts";
import { type LaneForm, laneFormOf, lanesInPlace, lanesVector, writeLanes } from "../kernels/lanes.ts";
import { NO_NUMBER, WordTable } from "../kernels/word-table.ts";
import { isBytesKey, TextCodes } from "./text-codes.ts";
import { ValueCodes } from "./value-codes.ts";

/** What has no number: a row that was never added or, where NULL equals nothing, one with a NULL. */
export const NO_ROW: number = NO_NUMBER;

/** How rows are told apart. */
export interface KeyTableOptions {
  /** Whether NULL equals NULL, as in groups and set operations, or nothing, as in joins. */
  readonly nullsMatch: boolean;
  /** Whether a number that each row brings along, its prefix, stands before the columns. */
  readonly hasPrefix?: boolean;
  /** Whether it is one of many tables, each of some thousand rows. */
  readonly isSmall?: boolean;
}

/** A column of keys, and where its words lie among those of a row. */
type KeyColumn = { readonly type: DataType; readonly at: number } & (
  | { readonly kind: "lanes"; readonly form: LaneForm }
  | { readonly kind: "codes"; readonly codes: TextCodes | ValueCodes }
);

/** Flags of NULL that one word holds. Columns of bytes need none: NULL has a number. */
const FLAGS_PER_WORD = 32;

/** See the file header. Arrays of numbers that it gives are valid until it is asked again. */
export class KeyTable {
  private readonly columns: readonly KeyColumn[];
  private readonly nullsMatch: boolean;
  /** Words of flags, then one of the prefix where there is one, then those of the columns. */
  private readonly flagWords: number;
  private readonly prefixAt: number;
  private readonly width: number;
  /** Of all but one column alone whose codes are the numbers. */
  private readonly words: WordTable | CompactTable | undefined;
  /** Hears of the bytes that are held by now, about. */
  private readonly held: (bytes: number) => void;
  private isEmpty = true;
  private ids = new Int32Array(0);
  private codes = new Int32Array(0);
  private rowWords = new Int32Array(0);
  private present: Uint8Array = new Uint8Array(0);

  constructor(types: readonly DataType[], { nullsMatch, hasPrefix = false, isSmall = false }: KeyTableOptions, reserve: Reserve) {
    this.nullsMatch = nullsMatch;
    this.held = growth(reserve);
    const isOne = types.length === 1 && !hasPrefix;
    this.flagWords = isOne || !nullsMatch ? 0 : Math.ceil(types.filter(laneFormOf).length / FLAGS_PER_WORD);
    this.prefixAt = hasPrefix ? this.flagWords : -1;
    let at = this.flagWords + (hasPrefix ? 1 : 0);
    this.columns = types.map((type): KeyColumn => {
      const form = laneFormOf(type);
      const own = at;
      at += form?.width ?? 1;
      if (form !== undefined) return { kind: "lanes", type, at: own, form };
      return { kind: "codes", type, at: own, codes: isBytesKey(type) ? new TextCodes(type, isSmall) : new ValueCodes(type, reserve) };
    });
    this.width = at;
    const [first] = this.columns;
    const isText = isOne && first?.kind === "codes" && first.codes instanceof TextCodes;
    this.words = at === 0 || isText ? undefined : isSmall ? new CompactTable(at) : new WordTable(at);
  }

  /** Numbers given so far. */
  get size(): number {
    if (this.words !== undefined) return this.words.size;
    const [only] = this.columns;
    return only?.kind === "codes" ? only.codes.size : this.isEmpty ? 0 : 1;
  }

  /** Numbers of rows, new ones for new rows. `vectors` are the columns; `prefixes` are read and not kept. */
  add(vectors: readonly Vector[], rowCount: number, prefixes?: Int32Array): Int32Array {
    if (rowCount > 0) this.isEmpty = false;
    const ids = this.numbered(vectors, rowCount, true, prefixes);
    this.held(this.bytes);
    return ids;
  }

  /** Bytes that keys take, about; those of intervals are counted as they come. */
  private get bytes(): number {
    let bytes = this.words === undefined ? 0 : this.words.size * this.words.keyBytes;
    for (const column of this.columns) if (column.kind === "codes" && column.codes instanceof TextCodes) bytes += column.codes.bytes;
    return bytes;
  }

  /** Numbers of rows that were added before; `NO_ROW` for others. */
  find(vectors: readonly Vector[], rowCount: number, prefixes?: Int32Array): Int32Array {
    return this.numbered(vectors, rowCount, false, prefixes);
  }

  /** Adds rows; gives the positions of those that are the first of their number, ascending. */
  firsts(vectors: readonly Vector[], rowCount: number, prefixes?: Int32Array): Uint32Array {
    let next = this.size;
    const ids = this.add(vectors, rowCount, prefixes);
    const selection = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      if (ids[row] !== next) continue;
      next++;
      selection[count++] = row;
    }
    return selection.subarray(0, count);
  }

  /** The positions of rows that were not added, ascending. */
  strangers(vectors: readonly Vector[], rowCount: number): Uint32Array {
    const ids = this.find(vectors, rowCount);
    const selection = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) if (ids[row] === NO_ROW) selection[count++] = row;
    return selection.subarray(0, count);
  }

  /** The values of a column in the rows with these numbers. */
  vector(column: number, ids: Uint32Array): Vector {
    const own = this.columns[column];
    const { words, width } = this;
    if (own === undefined) return { kind: "dictionary", codes: ids, dictionary: [] };
    if (own.kind === "codes") return own.codes.vector(words === undefined ? ids : this.wordsAt(own.at, ids));
    if (words === undefined) return { kind: "dictionary", codes: new Uint32Array(ids.length), dictionary: [undefined] };
    return lanesVector(own.type, own.form, words.keys, ids, width, own.at, this.validityOf(column, ids));
  }

  /** The prefixes of the rows with these numbers. */
  prefixesOf(ids: Uint32Array): Uint32Array {
    return this.prefixAt < 0 ? ids : this.wordsAt(this.prefixAt, ids);
  }

  private wordsAt(at: number, ids: Uint32Array): Uint32Array {
    const keys = this.words?.keys ?? this.rowWords;
    const found = new Uint32Array(ids.length);
    for (let i = 0; i < ids.length; i++) found[i] = keys[(ids[i] as number) * this.width + at] as number;
    return found;
  }

  /** Which of the rows with these numbers have a value in a column of words. */
  private validityOf(column: number, ids: Uint32Array): Validity {
    if (this.flagWords === 0) {
      const nullNumber = this.words?.nullNumber ?? NO_NUMBER;
      return nullNumber < 0 || !ids.includes(nullNumber) ? undefined : Uint8Array.from(ids, (id) => (id === nullNumber ? 0 : 1));
    }
    const { word, bit } = this.flagOf(column);
    const flags = this.wordsAt(word, ids);
    let nulls = 0;
    const validity = new Uint8Array(ids.length);
    for (let i = 0; i < ids.length; i++) {
      const isNull = ((flags[i] as number) >>> bit) & 1;
      nulls |= isNull;
      validity[i] = 1 - isNull;
    }
    return nulls === 0 ? undefined : validity;
  }

  /** Where a column of words notes that it is NULL. */
  private flagOf(column: number): { readonly word: number; readonly bit: number } {
    let before = 0;
    for (let c = 0; c < column; c++) if (this.columns[c]?.kind === "lanes") before++;
    return { word: Math.floor(before / FLAGS_PER_WORD), bit: before % FLAGS_PER_WORD };
  }

  private numbered(vectors: readonly Vector[], rowCount: number, isNew: boolean, prefixes: Int32Array | undefined): Int32Array {
    if (this.ids.length < rowCount) this.ids = new Int32Array(rowCount);
    const ids = this.ids.subarray(0, rowCount);
    const { words, nullsMatch } = this;
    const [only] = this.columns;
    const [first] = vectors;
    if (this.width === 0) ids.fill(isNew || !this.isEmpty ? 0 : NO_ROW);
    else if (words === undefined) {
      if (only?.kind === "codes" && first !== undefined) codesOf(only.codes, first, rowCount, isNew, nullsMatch, ids);
    } else if (this.columns.length === 1 && only?.kind === "lanes" && this.prefixAt < 0 && first !== undefined) {
      const own = lanesInPlace(first, only.form, rowCount) ?? this.written(first, only.form, rowCount);
      words.numbersOf(own, presenceOf(first, rowCount), rowCount, isNew, nullsMatch ? "a number of its own" : "none", ids);
    } else this.numberedByAll(words, vectors, rowCount, isNew, prefixes, ids);
    return ids;
  }

  private written(vector: Vector, form: LaneForm, rowCount: number): Int32Array {
    this.reach(rowCount);
    writeLanes(vector, form, rowCount, this.rowWords, 0, form.width);
    return this.rowWords;
  }

  private reach(rowCount: number): void {
    const { width } = this;
    if (this.rowWords.length < rowCount * width) this.rowWords = new Int32Array(rowCount * width);
  }

  /** Of several columns, or one behind a prefix. */
  private numberedByAll(
    words: WordTable | CompactTable,
    vectors: readonly Vector[],
    rowCount: number,
    isNew: boolean,
    prefixes: Int32Array | undefined,
    ids: Int32Array,
  ): void {
    this.reach(rowCount);
    const { width, rowWords, flagWords, prefixAt, nullsMatch } = this;
    for (let word = 0; word < flagWords; word++) for (let i = 0; i < rowCount; i++) rowWords[i * width + word] = 0;
    const rows = new PresentRows(rowCount, this.present);
    if (prefixAt >= 0) {
      for (let i = 0; i < rowCount; i++) rowWords[i * width + prefixAt] = prefixes?.[i] ?? NO_ROW;
      rows.leaveOutNegative(rowWords, prefixAt, width);
    }
    for (const [c, column] of this.columns.entries()) {
      const vector = vectors[c];
      if (vector === undefined) continue;
      if (column.kind === "lanes") {
        writeLanes(vector, column.form, rowCount, rowWords, column.at, width);
        const validity = presenceOf(vector, rowCount);
        if (validity === undefined) continue;
        if (nullsMatch) noteNulls(validity, rowCount, rowWords, width, column, this.flagOf(c));
        else rows.leaveOut(validity);
        continue;
      }
      if (this.codes.length < rowCount) this.codes = new Int32Array(rowCount);
      const { codes } = this;
      codesOf(column.codes, vector, rowCount, isNew, nullsMatch, codes);
      for (let i = 0; i < rowCount; i++) rowWords[i * width + column.at] = codes[i] as number;
      // What was never added, or is NULL and equals nothing.
      if (!isNew || !nullsMatch) rows.leaveOutNegative(rowWords, column.at, width);
    }
    this.present = rows.marks;
    words.numbersOf(rowWords, rows.validity, rowCount, isNew, "none", ids);
  }
}

function codesOf(
  codes: TextCodes | ValueCodes,
  vector: Vector,
  rowCount: number,
  isNew: boolean,
  nullsMatch: boolean,
  into: Int32Array,
): void {
  if (codes instanceof TextCodes) return codes.codesOf(vector, rowCount, isNew, nullsMatch, into);
  codes.codesOf(vector, rowCount, isNew, into);
  const validity = nullsMatch ? undefined : presenceOf(vector, rowCount);
  if (validity !== undefined) for (let i = 0; i < rowCount; i++) if (validity[i] === 0) into[i] = NO_NUMBER;
}

/** Zeros in the place of words under NULL, and its flag. */
function noteNulls(
  validity: Uint8Array,
  rowCount: number,
  words: Int32Array,
  width: number,
  { at, form }: KeyColumn & { readonly kind: "lanes" },
  { word, bit }: { readonly word: number; readonly bit: number },
): void {
  const flag = 1 << bit;
  for (let i = 0; i < rowCount; i++) {
    if (validity[i] !== 0) continue;
    const row = i * width;
    words[row + at] = 0;
    if (form.width === 2) words[row + at + 1] = 0;
    words[row + word] = (words[row + word] as number) | flag;
  }
}

/** Which rows of a batch may have a number. */
class PresentRows {
  marks: Uint8Array;
  validity: Validity;
  private readonly rowCount: number;

  constructor(rowCount: number, marks: Uint8Array) {
    this.rowCount = rowCount;
    this.marks = marks;
  }

  leaveOut(validity: Uint8Array): void {
    const marks = this.begin();
    for (let i = 0; i < this.rowCount; i++) marks[i] = (marks[i] as number) & (validity[i] as number);
  }

  leaveOutNegative(words: Int32Array, at: number, width: number): void {
    for (let i = 0; i < this.rowCount; i++) if ((words[i * width + at] as number) < 0) this.begin()[i] = 0;
  }

  private begin(): Uint8Array {
    if (this.validity !== undefined) return this.validity;
    if (this.marks.length < this.rowCount) this.marks = new Uint8Array(this.rowCount);
    return (this.validity = this.marks.fill(1, 0, this.rowCount));
  }
}
