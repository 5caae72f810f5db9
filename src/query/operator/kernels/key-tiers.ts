/**
 * Keys of rows as tiers of 64 bits, the first of most weight: rows are sorted by the first, and by the next where that is equal.
 *
 *   words   keys of fixed width side by side, each as many bits as its values spread over, and one more where there is NULL
 *           | NULL? | few - min | NULL? | i - min |
 *   texts   seven bytes and how many of them, and whether more follow, are text; the next seven are looked at where these are equal
 *           | b0 b1 b2 b3 b4 b5 b6 | 1..8: 0 to 7 of them, the text ends; 9: it goes on |      complemented for DESC
 *           NULL: all zeros, or all ones
 */
import { compareTexts, type RowKey, type TextKey, type WordKey } from "./row-keys.ts";

/** Bytes of a text in one window. */
export const WINDOW_BYTES = 7;
/** What stands behind the bytes of a window whose text goes on. */
const GOES_ON = WINDOW_BYTES + 2;

/** Words of all rows, as far as `bits` go. */
interface WordTier {
  readonly kind: "words";
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  bits: number;
}

/** See the file header. */
export type Tier = WordTier | TextKey;

const WORD_BITS = 32;
const HALF = 2 ** WORD_BITS;

/** The tiers of keys, in steps. Texts that repeat have their ranks in place of `codes` already. */
export function* tiersOf(keys: readonly RowKey[], rowCount: number): Generator<void, readonly Tier[]> {
  const tiers: Tier[] = [];
  for (const key of keys) {
    if (key.kind === "texts") tiers.push(key);
    else placeWords(tiers, key, rowCount);
    yield;
  }
  return tiers;
}

/** Puts a key beside those before it where there is room. */
function placeWords(tiers: Tier[], key: WordKey, rowCount: number): void {
  const { validity } = key;
  const hasNull = validity !== undefined && validity.subarray(0, rowCount).includes(0);
  const range = rangeOf(key, rowCount);
  const spread = range === undefined ? 0 : bitsOf(range.spreadHigh, range.spreadLow);
  const room = (bits: number): WordTier => {
    const last = tiers.at(-1);
    if (last?.kind === "words" && last.bits + bits <= 2 * WORD_BITS) return last;
    const made: WordTier = { kind: "words", high: new Uint32Array(rowCount), low: new Uint32Array(rowCount), bits: 0 };
    tiers.push(made);
    return made;
  };
  if (hasNull) {
    const tier = room(spread < 2 * WORD_BITS ? spread + 1 : 1);
    pushNulls(tier, validity, key.nullsFirst, rowCount);
  }
  if (range === undefined || spread === 0) return;
  pushWords(room(spread), key, range, spread, rowCount);
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly spreadHigh: number;
  readonly spreadLow: number;
}

/** The least word of rows that are not NULL, and how far the largest is from it. */
function rangeOf({ words, validity }: WordKey, rowCount: number): Range | undefined {
  let [minHigh, minLow, maxHigh, maxLow] = [-1, 0, -1, 0];
  for (let i = 0; i < rowCount; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const [low, high] = [words[2 * i]!, words[2 * i + 1]!];
    if (minHigh < 0 || high < minHigh || (high === minHigh && low < minLow)) {
      minHigh = high;
      minLow = low;
    }
    if (high > maxHigh || (high === maxHigh && low > maxLow)) {
      maxHigh = high;
      maxLow = low;
    }
  }
  if (minHigh < 0) return undefined;
  const borrow = maxLow < minLow ? 1 : 0;
  return { low: minLow, high: minHigh, spreadHigh: maxHigh - minHigh - borrow, spreadLow: maxLow - minLow + borrow * HALF };
}

function bitsOf(high: number, low: number): number {
  return high > 0 ? 2 * WORD_BITS - Math.clz32(high) : WORD_BITS - Math.clz32(low);
}

function pushNulls(tier: WordTier, validity: Uint8Array, nullsFirst: boolean, rowCount: number): void {
  const { high, low } = tier;
  const ofNull = nullsFirst ? 0 : 1;
  for (let i = 0; i < rowCount; i++) {
    const bit = validity[i] === 0 ? ofNull : 1 - ofNull;
    high[i] = (high[i]! << 1) | (low[i]! >>> (WORD_BITS - 1));
    low[i] = (low[i]! << 1) | bit;
  }
  tier.bits++;
}

