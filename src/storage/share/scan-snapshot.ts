/**
 * A scan as another thread can run it: everything that it reads, as plain data. Arrays of memtables, long lists of series and codes of tags
 * lie on shared memory and go by reference; files are opened there again, by name.
 *
 *   this thread: snapshot, files opened, series found, names resolved ─► ScanSnapshot ─clone─► another thread: parts of it (`part-scan.ts`)
 *
 * Whoever made it keeps the memtables and files in use until the last part has ended.
 */
import type { TableId } from "../../base/units.ts";
import type { DataType, TimeUnit } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ScanRequest } from "../../table/scan.ts";
import type { FormerColumn, MergeMode, TableSchema } from "../../table/schema.ts";
import type { Chunk } from "../memtable/chunk.ts";
import type { TimeSpan } from "../memtable/pick-rows.ts";
import type { OutputColumn } from "../scan/merge/assemble.ts";
import type { ColumnCondition } from "../scan/select/column-condition.ts";
import type { ResolvedSummaries } from "../scan/source/page-summaries.ts";
import type { SelectedScan } from "../scan/selected-scan.ts";
import type { TagColumnView } from "../series/series-ranks.ts";
import { newWords } from "../series/shared-array.ts";
import type { DataFile } from "../sst/data-file.ts";

/** A file by its entry, with the numbers that its series have in this process. */
export interface SnapshotFile {
  readonly meta: DataFile;
  /** The table whose runs are read, of a shared region; undefined: all runs. */
  readonly tableId: TableId | undefined;
  /** By run. */
  readonly series: Uint32Array;
  /** Of what the file deletes; empty without tombstones. */
  readonly tombstoneSeries: Uint32Array;
}

/** A memtable without the chains of its rows. */
export interface SnapshotMemtable {
  readonly chunks: readonly Chunk[];
  readonly starts: Uint32Array;
  readonly times: TimeSpan | undefined;
}

/** A column of the projection; what stands for a missing field is a value instead of a vector. */
export type SnapshotColumn =
  | Exclude<OutputColumn, { kind: "field" }>
  | {
      readonly kind: "stored";
      readonly id: number;
      readonly type: DataType;
      readonly missing: Scalar;
      readonly former: readonly FormerColumn[] | undefined;
    };

/** See the file header. */
export interface ScanSnapshot {
  readonly schema: TableSchema;
  /** Tells the series numbers of one table from those of another with the same files. */
  readonly registry: number;
  /** Oldest first. */
  readonly memtables: readonly SnapshotMemtable[];
  readonly files: readonly SnapshotFile[];
  /** Series by slot; undefined: slots are series numbers. */
  readonly slots: Uint32Array | undefined;
  readonly seriesCount: number;
  /** The table's own numbers of its series by slot; undefined: they are the region's. */
  readonly numbers: Uint32Array | undefined;
  /** Those numbers are below it. */
  readonly numberCount: number;
  /** Of the table, in key order, with their names. */
  readonly tags: readonly TagColumnView[];
  readonly tagNames: readonly string[];
  readonly mergeMode: MergeMode;
  readonly timeUnit: TimeUnit;
  readonly timeColumnId: number;
  readonly output: readonly SnapshotColumn[];
  readonly conditions: readonly ColumnCondition[];
  readonly summaries: ResolvedSummaries | undefined;
  readonly request: Pick<ScanRequest, "projection" | "order" | "timeRange">;
}

/** What the scan itself does not know. */
export type SnapshotTable = Pick<ScanSnapshot, "schema" | "registry" | "tags" | "tagNames">;

/** The snapshot of a scan. */
export function snapshotOf(scan: SelectedScan, table: SnapshotTable): ScanSnapshot {
  const { projection, order, timeRange } = scan.request;
  const { slots, seriesCount, numberCount, mergeMode, timeUnit, timeColumnId, conditions, summaries } = scan;
  return {
    ...table,
    memtables: scan.memtables.map(({ chunks, starts, times }) => ({ chunks, starts, times })),
    files: scan.opened.map(({ meta, sst }) => ({
      meta,
      tableId: sst.tableId,
      series: sst.series,
      tombstoneSeries: sst.tombstones?.series ?? new Uint32Array(0),
    })),
    slots: slots.seriesBySlot === undefined ? undefined : shared(slots.seriesBySlot),
    seriesCount,
    numbers: slots.numberBySlot === undefined ? undefined : shared(slots.numberBySlot),
    numberCount,
    mergeMode,
    timeUnit,
    timeColumnId,
    output: scan.output.map(snapshotColumn),
    conditions,
    summaries,
    request: { projection, order, timeRange },
  };
}

function snapshotColumn(column: OutputColumn): SnapshotColumn {
  if (column.kind !== "field") return column;
  const { id, type, missing, former } = column.column;
  return { kind: "stored", id, type, missing: missing?.value, former };
}

/** The same numbers, on shared memory if they are many. */
function shared(numbers: Uint32Array): Uint32Array {
  const copy = newWords(numbers.length);
  copy.set(numbers);
  return copy;
}
