/**
 * Times of rows in nanoseconds as halves of 64 bits, so that none is a bigint; at the end offsets from a base, a part for each range of
 * time within which they are exact.
 */
import { CHUNK_TIME_SPAN_MAX } from "../../../base/limits.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { TimeVector } from "../../../column/vector.ts";

const TWO_32 = 0x1_0000_0000;
const NANOS_PER_SECOND = 1_000_000_000n;

/** Rows whose times one vector holds. */
export interface TimePart {
  /** Which rows; absent: all of them. */
  readonly rows: Uint32Array | undefined;
  readonly rowCount: number;
  readonly times: TimeVector;
}

/** See the file header. Times lie below 2^63. */
export class RowTimes {
  count = 0;
  private low: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private high: Uint32Array<ArrayBuffer> = new Uint32Array(1024);

  /** Bytes held. */
  get byteSize(): number {
    return this.low.byteLength * 2;
  }

  /** Adds the time of the next row. */
  add(low: number, high: number): void {
    const row = this.count++;
    if (row === this.low.length) {
      this.low = longer(this.low);
      this.high = longer(this.high);
    }
    this.low[row] = low;
    this.high[row] = high;
  }

  /** The time of a row in nanoseconds. */
  at(row: number): bigint {
    return (BigInt(this.high[row] as number) << 32n) | BigInt(this.low[row] as number);
  }

  /** All rows, in parts whose times are near each other. Ordinary requests have one. */
  parts(unit: TimeUnit): readonly TimePart[] {
    const { count, low, high } = this;
    if (count === 0) return [];
    if (unit !== "nanosecond") return this.partsOf(NANOS_PER_SECOND / BigInt(UNITS_PER_SECOND[unit]));
    const [low0, high0] = [low[0] as number, high[0] as number];
    const offsets = new Float64Array(count);
    for (let row = 0; row < count; row++) {
      const offset = ((high[row] as number) - high0) * TWO_32 + ((low[row] as number) - low0);
      if (offset > CHUNK_TIME_SPAN_MAX || offset < -CHUNK_TIME_SPAN_MAX) return this.partsOf(1n);
      offsets[row] = offset;
    }
    return [{ rows: undefined, rowCount: count, times: { kind: "time", base: this.at(0), offsets, validity: undefined } }];
  }

  /** The slow way: rows by windows of time. */
  private partsOf(unitNanos: bigint): readonly TimePart[] {
    const windows = new Map<bigint, { readonly base: bigint; readonly rows: number[]; readonly offsets: number[] }>();
    for (let row = 0; row < this.count; row++) {
      const time = this.at(row) / unitNanos;
      const window = time / BigInt(CHUNK_TIME_SPAN_MAX);
      let part = windows.get(window);
      if (part === undefined) {
        part = { base: time, rows: [], offsets: [] };
        windows.set(window, part);
      }
      part.rows.push(row);
      part.offsets.push(Number(time - part.base));
    }
    return [...windows.values()].map(({ base, rows, offsets }): TimePart => {
      const times: TimeVector = { kind: "time", base, offsets: Float64Array.from(offsets), validity: undefined };
      return { rows: windows.size === 1 ? undefined : Uint32Array.from(rows), rowCount: rows.length, times };
    });
  }
}
