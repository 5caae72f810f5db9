/**
 * The order of rows by their keys: stable, by radix, without a value, string or closure a row; all of it, or some places of it.
 *
 *   1. texts that repeat become the ranks of their entries; keys become tiers of 64 bits (`key-tiers.ts`)
 *   2. where few places are asked for, only rows that may come there are left
 *   3. rows are sorted by the first tier (`radix-sort.ts`)
 *   4. ranges of rows that it leaves equal are sorted by what follows: the next bytes of a text behind those that all share, or the next
 *      tier; short ranges by comparing
 */
import { countingUp } from "../../../base/bytes/counting-up.ts";
import { compareByTiers, fillWindows, goesOn, sharedBytes, type Tier, tiersOf, WINDOW_BYTES } from "./key-tiers.ts";
import { selectByWords, sortByWords, STEP_ROWS, type WordedRows } from "./radix-sort.ts";
import { compareRows, compareTexts, type RowKey, type TextKey, type WordKey } from "./row-keys.ts";

/** Bytes that sorting takes for a row, and for each of its keys, about: words with positions twice; the key, and its tier. */
export const ORDER_ROW_BYTES = 24;
/** See above. */
export const ORDER_KEY_BYTES = 16;

/** So few rows are sorted by comparing their keys as they are: ten integers 2.6 -> 0.9 µs, ten texts of a dictionary 5.5 -> 2.7. */
const FEW_ROWS = 64;
/** Ranges of so many rows are sorted by comparing. */
const COMPARED_ROWS_MAX = 12;
/** Rows of short ranges that one step sorts: of long texts each takes a microsecond or two. */
const EQUALS_PER_STEP = 4096;
/** Where less than this part of the places is asked for, rows are left out first. */
const SELECTED_PART = 0.5;

/** The rows of `[0, rowCount)` that come to places `[from, to)` in the order of `keys`; equal rows keep theirs. In steps. */
export function* orderOfRows(
  keys: readonly RowKey[],
  rowCount: number,
  from: number = 0,
  to: number = rowCount,
): Generator<void, Uint32Array<ArrayBuffer>> {
  const end = Math.min(to, rowCount);
  if (from >= end) return new Uint32Array(0);
  if (rowCount <= FEW_ROWS) return orderOfFew(keys, rowCount).subarray(from, end);
  const ranked: RowKey[] = [];
  for (const key of keys) ranked.push(key.kind === "texts" && key.codes !== undefined ? yield* rankKey(key, key.codes, rowCount) : key);
  const tiers = yield* tiersOf(ranked, rowCount);
  const [first] = tiers;
  if (first === undefined) return countingUp(rowCount).subarray(from, end);
  return yield* new Sorting(tiers, first, rowCount).places(from, end);
}

/** Each row is put behind those before it that do not come after it. */
function orderOfFew(keys: readonly RowKey[], rowCount: number): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(rowCount);
  for (let row = 1; row < rowCount; row++) {
    let [low, high] = [0, row];
    // Most rows come in order.
    if (compareRows(keys, rows[row - 1]!, keys, row) <= 0) low = row;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareRows(keys, rows[middle]!, keys, row) <= 0) low = middle + 1;
      else high = middle;
    }
    for (let place = row; place > low; place--) rows[place] = rows[place - 1]!;
    rows[low] = row;
  }
  return rows;
}

/** A text's rank among its entries instead of its bytes; equal entries share one. */
function* rankKey(key: TextKey, codes: Uint32Array, rowCount: number): Generator<void, WordKey> {
  const entryCount = key.offsets.length - 1;
  const entries: TextKey = { ...key, descending: false, codes: undefined, validity: undefined };
  const order = yield* orderOfRows([entries], entryCount);
  const ranks = new Uint32Array(entryCount);
  let rank = 0;
  for (let place = 0; place < entryCount; place++) {
    const entry = order[place]!;
    if (place > 0 && compareTexts(entries, order[place - 1]!, entries, entry, 0) !== 0) rank++;
    ranks[entry] = key.descending ? entryCount - rank : rank;
  }
  yield;
  const words = new Uint32Array(rowCount * 2);
  for (let i = 0; i < rowCount; i++) words[2 * i] = ranks[codes[i]!] ?? 0;
  const { descending, nullsFirst, validity } = key;
  return { kind: "words", descending, nullsFirst, words, validity };
}

/** A range of rows that are equal up to a tier and, where that is of texts, a byte of it. */
interface Equals {
  readonly from: number;
  readonly to: number;
  readonly tier: number;
  readonly at: number;
}

