/**
 * Gives each tag set that a connection's protocol sends a dense number, without splitting it into tags again.
 *
 * A protocol keeps its own raw form of the key (for line protocol: the bytes `measurement,tag=value,...` as sent), so two raw forms
 * of the same tag set get two keys; the engine maps both to one series. Keys are only meaningful within one dictionary and one
 * `generation`.
 *
 *   arena   | raw key 0 | pad | raw key 1 | pad | ...        4-byte aligned, so that keys compare word by word
 *   slots   open addressing, linear probing: key + 1, 0 = free
 *
 * Bounded: `full` turns true at the byte limit; the owner then calls `clear`, which starts a new generation.
 */
import { assert } from "../base/assert.ts";
import { utf8Text } from "../column/text-table.ts";

/** Table and tag names of keys; those of one kind share the object. Names are distinct. */
export interface TagShape {
  readonly table: string;
  readonly names: readonly string[];
}

/** The tags of one key, and the table of its rows. `names[i]` has `values[i]`. A tag without a value is left out. */
export interface TagSet extends TagShape {
  readonly values: readonly string[];
  /** Tags that are NULL, said to be so; those in neither list take their default. Absent: none is. */
  readonly nulls?: readonly string[];
  /** The shape, where many tag sets share it as one object. */
  readonly shape?: TagShape;
}

/**
 * Finds the tag values of a key that was added by `addPlain`: value i of its shape is `bytes[spans[2 i], spans[2 i + 1])`, UTF-8 as it is.
 * `bytes[start, end)` is the key.
 */
export type ValueLocator = (bytes: Uint8Array, start: number, end: number, spans: Uint32Array) => void;

/**
 * Bytes of raw keys after which a dictionary is full. 256 MiB hold about 1.3 million keys of 200 B. Reason: a table of a million series
 * whose keys do not fit is written at the speed of new series, a third of that of known ones. Memory that is not in use is not touched,
 * and decoders at rest let go of all of it.
 */
export const SERIES_DICTIONARY_BYTES_MAX: number = 256 * 1024 * 1024;

