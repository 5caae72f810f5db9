/**
 * Where a scan's rows come from: the memtables together, or one file. Rows of a source are numbered; series come in runs with
 * ascending times, and no source holds two rows of one series and time (but in append mode).
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { TombstoneSet } from "../../tombstone/tombstone-set.ts";
import type { ConstantColumn } from "./constant-column.ts";
import type { RowBound, ScanBatch } from "../../../table/scan.ts";
import type { FormerColumn } from "../../../table/schema.ts";
import type { RunList } from "./run-list.ts";

/** A field column as the scan wants it. */
export interface ScanColumn {
  readonly id: number;
  readonly type: DataType;
  /** Stands where the source is older than the column; undefined: NULL. */
  readonly missing: ConstantColumn | undefined;
  /** Ids and types that the column had before, oldest first. */
  readonly former?: readonly FormerColumn[] | undefined;
}

/** Rows `[from, to)` of `vector`, or `to - from` NULLs when there is no vector. */
export interface Piece {
  readonly vector: Vector | undefined;
  readonly from: number;
  readonly to: number;
}

/** Rows `[start, end)` of a source. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** Rows of one snapshot and one 64-day group. `start` and `end` are row numbers, `[start, end)`. */
export interface ScanSource {
  /** Adds the source's runs of series in slots `[from, to)` that touch the time range, under the number `source`, in the order of rows. */
  addRuns(source: number, from: number, to: number, runs: RunList): void;
  /** Offsets of the rows of `ranges` from the group's base, in their order, in pieces of kind "time". */
  times(ranges: readonly RowRange[]): Promise<readonly Piece[]>;
  /** Values of the rows of `ranges`, in their order, in pieces. */
  column(column: ScanColumn, ranges: readonly RowRange[]): Promise<readonly Piece[]>;
  /** As `times`, of one range, where it is in memory: undefined where it has to be read. */
  timesAtHand(range: RowRange): readonly Piece[] | undefined;
  /** As `column`, in the same way. */
  columnAtHand(column: ScanColumn, range: RowRange): readonly Piece[] | undefined;
  /** As `times`, of single rows. */
  timesAt(rows: Uint32Array): Promise<Vector>;
  /** As `column`, of single rows; undefined: NULLs. */
  columnAt(column: ScanColumn, rows: Uint32Array): Promise<Vector | undefined>;
  /** No row of the source is later, as an offset from the group's base. */
  readonly latest: number;
  /** The smallest time that the newest wanted row of a series in slots `[from, to)` has here; -Infinity when one of them may have none. */
  newestOfAll(from: number, to: number): number;
  /** The end of the page that holds `row`: where a batch is best cut. */
  pageEnd(row: number): number;
  /** What the source deletes of older ones, by series number; times count from the group's base. Undefined: nothing. */
  tombstones(): TombstoneSet | undefined;
  /** Finds pages that hold no row of interest; `own` are those runs of the source, as indexes into the list, that stand alone. */
  prune(runs: RunList, own: Uint32Array): Promise<void>;
  /** Batches of statistics of whole pages, if the scan allows them; their rows are not to be read any more. `own` as for `prune`. */
  summarise(runs: RunList, own: Uint32Array): readonly ScanBatch[];
  /** Whether the page of `row` holds no row of interest, as `prune` found, or was handed out by `summarise`. */
  holdsNothing(row: number): boolean;
  /** Whether the page of `row` may hold a row whose column of this id lies within the bound. */
  mayHold(row: number, columnId: number, bound: RowBound): boolean;
}
