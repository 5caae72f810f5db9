/**
 * Numbers rows of some 32-bit words densely, in the order they first come: equal words, equal numbers. What all keys of fixed width become
 * (`lanes.ts`): an integer is two words, several keys are theirs side by side.
 *
 *   keys    the words of each number, `width` of them
 *   slots   `base/bytes/hash-slots.ts`, growing in steps. The hash of one word is a mix of it that no other word has, and so, beside one
 *           of them, is that of two: (hash, number + 1) and (hash, word, number + 1) tell these apart without a look at the keys
 *   places where keys turn out to be whole numbers that lie close together (`number-places.ts`)
 *
 * One generated loop a width. Hashes begin with a seed of the process, so that nobody outside can make keys that meet. Slots that do not
 * fit in a cache are fetched for a batch before it is looked up, while loads that nothing waits for run beside each other.
 *
 * 2M rows, CPU ms, with a `Map` an entry and so (rows as in key-table.bench.ts): 1M integers 330 to 420 -> 230 to 300, nearly all different
 * 640 to 1,000 -> 310 to 420; 1,000 integers 20 -> 25, which a `Map` finds as fast.
 */
import { HASH_SEED } from "../../../base/bytes/hash.ts";
import { HashSlots } from "../../../base/bytes/hash-slots.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import type { Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";
import { eachWord, type HashLoop, hashLoop, nullRow } from "./word-hash.ts";
import { NumberPlaces } from "./number-places.ts";

/** What has no number. */
export const NO_NUMBER = -1;

/** Slots at first. */
const SLOTS_MIN = 256;
/** Slots that fit in a cache. */
const SLOTS_CACHED: number = 2 ** 16;
/** Rows that are looked up before others: their hashes and slots stay in a cache. */
const ROWS_AT_ONCE = 4096;

/** How rows that have no words count: `validity` 0. */
export type NullNumber = "a number of its own" | "none";

type Loop = (
  table: WordTable,
  words: Int32Array,
  validity: Validity,
  hashes: Int32Array,
  from: number,
  to: number,
  base: number,
  isNew: boolean,
  nullIsNumber: boolean,
  into: Int32Array,
  pairs: Int32Array,
  slotMask: number,
  keys: Int32Array,
  sizeMax: number,
) => number;

/** See the file header. */
export class WordTable {
  size = 0;
  /** Number of the row without words; `NO_NUMBER` until one comes. */
  nullNumber: number = NO_NUMBER;
  keys: Int32Array;
  readonly width: number;
  private readonly slots: HashSlots;
  private numbers: NumberPlaces | undefined;
  private readonly stride: 2 | 3;
  private readonly loop: Loop;
  private readonly hash: HashLoop;
  private readonly hashes = new Int32Array(ROWS_AT_ONCE);

  /** @param width words of a key, 1 or more */
  constructor(width: number) {
    this.width = width;
    this.stride = width === 2 ? 3 : 2;
    this.keys = new Int32Array((SLOTS_MIN / 2) * width);
    this.slots = new HashSlots(SLOTS_MIN, { stride: this.stride, inSteps: true });
    this.loop = loopOf(width);
    this.hash = hashLoop(width);
  }

