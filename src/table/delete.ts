import type { TimeVector } from "../column/vector.ts";
import type { SeriesView } from "./series-view.ts";
import type { TagPredicate, TimeRange } from "./scan.ts";

/** Rows of a table by series number and time. Borrowed until the call that takes them returns its promise. */
export interface RowKeys {
  readonly rowCount: number;
  /** Series numbers as `ScanBatch.runs` gives them, one a row. */
  readonly series: Uint32Array;
  /** What the caller has as the table's `series`, which gave the numbers. Absent: as it is now. */
  readonly numbers?: SeriesView;
  /** Never NULL; in the unit of the time index. */
  readonly times: TimeVector;
}

/** Keys that a delete is about to name; the arrays are the callee's to change. */
export interface WatchedKeys {
  readonly count: number;
  /** Numbers of the series where the rows are stored. */
  readonly series: Uint32Array;
  /** What the offsets count from. */
  readonly base: bigint;
  readonly offsets: Float64Array;
}

/** Knows which rows of a table were written since it began. To be ended. */
export interface OverwriteWatch {
  /** Moves the keys that were not written since to the front of their arrays; returns how many they are. */
  unwritten(keys: WatchedKeys): number;
  /** Whether more was written than it remembers: then every row counts as written. */
  readonly isFull: boolean;
  end(): void;
}

/** Rows by conditions that the query layer knows, for whoever has the rows. */
export interface MatchingRows {
  /** As bytes: a scan of the table with conditions on its rows above it. */
  readonly plan: Uint8Array<ArrayBuffer>;
  /** What the conditions are evaluated by. */
  readonly environment: { readonly now: bigint; readonly timeZone: string; readonly database: string };
  /** What the scan reads, for pruning. */
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly TagPredicate[];
  readonly signal?: AbortSignal;
}

/** All rows of some series within a range of time. Both conditions are exact. */
export interface RowRange {
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly TagPredicate[];
  /** Checked once a batch; what was deleted until then stays deleted. */
  readonly signal?: AbortSignal;
}
