/** The series index of a file that is written batch by batch. */
import { assert } from "../../base/assert.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { SeriesIndex } from "../sst/series/series-index.ts";
import { usedCodes } from "../sst/series/used-codes.ts";

/** Takes the runs of sorted rows in their order; runs of one series that follow each other become one. */
export class SeriesIndexBuilder {
  private readonly registry: SeriesRegistry;
  private readonly base: bigint;
  private readonly series: number[] = [];
  private readonly ends: number[] = [];
  private readonly firstTimes: number[] = [];
  private readonly lastTimes: number[] = [];
  rowCount = 0;

  /** @param base start of the 64-day window that holds all rows, in the unit of the time index */
  constructor(registry: SeriesRegistry, base: bigint) {
    this.registry = registry;
    this.base = base;
  }

  /** Adds the rows of a batch. */
  add({ starts, series }: SeriesRuns, times: Vector): void {
    assert(times.kind === "time", `times come as a time vector; got ${times.kind}`);
    const shift = Number(times.base - this.base);
    for (let run = 0; run < series.length; run++) {
      const number = series[run] as number;
      const start = starts[run] as number;
      const end = starts[run + 1] as number;
      const last = this.series.length - 1;
      if (this.series[last] === number) {
        this.ends[last] = this.rowCount + end;
        this.lastTimes[last] = shift + (times.offsets[end - 1] as number);
        continue;
      }
      this.series.push(number);
      this.ends.push(this.rowCount + end);
      this.firstTimes.push(shift + (times.offsets[start] as number));
      this.lastTimes.push(shift + (times.offsets[end - 1] as number));
    }
    this.rowCount += starts.at(-1) ?? 0;
  }

  /** The index, with only the tag values that occur. */
  finish(): SeriesIndex {
    const { registry } = this;
    const series = Uint32Array.from(this.series);
    const columns = registry.view().map(({ codes, texts }) => usedCodes(series, codes, texts));
    return {
      columnIds: registry.columnIds(),
      dictionaries: columns.map(({ texts }) => texts),
      codes: columns.map(({ codes }) => codes),
      ends: Uint32Array.from(this.ends),
      timeBase: this.base,
      firstTimes: Float64Array.from(this.firstTimes),
      lastTimes: Float64Array.from(this.lastTimes),
    };
  }
}