export class SeriesDictionary {
  /** Raw keys, each starting at a multiple of 4. Grows by replacement: read the field again after `add`. */
  arena: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 16);
  /** The same memory as `arena`, as 32-bit words. */
  words: Uint32Array<ArrayBuffer> = new Uint32Array(this.arena.buffer);
  /** Start of each key in `arena`. */
  starts: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Length in bytes of each key. */
  lengths: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Hash of each key, as given to `add`. */
  hashes: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Number of keys. */
  size = 0;
  /** Counts `clear`s. Whoever keeps an array by key must drop it when this changes. */
  generation = 0;
  private used = 0;
  private slots: Uint32Array<ArrayBuffer> = new Uint32Array(4096);
  /** What `add` was given, or the shape alone for plain keys. */
  private shapes: (TagSet | TagShape)[] = [];
  private readonly bytesMax: number;
  private readonly locate: ValueLocator | undefined;

  /** @param locate for protocols whose raw keys hold the values as plain text */
  constructor(bytesMax: number = SERIES_DICTIONARY_BYTES_MAX, locate?: ValueLocator) {
    this.bytesMax = bytesMax;
    this.locate = locate;
  }

  /** Whether the byte limit is reached. The owner clears between two batches, never within one. */
  get full(): boolean {
    return this.used >= this.bytesMax;
  }

  /** Bytes held, nearly: the strings of tags are taken to be as long as the raw keys, and 100 B of objects a key. */
  get memoryBytes(): number {
    const { arena, slots, starts, used, size } = this;
    return arena.byteLength + slots.byteLength + 3 * starts.byteLength + used + 100 * size;
  }

  /** The key of `bytes[start, end)` or -1. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const { slots, hashes, lengths, starts, arena } = this;
    const mask = slots.length - 1;
    const length = end - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number;
      if (entry === 0) return -1;
      const key = entry - 1;
      if (hashes[key] !== hash || lengths[key] !== length) continue;
      const at = starts[key] as number;
      let i = 0;
      while (i < length && arena[at + i] === bytes[start + i]) i++;
      if (i === length) return key;
    }
  }

  /** As `find`, for bytes that a view shows: it compares words, four bytes at a time. */
  findIn(view: DataView, start: number, end: number, hash: number): number {
    const { slots, hashes, lengths } = this;
    const mask = slots.length - 1;
    const length = end - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number;
      if (entry === 0) return -1;
      const key = entry - 1;
      if (hashes[key] === hash && lengths[key] === length && this.isAt(key, view, start)) return key;
    }
  }

  /** Whether the bytes of a key stand at `start`, from where `view` shows at least as many. */
  isAt(key: number, view: DataView, start: number): boolean {
    const { words, arena } = this;
    const length = this.lengths[key] as number;
    const from = this.starts[key] as number;
    let word = from >>> 2;
    let at = start;
    for (const last = word + (length >>> 2); word < last; word++, at += 4) {
      if (view.getUint32(at, true) !== words[word]) return false;
    }
    for (const end = start + length; at < end; at++) if (view.getUint8(at) !== arena[from + at - start]) return false;
    return true;
  }

  /** Adds a key that `find` did not find and returns its number. */
  add(bytes: Uint8Array, start: number, end: number, hash: number, tags: TagSet): number {
    return this.append(bytes, start, end, hash, tags);
  }

  /** As `add`, of a key whose values the locator finds in it: nothing but its bytes is kept. */
  addPlain(bytes: Uint8Array, start: number, end: number, hash: number, shape: TagShape): number {
    assert(this.locate !== undefined && !isTagSet(shape), "plain keys come with a locator, and without values");
    return this.append(bytes, start, end, hash, shape);
  }

  /** Table and tag names of a key. */
  shapeOf(key: number): TagShape {
    const shape = this.shapes[key];
    if (shape === undefined) assert(false, `a key below ${this.size}; got ${key}`);
    return shape as TagShape;
  }

  /**
   * The shape of a key as the one object that all keys of its kind share, so that what is found out about it need not be found out again;
   * undefined for a key of its own kind.
   */
  sharedShapeOf(key: number): TagShape | undefined {
    const shape = this.shapeOf(key);
    return isTagSet(shape) ? shape.shape : shape;
  }

  /** Writes where the values of a plain key lie in `arena` to `spans`; false for other keys. */
  locateValues(key: number, spans: Uint32Array): boolean {
    if (this.locate === undefined || isTagSet(this.shapeOf(key))) return false;
    const start = this.starts[key] as number;
    this.locate(this.arena, start, start + (this.lengths[key] as number), spans);
    return true;
  }

  private append(bytes: Uint8Array, start: number, end: number, hash: number, shape: TagSet | TagShape): number {
    const length = end - start;
    const at = this.used;
    this.reserve(length);
    this.arena.set(bytes.subarray(start, end), at);
    this.used = (at + length + 3) & ~3;
    const key = this.size++;
    this.starts[key] = at;
    this.lengths[key] = length;
    this.hashes[key] = hash;
    this.shapes.push(shape);
    if (this.size * 2 > this.slots.length) this.rehash();
    else this.place(key, hash);
    return key;
  }

  /** The tags of a key. */
  tagsOf(key: number): TagSet {
    const shape = this.shapeOf(key);
    if (isTagSet(shape)) return shape;
    const { table, names } = shape;
    const spans = new Uint32Array(names.length * 2);
    this.locateValues(key, spans);
    return { table, names, values: names.map((_, i) => utf8Text(this.arena, spans[2 * i] as number, spans[2 * i + 1] as number)) };
  }

  /** Forgets all keys and starts a new generation. */
  clear(): void {
    this.used = 0;
    this.size = 0;
    this.generation++;
    this.slots = new Uint32Array(4096);
    this.starts = new Uint32Array(1024);
    this.lengths = new Uint32Array(1024);
    this.hashes = new Uint32Array(1024);
    this.shapes = [];
    this.arena = new Uint8Array(1 << 16);
    this.words = new Uint32Array(this.arena.buffer);
  }

  private place(key: number, hash: number): void {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = key + 1;
  }

  private rehash(): void {
    this.slots = new Uint32Array(this.slots.length * 2);
    for (let key = 0; key < this.size; key++) this.place(key, this.hashes[key] as number);
  }

  private reserve(length: number): void {
    const need = this.used + length + 8;
    if (need > this.arena.length) {
      const grown = new Uint8Array((Math.max(need, this.arena.length * 2) + 3) & ~3);
      grown.set(this.arena.subarray(0, this.used));
      this.arena = grown;
      this.words = new Uint32Array(grown.buffer);
    }
    if (this.size === this.starts.length) {
      this.starts = doubled(this.starts);
      this.lengths = doubled(this.lengths);
      this.hashes = doubled(this.hashes);
    }
  }
}

function isTagSet(shape: TagSet | TagShape): shape is TagSet {
  return "values" in shape;
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}