class Sorting {
  private readonly tiers: readonly Tier[];
  private readonly first: Tier;
  private readonly rowCount: number;
  /** Ranges that are to be sorted on. As many wait as texts have windows, at most as there are ranges of a tier. */
  private readonly open: Equals[] = [];
  private worked = 0;

  constructor(tiers: readonly Tier[], first: Tier, rowCount: number) {
    this.tiers = tiers;
    this.first = first;
    this.rowCount = rowCount;
  }

  /** The rows of places `[from, to)`. */
  *places(from: number, to: number): Generator<void, Uint32Array<ArrayBuffer>> {
    const { first, rowCount } = this;
    const rows = countingUp(rowCount);
    // Words of the first tier are looked at no more once rows are sorted by them.
    const all: WordedRows =
      first.kind === "words"
        ? { high: first.high, low: first.low, rows }
        : { high: new Uint32Array(rowCount), low: new Uint32Array(rowCount), rows };
    let at = 0;
    if (first.kind === "texts") {
      at = sharedBytes(first, rows, 0, rowCount, 0);
      yield;
      for (let row = 0; row < rowCount; row += STEP_ROWS) {
        fillWindows(first, rows, row, Math.min(rowCount, row + STEP_ROWS), at, all.high, all.low);
        yield;
      }
    }
    let base = 0;
    if (to - from < rowCount * SELECTED_PART) base = yield* selectByWords(all, from, to);
    const { length } = all.rows;
    const spare: WordedRows = { high: new Uint32Array(length), low: new Uint32Array(length), rows: new Uint32Array(length) };
    yield* sortByWords(all, spare, 0, length);
    const [start, end] = [from - base, to - base];
    yield* this.findEquals(all, 0, length, 0, at, start, end);
    for (let next = this.open.pop(); next !== undefined; next = this.open.pop()) {
      yield* this.sortOn(all, spare, next, start, end);
      if (this.worked < STEP_ROWS) continue;
      this.worked = 0;
      yield;
    }
    return all.rows.subarray(start, end);
  }

  /** Sorts equal rows by what follows. Only those of places `[start, end)` matter. */
  private *sortOn(all: WordedRows, spare: WordedRows, { from, to, tier, at }: Equals, start: number, end: number): Generator<void, void> {
    this.worked += to - from;
    const own = this.tiers[tier];
    if (own === undefined) return;
    let window = at;
    if (own.kind === "words") {
      const { high, low, rows } = all;
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        high[i] = own.high[row]!;
        low[i] = own.low[row]!;
      }
    } else {
      window += sharedBytes(own, all.rows, from, to, at);
      fillWindows(own, all.rows, from, to, window, all.high, all.low);
    }
    yield* sortByWords(all, spare, from, to);
    yield* this.findEquals(all, from, to, tier, window, start, end);
  }

  /** Finds ranges that a tier left equal: short ones are sorted at once. */
  private *findEquals(
    all: WordedRows,
    from: number,
    to: number,
    tier: number,
    at: number,
    start: number,
    end: number,
  ): Generator<void, void> {
    const own = this.tiers[tier]!;
    const isLast = tier === this.tiers.length - 1;
    if (isLast && own.kind === "words") return;
    const { high, low } = all;
    let next = from + EQUALS_PER_STEP;
    for (let i = from; i + 1 < to; ) {
      if (i >= next) {
        next = i + EQUALS_PER_STEP;
        yield;
      }
      let behind = i + 1;
      const [h, l] = [high[i]!, low[i]!];
      while (behind < to && high[behind] === h && low[behind] === l) behind++;
      const more = own.kind === "texts" && goesOn(own, l);
      if (behind - i > 1 && behind > start && i < end && (more || !isLast)) {
        const [nextTier, nextAt] = more ? [tier, at + WINDOW_BYTES] : [tier + 1, 0];
        if (behind - i <= COMPARED_ROWS_MAX) this.insert(all.rows, i, behind, nextTier, nextAt);
        else this.open.push({ from: i, to: behind, tier: nextTier, at: nextAt });
      }
      i = behind;
    }
  }

  private insert(rows: Uint32Array, from: number, to: number, tier: number, at: number): void {
    const { tiers } = this;
    for (let i = from + 1; i < to; i++) {
      const row = rows[i]!;
      let place = i;
      for (; place > from && compareByTiers(tiers, tier, at, rows[place - 1]!, row) > 0; place--) rows[place] = rows[place - 1]!;
      rows[place] = row;
    }
  }
}
