/**
 * Tag columns of batches → keys of their tag sets: each value becomes a code of its column, and the codes of a row have a key. No string is
 * made for a tag that is known.
 *
 *   columns ─ TextCodes ─► codes, a column each ─ TagSets ─► key        a new tag set ─► SeriesDictionary, as the codes of its row
 *
 * DoPut of the TSBS cpu schema, 10 tags as texts (flight.bench.ts, Bun 1.4.5): 0.55 -> 0.37 us of CPU a row; before, each row hashed its
 * bytes one by one, wrote its codes as a key and compared that.
 */
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { TextCodes } from "../../column/text-codes.ts";
import type { DictionaryVector, NumberVector, Vector } from "../../column/vector.ts";
import { SeriesDictionary } from "../series-dictionary.ts";
import { tagText } from "../tag-value.ts";
import { BLOCK_ROWS, TagSets } from "./tag-sets.ts";

/** Bytes of texts of all columns after which it begins anew. Reason: a tag may be different in each row. */
const CODES_BYTES_MAX: number = 64 * 1024 * 1024;
/** Of a number whose code is kept. */
const NUMBER_BYTES = 48;

const encoder = new TextEncoder();

/** A tag column, and where its vector is in a batch. */
export interface TagColumn {
  readonly name: string;
  readonly type: DataType;
  readonly position: number;
}

/** Codes of one column. */
class ColumnCodes {
  private readonly codes: TextCodes = new TextCodes();
  /** Codes of numbers. */
  private readonly numbers: Map<number, number> = new Map();
  private source: DictionaryVector["dictionary"] = [];
  /** Code of each of the source's. */
  private remap: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private remapped = 0;

  get byteLength(): number {
    return this.codes.byteLength + this.numbers.size * NUMBER_BYTES;
  }

  textOf(code: number): string | undefined {
    return this.codes.texts[code];
  }

  /** Writes the codes of rows `[from, to)` to the beginning of `target`. */
  write(vector: Vector, type: DataType, from: number, to: number, target: Uint32Array): void {
    if (vector.kind === "dictionary") {
      const { codes } = vector;
      const remap = this.remapOf(vector.dictionary);
      for (let row = from, i = 0; row < to; row++, i++) target[i] = remap[codes[row] as number] as number;
    } else if (vector.kind === "bytes" && type.kind === "string") this.codes.codesOf(vector, from, to, target);
    else if (vector.kind === "number" && type.kind !== "float") this.writeNumbers(vector, type, from, to, target);
    else for (let row = from, i = 0; row < to; row++, i++) target[i] = this.codeOfText(tagText(scalarAt(vector, type, row), type));
  }

  /** Not of floats, of which two that are equal have two texts: 0 and -0. */
  private writeNumbers(vector: NumberVector, type: DataType, from: number, to: number, target: Uint32Array): void {
    const { values, validity } = vector;
    const { numbers } = this;
    for (let row = from, i = 0; row < to; row++, i++) {
      const value = values[row] as number;
      let code = validity !== undefined && validity[row] === 0 ? 0 : numbers.get(value);
      if (code === undefined) {
        code = this.codeOfText(tagText(scalarAt(vector, type, row), type));
        numbers.set(value, code);
      }
      target[i] = code;
    }
  }

  private codeOfText(text: string | undefined): number {
    if (text === undefined) return 0;
    const bytes = encoder.encode(text);
    return this.codes.codeOf(bytes, 0, bytes.length);
  }

  /** A dictionary may have grown since it was seen last. */
  private remapOf(dictionary: DictionaryVector["dictionary"]): Uint32Array {
    if (dictionary !== this.source || dictionary.length > this.remap.length) {
      const remap = new Uint32Array(dictionary.length + (dictionary === this.source ? dictionary.length : 0));
      if (dictionary === this.source) remap.set(this.remap.subarray(0, this.remapped));
      else this.remapped = 0;
      this.source = dictionary;
      this.remap = remap;
    }
    for (; this.remapped < dictionary.length; this.remapped++) this.remap[this.remapped] = this.codeOfText(dictionary[this.remapped]);
    return this.remap;
  }
}

/** Gives rows of one table their keys. */
export class TagColumns {
  readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly table: string;
  private readonly tags: readonly TagColumn[];
  private readonly names: readonly string[];
  private readonly sets: TagSets;
  private columns: readonly ColumnCodes[];

  constructor(table: string, tags: readonly TagColumn[]) {
    this.table = table;
    this.tags = tags;
    this.names = tags.map(({ name }) => name);
    this.columns = tags.map(() => new ColumnCodes());
    this.sets = new TagSets(tags.length, (codes, hash) => this.add(codes, hash));
  }

  /** The keys of the rows of a batch. Those of earlier batches may be forgotten. */
  keysOf(vectors: readonly Vector[], rowCount: number): Uint32Array {
    if (this.dictionary.full || this.columns.reduce((sum, { byteLength }) => sum + byteLength, 0) > CODES_BYTES_MAX) this.clear();
    const keys = new Uint32Array(rowCount);
    for (let from = 0; from < rowCount; from += BLOCK_ROWS) {
      const to = Math.min(rowCount, from + BLOCK_ROWS);
      for (const [i, { type, position }] of this.tags.entries()) {
        const vector = vectors[position];
        const codes = this.sets.codes[i];
        if (vector !== undefined && codes !== undefined) this.columns[i]?.write(vector, type, from, to, codes);
      }
      this.sets.keysOf(to - from, keys, from);
    }
    return keys;
  }

  private clear(): void {
    this.dictionary.clear();
    this.sets.clear();
    this.columns = this.tags.map(() => new ColumnCodes());
  }

  private add(codes: Uint32Array<ArrayBuffer>, hash: number): number {
    const { tags, columns, dictionary, table } = this;
    const texts = tags.map((_, i) => columns[i]?.textOf(codes[i] as number));
    const nulls = this.names.filter((_, i) => texts[i] === undefined);
    // One array of names for all of them, so that what is found out about it need not be found out again.
    const names = nulls.length === 0 ? this.names : this.names.filter((_, i) => texts[i] !== undefined);
    const values = texts.filter((text) => text !== undefined);
    const bytes = new Uint8Array(codes.buffer);
    return dictionary.add(bytes, 0, bytes.length, hash, { table, names, values, ...(nulls.length === 0 ? {} : { nulls }) });
  }
}
