/**
 * Rows sorted by 64-bit words that they carry along, digit by digit from the last: stable, and linear in the rows.
 *
 * A digit has 11 or 10 bits, three a word: 2,048 places that are written to stay in the cache, which those of 16 bits do not. Digits that
 * all rows share cost nothing.
 */

/** Rows and the words that they are sorted by. */
export interface WordedRows {
  high: Uint32Array;
  low: Uint32Array;
  rows: Uint32Array<ArrayBuffer>;
}

/** Rows that one step of a sort works on: a millisecond or so. */
export const STEP_ROWS: number = 1 << 16;

/** Bits of the digits of a word, and where each begins. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const MASK = DIGITS - 1;
const SHIFTS: readonly number[] = [0, DIGIT_BITS, 2 * DIGIT_BITS];
const WORD_DIGITS = SHIFTS.length;

/** Fewer rows than that are merged: the counts of a digit would be more work than the rows. */
const MERGED_ROWS_MAX = 1024;
/** Rows that are put in their places one by one before they are merged. */
const INSERTED_ROWS = 8;

/**
 * Sorts `[from, to)` of `all`, in steps. Sorted rows lie in the same places of `all`, whose arrays and those of `spare` may change places
 * where the range is all of them.
 */
export function* sortByWords(all: WordedRows, spare: WordedRows, from: number, to: number): Generator<void, void> {
  if (areSorted(all.high, all.low, from, to)) return;
  if (to - from <= MERGED_ROWS_MAX) return sortByMerging(all, spare, from, to);
  const counts = new Uint32Array(2 * WORD_DIGITS * DIGITS);
  for (let at = from; at < to; at += STEP_ROWS) {
    countDigits(all.low, all.high, counts, at, Math.min(to, at + STEP_ROWS));
    yield;
  }
  const lowest = lowestDigit(counts, to - from);
  let [source, target] = [all, spare];
  for (let digit = lowest; digit < 2 * WORD_DIGITS; digit++) {
    const isHigh = digit >= WORD_DIGITS;
    const shift = SHIFTS[digit % WORD_DIGITS]!;
    const base = digit * DIGITS;
    const word = isHigh ? source.high : source.low;
    if (counts[base + ((word[from]! >>> shift) & MASK)] === to - from) continue;
    let place = from;
    for (let d = base; d < base + DIGITS; d++) {
      const count = counts[d]!;
      counts[d] = place;
      place += count;
    }
    for (let at = from; at < to; at += STEP_ROWS) {
      scatter(source, target, word, shift, counts, base, at, Math.min(to, at + STEP_ROWS));
      yield;
    }
    [source, target] = [target, source];
  }
  if (source !== all) {
    if (from === 0 && to === all.rows.length) exchange(all, spare);
    else copyRange(source, all, from, to);
  }
  yield* sortRest(all, spare, from, to, lowest);
}

/**
 * The digit from which on sorting leaves rows nearly all apart, going by how many share the most frequent digit: what is left is put right
 * row by row. 500,000 doubles: 6 passes over all rows -> 2.
 */
function lowestDigit(counts: Uint32Array, rowCount: number): number {
  let apart = rowCount * 2;
  for (let digit = 2 * WORD_DIGITS - 1; digit >= 0; digit--) {
    let most = 0;
    for (let d = digit * DIGITS; d < (digit + 1) * DIGITS; d++) if (counts[d]! > most) most = counts[d]!;
    apart *= most / rowCount;
    if (apart <= 1) return digit;
  }
  return 0;
}

/** Sorts rows that are equal in the digits from `lowest` on by those below. */
function* sortRest(all: WordedRows, spare: WordedRows, from: number, to: number, lowest: number): Generator<void, void> {
  if (lowest === 0) return;
  const shift = SHIFTS[lowest % WORD_DIGITS]!;
  const ofHigh = lowest >= WORD_DIGITS;
  let next = from + STEP_ROWS;
  for (let i = from; i + 1 < to; ) {
    const end = ofHigh ? endOfEqual(all.high, undefined, shift, i, to) : endOfEqual(all.low, all.high, shift, i, to);
    if (end - i > MERGED_ROWS_MAX) yield* sortByWords(all, spare, i, end);
    else if (end - i > 1) sortByMerging(all, spare, i, end);
    i = end;
    if (i < next) continue;
    next = i + STEP_ROWS;
    yield;
  }
}

/** Behind the rows from `i` on that share the bits of `word` from `shift` on, and all of `above`. */
function endOfEqual(word: Uint32Array, above: Uint32Array | undefined, shift: number, i: number, to: number): number {
  const bits = word[i]! >>> shift;
  let end = i + 1;
  if (above === undefined) while (end < to && word[end]! >>> shift === bits) end++;
  else {
    const high = above[i]!;
    while (end < to && above[end] === high && word[end]! >>> shift === bits) end++;
  }
  return end;
}

/** Whether words ascend. */
function areSorted(high: Uint32Array, low: Uint32Array, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) {
    if (high[i]! < high[i - 1]! || (high[i] === high[i - 1] && low[i]! < low[i - 1]!)) return false;
  }
  return true;
}

