/** Keys of tag sets that are given value by value: for INSERT, COPY and tests. Decoders of protocols find keys by their raw bytes. */
import { fnv1a } from "../base/bytes/hash.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

/** Tag sets whose keys are found without making bytes of them. Reason: they are objects, which the collector goes over. */
const KNOWN_MAX = 8192;

const encoder = new TextEncoder();

/** Gives the tag sets of rows of one table their keys. */
export class TagKeys {
  readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly table: string;
  private readonly names: readonly string[];
  /** The tag set before this one, and its key: a single row needs no more. */
  private last: string | undefined;
  private lastKey = -1;
  private known: Map<string, number> | undefined;

  /** @param names of the tags, in the order of their values */
  constructor(table: string, names: readonly string[]) {
    this.table = table;
    this.names = names;
  }

  /** The key of the texts of all tags; undefined is a tag that is NULL. */
  keyOf(texts: readonly (string | undefined)[]): number {
    let raw = "";
    for (const text of texts) raw += text === undefined ? "-" : `${text.length}:${text}`;
    if (this.last === raw) return this.lastKey;
    const key = this.known?.get(raw) ?? this.found(raw, texts);
    if (this.last !== undefined) {
      if (this.known === undefined || this.known.size >= KNOWN_MAX) this.known = new Map();
      this.known.set(raw, key);
    }
    this.last = raw;
    this.lastKey = key;
    return key;
  }

  private found(raw: string, texts: readonly (string | undefined)[]): number {
    const { dictionary, table } = this;
    const bytes = encoder.encode(raw);
    const hash = fnv1a(bytes, 0, bytes.length);
    const known = dictionary.find(bytes, 0, bytes.length, hash);
    if (known >= 0) return known;
    const names: string[] = [];
    const values: string[] = [];
    const nulls: string[] = [];
    for (const [i, name] of this.names.entries()) {
      const text = texts[i];
      if (text === undefined) nulls.push(name);
      else {
        names.push(name);
        values.push(text);
      }
    }
    return dictionary.add(bytes, 0, bytes.length, hash, { table, names, values, ...(nulls.length === 0 ? {} : { nulls }) });
  }
}