  /** Bytes that a key takes, about: slots are 3/8 to 3/4 full, and while keys move there are half as many more. */
  get keyBytes(): number {
    const { numbers, size, width, stride } = this;
    return width * 6 + (numbers === undefined ? stride * 9 : Math.ceil(numbers.byteLength / Math.max(1, size)));
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
      from =
        this.numbers === undefined
          ? this.byHash(words, validity, from, Math.min(rowCount, from + ROWS_AT_ONCE), isNew, nullIsNumber, into)
          : this.byNumber(this.numbers, words, validity, from, rowCount, isNew, nullIsNumber, into);
    }
  }

  /** Numbers of some rows; `to`, or a row before from which on keys are looked up in another way. */
  private byHash(
    words: Int32Array,
    validity: Validity,
    base: number,
    to: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
  ): number {
    const { slots, hashes } = this;
    this.hash(words, base, to, HASH_SEED, hashes);
    if (slots.slotMask >= SLOTS_CACHED) slots.fetch(hashes, to - base);
    for (let from = base; from < to; ) {
      const before = this.size;
      if (isNew && slots.room === 0 && this.lieClose()) return from;
      const sizeMax = isNew ? this.roomFor() : before;
      const { pairs, slotMask } = slots;
      const { keys } = this;
      from = this.loop(this, words, validity, hashes, from, to, base, isNew, nullIsNumber, into, pairs, slotMask, keys, sizeMax);
      if (this.size > before) slots.added(this.size - before);
    }
    slots.move(ROWS_AT_ONCE);
    return to;
  }

  /** Before slots grow: whether keys lie close together, and then have their numbers in their places. */
  private lieClose(): boolean {
    if (this.width > 2) return false;
    this.numbers = NumberPlaces.of(this.keys, this.width, this.size, this.nullNumber);
    if (this.numbers !== undefined) this.slots.reset(SLOTS_MIN);
    return this.numbers !== undefined;
  }

  /** As `byHash`. */
  private byNumber(
    numbers: NumberPlaces,
    words: Int32Array,
    validity: Validity,
    from: number,
    to: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
  ): number {
    for (let row = from; ; ) {
      if (isNew && this.size * this.width >= this.keys.length) this.keys = longer(this.keys);
      const { keys, width } = this;
      row = numbers.numbersOf(this, words, validity, row, to, isNew, nullIsNumber, into, keys);
      if (row === to) return to;
      if (this.size * width >= keys.length || numbers.reach(words, validity, row, to, this.size)) continue;
      this.numbers = undefined;
      this.backToSlots();
      return row;
    }
  }

  /** Puts all keys into slots. */
  private backToSlots(): void {
    const { slots, keys, width, hashes } = this;
    slots.reserve(this.size + 1);
    for (let from = 0; from < this.size; from += ROWS_AT_ONCE) {
      const to = Math.min(this.size, from + ROWS_AT_ONCE);
      this.hash(keys, from, to, HASH_SEED, hashes);
      for (let id = from; id < to; id++) if (id !== this.nullNumber) slots.add(hashes[id - from]!, id, keys[id * width]!);
    }
  }

  /** The size up to which slots and keys suffice, which are made longer when they are full. */
  private roomFor(): number {
    const { slots, width } = this;
    slots.makeRoom(1);
    if (this.size * width >= this.keys.length) this.keys = longer(this.keys);
    return Math.min(this.size + slots.room, this.keys.length / width);
  }

  /** The number of the words at `words[at]` among keys that have not moved, or `NO_NUMBER`; called by the loop. */
  olderNumber(words: Int32Array, at: number, hash: number): number {
    const { keys, width, stride } = this;
    const { older, olderSlotMask } = this.slots;
    if (older === undefined || !this.slots.mayBeOlder(hash)) return NO_NUMBER;
    for (let slot = hash & olderSlotMask; ; slot = (slot + 1) & olderSlotMask) {
      const entry = older[slot * stride + stride - 1]!;
      if (entry === 0) return NO_NUMBER;
      if (older[slot * stride] !== hash) continue;
      let w = 0;
      while (w < width && keys[(entry - 1) * width + w] === words[at + w]) w++;
      if (w === width) return entry - 1;
    }
  }
}

const loops = new Map<number, Loop>();

function loopOf(width: number): Loop {
  const known = loops.get(width);
  if (known !== undefined) return known;
  const stride = width === 2 ? 3 : 2;
  const last = width === 2 ? 2 : 1;
  const inKeys = eachWord(width, (w) => `keys[(e - 1) * ${width} + ${w}] === w${w}`, " && ");
  const isSame = width === 1 ? "true" : width === 2 ? "pairs[a + 1] === w0" : inKeys;
  const body = `// ${width}
let size = table.size, last = -2, ${eachWord(width, (w) => `p${w} = 0`, ", ")};
for (let i = from; i < to; i++) {
${nullRow("i")}
${eachWord(width, (w) => `const w${w} = words[i * ${width} + ${w}];`)}
if (last !== -2 && ${eachWord(width, (w) => `w${w} === p${w}`, " && ")}) { into[i] = last; continue; }
const h = hashes[i - base];
let s = h & slotMask, id = -1;
for (;;) {
const a = s * ${stride};
const e = pairs[a + ${last}];
if (e === 0) {
id = table.olderNumber(words, i * ${width}, h);
if (id < 0 && isNew) {
if (size >= sizeMax) { table.size = size; return i; }
id = size++;
${eachWord(width, (w) => `keys[id * ${width} + ${w}] = w${w};`)}
pairs[a] = h; ${width === 2 ? "pairs[a + 1] = w0; " : ""}pairs[a + ${last}] = id + 1;
}
break;
}
if (pairs[a] === h && ${isSame}) { id = e - 1; break; }
s = (s + 1) & slotMask;
}
${eachWord(width, (w) => `p${w} = w${w};`)} last = id;
into[i] = id;
}
table.size = size;
return to;`;
  const parameters = "table words validity hashes from to base isNew nullIsNumber into pairs slotMask keys sizeMax".split(" ");
  const made = generated<Loop>(`word-table-${width}`, parameters, body);
  loops.set(width, made);
  return made;
}