function countDigits(low: Uint32Array, high: Uint32Array, counts: Uint32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const [l, h] = [low[i]!, high[i]!];
    counts[l & MASK]!++;
    counts[DIGITS + ((l >>> DIGIT_BITS) & MASK)]!++;
    counts[2 * DIGITS + (l >>> (2 * DIGIT_BITS))]!++;
    counts[3 * DIGITS + (h & MASK)]!++;
    counts[4 * DIGITS + ((h >>> DIGIT_BITS) & MASK)]!++;
    counts[5 * DIGITS + (h >>> (2 * DIGIT_BITS))]!++;
  }
}

function scatter(
  source: WordedRows,
  target: WordedRows,
  word: Uint32Array,
  shift: number,
  counts: Uint32Array,
  base: number,
  from: number,
  to: number,
): void {
  const { high, low, rows } = source;
  const { high: toHigh, low: toLow, rows: toRows } = target;
  for (let i = from; i < to; i++) {
    const digit = base + ((word[i]! >>> shift) & MASK);
    const place = counts[digit]!;
    counts[digit] = place + 1;
    toHigh[place] = high[i]!;
    toLow[place] = low[i]!;
    toRows[place] = rows[i]!;
  }
}

function exchange(a: WordedRows, b: WordedRows): void {
  const { high, low, rows } = a;
  a.high = b.high;
  a.low = b.low;
  a.rows = b.rows;
  b.high = high;
  b.low = low;
  b.rows = rows;
}

function copyRange(source: WordedRows, target: WordedRows, from: number, to: number): void {
  target.high.set(source.high.subarray(from, to), from);
  target.low.set(source.low.subarray(from, to), from);
  target.rows.set(source.rows.subarray(from, to), from);
}

function sortByMerging(all: WordedRows, spare: WordedRows, from: number, to: number): void {
  for (let at = from; at < to; at += INSERTED_ROWS) insertRows(all, at, Math.min(to, at + INSERTED_ROWS));
  let [source, target] = [all, spare];
  for (let width = INSERTED_ROWS; width < to - from; width *= 2) {
    for (let at = from; at < to; at += 2 * width) mergeRanges(source, target, at, Math.min(to, at + width), Math.min(to, at + 2 * width));
    [source, target] = [target, source];
  }
  if (source !== all) copyRange(source, all, from, to);
}

function insertRows({ high, low, rows }: WordedRows, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const [h, l, row] = [high[i]!, low[i]!, rows[i]!];
    let at = i;
    for (; at > from && (high[at - 1]! > h || (high[at - 1] === h && low[at - 1]! > l)); at--) {
      high[at] = high[at - 1]!;
      low[at] = low[at - 1]!;
      rows[at] = rows[at - 1]!;
    }
    high[at] = h;
    low[at] = l;
    rows[at] = row;
  }
}

/** Sorted rows `[start, middle)` and `[middle, end)` of `source` as one in `target`. */
function mergeRanges(source: WordedRows, target: WordedRows, start: number, middle: number, end: number): void {
  const { high, low, rows } = source;
  const { high: toHigh, low: toLow, rows: toRows } = target;
  let [left, right] = [start, middle];
  for (let at = start; at < end; at++) {
    let isLeft = right >= end;
    if (!isLeft && left < middle) isLeft = high[left]! < high[right]! || (high[left] === high[right] && low[left]! <= low[right]!);
    const from = isLeft ? left++ : right++;
    toHigh[at] = high[from]!;
    toLow[at] = low[from]!;
    toRows[at] = rows[from]!;
  }
}

/**
 * Leaves of unsorted rows those that come to places `[from, to)` once they are sorted, and few others, in the order they have: digits are
 * counted from the first on. @returns the place of the first of them; `all` is as long as they are many
 */
export function* selectByWords(all: WordedRows, from: number, to: number): Generator<void, number> {
  let base = 0;
  for (let digit = 2 * WORD_DIGITS - 1; digit >= 0 && all.rows.length > MERGED_ROWS_MAX; digit--) {
    const { length } = all.rows;
    const word = digit >= WORD_DIGITS ? all.high : all.low;
    const shift = SHIFTS[digit % WORD_DIGITS]!;
    const counts = new Uint32Array(DIGITS);
    for (let at = 0; at < length; at += STEP_ROWS) {
      countDigit(word, shift, counts, at, Math.min(length, at + STEP_ROWS));
      yield;
    }
    let [first, before] = [0, base];
    while (before + counts[first]! <= from) before += counts[first++]!;
    let [last, end] = [first, before + counts[first]!];
    while (end < to) end += counts[++last]!;
    if (end - before < length) {
      takeDigits(all, word, shift, first, last, end - before);
      base = before;
      yield;
    }
    if (first !== last) break;
  }
  return base;
}

function countDigit(word: Uint32Array, shift: number, counts: Uint32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) counts[(word[i]! >>> shift) & MASK]!++;
}

/** Keeps the `count` rows whose digit lies in `[first, last]`. */
function takeDigits(all: WordedRows, word: Uint32Array, shift: number, first: number, last: number, count: number): void {
  const { high, low, rows } = all;
  const kept: WordedRows = { high: new Uint32Array(count), low: new Uint32Array(count), rows: new Uint32Array(count) };
  const { high: toHigh, low: toLow, rows: toRows } = kept;
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    const digit = (word[i]! >>> shift) & MASK;
    if (digit < first || digit > last) continue;
    toHigh[at] = high[i]!;
    toLow[at] = low[i]!;
    toRows[at++] = rows[i]!;
  }
  all.high = toHigh;
  all.low = toLow;
  all.rows = toRows;
}
