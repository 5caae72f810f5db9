import type { TimeVector } from "../column/vector.ts";
import type { TagPredicate, TimeRange } from "./scan.ts";

/** Rows of a table by series number and time. Borrowed until the call that takes them returns its promise. */
export interface RowKeys {
  readonly rowCount: number;
  /** Series numbers as `ScanBatch.runs` gives them, one a row. */
  readonly series: Uint32Array;
  /** Never NULL; in the unit of the time index. */
  readonly times: TimeVector;
}

/** All rows of some series within a range of time. Both conditions are exact. */
export interface RowRange {
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly TagPredicate[];
  /** Checked once a batch; what was deleted until then stays deleted. */
  readonly signal?: AbortSignal;
}
