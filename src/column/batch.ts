import type { DataType } from "./data-type.ts";
import type { Vector } from "./vector.ts";

/** Name and type of one column of a result or a scan. */
export interface ColumnHeader {
  readonly name: string;
  readonly type: DataType;
}

/** Rows of a result or a scan, column by column: `vectors[c]` belongs to `headers[c]` of the stream that yields it. */
export interface Batch {
  readonly rowCount: number;
  readonly vectors: readonly Vector[];
}

/** Runs of rows of one series within a batch, in the order of the rows. */
export interface SeriesRuns {
  /** `runCount + 1` ascending row positions; run r is rows `[starts[r], starts[r + 1])`. */
  readonly starts: Uint32Array;
  /** Series number of each run. */
  readonly series: Uint32Array;
}
