/**
 * Numbers rows of some 32-bit words densely, in the order they first come: equal words, equal numbers. What all keys of fixed width become
 * (`lanes.ts`): an integer is two words, several keys are theirs side by side.
 *
 *   keys    the words of each number, `width` of them
 *   slots   open addressing, linear probing. One or two words lie in the slot itself, so that a look touches one line of memory:
 *           (word, number + 1) or (low, high, number + 1); of more words (hash, number + 1). Number + 1 = 0: free
 *   older   while keys move to longer slots, some with each new one: those that they lay in; millions at once would hold the thread
 *
 * One generated loop a width. Hashes begin with a seed of the process, so that nobody outside can make keys that meet.
 *
 * 2M rows, CPU ms, with a `Map` an entry and so (rows as in key-table.bench.ts): 1M integers 330 to 420 -> 230 to 300, nearly all different
 * 640 to 1,000 -> 310 to 420; 1,000 integers 20 -> 25, which a `Map` finds as fast.
 */
import { HASH_SEED } from "../../../base/bytes/hash.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import type { Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";

/** What has no number. */
export const NO_NUMBER = -1;

/** Slots at first. */
const SLOTS_MIN = 256;
/** Keys that move to longer slots with each new one, and at least with each call. */
const MOVED_PER_NEW = 8;
const MOVED_AT_ONCE = 4096;

/** How rows that have no words count: `validity` 0. */
export type NullNumber = "a number of its own" | "none";

type Loop = (
  table: WordTable,
  words: Int32Array,
  validity: Validity,
  from: number,
  to: number,
  isNew: boolean,
  nullIsNumber: boolean,
  into: Int32Array,
  slots: Int32Array,
  keys: Int32Array,
  mask: number,
  seed: number,
  sizeMax: number,
) => number;

/** See the file header. */
export class WordTable {
  size = 0;
  /** Number of the row without words; `NO_NUMBER` until one comes. */
  nullNumber: number = NO_NUMBER;
  keys: Int32Array;
  readonly width: number;
  private readonly stride: number;
  private slots: Int32Array;
  private mask = SLOTS_MIN - 1;
  private older: Int32Array | undefined;
  private olderMask = 0;
  /** The first of the keys that have not moved yet, and the end of those that have to. */
  private unmoved = 0;
  private unmovedEnd = 0;
  private readonly loop: Loop;
  private readonly hash: (keys: Int32Array, at: number, seed: number) => number;

  /** @param width words of a key, 1 or more */
  constructor(width: number) {
    this.width = width;
    this.stride = width === 2 ? 3 : 2;
    this.keys = new Int32Array((SLOTS_MIN / 2) * width);
    this.slots = new Int32Array(SLOTS_MIN * this.stride);
    this.loop = loopOf(width);
    this.hash = hashOf(width);
  }

  /** Bytes that a key takes, about: slots are a quarter to half full, and while keys move there are half as many more. */
  get keyBytes(): number {
    return this.width * 6 + this.stride * 16;
  }

  /**
   * Numbers of rows `[0, rowCount)`; new keys get new ones when `isNew`, else `NO_NUMBER`.
   *
   * @param words `width` a row
   * @param nullIsNumber what a row counts as whose `validity` is 0
   */
  numbersOf(words: Int32Array, validity: Validity, rowCount: number, isNew: boolean, nullIs: NullNumber, into: Int32Array): void {
    const nullIsNumber = nullIs === "a number of its own";
    for (let from = 0; from < rowCount; ) {
      const before = this.size;
      const sizeMax = isNew ? this.roomFor() : before;
      const { slots, keys, mask } = this;
      from = this.loop(this, words, validity, from, rowCount, isNew, nullIsNumber, into, slots, keys, mask, HASH_SEED, sizeMax);
      if (this.older !== undefined) this.move(MOVED_AT_ONCE + (this.size - before) * MOVED_PER_NEW);
    }
  }

  /** The size up to which slots and keys suffice, which are made longer when they are full. */
  private roomFor(): number {
    if (this.size * 2 >= this.mask) this.lengthen();
    if (this.size * this.width >= this.keys.length) this.keys = longer(this.keys);
    return Math.min((this.mask + 1) / 2, this.keys.length / this.width);
  }

  private lengthen(): void {
    if (this.older !== undefined) this.move(Number.POSITIVE_INFINITY);
    const slotCount = (this.mask + 1) * 2;
    this.older = this.slots;
    this.olderMask = this.mask;
    this.slots = new Int32Array(slotCount * this.stride);
    this.mask = slotCount - 1;
    this.unmoved = 0;
    this.unmovedEnd = this.size;
  }

