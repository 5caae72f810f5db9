/**
 * Finds the key of a line's measurement and tags.
 *
 *   guess    the key that followed the previous line's key last time; compared word by word with the line, and done if a space follows
 *   hash     scan to the first unescaped space four bytes at a time, hashing; ask the dictionary
 *   new      compare with the pattern of the last new key, else split, unescape and check the tags; add the key
 *
 * cpu rows of decode.bench.ts (200 B of key): right guesses 4.4 M rows/s, wrong guesses 2.2 M, all series new 1.0 M.
 *
 * A key never ends with a backslash, so equal bytes followed by a space are the same key. Tags are checked once, when their key is
 * new. The scan reads 32-bit words and finds bytes up to 0x20 with the usual borrow trick (Warren, Hacker's Delight, 6-1).
 */
import { longer } from "../../base/bytes/longer-array.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import { type Failure, Reason } from "./failure.ts";
import { fitsPattern, type KeyPattern, keyGaps, keyPattern } from "./key-pattern.ts";
import { splitKey } from "./series-key.ts";
import type { TableBuilder, TagShape } from "./table-builder.ts";

const BACKSLASH = 0x5c;

/** Gives the builder of a measurement, or undefined when there are too many. */
export type TableSource = (table: string) => TableBuilder | undefined;

export class SeriesIndex {
  readonly dictionary: SeriesDictionary;
  /** Position behind the key that `find` found. */
  keyEnd = 0;
  private words: Int32Array<ArrayBuffer>;
  private followers: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private shapeOf: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private readonly shapes: TagShape[] = [];
  /** By shape, where it has tags: how its keys look. Keys with a backslash have no part in it. */
  private readonly patterns: (KeyPattern | undefined)[] = [];
  private readonly shapesByName: Map<TableBuilder, Map<string, number>> = new Map();
  private previous = 0;
  private hash = 0;
  private readonly tableSource: TableSource;

  constructor(dictionary: SeriesDictionary, tableSource: TableSource) {
    this.dictionary = dictionary;
    this.words = new Int32Array(dictionary.arena.buffer);
    this.tableSource = tableSource;
  }

  /** Bytes held, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.followers.byteLength + this.shapeOf.byteLength;
  }

  /** Forgets all keys. */
  clear(): void {
    this.dictionary.clear();
    this.words = new Int32Array(this.dictionary.arena.buffer);
    this.followers = new Uint32Array(1024);
    this.shapeOf = new Uint32Array(1024);
    this.shapes.length = 0;
    this.patterns.length = 0;
    this.shapesByName.clear();
    this.previous = 0;
  }

  /** The tag names of a key. */
  shape(key: number): TagShape {
    return this.shapes[this.shapeOf[key]!]!;
  }

  /**
   * The key of the line that starts at `start`; `keyEnd` is then the position of the space behind it. -1, with the reason in
   * `failure`, when the line has none. A line end lies at `end - 1`.
   */
  find(bytes: Uint8Array, view: DataView, start: number, end: number, failure: Failure): number {
    const { dictionary, previous } = this;
    const guess = this.followers[previous]!;
    if (guess < dictionary.size) {
      const length = dictionary.lengths[guess]!;
      const keyEnd = start + length;
      if (keyEnd + 4 <= end && bytes[keyEnd] === 0x20 && sameWords(view, start, this.words, dictionary.starts[guess]!, length)) {
        this.keyEnd = keyEnd;
        this.previous = guess;
        return guess;
      }
    }
    const keyEnd = this.scan(bytes, view, start, end, failure);
    if (keyEnd < 0) return -1;
    let key = dictionary.find(bytes, start, keyEnd, this.hash);
    if (key < 0) {
      key = this.add(bytes, view, start, keyEnd, failure);
      if (key < 0) return -1;
    }
    this.followers[previous] = key;
    this.previous = key;
    this.keyEnd = keyEnd;
    return key;
  }

