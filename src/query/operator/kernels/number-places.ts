/**
 * Numbers of keys by their place: keys of one or two words that are whole numbers, close together. `word-table.ts` finds out whether they
 * are each time its slots are full, and goes on here until one lies too far away.
 *
 *   numbers[key - lowest] = number + 1, 0 = none
 *
 * 3M rows, CPU ms, with slots and so: 1,000 integers added 41 and 18, 1M integers 309 and 85, looked up 162 and 43.
 */
import type { Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";
import { eachWord, nullRow } from "./word-hash.ts";

/** Places for each key at most, and at least altogether. Reason: a key's slots are as long. */
const PLACES_PER_KEY = 8;
const PLACES_FEW = 1024;
/** Most places: 1 GiB. */
const PLACES_MAX: number = 2 ** 28;

const HALF = 2 ** 32;

/** Code that makes a whole number of the words at `at`. */
export const numberText = (width: number): string => (width === 1 ? "words[at]" : `words[at + 1] * ${HALF} + (words[at] >>> 0)`);

/** The lowest and highest of keys as whole numbers; `lowest` is above `highest` where there are none. */
export interface NumberRange {
  readonly lowest: number;
  readonly highest: number;
}

/** Whether keys of a range lie close enough for `keyCount` of them, and are told apart as numbers: beyond 2^53 two would be one. */
export function isClose({ lowest, highest }: NumberRange, keyCount: number, placesPerKey: number, placesFew: number): boolean {
  const length = highest - lowest + 1;
  return (
    length <= Math.max(placesFew, Math.min(PLACES_MAX, keyCount * placesPerKey)) &&
    lowest > Number.MIN_SAFE_INTEGER &&
    highest < Number.MAX_SAFE_INTEGER
  );
}

/** The range of the keys of rows `[from, to)` that are there; row `without` is left out. */
export function numberRange(words: Int32Array, width: number, present: Validity, from: number, to: number, without = -1): NumberRange {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = from; row < to; row++) {
    if ((present !== undefined && present[row] === 0) || row === without) continue;
    const value = width === 1 ? words[row]! : words[2 * row + 1]! * HALF + (words[2 * row]! >>> 0);
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  return { lowest, highest };
}

/** What numbers are given by: a `WordTable`. */
interface Numbered {
  size: number;
  nullNumber: number;
}

type Loop = (
  table: Numbered,
  words: Int32Array,
  validity: Validity,
  from: number,
  to: number,
  isNew: boolean,
  nullIsNumber: boolean,
  into: Int32Array,
  numbers: Int32Array,
  lowest: number,
  keys: Int32Array,
) => number;

/** See the file header. */
export class NumberPlaces {
  private numbers: Int32Array;
  private lowest: number;
  private readonly width: number;
  private readonly loop: Loop;

  private constructor(width: number, lowest: number, length: number) {
    this.width = width;
    this.lowest = lowest;
    this.numbers = new Int32Array(length);
    this.loop = loopOf(width);
  }

  /** The places of `size` keys, one of which may be that of NULL, which has none; undefined: they do not lie close together. */
  static of(keys: Int32Array, width: number, size: number, nullNumber: number): NumberPlaces | undefined {
    const range = numberRange(keys, width, undefined, 0, size, nullNumber);
    if (range.lowest > range.highest || !isClose(range, size, PLACES_PER_KEY, PLACES_FEW)) return undefined;
    const made = new NumberPlaces(width, range.lowest, range.highest - range.lowest + 1);
    const { numbers, lowest } = made;
    for (let id = 0; id < size; id++) {
      if (id === nullNumber) continue;
      const value = width === 1 ? keys[id]! : keys[2 * id + 1]! * HALF + (keys[2 * id]! >>> 0);
      numbers[value - lowest] = id + 1;
    }
    return made;
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.numbers.byteLength;
  }

  /** Numbers of rows `[from, to)` up to one that has no place, or for whose key `keys` has no room: its position. */
  numbersOf(
    table: Numbered,
    words: Int32Array,
    validity: Validity,
    from: number,
    to: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
    keys: Int32Array,
  ): number {
    return this.loop(table, words, validity, from, to, isNew, nullIsNumber, into, this.numbers, this.lowest, keys);
  }

  /** Makes places for rows `[from, to)` beside `size` keys; false: they would be too many. */
  reach(words: Int32Array, validity: Validity, from: number, to: number, size: number): boolean {
    const own = numberRange(words, this.width, validity, from, to);
    const before = this.numbers;
    const end = this.lowest + before.length;
    const range = { lowest: Math.min(own.lowest, this.lowest), highest: Math.max(own.highest, end - 1) };
    if (!isClose(range, size + to - from, PLACES_PER_KEY, PLACES_FEW)) return false;
    // Keys that ascend come again and again: half as many places more on their side.
    const more = Math.ceil((range.highest - range.lowest + 1) / 2);
    const lowest = range.lowest < this.lowest ? Math.max(Number.MIN_SAFE_INTEGER + 1, range.lowest - more) : range.lowest;
    const highest = range.highest >= end ? Math.min(Number.MAX_SAFE_INTEGER - 1, range.highest + more) : range.highest;
    this.numbers = new Int32Array(highest - lowest + 1);
    this.numbers.set(before, this.lowest - lowest);
    this.lowest = lowest;
    return true;
  }
}

const loops = new Map<number, Loop>();

function loopOf(width: number): Loop {
  const known = loops.get(width);
  if (known !== undefined) return known;
  const body = `// ${width}
const { length } = numbers;
const sizeMax = Math.floor(keys.length / ${width});
let size = table.size;
for (let row = from, at = from * ${width}; row < to; row++, at += ${width}) {
${nullRow("row")}
const d = ${numberText(width)} - lowest;
if (!(d >= 0 && d < length)) {
if (isNew) { table.size = size; return row; }
into[row] = -1;
continue;
}
const e = numbers[d | 0];
if (e === 0 && isNew) {
if (size >= sizeMax) { table.size = size; return row; }
const id = size++;
${eachWord(width, (w) => `keys[id * ${width} + ${w}] = words[at + ${w}];`)}
numbers[d | 0] = id + 1;
into[row] = id;
} else into[row] = e - 1;
}
table.size = size;
return to;`;
  const parameters = "table words validity from to isNew nullIsNumber into numbers lowest keys".split(" ");
  const made = generated<Loop>(`number-places-${width}`, parameters, body);
  loops.set(width, made);
  return made;
}
