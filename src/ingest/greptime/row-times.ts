/** Times of a table's rows, as offsets from a base. Rows whose time is too far from it begin a part with a base of its own. */
import { longer, partOf } from "../../base/bytes/longer-array.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import type { TimeVector } from "../../column/vector.ts";
import { TIME_JUMPS_MAX } from "./limits.ts";

const TWO_32 = 0x1_0000_0000;
/** High words further apart than this make distances that no double holds exactly; a time that far away is in another part anyway. */
const HIGH_SPAN_MAX: number = 2 ** 21;

/** Rows `[start, …)` up to the next part. */
interface TimePart {
  readonly start: number;
  readonly base: bigint;
}

/** See the file header. */
export class RowTimes {
  private offsets: Float64Array<ArrayBuffer>;
  private readonly parts: TimePart[] = [];
  private baseHigh = 0;
  private baseLow = 0;

  constructor(rowCount: number) {
    this.offsets = new Float64Array(rowCount);
  }

  /** Sets the time of the next row, by the two halves of its 64 bits. @returns what is wrong: too many parts */
  set(row: number, high: number, low: number): string | undefined {
    if (row >= this.offsets.length) this.offsets = longer(this.offsets);
    const highDistance = (high | 0) - this.baseHigh;
    const offset = highDistance * TWO_32 + (low - this.baseLow);
    if (row > 0 && Math.abs(highDistance) < HIGH_SPAN_MAX && Math.abs(offset) < CHUNK_TIME_SPAN_MAX) {
      this.offsets[row] = offset;
      return undefined;
    }
    if (this.parts.length === TIME_JUMPS_MAX)
      return `times of the rows before it jump by more than ${CHUNK_TIME_SPAN_MAX} units ${TIME_JUMPS_MAX} times; sort rows by time`;
    this.baseHigh = high | 0;
    this.baseLow = low;
    this.parts.push({ start: row, base: (BigInt(high | 0) << 32n) | BigInt(low) });
    this.offsets[row] = 0;
    return undefined;
  }

  /** The parts of `rowCount` rows, none of more than `rowsMax`, each with its end. */
  *each(rowCount: number, rowsMax: number): Generator<{ readonly start: number; readonly end: number; readonly times: TimeVector }> {
    for (const [i, { start: first, base }] of this.parts.entries()) {
      const last = this.parts[i + 1]?.start ?? rowCount;
      for (let start = first; start < last; start += rowsMax) {
        const end = Math.min(last, start + rowsMax);
        yield { start, end, times: { kind: "time", base, offsets: partOf(this.offsets, start, end), validity: undefined } };
      }
    }
  }
}