  /** Position of the first unescaped space, with the hash of the bytes before it in `hash`; -1 when another byte ends the key. */
  private scan(bytes: Uint8Array, view: DataView, start: number, end: number, failure: Failure): number {
    let hash = 0x9747b28c | 0;
    let at = start;
    let stop = -1;
    const wordsEnd = end - 4;
    while (stop < 0 && at <= wordsEnd) {
      const word = view.getInt32(at, true);
      let low = (word - 0x21212121) & ~word & 0x80808080;
      while (low !== 0) {
        const byte = at + ((31 - Math.clz32(low & -low)) >>> 3);
        if (bytes[byte]! <= 0x20 && !(bytes[byte] === 0x20 && byte > start && bytes[byte - 1] === 0x5c)) {
          stop = byte;
          break;
        }
        low &= low - 1;
      }
      if (stop >= 0) break;
      hash = Math.imul(hash ^ word, 0x5bd1e995);
      hash ^= hash >>> 15;
      at += 4;
    }
    let last = 0;
    for (let shift = 0; stop < 0 || at < stop; at++, shift += 8) {
      const byte = bytes[at]!;
      if (stop < 0 && byte <= 0x20 && !(byte === 0x20 && at > start && bytes[at - 1] === 0x5c)) {
        stop = at;
        break;
      }
      last |= byte << shift;
    }
    hash = Math.imul(hash ^ last, 0x5bd1e995);
    hash = Math.imul(hash ^ (hash >>> 13) ^ (stop - start), 0x5bd1e995);
    this.hash = (hash ^ (hash >>> 15)) >>> 0;
    if (bytes[stop] === 0x20) return stop;
    const lineEnd = bytes[stop] === 0x0a || (bytes[stop] === 0x0d && bytes[stop + 1] === 0x0a);
    return lineEnd ? failure.at(Reason.NoFields, start, stop) : failure.at(Reason.Control, stop, stop + 1);
  }

  private add(bytes: Uint8Array, view: DataView, start: number, end: number, failure: Failure): number {
    const { dictionary } = this;
    const guess = dictionary.size === 0 ? -1 : this.shapeOf[dictionary.size - 1]!;
    const pattern = this.patterns[guess];
    if (pattern !== undefined && fitsPattern(bytes, start, end, pattern)) {
      return this.append(dictionary.addPlain(view, start, end, this.hash, this.shapes[guess]!.tags), guess);
    }
    const parts = splitKey(bytes, start, end, failure);
    if (parts === undefined) return -1;
    const { measurement, names, values } = parts;
    const table = this.tableSource(measurement);
    if (table === undefined) return failure.at(Reason.Measurements, start, end);
    const number = this.shapeNumber(table, names);
    const { tags } = this.shapes[number]!;
    if (bytes.subarray(start, end).includes(BACKSLASH)) {
      return this.append(dictionary.add(bytes, start, end, this.hash, { ...tags, values }), number);
    }
    if (names.length > 0) this.patterns[number] ??= keyPattern(measurement, names);
    return this.append(dictionary.addPlain(view, start, end, this.hash, tags), number);
  }

  /** Keeps up with a key that was added. */
  private append(key: number, shapeNumber: number): number {
    if (this.words.buffer !== this.dictionary.arena.buffer) this.words = new Int32Array(this.dictionary.arena.buffer);
    if (key >= this.followers.length) {
      this.followers = longer(this.followers);
      this.shapeOf = longer(this.shapeOf);
    }
    this.followers[key] = key + 1;
    this.shapeOf[key] = shapeNumber;
    return key;
  }

  private shapeNumber(table: TableBuilder, names: readonly string[]): number {
    let shapes = this.shapesByName.get(table);
    if (shapes === undefined) {
      shapes = new Map();
      this.shapesByName.set(table, shapes);
    }
    // No name holds a control character, so the joined text stands for the list.
    const joined = names.join("\n");
    const known = shapes.get(joined);
    if (known !== undefined) return known;
    const number = this.shapes.length;
    this.shapes.push({ table, names, tags: { table: table.table, names, gaps: keyGaps(table.table, names) }, epoch: 0 });
    shapes.set(joined, number);
    return number;
  }
}

/** Whether `length` bytes of `view` at `start` equal those of `words` that begin at byte `from`, a multiple of 4. */
function sameWords(view: DataView, start: number, words: Int32Array, from: number, length: number): boolean {
  let word = from >>> 2;
  const last = word + (length >>> 2);
  let at = start;
  while (word < last) {
    if (view.getInt32(at, true) !== words[word]) return false;
    at += 4;
    word++;
  }
  const rest = length & 3;
  return rest === 0 || ((view.getInt32(at, true) ^ words[word]!) & ((1 << (rest << 3)) - 1)) === 0;
}
