/**
 * Which rows of a memtable belong to a series: a chain of row numbers a series, the newest arrival first. Rows are numbered through the
 * chunks, so numbers stay when small chunks are joined. Made when a scan first asks for a few series and extended by the rows that came
 * since.
 *
 *   heads[series] ─► row ─► previous[row] ─► … ─► none
 *
 * A chunk that deletes takes row numbers for its ranges, which are in no chain. 4 B a row, 20 B a series. Rows of most series come about
 * in the order of time, those of several connections some requests late: `latenessOf` says how late, so that a scan of a time range or of
 * the newest row stops at the first row before which nothing of interest can have come.
 */
import { pieceOf } from "../../base/bytes/binary-search.ts";
import { resized } from "../../base/bytes/longer-array.ts";
import type { Chunk } from "./chunk.ts";

/** Lateness of a series whose times ascend strictly. */
const ALWAYS_ASCENDS = -1;

/** Row number of no row. */
export const NO_ROW = 0xffff_ffff;

/** See the file header. */
export class RowPostings {
  private rowCount = 0;
  private heads: Uint32Array = new Uint32Array(0);
  private previous: Uint32Array = new Uint32Array(0);
  /** Newest time of each series as an offset from `base`; -Infinity without rows. */
  private newest: Float64Array = new Float64Array(0);
  /** See `latenessOf`. */
  private lateness: Float64Array = new Float64Array(0);
  private base = 0n;

  /**
   * Takes in the rows that came since.
   *
   * @param chunks all of the memtable, as of some moment; one before the last call changes nothing
   * @param starts row numbers of the chunks, and the row count
   * @param seriesCount above all their series
   */
  extend(chunks: readonly Chunk[], starts: Uint32Array, seriesCount: number): void {
    const rows = starts[chunks.length]!;
    if (rows <= this.rowCount) return;
    if (this.rowCount === 0) this.base = chunks[0]?.timeBase ?? 0n;
    this.reserve(rows, seriesCount);
    for (let c = pieceOf(starts, this.rowCount); c < chunks.length; c++) {
      const chunk = chunks[c] as Chunk;
      if (chunk.deletes !== true) this.add(chunk, starts[c] as number);
    }
    this.rowCount = rows;
  }

  /** The newest arrival of a series, or NO_ROW. */
  headOf(series: number): number {
    return series < this.heads.length ? (this.heads[series] as number) : NO_ROW;
  }

  /** The row that arrived before `row` of the same series, or NO_ROW. */
  before(row: number): number {
    return this.previous[row] as number;
  }

  /** How much newer than a row of a series one that came before it may be: below 0 when times ascend strictly in the order of arrival. */
  latenessOf(series: number): number {
    return this.lateness[series] ?? ALWAYS_ASCENDS;
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.heads.byteLength + this.previous.byteLength + this.newest.byteLength + this.lateness.byteLength;
  }

  private reserve(rows: number, seriesCount: number): void {
    if (this.previous.length < rows) this.previous = resized(this.previous, Math.ceil(rows * 1.5));
    if (this.heads.length >= seriesCount) return;
    const room = Math.max(seriesCount, Math.ceil(this.heads.length * 1.5));
    const known = this.heads.length;
    this.heads = resized(this.heads, room).fill(NO_ROW, known);
    this.newest = resized(this.newest, room).fill(Number.NEGATIVE_INFINITY, known);
    this.lateness = resized(this.lateness, room).fill(ALWAYS_ASCENDS, known);
  }

  /** Takes in the rows of a chunk that were not taken in yet. */
  private add({ rowCount, series, times, timeBase, timeScale }: Chunk, start: number): void {
    const from = Math.max(0, this.rowCount - start);
    const count = rowCount - from;
    if (scratchSeries.length < count) {
      scratchSeries = new Uint32Array(count * 2);
      scratchTimes = new Float64Array(count * 2);
    }
    // One class of arrays for the loop below, whatever the chunk has.
    scratchSeries.set(series.subarray(from, rowCount));
    scratchTimes.set(times.subarray(from, rowCount));
    const offset = Number(timeBase - this.base);
    const { heads, previous, newest, lateness } = this;
    link(scratchSeries, scratchTimes, count, start + from, offset, timeScale, heads, previous, newest, lateness);
  }
}

/** Row number at which each chunk starts, and the row count. */
export function rowStarts(chunks: readonly Chunk[]): Uint32Array {
  const starts = new Uint32Array(chunks.length + 1);
  for (let c = 0; c < chunks.length; c++) starts[c + 1] = (starts[c] as number) + (chunks[c] as Chunk).rowCount;
  return starts;
}

let scratchSeries = new Uint32Array(1024);
let scratchTimes = new Float64Array(1024);

function link(
  series: Uint32Array,
  times: Float64Array,
  count: number,
  first: number,
  offset: number,
  scale: number,
  heads: Uint32Array,
  previous: Uint32Array,
  newest: Float64Array,
  lateness: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const s = series[i]!;
    const time = offset + times[i]! * scale;
    previous[first + i] = heads[s]!;
    heads[s] = first + i;
    const late = newest[s]! - time;
    if (late < 0) newest[s] = time;
    else if (late > lateness[s]!) lateness[s] = late <= Number.MAX_SAFE_INTEGER ? late : Number.POSITIVE_INFINITY;
    // Beyond 2^53 times are rounded: nothing is known of a series with such a one.
    if (time > Number.MAX_SAFE_INTEGER || time < Number.MIN_SAFE_INTEGER) lateness[s] = Number.POSITIVE_INFINITY;
  }
}
