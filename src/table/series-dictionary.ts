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

/**
 * The tags of one key, and the table of its rows. `names[i]` has `values[i]`; names are distinct. A tag without a value is left out.
 */
export interface TagSet {
  readonly table: string;
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** Tags that are NULL, said to be so; those in neither list take their default. Absent: none is. */
  readonly nulls?: readonly string[];
}

/** Bytes of raw keys after which a dictionary is full. 64 MiB hold about 300,000 keys of 200 B. */
export const SERIES_DICTIONARY_BYTES_MAX: number = 64 * 1024 * 1024;

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
  private tagSets: TagSet[] = [];
  private readonly bytesMax: number;

  constructor(bytesMax: number = SERIES_DICTIONARY_BYTES_MAX) {
    this.bytesMax = bytesMax;
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
    const length = end - start;
    const at = this.used;
    this.reserve(length);
    this.arena.set(bytes.subarray(start, end), at);
    this.used = (at + length + 3) & ~3;
    const key = this.size++;
    this.starts[key] = at;
    this.lengths[key] = length;
    this.hashes[key] = hash;
    this.tagSets.push(tags);
    if (this.size * 2 > this.slots.length) this.rehash();
    else this.place(key, hash);
    return key;
  }

  /** The tags of a key. */
  tagsOf(key: number): TagSet {
    const tags = this.tagSets[key];
    assert(tags !== undefined, `a key below ${this.size}; got ${key}`);
    return tags;
  }

  /** Forgets all keys and starts a new generation. */
  clear(): void {
    this.used = 0;
    this.size = 0;
    this.generation++;
    this.slots = new Uint32Array(4096);
    this.tagSets = [];
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

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}
