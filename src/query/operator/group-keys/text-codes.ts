/**
 * Codes of a key that is text or other bytes. Text of a dictionary is looked up once an entry, as long as the dictionary stays the same;
 * all other by its bytes, without a string.
 */
import { formOf, type DataType } from "../../../column/data-type.ts";
import { type TextTable, utf8Text } from "../../../column/text-table.ts";
import type { CodedVector, DictionaryVector, Validity, Vector } from "../../../column/vector.ts";
import { CompactTexts } from "../kernels/texts/compact-texts.ts";
import { TextNumbers } from "../kernels/texts/text-numbers.ts";
import { NO_NUMBER } from "../kernels/word-table.ts";

/** The code of a dictionary's entry that was not asked for yet. */
const UNSEEN = -2;
/** Most texts that come out as a dictionary of strings, each of which is made then; more come out as bytes. */
const STRINGS_MAX = 1024;

type Dictionary = readonly (string | undefined)[];

/** Codes of the entries of the dictionary that came last. */
interface Entries {
  readonly dictionary: Dictionary;
  /** Whether entries without a code got one. */
  readonly isNew: boolean;
  codes: Int32Array;
}

/** Codes of the entries of a table. */
interface TableCodes {
  readonly isNew: boolean;
  readonly codes: Int32Array;
  /** Texts that there were then. */
  readonly textCount: number;
}

/** Codes that are kept by table: 4 MiB. */
const TABLE_CODES_MAX: number = 1024 * 1024;

const encoder = new TextEncoder();

/** See the file header. */
export class TextCodes {
  private readonly texts: TextNumbers | CompactTexts;
  /** Whether few texts come out as strings. */
  private readonly hasStrings: boolean;
  private entries: Entries | undefined;
  private tables: WeakMap<TextTable, TableCodes> = new WeakMap();
  /** Codes that are kept in them. */
  private tableCount = 0;
  private strings: (string | undefined)[] = [undefined];
  private scratch: Uint8Array = new Uint8Array(256);

  /** @param isSmall whether it is one of many tables, each of some thousand rows */
  constructor(type: DataType, isSmall: boolean = false) {
    this.hasStrings = type.kind === "string" && !isSmall;
    this.texts = isSmall ? new CompactTexts() : new TextNumbers();
  }

  /** Codes given so far; they are dense. */
  get size(): number {
    return this.texts.size;
  }

  /** Bytes that are held, about. */
  get bytes(): number {
    return this.texts.bytes;
  }

  /** Codes of rows; new ones for new texts when `isNew`, else `NO_NUMBER`. NULL has a code where `nullIsNumber`, else none. */
  codesOf(vector: Vector, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    if (vector.kind === "dictionary") return this.codesOfEntries(vector, rowCount, isNew, nullIsNumber, into);
    if (vector.kind === "coded") return this.codesOfTable(vector, rowCount, isNew, nullIsNumber, into);
    if (vector.kind === "bytes") return this.texts.numbersOf(vector, rowCount, isNew, nullIsNumber, into);
    // All NULL, of any type: there are no values.
    into.fill(nullIsNumber && rowCount > 0 ? this.texts.numberOfNull(isNew) : NO_NUMBER, 0, rowCount);
  }

  private codesOfEntries(
    { codes, dictionary }: DictionaryVector,
    rowCount: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
  ): void {
    const known = this.codesKnown(dictionary, isNew);
    for (let i = 0; i < rowCount; i++) {
      const entry = codes[i] as number;
      let code = known[entry] ?? UNSEEN;
      if (code === UNSEEN) {
        const text = dictionary[entry];
        if (text === undefined) code = nullIsNumber ? this.texts.numberOfNull(isNew) : NO_NUMBER;
        else code = this.codeOfText(text, isNew);
        known[entry] = code;
      }
      into[i] = code;
    }
  }

