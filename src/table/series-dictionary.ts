/**
 * Gives each tag set that a connection's protocol sends a dense number, without splitting it into tags again.
 *
 * A protocol keeps its own raw form of the key (for line protocol: the bytes `measurement,tag=value,...` as sent), so two raw forms
 * of the same tag set get two keys; the engine maps both to one series. Keys are only meaningful within one dictionary and one
 * `generation`.
 *
 *   arena   | raw key 0 | pad | raw key 1 | pad | ...        4-byte aligned, so that keys compare word by word
 *   slots   by hash of the raw key: key
 *
 * Bounded: `full` turns true at the byte limit; the owner then calls `clear`, which starts a new generation.
 */
import { resized } from "../base/bytes/longer-array.ts";
import { assert } from "../base/assert.ts";
import { HashSlots, slotOf } from "../base/bytes/hash-slots.ts";
import { longer } from "../base/bytes/longer-array.ts";
import { utf8Text } from "../column/text-table.ts";

/** Table and tag names of keys; those of one kind share the object. Names are distinct. */
export interface TagShape {
  readonly table: string;
  readonly names: readonly string[];
  /** Bytes of a plain key before each value, from the end of the value before it: for the locator. */
  readonly gaps?: readonly number[];
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
 * Finds the tag values of a key that was added by `addPlain`: value i of its shape is
 * `bytes[spans[at + 2 i], spans[at + 2 i + 1])`, UTF-8 as it is. `bytes[start, end)` is the key.
 */
export type ValueLocator = (bytes: Uint8Array, start: number, end: number, shape: TagShape, spans: Uint32Array, at: number) => void;

/**
 * Bytes of raw keys after which a dictionary is full. 256 MiB hold about 1.3 million keys of 200 B. Reason: a table of a million series
 * whose keys do not fit is written at the speed of new series, a third of that of known ones. Memory that is not in use is not touched,
 * and decoders at rest let go of all of it.
 */
export const SERIES_DICTIONARY_BYTES_MAX: number = 256 * 1024 * 1024;

const ARENA_BYTES_MIN = 64 * 1024;

/**
 * Large, since memory that nobody has touched costs nothing, while what is outgrown is copied and then waits for the collector: 64 KiB,
 * 512 KiB, 4, 32, 256 MiB.
 */
const ARENA_GROWTH = 8;

const SLOTS_MIN = 2048;

export class SeriesDictionary {
  /** Raw keys, each starting at a multiple of 4. Grows by replacement: read the field again after `add`. */
  arena: Uint8Array<ArrayBuffer> = new Uint8Array(ARENA_BYTES_MIN);
  /** The same memory as `arena`, as 32-bit words. */
  words: Uint32Array<ArrayBuffer> = new Uint32Array(this.arena.buffer);
  /** Start of each key in `arena`. */
  starts: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Length in bytes of each key. */
  lengths: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Number of keys. */
  size = 0;
  /** Counts `clear`s. Whoever keeps an array by key must drop it when this changes. */
  generation = 0;
  private used = 0;
  private isExpired = false;
  /** Nearly: of the objects that `add` was given. */
  private tagSetBytes = 0;
  private slots: HashSlots = new HashSlots(SLOTS_MIN);
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
    return this.used >= this.bytesMax || this.isExpired;
  }

  /** Says that most keys are of no use any more: the dictionary counts as full until it is cleared. */
  expire(): void {
    this.isExpired = true;
  }

  /** Bytes held, nearly: those of the arena that were ever touched, and for keys with tags of their own as much again and 100 B. */
  get memoryBytes(): number {
    return this.used + this.slots.byteLength + 2 * this.starts.byteLength + 8 * this.size + this.tagSetBytes;
  }

