/** The scan of a part, as far as its rows were taken. */
import type { SeriesRuns } from "../../column/batch.ts";
import { sliceBatch } from "../../column/slice.ts";
import type { ScanBatch } from "../../table/scan.ts";

type Batches = AsyncIterator<ScanBatch>;

/** See the file header. */
export class Reader {
  readonly part: number;
  /** The batch that has the next row; undefined once there is none. Valid until the reader goes past its end. */
  batch: ScanBatch | undefined;
  /** The next row, and its run. */
  row = 0;
  run = 0;
  private readonly batches: Batches;

  private constructor(batches: Batches, part: number) {
    this.batches = batches;
    this.part = part;
  }

  /** Begins to read. @throws as the scan does */
  static async begun(batches: Batches, part: number): Promise<Reader> {
    const reader = new Reader(batches, part);
    await reader.next();
    return reader;
  }

  /** Goes past a row of the batch, or to the next batch that has rows. @throws as the scan does */
  async passTo(end: number): Promise<void> {
    const { batch } = this;
    if (batch === undefined || end >= batch.rowCount) return this.next();
    this.row = end;
    while ((batch.runs.starts[this.run + 1] as number) <= end) this.run++;
  }

  /** The rows that come next, up to one. */
  rowsTo(end: number): ScanBatch {
    const { batch, row, run } = this;
    const { rowCount, runs, ...others } = batch as ScanBatch;
    if (row === 0 && end === rowCount) return batch as ScanBatch;
    let last = run + 1;
    while ((runs.starts[last] as number) < end) last++;
    const starts = runs.starts.slice(run, last + 1).map((start) => Math.min(end, Math.max(row, start)) - row);
    const own: SeriesRuns = { starts, series: runs.series.subarray(run, last) };
    return { ...others, ...sliceBatch(batch as ScanBatch, row, end), runs: own };
  }

  private async next(): Promise<void> {
    this.row = 0;
    this.run = 0;
    for (;;) {
      const next = await this.batches.next();
      this.batch = next.done === true ? undefined : next.value;
      if (this.batch === undefined || this.batch.rowCount > 0) return; // One without rows has no series to be merged by.
    }
  }
}
