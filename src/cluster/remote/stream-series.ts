/** Numbers of one stream's series → numbers of this process. */
import { longer } from "../../base/bytes/longer-array.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { DefinedSeries } from "../wire/shard-request.ts";
import type { RemoteSeries } from "./remote-series.ts";

/** See the file header. */
export class StreamSeries {
  private readonly series: RemoteSeries;
  private numbers: Uint32Array<ArrayBuffer> = new Uint32Array(16);
  private count = 0;

  constructor(series: RemoteSeries) {
    this.series = series;
  }

  /**
   * Takes series that the stream defines next.
   *
   * @param tags how many the schema has here
   * @throws DbError RequestOutdated where the shard tells them apart by tags that are not known here yet
   */
  define(defined: DefinedSeries, tags: number): void {
    const { count } = this;
    const end = count + defined.count;
    if (end > this.numbers.length) this.numbers = longer(this.numbers, end);
    this.series.register(defined, this.numbers.subarray(count, end));
    this.count = end;
    if (defined.tags.length > tags && new Set(this.numbers.subarray(0, end)).size < end) {
      throw new DbError(StatusCode.RequestOutdated, "cannot read rows: their table has a new tag since the statement began; run it again");
    }
  }

  /** Runs under numbers of this process. @throws DbError Internal for a series that was not defined */
  renumbered({ starts, series }: SeriesRuns): SeriesRuns {
    const own = new Uint32Array(Math.max(0, starts.length - 1));
    for (let run = 0; run < own.length; run++) {
      const number = series[run] as number;
      if (number >= this.count) {
        throw new DbError(StatusCode.Internal, `cannot read rows: they are of series ${number}, and ${this.count} were defined`);
      }
      own[run] = this.numbers[number] as number;
    }
    return { starts, series: own };
  }
}