/** Words minus the least of them, below what a tier holds already. */
function pushWords(tier: WordTier, { words, validity }: WordKey, range: Range, bits: number, rowCount: number): void {
  const { high, low } = tier;
  const { low: minLow, high: minHigh } = range;
  for (let i = 0; i < rowCount; i++) {
    let [l, h] = [0, 0];
    if (validity === undefined || validity[i] !== 0) {
      const word = words[2 * i]!;
      l = (word - minLow) | 0;
      h = (words[2 * i + 1]! - minHigh - (word < minLow ? 1 : 0)) | 0;
    }
    if (bits < WORD_BITS) {
      high[i] = (high[i]! << bits) | (low[i]! >>> (WORD_BITS - bits));
      low[i] = (low[i]! << bits) | l;
    } else {
      // Of 32 bits `<< 0`; of 64, where nothing stands before, `<< 32` is `<< 0` of zeros.
      high[i] = (low[i]! << (bits - WORD_BITS)) | h;
      low[i] = l;
    }
  }
  tier.bits += bits;
}

/** Whether a row has a text. */
const hasText = ({ validity }: TextKey, row: number): boolean => validity === undefined || validity[row] !== 0;

/** Bytes that all texts of some rows share, from byte `at` on, which all have. NULL shares all. */
export function sharedBytes(key: TextKey, rows: Uint32Array, from: number, to: number, at: number): number {
  const { offsets, bytes } = key;
  let first = -1;
  let shared = 0;
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    if (!hasText(key, row)) continue;
    const start = offsets[row]! + at;
    const length = offsets[row + 1]! - start;
    if (first < 0) {
      first = start;
      shared = length;
      continue;
    }
    if (length < shared) shared = length;
    let k = 0;
    while (k < shared && bytes[first + k] === bytes[start + k]) k++;
    shared = k;
    if (shared === 0) return 0;
  }
  return shared;
}

/** The windows from byte `at` on of rows `[from, to)`, all of which have as many. */
export function fillWindows(
  key: TextKey,
  rows: Uint32Array,
  from: number,
  to: number,
  at: number,
  high: Uint32Array,
  low: Uint32Array,
): void {
  const { offsets, bytes, descending, validity } = key;
  const flip = descending ? -1 : 0;
  const ofNull = key.nullsFirst ? 0 : -1;
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    if (validity !== undefined && validity[row] === 0) {
      high[i] = ofNull;
      low[i] = ofNull;
      continue;
    }
    const start = offsets[row]! + at;
    const left = offsets[row + 1]! - start;
    let [h, l] = [0, 0];
    if (left >= WINDOW_BYTES) {
      h = (bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!;
      l = (bytes[start + 4]! << 24) | (bytes[start + 5]! << 16) | (bytes[start + 6]! << 8);
    } else {
      for (let k = 0; k < left && k < 4; k++) h |= bytes[start + k]! << (24 - 8 * k);
      for (let k = 4; k < left; k++) l |= bytes[start + k]! << (56 - 8 * k);
    }
    high[i] = h ^ flip;
    low[i] = (l | (left > WINDOW_BYTES ? GOES_ON : left + 1)) ^ flip;
  }
}

/** Whether the texts of a window go on behind it. */
export function goesOn({ descending }: TextKey, low: number): boolean {
  return ((descending ? ~low : low) & 0xff) === GOES_ON;
}

/** The order of two rows by tiers from `first` on, of which texts are equal up to byte `at` in the first. */
export function compareByTiers(tiers: readonly Tier[], first: number, at: number, a: number, b: number): number {
  let from = at;
  for (let t = first; t < tiers.length; t++) {
    const tier = tiers[t]!;
    if (tier.kind === "words") {
      const order = tier.high[a]! - tier.high[b]! || tier.low[a]! - tier.low[b]!;
      if (order !== 0) return order;
    } else {
      const isLeft = hasText(tier, a);
      const isRight = hasText(tier, b);
      if (isLeft !== isRight) return isRight === tier.nullsFirst ? -1 : 1;
      const order = isLeft ? compareTexts(tier, a, tier, b, from) : 0;
      if (order !== 0) return order;
    }
    from = 0;
  }
  return 0;
}
