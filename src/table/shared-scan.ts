/** A scan that several threads run together, each some of its parts. */
import type { Batch, SeriesRuns } from "../column/batch.ts";
import type { DataType } from "../column/data-type.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "./scan.ts";

/** When a scan is cut, and how finely. */
export interface ShareLimits {
  /** Fewer rows are not worth a message. 0: however few they are. */
  readonly rowsMin: number;
  /** Rows that a part should have, about. */
  readonly partRows: number;
  readonly partsMax: number;
}

/** Some of a scan's rows: those of a range of its series in a range of times. No two parts hold rows of one series and time. */
export interface ScanPart {
  /** Which of the tables has them, where a table's rows lie in several. */
  readonly shard?: number;
  /** Places of series in the order of the scan, `[start, end)`. */
  readonly slots: { readonly start: number; readonly end: number };
  readonly timeRange: TimeRange;
  /** About. */
  readonly rowCount: number;
}

/** Rows that another thread gave of parts of one shard, in their order. */
export interface ShardRows {
  readonly shard: number;
  readonly batches: AsyncIterable<BatchOfSeries>;
}

/** Rows of some columns, with the series that they are of, by the numbers of their shard. */
export interface BatchOfSeries extends Batch {
  readonly runs: SeriesRuns;
}

/** What the scan of a table in several shards knows of their series. */
export interface SharedShards {
  /** Whether the order of the scan is one of series, and rows of the shards have to be put in it by `merged`. */
  readonly areOrdered: boolean;
  /** Numbers of this thread for series of a part. */
  renumbered(runs: SeriesRuns, part: ScanPart): SeriesRuns;
  /** The rows in the order of the scan, under numbers of this thread. @param types of their columns */
  merged(rows: readonly ShardRows[], types: readonly DataType[]): AsyncIterable<BatchOfSeries>;
}

/** See the file header. */
export interface SharedScan {
  /** What other threads need: plain data for a structured clone. What it is, only the storage on both sides knows. */
  readonly snapshot: object;
  /**
   * In the order of the scan, if it has one: rows of a part come before those of the next. Of several shards those of each follow each
   * other, in its order.
   */
  readonly parts: readonly ScanPart[];
  /** Conditions on tags have to go with a fragment: the snapshot has all series. Absent: it has those that meet them. */
  readonly keepsTags?: boolean;
  /** Of several shards: puts rows of other threads together. */
  readonly shards?: SharedShards;
  /**
   * The rows of a part, or of all, on this thread, before `release`.
   *
   * @param request as it was shared, but for `rowTests` and `unread`
   */
  scanHere(request: ScanRequest, metrics: ScanMetrics | undefined, part?: ScanPart): AsyncIterable<ScanBatch>;
  /** Lets go of the memory and files that the snapshot names; call once, when no thread reads them any more. */
  release(): Promise<void>;
}