  /** Of entries that are bytes already. Codes are kept by table: batches of several files come in turns. */
  private codesOfTable({ codes, entries }: CodedVector, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    const known = this.tableCodes(entries, isNew);
    const { starts, bytes } = entries;
    for (let i = 0; i < rowCount; i++) {
      const entry = codes[i] as number;
      let code = known[entry] as number;
      if (code === UNSEEN) {
        if (entry === 0) code = nullIsNumber ? this.texts.numberOfNull(isNew) : NO_NUMBER;
        else code = this.texts.numberOf(bytes, starts[entry] as number, starts[entry + 1] as number, isNew);
        known[entry] = code;
      }
      into[i] = code;
    }
  }

  /** Codes by entry of a table. Those that were not found are looked for again once texts are added. */
  private tableCodes(entries: TextTable, isNew: boolean): Int32Array {
    const found = this.tables.get(entries);
    // What was not found may have been added since.
    if (found?.isNew === isNew && (isNew || found.textCount === this.size)) return found.codes;
    const codes = new Int32Array(entries.size).fill(UNSEEN);
    if (this.tableCount + entries.size > TABLE_CODES_MAX) {
      this.tables = new WeakMap();
      this.tableCount = 0;
    }
    this.tableCount += entries.size;
    this.tables.set(entries, { isNew, codes, textCount: this.size });
    return codes;
  }

  private codeOfText(text: string, isNew: boolean): number {
    if (this.scratch.length < text.length * 3) this.scratch = new Uint8Array(text.length * 3);
    const { written } = encoder.encodeInto(text, this.scratch);
    return this.texts.numberOf(this.scratch, 0, written, isNew);
  }

  /** Codes by entry of a dictionary, which may have grown. Those that were not found are looked for again once texts are added. */
  private codesKnown(dictionary: Dictionary, isNew: boolean): Int32Array {
    const { entries } = this;
    const known = entries?.dictionary === dictionary && (entries.isNew || !isNew) ? entries : undefined;
    if (known !== undefined && known.isNew === isNew && known.codes.length >= dictionary.length) return known.codes;
    const codes = new Int32Array(dictionary.length).fill(UNSEEN);
    if (known !== undefined) codes.set(known.codes);
    this.entries = { dictionary, isNew, codes };
    return codes;
  }

  /** The texts of codes. */
  vector(codes: Uint32Array): Vector {
    const { texts } = this;
    const validity = this.validityOf(codes);
    if (!this.hasStrings || texts.size > STRINGS_MAX) return { kind: "bytes", ...texts.textsOf(codes), validity };
    const dictionary = this.dictionary();
    const shifted = new Uint32Array(codes.length);
    for (let i = 0; i < codes.length; i++) shifted[i] = codes[i] === texts.nullNumber ? 0 : (codes[i] as number) + 1;
    return { kind: "dictionary", codes: shifted, dictionary };
  }

  private validityOf(codes: Uint32Array): Validity {
    const { nullNumber } = this.texts;
    if (nullNumber < 0 || !codes.includes(nullNumber)) return undefined;
    return Uint8Array.from(codes, (code) => (code === nullNumber ? 0 : 1));
  }

  /** All texts behind the entry of NULL, made once. */
  private dictionary(): Dictionary {
    const { texts, strings } = this;
    if (strings.length > texts.size) return strings;
    const from = strings.length - 1;
    const { offsets, bytes } = texts.textsOf(Uint32Array.from({ length: texts.size - from }, (_, i) => from + i));
    for (let i = 0; i + 1 < offsets.length; i++) {
      const isNull = from + i === texts.nullNumber;
      strings.push(isNull ? undefined : utf8Text(bytes, offsets[i] as number, offsets[i + 1] as number));
    }
    return strings;
  }
}

/** Whether values of a type are told apart by their bytes. Intervals are not: a month is 30 days. */
export const isBytesKey = (type: DataType): boolean => formOf(type) === "bytes" && type.kind !== "interval";
