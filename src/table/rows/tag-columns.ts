/**
 * Tag columns of batches → keys of their tag sets, column by column: each value becomes a code of its column, the codes of a row are its raw
 * key. A known tag set costs a hash of as many words as there are tags.
 *
 *   columns ─ TextCodes ─► | code | code | … |  a row ─► SeriesDictionary ─► key
 */
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { DictionaryVector, Vector } from "../../column/vector.ts";
import { SeriesDictionary } from "../series-dictionary.ts";
import { tagText } from "../tag-value.ts";
import { TextCodes } from "./text-codes.ts";

/** Bytes of texts of all columns after which it begins anew. Reason: a tag may be different in each row. */
const CODES_BYTES_MAX: number = 64 * 1024 * 1024;
const WORD_BYTES = 4;

const encoder = new TextEncoder();

/** A tag column, and where its vector is in a batch. */
export interface TagColumn {
  readonly name: string;
  readonly type: DataType;
  readonly position: number;
}

/** Codes of one column. */
class ColumnCodes {
  codes: TextCodes = new TextCodes();
  private source: DictionaryVector["dictionary"] = [];
  /** Code of each of the source's. */
  private remap: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private remapped = 0;

  /** Writes the codes of rows to every `step`-th of `target` from `at` on. */
  write(vector: Vector, type: DataType, rowCount: number, target: Uint32Array, at: number, step: number): void {
    if (vector.kind === "dictionary") {
      const { codes } = vector;
      const remap = this.remapOf(vector.dictionary);
      for (let row = 0, to = at; row < rowCount; row++, to += step) target[to] = remap[codes[row] as number] as number;
      return;
    }
    const { validity } = vector;
    const own = this.codes;
    if (vector.kind === "bytes" && type.kind === "string") {
      const { offsets, bytes } = vector;
      for (let row = 0, to = at; row < rowCount; row++, to += step) {
        const isNull = validity !== undefined && validity[row] === 0;
        target[to] = isNull ? 0 : own.codeOf(bytes, offsets[row] as number, offsets[row + 1] as number);
      }
      return;
    }
    for (let row = 0, to = at; row < rowCount; row++, to += step) target[to] = this.codeOfText(tagText(scalarAt(vector, type, row), type));
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
  private columns: readonly ColumnCodes[];

  constructor(table: string, tags: readonly TagColumn[]) {
    this.table = table;
    this.tags = tags;
    this.columns = tags.map(() => new ColumnCodes());
  }

  /** The keys of the rows of a batch. Those of earlier batches may be forgotten. */
  keysOf(vectors: readonly Vector[], rowCount: number): Uint32Array {
    if (this.dictionary.full || this.columns.reduce((sum, { codes }) => sum + codes.byteLength, 0) > CODES_BYTES_MAX) this.clear();
    const width = this.tags.length;
    const words = new Uint32Array(rowCount * width);
    for (const [i, { type, position }] of this.tags.entries()) {
      const vector = vectors[position];
      if (vector !== undefined) this.columns[i]?.write(vector, type, rowCount, words, i, width);
    }
    return this.keysOfWords(words, rowCount, width);
  }

  private clear(): void {
    this.dictionary.clear();
    this.columns = this.tags.map(() => new ColumnCodes());
  }

  private keysOfWords(words: Uint32Array, rowCount: number, width: number): Uint32Array {
    const { dictionary } = this;
    const keys = new Uint32Array(rowCount);
    const view = new DataView(words.buffer);
    const rowBytes = width * WORD_BYTES;
    for (let row = 0, at = 0; row < rowCount; row++, at += width) {
      let hash = 0x811c9dc5;
      for (let i = at; i < at + width; i++) hash = Math.imul(hash ^ (words[i] as number), 0x01000193);
      hash ^= hash >>> 15;
      const from = at * WORD_BYTES;
      const known = dictionary.findIn(view, from, from + rowBytes, hash);
      keys[row] = known >= 0 ? known : this.add(words, at, hash);
    }
    return keys;
  }

  private add(words: Uint32Array, at: number, hash: number): number {
    const { tags, columns, dictionary, table } = this;
    const names: string[] = [];
    const values: string[] = [];
    const nulls: string[] = [];
    for (const [i, { name }] of tags.entries()) {
      const text = columns[i]?.codes.texts[words[at + i] as number];
      if (text === undefined) nulls.push(name);
      else {
        names.push(name);
        values.push(text);
      }
    }
    const bytes = new Uint8Array(words.buffer, at * WORD_BYTES, tags.length * WORD_BYTES);
    return dictionary.add(bytes, 0, bytes.length, hash, { table, names, values, ...(nulls.length === 0 ? {} : { nulls }) });
  }
}