  /** The key of `bytes[start, end)` or -1. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const { lengths, starts, arena, slots } = this;
    const { pairs, mask } = slots;
    const length = end - start;
    const wanted = hash | 0;
    for (let slot = slotOf(wanted, mask); ; slot = (slot + 2) & mask) {
      const key = (pairs[slot + 1] as number) - 1;
      if (key < 0) return -1;
      if (pairs[slot] !== wanted || lengths[key] !== length) continue;
      const at = starts[key] as number;
      let i = 0;
      while (i < length && arena[at + i] === bytes[start + i]) i++;
      if (i === length) return key;
    }
  }

  /** As `find`, for bytes that a view shows: it compares words, four bytes at a time. */
  findIn(view: DataView, start: number, end: number, hash: number): number {
    const { lengths, slots } = this;
    const { pairs, mask } = slots;
    const length = end - start;
    const wanted = hash | 0;
    for (let slot = slotOf(wanted, mask); ; slot = (slot + 2) & mask) {
      const key = (pairs[slot + 1] as number) - 1;
      if (key < 0) return -1;
      if (pairs[slot] === wanted && lengths[key] === length && this.isAt(key, view, start)) return key;
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
    const at = this.reserve(length);
    this.arena.set(bytes.subarray(start, end), at);
    this.tagSetBytes += length + 100;
    return this.append(at, length, hash, tags);
  }

  /** As `add`, of a key that a view shows and whose values the locator finds in it: nothing but its bytes is kept. */
  addPlain(view: DataView, start: number, end: number, hash: number, shape: TagShape): number {
    if (this.locate === undefined || isTagSet(shape)) assert(false, "plain keys come with a locator, and without values");
    const length = end - start;
    const at = this.reserve(length);
    const { words, arena } = this;
    let from = start;
    let word = at >>> 2; // Word by word: `set` of a piece takes twice as long for 200 B, and makes an object.
    for (const last = word + (length >>> 2); word < last; word++, from += 4) words[word] = view.getUint32(from, true);
    for (let to = word << 2; from < end; ) arena[to++] = view.getUint8(from++);
    return this.append(at, length, hash, shape);
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

  /** Writes where the values of a plain key with these tag names lie in `arena` to `spans` from `at` on; false for other keys. */
  locateValues(key: number, names: readonly string[], spans: Uint32Array, at: number): boolean {
    const shape = this.shapes[key] as TagShape;
    if (this.locate === undefined || shape.names !== names || isTagSet(shape)) return false;
    const start = this.starts[key] as number;
    this.locate(this.arena, start, start + (this.lengths[key] as number), shape, spans, at);
    return true;
  }

  private append(at: number, length: number, hash: number, shape: TagSet | TagShape): number {
    this.used = (at + length + 3) & ~3;
    const key = this.size++;
    this.starts[key] = at;
    this.lengths[key] = length;
    this.shapes.push(shape);
    this.slots.add(hash | 0, key);
    return key;
  }

  /** The tags of a key. */
  tagsOf(key: number): TagSet {
    const shape = this.shapeOf(key);
    if (isTagSet(shape)) return shape;
    const { table, names } = shape;
    const spans = new Uint32Array(names.length * 2);
    this.locateValues(key, names, spans, 0);
    return { table, names, values: names.map((_, i) => utf8Text(this.arena, spans[2 * i] as number, spans[2 * i + 1] as number)) };
  }

  /** Forgets all keys and starts a new generation. */
  clear(): void {
    this.isExpired = false;
    this.used = 0;
    this.size = 0;
    this.generation++;
    this.tagSetBytes = 0;
    this.slots = new HashSlots(SLOTS_MIN);
    this.starts = new Uint32Array(1024);
    this.lengths = new Uint32Array(1024);
    this.shapes = [];
    this.arena = new Uint8Array(ARENA_BYTES_MIN);
    this.words = new Uint32Array(this.arena.buffer);
  }

  /** Makes room for a key and returns its place in the arena. */
  private reserve(length: number): number {
    const need = this.used + length + 8;
    if (need > this.arena.length) {
      this.arena = resized(this.arena.subarray(0, this.used), (Math.max(need, this.arena.length * ARENA_GROWTH) + 3) & ~3);
      this.words = new Uint32Array(this.arena.buffer);
    }
    if (this.size === this.starts.length) {
      this.starts = longer(this.starts);
      this.lengths = longer(this.lengths);
    }
    return this.used;
  }
}

function isTagSet(shape: TagSet | TagShape): shape is TagSet {
  return "values" in shape;
}
