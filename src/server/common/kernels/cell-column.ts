/**
 * The text of one column's cells, batch after batch: row r is `bytes[starts[r], ends[r])`.
 *
 * A result is printed in two passes, both loops over arrays of one class: each column is turned into text by a loop for its kind, then
 * `RowWriter` joins the columns into rows. NULL is kept once at the front of the buffer; equal neighbours share one text; a dictionary
 * entry is printed once for the whole answer. Small integers are left for the second pass, and placed only for who asks where they lie.
 */
import type { TextTable } from "../../../column/text-table.ts";
import { longerBytes, longer } from "../../../base/bytes/longer-array.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { DbError } from "../../../base/error.ts";
import { type DataType, type NestedType, isNested } from "../../../column/data-type.ts";
import { decimalText } from "../../../column/decimal.ts";
import { nestedJson, nestedJsonSteps } from "../../../value/nested-json.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { BytesVector, CodedVector, DictionaryVector, NumberVector, TimeVector, Vector, WideVector } from "../../../column/vector.ts";
import {
  type CellTexts,
  DECIMAL_BYTES_MAX,
  printBooleans,
  printDecimals,
  printFloats,
  printIntegers,
  printTimes,
  printWide,
} from "./print-numbers.ts";
import { CELL_SLACK_BYTES, findSmall, type SmallColumn, smallIntegers } from "./small-integers.ts";
import { NUMBER_BYTES_MAX, writeAscii } from "./write-number.ts";
import { copyBytes, csvText, writeCsvText, writeJsonText, writeList, writePlainText } from "./write-text.ts";

/** How values become text. */
export interface CellDialect {
  /** Text of NULL, at most 16 characters of ASCII. */
  readonly nullText: string;
  /** "json" quotes and escapes text; "csv" quotes only where needed. */
  readonly text: "json" | "csv";
  /** Text of an empty CSV field; `""` where the line would be empty otherwise. */
  readonly emptyText: "" | '""';
}

/** Cells of JSON answers. */
export const JSON_DIALECT: CellDialect = { nullText: "null", text: "json", emptyText: "" };
/** Cells of CSV answers. */
export const CSV_DIALECT: CellDialect = { nullText: "", text: "csv", emptyText: "" };
/** Cells of CSV answers with one column, whose lines must not be empty. */
export const CSV_SINGLE_DIALECT: CellDialect = { nullText: '""', text: "csv", emptyText: '""' };

const PLAIN_CHARACTERS_MAX = 64;

/** Printed texts of a dictionary that are kept for further batches. Reason: those of 65,536 rows may be a gigabyte. */
const DICTIONARY_BYTES_MAX = 16 * 1024 * 1024;

/** Letters of a text, and bytes of a list, from which it is printed in steps of about so many. Reason: a million takes 5 ms. */
const LONG_TEXT = 1_000_000;

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

const encoder = new TextEncoder();

function hasLongText({ codes, dictionary }: DictionaryVector, rowCount: number): boolean {
  for (let row = 0; row < rowCount; row++) if ((dictionary[codes[row]!]?.length ?? 0) >= LONG_TEXT) return true;
  return false;
}

/** Text of the cells of one column. Reused for every batch of a result: what it holds is valid until the next `encode`. */
export class CellColumn implements CellTexts {
  /** Four bytes behind the last cell may be read. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  readonly nullLength: number;
  /** Values of which each is one byte, where no other cells were printed. */
  small: SmallColumn | undefined;
  private placedStarts: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private placedEnds: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  /** Rows of `small` whose places were not looked up yet. */
  private unplaced = 0;
  private readonly type: DataType;
  private readonly dialect: CellDialect;
  private used = 0;
  /** `bytes`, but where those are a table's. */
  private own: Uint8Array<ArrayBuffer> = this.bytes;
  /** The dictionary, or table of entries, whose texts are kept. */
  private dictionary: DictionaryVector["dictionary"] | TextTable | undefined;
  private entryStarts: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private entryEnds: Uint32Array<ArrayBuffer> = new Uint32Array(0);

  constructor(type: DataType, dialect: CellDialect) {
    this.type = type;
    this.dialect = dialect;
    this.nullLength = dialect.nullText.length;
  }

