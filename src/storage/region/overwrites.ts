/**
 * Rows of a table that were written since a moment, by series and time. A DELETE whose WHERE names fields looks at them before it deletes
 * what a scan found: a row that has a newer version by now is not the one that the condition was evaluated on.
 *
 *   watch ─► scan ─► keys of rows that match ─► those written since are left out ─► tombstones
 *
 * Rows of this thread count from the moment when they get their sequence, those of others when they are told of; the engine sees to it that
 * none which a tombstone would hide is acknowledged without being told of before (`engine/change/deleter.ts`).
 *
 *   slots   | series + 1 | high 32 bits of the time | low 32 bits |        series + 1 = 0: free
 */
import { OVERWRITES_WATCHED_MAX } from "../../base/limits.ts";
import type { OverwriteWatch, WatchedKeys } from "../../table/delete.ts";
import type { TimeRange } from "../../table/scan.ts";
import { type Chunk, chunkMaxTime, chunkMinTime } from "../memtable/chunk.ts";

const SLOT_WORDS = 3;
const SLOTS_MIN = 1024;
const TWO_32 = 2 ** 32;

/** See the file header. 24 B a row at most; beyond the limit every row counts as written. */
export class Overwrites implements OverwriteWatch {
  private readonly range: TimeRange;
  private readonly rowsMax: number;
  private readonly onEnd: (ended: Overwrites) => void;
  private slots: Uint32Array = new Uint32Array(0);
  private count = 0;
  isFull = false;

  /** @param range times that matter; others are not kept */
  constructor(range: TimeRange, onEnd: (ended: Overwrites) => void, rowsMax: number = OVERWRITES_WATCHED_MAX) {
    this.range = range;
    this.onEnd = onEnd;
    this.rowsMax = rowsMax;
  }

  /** Notes the rows of a chunk. */
  add(chunk: Chunk): void {
    if (chunk.deletes === true || this.isFull) return;
    if (chunkMaxTime(chunk) < this.range.start || chunkMinTime(chunk) >= this.range.end) return;
    if (this.count + chunk.rowCount > this.rowsMax) return this.overflow();
    this.reserve(this.count + chunk.rowCount);
    const base = splitBase(chunk.timeBase);
    const { series, times, timeScale, rowCount } = chunk;
    for (let i = 0; i < rowCount; i++) {
      const { high, low } = splitTime(base, (times[i] as number) * timeScale);
      if (place(this.slots, series[i] as number, high, low)) this.count++;
    }
  }

  /** From now on every row counts as written. */
  overflow(): void {
    this.isFull = true;
    this.slots = new Uint32Array(0);
  }

  unwritten({ count, series, base, offsets }: WatchedKeys): number {
    if (this.isFull) return 0;
    if (this.count === 0) return count;
    const from = splitBase(base);
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const number = series[i] as number;
      const offset = offsets[i] as number;
      if (this.has(number, from, offset)) continue;
      series[kept] = number;
      offsets[kept++] = offset;
    }
    return kept;
  }

  end(): void {
    this.onEnd(this);
  }

  private has(series: number, base: SplitBase, offset: number): boolean {
    const { slots } = this;
    const key = splitTime(base, offset);
    for (let at = slotOf(series, key, slots.length); ; at = at + SLOT_WORDS === slots.length ? 0 : at + SLOT_WORDS) {
      if (slots[at] === 0) return false;
      if (slots[at] === series + 1 && slots[at + 1] === key.high && slots[at + 2] === key.low) return true;
    }
  }

  /** Room for `count` rows with half of the slots free. */
  private reserve(count: number): void {
    let slotCount = Math.max(SLOTS_MIN, this.slots.length / SLOT_WORDS);
    while (slotCount < count * 2) slotCount *= 2;
    if (slotCount * SLOT_WORDS === this.slots.length) return;
    const old = this.slots;
    this.slots = new Uint32Array(slotCount * SLOT_WORDS);
    for (let at = 0; at < old.length; at += SLOT_WORDS) {
      if (old[at] !== 0) place(this.slots, (old[at] as number) - 1, old[at + 1] as number, old[at + 2] as number);
    }
  }
}

/** A time modulo 2^64 as two unsigned halves. */
interface SplitTime {
  high: number;
  low: number;
}

type SplitBase = Readonly<SplitTime>;

/** One object for all rows: a call is over before the next. */
const scratch: SplitTime = { high: 0, low: 0 };

function splitBase(base: bigint): SplitBase {
  return { high: Number(BigInt.asUintN(32, base >> 32n)), low: Number(BigInt.asUintN(32, base)) };
}

/** `base + offset`, exact: |offset| < 2^53. */
function splitTime(base: SplitBase, offset: number): SplitTime {
  const offsetHigh = Math.floor(offset / TWO_32);
  const low = base.low + (offset - offsetHigh * TWO_32);
  const carry = low >= TWO_32 ? 1 : 0;
  scratch.low = low - carry * TWO_32;
  scratch.high = (base.high + offsetHigh + carry) >>> 0;
  return scratch;
}

/** Puts a row in; returns whether it was not there. */
function place(slots: Uint32Array, series: number, high: number, low: number): boolean {
  scratch.high = high;
  scratch.low = low;
  for (let at = slotOf(series, scratch, slots.length); ; at = at + SLOT_WORDS === slots.length ? 0 : at + SLOT_WORDS) {
    if (slots[at] === 0) {
      slots[at] = series + 1;
      slots[at + 1] = high;
      slots[at + 2] = low;
      return true;
    }
    if (slots[at] === series + 1 && slots[at + 1] === high && slots[at + 2] === low) return false;
  }
}

/** Index of the first word of the slot to begin at; slots are a power of two. */
function slotOf(series: number, { high, low }: SplitBase, words: number): number {
  let hash = Math.imul(series ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(low, 0xc2b2ae35) ^ Math.imul(high, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) & (words / SLOT_WORDS - 1)) * SLOT_WORDS;
}
