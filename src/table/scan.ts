/**
 * What a query asks of a table and what it gets back.
 */
import type { Batch, SeriesRuns } from "../column/batch.ts";
import type { Scalar } from "../column/vector.ts";
import type { SeriesView } from "./series-view.ts";

/** Times in the unit of the table's time index, `[start, end)`. Both ends are clamped to the 64-bit range by the caller. */
export interface TimeRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** The range that holds every 64-bit time. `end` is one past the largest. */
export const ALL_TIME: TimeRange = { start: -(2n ** 63n), end: 2n ** 63n };

/** A condition on one tag column; `undefined` stands for NULL. */
export type TagPredicate =
  | { readonly kind: "in"; readonly column: string; readonly values: readonly (string | undefined)[] }
  /** Any test that depends on this one tag alone; called once for each distinct value. */
  | {
      readonly kind: "test";
      readonly column: string;
      readonly test: (value: string | undefined) => boolean;
      /** The test as the plan has it, for a table whose rows are elsewhere: what it is only the query layer knows. */
      readonly planned?: object;
    };

/** Bounds that rows of interest meet, for pruning only: storage may still return rows outside them. Inclusive; undefined = open. */
export interface FieldBounds {
  readonly column: string;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** A text that must occur in another, case and all. */
export interface TextPart {
  readonly text: string;
  /** Whether no ASCII letter or digit stands right before it. */
  readonly wholeStart: boolean;
  /** Whether none stands right behind it. */
  readonly wholeEnd: boolean;
  /** Whether it is looked for in the lower-cased text. */
  readonly lowered: boolean;
}

/**
 * A condition on fields that every row of interest meets, for pruning only, by statistics of pages and the indexes of columns: storage may
 * still return other rows. Values are of the column's own type. Never met by NULL.
 */
export type FieldCondition =
  | { readonly kind: "in"; readonly column: string; readonly values: readonly Scalar[] }
  /** Inclusive; undefined = open. NaN is above all numbers. */
  | { readonly kind: "range"; readonly column: string; readonly min: Scalar; readonly max: Scalar }
  | { readonly kind: "text"; readonly column: string; readonly part: TextPart }
  | { readonly kind: "all"; readonly of: readonly FieldCondition[] }
  | { readonly kind: "any"; readonly of: readonly FieldCondition[] };

/** Columns of which statistics will do where storage has them without reading rows. */
export interface SummaryRequest {
  readonly columns: readonly {
    /** A field, or the time index, of which only bounds are had. */
    readonly column: string;
    readonly wantsBounds: boolean;
    /** Of integers and floats only. */
    readonly wantsSum: boolean;
  }[];
  /** All times of a summary lie in one range `[origin + i * width, origin + (i + 1) * width)`, in the unit of the time index. */
  readonly buckets: { readonly width: bigint; readonly origin: bigint } | undefined;
  /** All rows of a summary are of one series. */
  readonly isPerSeries: boolean;
}

/** Statistics of one column over some rows. Those that were not asked for are undefined. */
export interface ColumnSummary {
  /** Values that are not NULL. */
  readonly valueCount: number;
  /** Exact; undefined also where there is no value. */
  readonly min: Scalar;
  readonly max: Scalar;
  /** Of integers the exact sum. */
  readonly sum: number | undefined;
}

/** Rows of a scan that come as statistics alone. */
export interface RowsSummary {
  /** Of the rows' time index. */
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /** In the order of the request. */
  readonly columns: readonly ColumnSummary[];
}

/** Where the values of one column lie in all rows that pass a test; for pruning only. */
export interface RowBound {
  /** Place of the column in the projection: a field or the time index. */
  readonly place: number;
  /** Of the column's own type, inclusive; undefined = open. NaN is above all numbers. */
  readonly min: Scalar;
  readonly max: Scalar;
  /** Whether rows without a value pass, too. */
  readonly nullsPass: boolean;
}

/**
 * A test of rows by some columns of a scan. Storage makes tests in their order, each on rows that passed those before it, and reads the
 * other columns of rows that passed all. It may leave tests out: a batch whose rows passed all of them says so.
 */
export interface RowTest {
  /** Places of columns in the projection. */
  readonly columns: readonly number[];
  /** What is known of the rows that pass; from one batch to the next it may become narrower. Storage leaves out pages without such rows. */
  bound?(): RowBound | undefined;
  /** Positions of the rows that pass, ascending; undefined: all. Valid until the next call. `batch` has `columns`, in their order. */
  select(batch: Batch): Promise<Uint32Array | undefined>;
}

/** A read of one table. Conditions are joined by AND. Time range and tag predicates are exact: no row outside is returned. */
export interface ScanRequest {
  /** Names of the columns wanted, in the order of the batches' vectors. May be empty: then only row counts matter. */
  readonly projection: readonly string[];
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly TagPredicate[];
  readonly fieldBounds: readonly FieldBounds[];
  readonly fieldConditions?: readonly FieldCondition[];
  /** The scan may hand out batches with a `summary`. With conditions on fields it never does. */
  readonly summaries?: SummaryRequest;
  /**
   * "none": any order, rows still in runs of one series with ascending time.
   * "series-time": ordered by (tags in key order, NULL first, then time), across all batches.
   * "listed": the same, but series in the order in which the table shows its rows to those who ask for no order.
   */
  readonly order: "none" | "series-time" | "listed";
  /** Only the newest row of each series within `timeRange`. */
  readonly newestPerSeries?: boolean;
  /** Stop after at least this many rows; the last batch may go over. */
  readonly limit?: number;
  /** What rows of interest pass. */
  readonly rowTests?: readonly RowTest[] | undefined;
  /** Places in the projection of columns that only tests read: in batches of rows that passed they may be NULL. */
  readonly unread?: readonly number[] | undefined;
  /** Checked once a batch. */
  readonly signal?: AbortSignal;
  /**
   * What the reader has as the table's `series`: runs come under its numbers, also when the table has begun to number anew since. Absent:
   * that of the moment in which the first batch is asked for.
   */
  readonly numbers?: SeriesView;
  /** The reader keeps nothing of a batch once it asks for the next one, or ends the scan: others may lie in the same arrays then. */
  readonly mayReuseArrays?: boolean;
}

/**
 * Rows of a scan, duplicates already resolved by the table's merge mode. The time index comes as a "time" vector, tags as
 * "dictionary", strings as "coded" or "bytes", binary as "bytes", timestamp and duration fields as "time" or, when values lie too far
 * apart, "wide", other fields as "number" or, when a value lies beyond ±2^53, "wide".
 * Memory is valid until the next batch is asked for.
 */
export interface ScanBatch extends Batch {
  /** Present when the table has a primary key or not: rows without tags form one series. */
  readonly runs: SeriesRuns;
  /** Only when the request allows it: statistics of the batch's rows, which then has no vectors. Without `isPerSeries` it has no runs. */
  readonly summary?: RowsSummary;
  /** Whether all rows passed the tests of the request. */
  readonly isTested?: boolean;
}

/** What a scan read and skipped; filled while it runs; for EXPLAIN ANALYZE and metrics. */
export interface ScanMetrics {
  rowsReturned: number;
  bytesRead: number;
  filesRead: number;
  filesSkipped: number;
  /** Those of `filesSkipped` that lie in the time range and hold none of the wanted tag values. */
  filesSkippedByTags: number;
  pagesRead: number;
  pagesSkipped: number;
  /** Pages, counted once for all columns, of which statistics were enough. */
  pagesSummarised: number;
  /** Those of `pagesSkipped` that the index of a column ruled out, where statistics did not. */
  pagesSkippedByIndex: number;
}

/** Statistics before anything happened. */
export function newScanMetrics(): ScanMetrics {
  return {
    rowsReturned: 0,
    bytesRead: 0,
    filesRead: 0,
    filesSkipped: 0,
    filesSkippedByTags: 0,
    pagesRead: 0,
    pagesSkipped: 0,
    pagesSummarised: 0,
    pagesSkippedByIndex: 0,
  };
}
