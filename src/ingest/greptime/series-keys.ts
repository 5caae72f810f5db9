/**
 * Keys of tag sets by the bytes of their values as sent. A known set costs a copy of those bytes and a comparison; only a new one becomes
 * text.
 *
 *   raw key   | shape, 4 | { length, 4, bytes of the value behind its tag }* |      a length of 2^32-1 is NULL
 *
 * A shape is a table with the names and types of its tags. Two forms of one value (a varint with needless bytes) are two keys of one
 * series, which the engine knows.
 */
import type { ProtoReader } from "../../format/proto/reader.ts";
import { displayName } from "../../column/data-type.ts";
import type { SeriesDictionary, TagShape } from "../../table/series-dictionary.ts";
import { tagText } from "../../table/tag-value.ts";
import { utf8Text } from "../../base/bytes/utf8.ts";
import { KeyIndex } from "../common/key-index.ts";
import { Encoding } from "./column-type.ts";
import { invalidAt, type Place } from "./failure.ts";
import { SHAPES_MAX } from "./limits.ts";
import type { RequestColumn } from "./schema-reader.ts";
import { scalarOf } from "./value-reader.ts";

const NULL_LENGTH = 0xffff_ffff;
const KEY_BYTES_MIN = 1024;

/** The tags of a table of a request. */
export interface TagColumns {
  readonly number: number;
  readonly columns: readonly RequestColumn[];
  /** Shared by all sets without NULL. */
  readonly shape: TagShape;
}

/** See the file header. */
export class SeriesKeys {
  private readonly index: KeyIndex = new KeyIndex();
  private readonly shapes = new Map<string, TagColumns>();
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(KEY_BYTES_MIN);
  private view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);

  get dictionary(): SeriesDictionary {
    return this.index.dictionary;
  }

  get memoryBytes(): number {
    return this.index.memoryBytes;
  }

  /** Begins a request: forgets what it knows where that is too much. */
  begin(): void {
    if (!this.dictionary.full && this.shapes.size < SHAPES_MAX) return;
    this.index.clear();
    this.shapes.clear();
  }

  /** The tags of a table, as they were given before. */
  tagsOf(table: string, columns: readonly RequestColumn[]): TagColumns {
    const name = [table, ...columns.map(({ name: column, type }) => `${column}\0${displayName(type.type)}`)].join("\0");
    let tags = this.shapes.get(name);
    if (tags === undefined) {
      tags = { number: this.shapes.size, columns, shape: { table, names: columns.map((column) => column.name) } };
      this.shapes.set(name, tags);
    }
    return tags;
  }

  /**
   * The key of a row. Value i of its tags is `[places[p], places[p + 1])` of the reader's bytes, p being `at + offsets[i]`; a start of -1
   * is NULL.
   *
   * @throws DbError InvalidArguments for a value that is none of its type
   */
  keyOf(tags: TagColumns, reader: ProtoReader, places: Int32Array, at: number, offsets: Int32Array, place: Place, row: number): number {
    const count = offsets.length;
    let length = 4 + 4 * count;
    for (let i = 0; i < count; i++) {
      const p = at + (offsets[i] as number);
      length += (places[p + 1] as number) - (places[p] as number);
    }
    if (length > this.bytes.length) this.grow(length);
    const { bytes, view, index } = this;
    const source = reader.bytes;
    view.setUint32(0, tags.number, true);
    let to = 4;
    for (let i = 0; i < count; i++) {
      const p = at + (offsets[i] as number);
      const from = places[p] as number;
      const end = places[p + 1] as number;
      view.setUint32(to, from < 0 ? NULL_LENGTH : end - from, true);
      to += 4;
      for (let j = from; j < end; j++) bytes[to++] = source[j] as number; // The values of tags are short.
    }
    let key = index.guess(view, 0, length);
    if (key < 0) key = index.find(view, 0, to);
    if (key < 0) key = this.add(tags, reader, places, at, offsets, to, { ...place, row });
    index.follow(key);
    return key;
  }

  private add(
    tags: TagColumns,
    reader: ProtoReader,
    places: Int32Array,
    at: number,
    offsets: Int32Array,
    length: number,
    place: Place,
  ): number {
    const names: string[] = [];
    const values: string[] = [];
    const nulls: string[] = [];
    for (const [i, column] of tags.columns.entries()) {
      const p = at + (offsets[i] as number);
      const start = places[p] as number;
      const text = start < 0 ? undefined : textOf(column, reader, start, places[p + 1] as number, place);
      if (text === undefined) nulls.push(column.name);
      else {
        names.push(column.name);
        values.push(text);
      }
    }
    const { shape } = tags;
    const set =
      nulls.length === 0 ? { table: shape.table, names: shape.names, values, shape } : { table: shape.table, names, values, nulls };
    return this.index.add(this.bytes, 0, length, set);
  }

  private grow(length: number): void {
    this.bytes = new Uint8Array(length * 2);
    this.view = new DataView(this.bytes.buffer);
  }
}

/** The text of a tag's value, which is `[start, end)` of the reader's bytes. */
function textOf(column: RequestColumn, reader: ProtoReader, start: number, end: number, place: Place): string | undefined {
  const at = { ...place, column: column.name };
  if (column.type.encoding === Encoding.text) return plainText(reader, start, end, at);
  const read = scalarOf(reader, start, end, column.type);
  if (!read.ok) throw invalidAt(at, read.why);
  return tagText(read.value, column.type.type);
}

function plainText(reader: ProtoReader, start: number, end: number, place: Place): string {
  const { at } = reader;
  reader.at = start;
  const textEnd = reader.lengthEnd(end);
  const text = utf8Text(reader.bytes.subarray(reader.at, textEnd));
  reader.at = at;
  if (textEnd !== end) throw invalidAt(place, "it holds more than one value");
  if (text === undefined) throw invalidAt(place, "its value is no UTF-8");
  return text;
}
