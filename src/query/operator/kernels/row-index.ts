/**
 * Which rows have which keys: for the side of a join that is held. Keys are some 32-bit words a row (`lanes.ts`), side by side.
 *
 *   direct  firsts[key - lowest] → the first row; where keys are whole numbers that lie close together
 *   hashed  slots: open addressing, linear probing, of 4 bytes: | other bits of the hash | row + 1 |, 0 = free. The bits tell nearly all
 *           other keys apart, so that the words of a row are looked at once, and where they lie already
 *   marked  a bit for each number from the lowest key on, of sets of such keys: asked only if a key is there
 *   next    next[row] → the next row of equal keys, ascending; there only where two rows are equal
 *
 * Memory is made for the number of rows, once. A look goes over a batch twice where slots do not fit in a cache: the first time only to
 * fetch them, since loads that nothing waits for run beside each other.
 *
 * 5M different keys of two words, as many looked up, CPU ms: slots of 12 bytes with the words in them 390 + 280, fetched first 270 + 240;
 * slots of 4 bytes 150 + 290, and 68 MiB less, whose pages alone are 80 ms; direct 76 together. 5M integers IN 500,000 by SQL: direct
 * 181, marked 85.
 */
import { HASH_SEED } from "../../../base/bytes/hash.ts";
import type { Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";
import { isClose, numberRange, numberText } from "./number-places.ts";
import { eachWord, type HashLoop, hashLoop } from "./word-hash.ts";

/** What has no row. */
export const NO_ROW = -1;

/** Keys lie close together when there are at most so many numbers a row between them, or few at all; the same where a number is a bit. */
const NUMBERS_PER_ROW = 4;
const BITS_PER_ROW = 64;
const NUMBERS_FEW = 256;
/** Slots that fit in a cache. */
const SLOTS_CACHED: number = 2 ** 17;
/** Slots a row, at least. */
const SLOTS_PER_ROW = 1.6;
const SLOTS_MIN = 16;

/** Rows by key. `words` are `width` a row, `present` is 0 where a row has no key. */
export interface KeyedRows {
  readonly words: Int32Array;
  readonly width: number;
  readonly rowCount: number;
  readonly present: Validity;
}

/** How keys are found. */
type Form =
  | { readonly kind: "direct"; readonly firsts: Int32Array; readonly lowest: number }
  | { readonly kind: "marked"; readonly bits: Int32Array; readonly lowest: number; readonly length: number }
  | {
      readonly kind: "hashed";
      readonly slots: Int32Array;
      /** How far a hash is shifted to become a slot. */
      readonly shift: number;
      /** Bits of a slot that tell the row. */
      readonly rowBits: number;
      readonly words: Int32Array;
    };

/** See the file header. Filled from the last row to the first, so that what it says is the first row. */
export class RowIndex {
  /** See the file header. */
  next: Int32Array | undefined;
  readonly byteLength: number;
  private readonly form: Form;
  private readonly width: number;
  private readonly rowCount: number;
  private readonly present: Validity;
  private readonly words: Int32Array;
  private readonly isSet: boolean;
  private readonly hash: HashLoop;
  private hashes = new Int32Array(0);

  /**
   * An index without rows yet.
   *
   * @param rows borrowed as long as the index lives
   * @param isSet whether it is only asked if a key is there: then it has no `next`, and says 0 of keys that are there, or any row
   * @param reserve is told of the bytes before they are taken
   */
  constructor(rows: KeyedRows, isSet: boolean, reserve: (bytes: number) => void) {
    const { words, width, rowCount, present } = rows;
    this.width = width;
    this.rowCount = rowCount;
    this.present = present;
    this.words = words;
    this.isSet = isSet;
    this.hash = hashLoop(width);
    const numbers = numbersOf(rows, isSet ? BITS_PER_ROW : NUMBERS_PER_ROW);
    if (numbers !== undefined && isSet) {
      const wordCount = Math.ceil(numbers.length / 32);
      this.byteLength = wordCount * 4;
      reserve(this.byteLength);
      this.form = { kind: "marked", bits: new Int32Array(wordCount), ...numbers };
      return;
    }
    if (numbers !== undefined) {
      this.byteLength = numbers.length * 4;
      reserve(this.byteLength);
      this.form = { kind: "direct", firsts: new Int32Array(numbers.length), lowest: numbers.lowest };
      return;
    }
    let bits = 4;
    while (2 ** bits < rowCount * SLOTS_PER_ROW) bits++;
    this.byteLength = Math.max(SLOTS_MIN, 2 ** bits) * 4;
    reserve(this.byteLength);
    const slots = new Int32Array(Math.max(SLOTS_MIN, 2 ** bits));
    this.form = { kind: "hashed", slots, shift: 32 - bits, rowBits: 32 - Math.clz32(rowCount), words };
  }

  /** Whether the words of rows are looked at no more. */
  get needsWords(): boolean {
    return this.form.kind === "hashed";
  }

  /** Adds rows `[from, to)`, all behind them being there already. */
  add(from: number, to: number, reserve: (bytes: number) => void): void {
    for (let end = to; end > from; ) {
      if (this.form.kind === "marked") {
        markedAdd(this.width)(this.words, this.present, from, to, this.form.lowest, this.form.bits);
        return;
      }
      end = this.form.kind === "direct" ? this.addDirect(this.form, from, end) : this.addHashed(this.form, from, end);
      if (end === from) return;
      reserve(this.rowCount * 4);
      this.next = new Int32Array(this.rowCount).fill(NO_ROW);
    }
  }

  private addDirect({ firsts, lowest }: Form & { readonly kind: "direct" }, from: number, to: number): number {
    return directAdd(this.width)(this.words, this.present, from, to, lowest, firsts, this.next, this.isSet);
  }

  private addHashed({ slots, shift, rowBits, words }: Form & { readonly kind: "hashed" }, from: number, to: number): number {
    const hashes = this.hashesOf(words, from, to);
    if (slots.length > SLOTS_CACHED) this.fetched = fetch(slots, hashes, to - from, shift);
    return hashedAdd(this.width)(words, this.present, from, to, hashes, slots, shift, rowBits, this.next, this.isSet);
  }

  /** The first row of each key, or `NO_ROW`: for rows `[0, rowCount)`. */
  find(words: Int32Array, present: Validity, rowCount: number, into: Int32Array): void {
    const { form, width } = this;
    if (form.kind === "marked") {
      markedFind(width)(words, present, rowCount, form.lowest, form.length, form.bits, into);
      return;
    }
    if (form.kind === "direct") {
      directFind(width)(words, present, rowCount, form.lowest, form.firsts, into);
      return;
    }
    const { slots, shift, rowBits, words: keys } = form;
    const hashes = this.hashesOf(words, 0, rowCount);
    if (slots.length > SLOTS_CACHED) this.fetched = fetch(slots, hashes, rowCount, shift);
    hashedFind(width)(words, present, rowCount, hashes, slots, shift, rowBits, keys, into);
  }

  private hashesOf(words: Int32Array, from: number, to: number): Int32Array {
    if (this.hashes.length < to - from) this.hashes = new Int32Array(to - from);
    this.hash(words, from, to, HASH_SEED, this.hashes);
    return this.hashes;
  }

  /** What `fetch` saw, so that nobody takes its loads for useless. */
  fetched = 0;
}

/** Looks at slots that are about to be looked up. */
function fetch(slots: Int32Array, hashes: Int32Array, count: number, shift: number): number {
  let seen = 0;
  for (let i = 0; i < count; i++) seen ^= slots[hashes[i]! >>> shift]!;
  return seen;
}

/** Where keys lie as whole numbers, if that is close together. */
function numbersOf(
  { words, width, rowCount, present }: KeyedRows,
  perRow: number,
): { readonly lowest: number; readonly length: number } | undefined {
  if (width > 2) return undefined;
  const range = numberRange(words, width, present, 0, rowCount);
  if (range.lowest > range.highest) return { lowest: 0, length: 0 };
  const close = isClose(range, rowCount, perRow, NUMBERS_FEW);
  return close ? { lowest: range.lowest, length: range.highest - range.lowest + 1 } : undefined;
}

type DirectAdd = (
  words: Int32Array,
  present: Validity,
  from: number,
  to: number,
  lowest: number,
  firsts: Int32Array,
  next: Int32Array | undefined,
  isSet: boolean,
) => number;
type DirectFind = (words: Int32Array, present: Validity, rowCount: number, lowest: number, firsts: Int32Array, into: Int32Array) => void;
type MarkedAdd = (words: Int32Array, present: Validity, from: number, to: number, lowest: number, bits: Int32Array) => void;
type MarkedFind = (
  words: Int32Array,
  present: Validity,
  rowCount: number,
  lowest: number,
  length: number,
  bits: Int32Array,
  into: Int32Array,
) => void;
type HashedAdd = (
  words: Int32Array,
  present: Validity,
  from: number,
  to: number,
  hashes: Int32Array,
  slots: Int32Array,
  shift: number,
  rowBits: number,
  next: Int32Array | undefined,
  isSet: boolean,
) => number;
type HashedFind = (
  words: Int32Array,
  present: Validity,
  rowCount: number,
  hashes: Int32Array,
  slots: Int32Array,
  shift: number,
  rowBits: number,
  keys: Int32Array,
  into: Int32Array,
) => void;

function loopsBy<L>(make: (width: number) => L): (width: number) => L {
  const made = new Map<number, L>();
  return (width) => {
    const known = made.get(width);
    if (known !== undefined) return known;
    const loop = make(width);
    made.set(width, loop);
    return loop;
  };
}

/** Loops that add give where they stopped for want of `next`: the end of the rows that are still to be added. */
const directAdd = loopsBy((width) =>
  generated<DirectAdd>(
    `direct-add-${width}`,
    "words present from to lowest firsts next isSet".split(" "),
    `// ${width}
for (let row = to - 1; row >= from; row--) {
if (present !== undefined && present[row] === 0) continue;
const at = row * ${width};
const i = (${numberText(width)} - lowest) | 0;
const first = firsts[i];
if (first !== 0 && !isSet) {
if (next === undefined) return row + 1;
next[row] = first - 1;
}
firsts[i] = row + 1;
}
return from;`,
  ),
);

const directFind = loopsBy((width) =>
  generated<DirectFind>(
    `direct-find-${width}`,
    "words present rowCount lowest firsts into".split(" "),
    `// ${width}
const { length } = firsts;
for (let row = 0, at = 0; row < rowCount; row++, at += ${width}) {
const i = ${numberText(width)} - lowest;
into[row] = i >= 0 && i < length && (present === undefined || present[row] !== 0) ? firsts[i | 0] - 1 : ${NO_ROW};
}`,
  ),
);

const markedAdd = loopsBy((width) =>
  generated<MarkedAdd>(
    `marked-add-${width}`,
    "words present from to lowest bits".split(" "),
    `// ${width}
for (let row = from, at = from * ${width}; row < to; row++, at += ${width}) {
if (present !== undefined && present[row] === 0) continue;
const i = (${numberText(width)} - lowest) | 0;
bits[i >>> 5] |= 1 << i;
}`,
  ),
);

const markedFind = loopsBy((width) =>
  generated<MarkedFind>(
    `marked-find-${width}`,
    "words present rowCount lowest length bits into".split(" "),
    `// ${width}
for (let row = 0, at = 0; row < rowCount; row++, at += ${width}) {
const d = ${numberText(width)} - lowest;
let bit = 0;
if (d >= 0 && d < length && (present === undefined || present[row] !== 0)) { const i = d | 0; bit = (bits[i >>> 5] >>> i) & 1; }
into[row] = bit - 1;
}`,
  ),
);

/** Code that looks for words `w0` … from the slot of hash `h` on, among the keys of an array. */
const slotText = (width: number, keys: string, isFree: string, isFound: string): string => `const tag = h << rowBits;
for (let s = h >>> shift; ; s = (s + 1) & mask) {
const e = slots[s];
if (e === 0) { ${isFree} }
if (((e ^ tag) & ~low) !== 0) continue;
const r = (e & low) - 1, k = r * ${width};
if (${eachWord(width, (w) => `${keys}[k + ${w}] === w${w}`, " && ")}) { ${isFound} }
}`;

const hashedAdd = loopsBy((width) =>
  generated<HashedAdd>(
    `hashed-add-${width}`,
    "words present from to hashes slots shift rowBits next isSet".split(" "),
    `// ${width}
const mask = slots.length - 1, low = (1 << rowBits) - 1;
for (let row = to - 1; row >= from; row--) {
if (present !== undefined && present[row] === 0) continue;
const h = hashes[row - from], at = row * ${width};
${eachWord(width, (w) => `const w${w} = words[at + ${w}];`)}
${slotText(
  width,
  "words",
  "slots[s] = tag | (row + 1); break;",
  `if (!isSet) {
if (next === undefined) return row + 1;
next[row] = r;
slots[s] = tag | (row + 1);
}
break;`,
)}
}
return from;`,
  ),
);

const hashedFind = loopsBy((width) =>
  generated<HashedFind>(
    `hashed-find-${width}`,
    "words present rowCount hashes slots shift rowBits keys into".split(" "),
    `// ${width}
const mask = slots.length - 1, low = (1 << rowBits) - 1;
for (let row = 0, at = 0; row < rowCount; row++, at += ${width}) {
let found = ${NO_ROW};
if (present === undefined || present[row] !== 0) {
const h = hashes[row];
${eachWord(width, (w) => `const w${w} = words[at + ${w}];`)}
${slotText(width, "keys", "break;", "found = r; break;")}
}
into[row] = found;
}`,
  ),
);
