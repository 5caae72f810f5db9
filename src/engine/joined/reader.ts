/** The scan of a part, as far as its rows were taken. */
import type { ScanBatch } from "../../table/scan.ts";

type Batches = AsyncIterator<ScanBatch>;

/** See the file header. */
export class Reader {
  readonly part: number;
  /** The batch that has the next row; undefined once there is none. Valid until the reader goes on. */
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
    await reader.goOn();
    return reader;
  }

  /** Whether all rows of the batch were taken. */
  get isAtEnd(): boolean {
    return this.batch !== undefined && this.row >= this.batch.rowCount;
  }

  /** Goes past a row of the batch. */
  passTo(end: number): void {
    this.row = end;
    const { batch } = this;
    if (batch === undefined || end >= batch.rowCount) return;
    while ((batch.runs.starts[this.run + 1] as number) <= end) this.run++;
  }

  /** Goes to the next batch that has rows. @throws as the scan does */
  async goOn(): Promise<void> {
    this.row = 0;
    this.run = 0;
    for (;;) {
      const next = await this.batches.next();
      this.batch = next.done === true ? undefined : next.value;
      if (this.batch === undefined || this.batch.rowCount > 0) return; // One without rows has no series to be merged by.
    }
  }
}