  get starts(): Uint32Array<ArrayBuffer> {
    if (this.unplaced > 0) this.place();
    return this.placedStarts;
  }

  get ends(): Uint32Array<ArrayBuffer> {
    if (this.unplaced > 0) this.place();
    return this.placedEnds;
  }

  /** Prints rows `[0, rowCount)` of a vector of this column. @throws DbError InvalidArguments for a type without a text form */
  encode(vector: Vector, rowCount: number): void {
    this.begin(rowCount);
    if (vector.kind === "dictionary") {
      this.beginDictionary(vector.dictionary, vector.dictionary.length);
      this.printEntries(vector, rowCount);
      return;
    }
    if (vector.kind === "coded") {
      this.printCoded(vector, rowCount);
      return;
    }
    this.dictionary = undefined;
    this.used = writeAscii(this.bytes, 0, this.dialect.nullText);
    if (this.type.kind === "decimal") {
      this.encodeDecimals(vector, rowCount, this.type.scale);
      return;
    }
    if (isNested(this.type)) {
      this.encodeNested(vector, rowCount, this.type);
      return;
    }
    switch (vector.kind) {
      case "number":
        this.encodeNumber(vector, rowCount);
        return;
      case "time":
        this.encodeTime(vector, rowCount);
        return;
      case "wide":
        this.encodeWide(vector, rowCount);
        return;
      case "bytes":
        this.encodeBytes(vector, rowCount);
        return;
    }
  }

  /** As `encode`, with steps between which others may have a turn where texts or lists are long. */
  *encodeSteps(vector: Vector, rowCount: number): Generator<void> {
    if (vector.kind === "dictionary" && this.dialect.text === "json" && hasLongText(vector, rowCount)) {
      this.beginDictionary(vector.dictionary, vector.dictionary.length);
      yield* this.longEntries(vector, rowCount);
      this.begin(rowCount);
      this.printEntries(vector, rowCount);
      return;
    }
    const { type } = this;
    if (vector.kind !== "bytes" || !isNested(type) || (vector.offsets[rowCount] ?? 0) < LONG_TEXT) {
      this.encode(vector, rowCount);
      return;
    }
    this.begin(rowCount);
    this.dictionary = undefined;
    this.used = writeAscii(this.bytes, 0, this.dialect.nullText);
    const { starts, ends } = this;
    for (let row = 0; row < rowCount; row++) {
      const value = scalarAt(vector, type, row);
      starts[row] = value === undefined ? 0 : this.used;
      if (value !== undefined) yield* this.appendNested(type, value as Uint8Array); // what nested values are
      ends[row] = value === undefined ? this.nullLength : this.used;
    }
  }

  private begin(rowCount: number): void {
    this.bytes = this.own;
    this.small = undefined;
    this.unplaced = 0;
    if (this.placedStarts.length >= rowCount) return;
    this.placedStarts = new Uint32Array(rowCount);
    this.placedEnds = new Uint32Array(rowCount);
  }

  /** Finds the texts of small integers. */
  private place(): void {
    const rowCount = this.unplaced;
    this.unplaced = 0;
    if (this.small !== undefined) findSmall(this.small, rowCount, this.nullLength, this.placedStarts, this.placedEnds);
  }

  private *appendNested(type: NestedType, value: Uint8Array): Generator<void> {
    if (type.kind !== "list" || value.length < LONG_TEXT) {
      const json = nestedJson(type, value);
      this.append(this.dialect.text === "json" ? json : csvText(json));
      return;
    }
    const isJson = this.dialect.text === "json";
    if (!isJson) this.append('"'); // A long list has a comma.
    for (const piece of nestedJsonSteps(type, value)) {
      this.append(isJson ? piece : piece.replaceAll('"', '""'));
      yield;
    }
    if (!isJson) this.append('"');
  }

  private append(text: string): void {
    const printed = encoder.encode(text);
    this.reserve(printed.length);
    this.bytes.set(printed, this.used);
    this.used += printed.length;
  }

