import { longer } from "../../base/bytes/longer-array.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { DeleteSource } from "../../storage/memtable/delete-chunk.ts";

/** First and last row of each series of a 64-day group, gathered from runs in any order. 24 B a series of the table. */
export class RangeCollector {
  /** Start of the group, which times count from. */
  readonly base: bigint;
  private readonly used: number[] = [];
  private firsts: Float64Array = new Float64Array(256);
  private lasts: Float64Array = new Float64Array(256);
  /** Rows of each series; 0: none so far. */
  private counts: Float64Array = new Float64Array(256);

  constructor(base: bigint) {
    this.base = base;
  }

  /** Adds the rows of runs; `offsets` are their times, ascending within a run. */
  add({ starts, series }: SeriesRuns, offsets: Float64Array): void {
    for (let run = 0; run < series.length; run++) {
      const number = series[run] as number;
      const start = starts[run] as number;
      const end = starts[run + 1] as number;
      const first = offsets[start] as number;
      const last = offsets[end - 1] as number;
      if (number >= this.counts.length) this.grow(number + 1);
      if (this.counts[number] === 0) {
        this.used.push(number);
        this.firsts[number] = first;
        this.lasts[number] = last;
      } else {
        if (first < (this.firsts[number] as number)) this.firsts[number] = first;
        if (last > (this.lasts[number] as number)) this.lasts[number] = last;
      }
      this.counts[number] = (this.counts[number] as number) + end - start;
    }
  }

  /** The ranges, at most `countMax` at a time. */
  *parts(countMax: number): Generator<Omit<DeleteSource, "sequence" | "seriesMax">> {
    for (let from = 0; from < this.used.length; from += countMax) {
      const series = Uint32Array.from(this.used.slice(from, from + countMax));
      const of = (values: Float64Array): Float64Array => Float64Array.from(series, (number) => values[number] as number);
      const firsts = of(this.firsts);
      const lengths = of(this.lasts).map((last, i) => last - (firsts[i] as number));
      const rows = of(this.counts);
      yield {
        count: series.length,
        series,
        timeBase: this.base,
        firsts,
        lengths: lengths.every((length) => length === 0) ? undefined : lengths,
        rows: rows.every((count) => count === 1) ? undefined : rows,
      };
    }
  }

  private grow(count: number): void {
    this.firsts = longer(this.firsts, count);
    this.lasts = longer(this.lasts, count);
    this.counts = longer(this.counts, count);
  }
}