  private move(count: number): void {
    const { slots, mask, keys, width, stride, hash } = this;
    const end = Math.min(this.unmovedEnd, this.unmoved + count);
    for (let id = this.unmoved; id < end; id++) {
      if (id === this.nullNumber) continue;
      const own = hash(keys, id * width, HASH_SEED);
      let slot = own & mask;
      const number = width === 2 ? 2 : 1;
      while (slots[slot * stride + number] !== 0) slot = (slot + 1) & mask;
      const at = slot * stride;
      slots[at] = width > 2 ? own : keys[id * width]!;
      if (width === 2) slots[at + 1] = keys[id * width + 1]!;
      slots[at + number] = id + 1;
    }
    this.unmoved = end;
    if (end === this.unmovedEnd) this.older = undefined;
  }

  /** The number of the words at `words[at]` among keys that have not moved, or `NO_NUMBER`; called by the loop. */
  olderNumber(words: Int32Array, at: number, hash: number): number {
    const { older, keys, width, stride, olderMask: mask } = this;
    if (older === undefined) return NO_NUMBER;
    const number = width === 2 ? 2 : 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = older[slot * stride + number]!;
      if (entry === 0) return NO_NUMBER;
      let w = 0;
      while (w < width && keys[(entry - 1) * width + w] === words[at + w]) w++;
      if (w === width) return entry - 1;
    }
  }
}

const loops = new Map<number, Loop>();
const hashes = new Map<number, (keys: Int32Array, at: number, seed: number) => number>();

/** Text of a hash of words `w0`, `w1` …: each is mixed in whole before the next comes. */
function hashText(width: number): string {
  let text = "let h = seed;\n";
  for (let w = 0; w < width; w++) text += `h = Math.imul(h ^ w${w}, 0x85ebca6b); h ^= h >>> 15;\n`;
  return `${text}h = Math.imul(h, 0xc2b2ae35); h ^= h >>> 13;\n`;
}

function hashOf(width: number): (keys: Int32Array, at: number, seed: number) => number {
  const known = hashes.get(width);
  if (known !== undefined) return known;
  const words = Array.from({ length: width }, (_, w) => `const w${w} = keys[at + ${w}];\n`).join("");
  const made = generated<(keys: Int32Array, at: number, seed: number) => number>(
    "word-hash",
    ["keys", "at", "seed"],
    `${words}${hashText(width)}return h;`,
  );
  hashes.set(width, made);
  return made;
}

function loopOf(width: number): Loop {
  const known = loops.get(width);
  if (known !== undefined) return known;
  const each = (text: (w: number) => string, between: string): string => Array.from({ length: width }, (_, w) => text(w)).join(between);
  const [stride, number] = width === 2 ? [3, 2] : [2, 1];
  const inSlot = width === 1 ? "slots[a] === w0" : "slots[a] === w0 && slots[a + 1] === w1";
  const inKeys = `slots[a] === h && ${each((w) => `keys[k${w === 0 ? "" : ` + ${w}`}] === w${w}`, " && ")}`;
  const store = width > 2 ? "slots[a] = h;" : width === 1 ? "slots[a] = w0;" : "slots[a] = w0; slots[a + 1] = w1;";
  const body = `let size = table.size, last = -2, ${each((w) => `p${w} = 0`, ", ")};
for (let i = from; i < to; i++) {
if (validity !== undefined && validity[i] === 0) {
if (!nullIsNumber) { into[i] = -1; continue; }
if (table.nullNumber < 0 && isNew) {
if (size >= sizeMax) { table.size = size; return i; }
table.nullNumber = size++;
}
into[i] = table.nullNumber;
continue;
}
${each((w) => `const w${w} = words[i * ${width} + ${w}];`, " ")}
if (last !== -2 && ${each((w) => `w${w} === p${w}`, " && ")}) { into[i] = last; continue; }
${hashText(width)}let s = h & mask, id = -1;
for (;;) {
const a = s * ${stride};
const e = slots[a + ${number}];
if (e === 0) {
id = table.olderNumber(words, i * ${width}, h);
if (id < 0 && isNew) {
if (size >= sizeMax) { table.size = size; return i; }
id = size++;
${each((w) => `keys[id * ${width} + ${w}] = w${w};`, " ")}
${store} slots[a + ${number}] = id + 1;
}
break;
}
${width > 2 ? `const k = (e - 1) * ${width};\n` : ""}if (${width > 2 ? inKeys : inSlot}) { id = e - 1; break; }
s = (s + 1) & mask;
}
${each((w) => `p${w} = w${w};`, " ")} last = id;
into[i] = id;
}
table.size = size;
return to;`;
  const parameters = "table words validity from to isNew nullIsNumber into slots keys mask seed sizeMax".split(" ");
  const made = generated<Loop>(`word-table-${width}`, parameters, body);
  loops.set(width, made);
  return made;
}