  /** Prints the long texts that rows have, each in steps. */
  private *longEntries(vector: DictionaryVector, rowCount: number): Generator<void> {
    const { codes, dictionary } = vector;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!;
      const text = dictionary[code];
      if (text === undefined || text.length < LONG_TEXT || this.entryEnds[code] !== 0) continue;
      const start = this.used === 0 ? 1 : this.used; // keeps position 0 for NULL
      this.used = start;
      this.append('"');
      for (let at = 0; at < text.length; ) {
        const to = at + LONG_TEXT;
        // A pair of surrogates stays together.
        const end = to < text.length && isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
        this.append(JSON.stringify(text.slice(at, end)).slice(1, -1));
        at = end;
        yield;
      }
      this.append('"');
      this.entryStarts[code] = start;
      this.entryEnds[code] = this.used;
    }
  }

  private reserve(extra: number): void {
    const need = this.used + extra + CELL_SLACK_BYTES;
    if (need <= this.bytes.length) return;
    if (need > 0xffff_ffff) {
      throw new DbError(StatusCode.RuntimeResourcesExhausted, "cannot print a batch of rows: one column holds more than 4 GiB of text");
    }
    this.own = longerBytes(this.bytes, this.used, need);
    this.bytes = this.own;
  }

  private encodeNumber(vector: NumberVector, rowCount: number): void {
    if (vector.values instanceof Int8Array && this.type.kind !== "boolean" && this.type.kind !== "float") {
      this.small = { values: vector.values, validity: vector.validity, table: smallIntegers(this.dialect.nullText) };
      this.bytes = this.small.table.bytes;
      this.unplaced = rowCount;
      return;
    }
    this.reserve(rowCount * NUMBER_BYTES_MAX);
    const form = this.type.kind === "boolean" ? "boolean" : this.type.kind === "float" ? "float" : "integer";
    const print = form === "boolean" ? printBooleans : form === "float" ? printFloats : printIntegers;
    this.used = print(vector, rowCount, this, this.used);
  }

  private encodeTime(vector: TimeVector, rowCount: number): void {
    this.reserve(rowCount * NUMBER_BYTES_MAX);
    this.used = printTimes(vector, rowCount, this, this.used);
  }

  private encodeWide(vector: WideVector, rowCount: number): void {
    this.reserve(rowCount * NUMBER_BYTES_MAX);
    this.used = printWide(vector, rowCount, this, this.used);
  }

  /** Decimals are text in JSON, so that no reader makes floats of them. Twice the time of a float within ±2^53, seven times beyond. */
  private encodeDecimals(vector: Exclude<Vector, DictionaryVector | CodedVector>, rowCount: number, scale: number): void {
    this.reserve(rowCount * DECIMAL_BYTES_MAX);
    const { bytes, starts, ends, type } = this;
    const quoted = this.dialect.text === "json";
    if (vector.kind === "number") {
      this.used = printDecimals(vector, rowCount, this, this.used, scale, quoted);
      return;
    }
    const mark = quoted ? '"' : "";
    for (let row = 0; row < rowCount; row++) {
      const value = scalarAt(vector, type, row);
      starts[row] = value === undefined ? 0 : this.used;
      if (value !== undefined) this.used = writeAscii(bytes, this.used, `${mark}${decimalText(value as number | bigint, scale)}${mark}`);
      ends[row] = value === undefined ? this.nullLength : this.used;
    }
  }

  private encodeBytes(vector: BytesVector, rowCount: number): void {
    const { offsets, bytes, validity } = vector;
    const { starts, ends } = this;
    const raw = this.type.kind === "json" && this.dialect.text === "json";
    const list = this.type.kind === "binary" || this.type.kind === "vector";
    for (let row = 0; row < rowCount; row++) {
      if (validity !== undefined && validity[row] === 0) {
        starts[row] = 0;
        ends[row] = this.nullLength;
        continue;
      }
      const start = offsets[row]!;
      const end = offsets[row + 1]!;
      this.reserve((end - start) * 6 + 8);
      starts[row] = this.used;
      if (list) this.used = writeList(bytes, start, end, this.bytes, this.used, this.dialect.text === "csv");
      else if (raw) this.used = copyBytes(bytes, start, end, this.bytes, this.used);
      else if (this.dialect.text === "json") this.used = writeJsonText(bytes, start, end, this.bytes, this.used);
      else if (start === end) this.used = writeAscii(this.bytes, this.used, this.dialect.emptyText);
      else this.used = writeCsvText(bytes, start, end, this.bytes, this.used);
      ends[row] = this.used;
    }
  }

  /** Lists, structs and maps are JSON in every dialect. */
  private encodeNested(vector: Exclude<Vector, DictionaryVector | CodedVector>, rowCount: number, type: NestedType): void {
    const { starts, ends } = this;
    for (let row = 0; row < rowCount; row++) {
      const value = scalarAt(vector, type, row);
      starts[row] = value === undefined ? 0 : this.used;
      if (value !== undefined) {
        const json = nestedJson(type, value as Uint8Array); // what nested values are
        const printed = encoder.encode(this.dialect.text === "json" ? json : csvText(json));
        this.reserve(printed.length);
        this.bytes.set(printed, this.used);
        this.used += printed.length;
      }
      ends[row] = value === undefined ? this.nullLength : this.used;
    }
  }

  private beginDictionary(dictionary: DictionaryVector["dictionary"] | TextTable, length: number): void {
    this.bytes = this.own;
    if (this.dictionary !== dictionary || this.used > DICTIONARY_BYTES_MAX) {
      this.dictionary = dictionary;
      this.used = writeAscii(this.bytes, 0, this.dialect.nullText);
      this.entryStarts = new Uint32Array(length);
      this.entryEnds = new Uint32Array(length);
    } else if (this.entryStarts.length < length) {
      this.entryStarts = longer(this.entryStarts, length);
      this.entryEnds = longer(this.entryEnds, length);
    }
  }

  private printEntries({ codes, dictionary }: DictionaryVector, rowCount: number): void {
    const { starts, ends, entryStarts, entryEnds } = this;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!;
      // Start 0 is NULL's place when NULL has a text, so no other entry starts there; an empty NULL text is printed anew, at no cost.
      if (entryEnds[code] === 0 && entryStarts[code] === 0) this.printEntry(code, dictionary[code]);
      starts[row] = entryStarts[code]!;
      ends[row] = entryEnds[code]!;
    }
  }

  /** Each text once for as long as its table of entries comes. */
  private printCoded({ codes, entries }: CodedVector, rowCount: number): void {
    this.beginDictionary(entries, entries.size);
    const { starts, ends, entryStarts, entryEnds } = this;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!;
      if (entryEnds[code] === 0 && entryStarts[code] === 0) this.printBytes(code, entries);
      starts[row] = entryStarts[code]!;
      ends[row] = entryEnds[code]!;
    }
  }

  private printBytes(code: number, entries: TextTable): void {
    if (code === 0) {
      this.entryEnds[0] = this.nullLength;
      return;
    }
    const start = entries.starts[code]!;
    const end = entries.starts[code + 1]!;
    this.reserve((end - start) * 6 + 8);
    if (this.used === 0) this.used = 1; // keeps position 0 for NULL
    this.entryStarts[code] = this.used;
    if (this.dialect.text === "json") this.used = writeJsonText(entries.bytes, start, end, this.bytes, this.used);
    else if (start === end) this.used = writeAscii(this.bytes, this.used, this.dialect.emptyText);
    else this.used = writeCsvText(entries.bytes, start, end, this.bytes, this.used);
    this.entryEnds[code] = this.used;
  }

  private printEntry(code: number, text: string | undefined): void {
    if (text === undefined) {
      this.entryEnds[code] = this.nullLength;
      return;
    }
    if (this.dialect.text === "json" && this.printPlain(code, text)) return;
    const printed = encoder.encode(this.dialect.text === "json" ? JSON.stringify(text) : csvText(text) || this.dialect.emptyText);
    this.reserve(printed.length + 1);
    if (this.used === 0) this.used = 1; // keeps position 0 for NULL
    this.entryStarts[code] = this.used;
    this.bytes.set(printed, this.used);
    this.used += printed.length;
    this.entryEnds[code] = this.used;
  }

  /** Prints a short text that needs no escape, which is most: 30 ns instead of 250. Returns false for any other. */
  private printPlain(code: number, text: string): boolean {
    if (text.length > PLAIN_CHARACTERS_MAX) return false;
    this.reserve(text.length + 3);
    const start = this.used === 0 ? 1 : this.used; // keeps position 0 for NULL
    const at = writePlainText(text, this.bytes, start);
    if (at === start) return false;
    this.entryStarts[code] = start;
    this.entryEnds[code] = at;
    this.used = at;
    return true;
  }
}
