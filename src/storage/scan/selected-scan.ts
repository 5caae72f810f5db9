/** The first half of a scan, which needs the table's registry: files that may hold wanted rows are opened, and the wanted series found. */
import type { TimeUnit } from "../../column/data-type.ts";
import type { ScanMetrics, ScanRequest } from "../../table/scan.ts";
import type { MergeMode } from "../../table/schema.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { MemtableView } from "../memtable/pick-rows.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { DataFile } from "../sst/data-file.ts";
import type { OpenSst } from "../sst/read/open-sst.ts";
import type { SstFile } from "../sst/read/sst-file.ts";
import type { OutputColumn } from "./merge/assemble.ts";
import type { ColumnCondition } from "./select/column-condition.ts";
import type { ResolvedSummaries } from "./source/page-summaries.ts";
import { type SeriesSelection, selectOfTable, selectSeries, type TableSeries } from "./select/series-selection.ts";
import type { TagCodes } from "./select/tag-codes.ts";
import { wantedTagsIn } from "./select/wanted-tags.ts";

/** Series whose runs are listed at a time: 28 B a run, so 14 MiB for eight sources. */
export const SLICE_SERIES = 65_536;

/** A scan with names resolved. */
export interface ResolvedScan {
  /** Oldest first. */
  readonly memtables: readonly MemtableView[];
  /** Oldest first. The caller keeps them in use until the scan ends. */
  readonly files: readonly SstFile[];
  readonly registry: SeriesRegistry;
  /** Which series the scan sees, under which numbers; absent: all of `registry`, under its own. */
  readonly selection?: TableSeries;
  readonly cache: PageCache;
  readonly mergeMode: MergeMode;
  readonly timeUnit: TimeUnit;
  readonly timeColumnId: number;
  readonly output: readonly OutputColumn[];
  /** What rows of interest meet, joined by AND: pages that hold none may be left out. */
  readonly conditions: readonly ColumnCondition[];
  /** What `request.summaries` asks for; never beside conditions. */
  readonly summaries?: ResolvedSummaries | undefined;
  readonly request: ScanRequest;
  readonly metrics: ScanMetrics | undefined;
}

/** A scan whose files are open and whose series are found: what is left to do needs no registry. */
export interface SelectedScan extends Omit<ResolvedScan, "files" | "registry" | "selection"> {
  /** Those that may hold wanted rows, oldest first. */
  readonly opened: readonly OpenedFile[];
  readonly slots: SeriesSelection;
  /** Series numbers of the region are below it. */
  readonly seriesCount: number;
  /** Tags by the numbers that runs carry, and how many of those there are. */
  readonly tags: TagCodes;
  readonly numberCount: number;
}

/** A file that is read. */
export interface OpenedFile {
  readonly meta: DataFile;
  readonly sst: OpenSst;
}

/** Opens the files that a scan reads and finds its series. @throws DbError StorageUnavailable when a file cannot be read */
export async function selectedScan(scan: ResolvedScan, sliceSeries: number = SLICE_SERIES): Promise<SelectedScan> {
  const { files: _, registry, selection, ...rest } = scan;
  const { order, tagPredicates } = scan.request;
  const opened = await openFiles(scan);
  const numbered = selection?.registry ?? registry;
  // So that the rows of a slice lie together: in the order of the tags, or by number where that is the same to all files, as after a start.
  const orderOf = (count: number): ScanRequest["order"] =>
    order === "none" && count > sliceSeries && !opened.every(({ sst }) => sst.liesByNumber) ? "series-time" : order;
  const slots =
    selection === undefined ? selectSeries(registry, tagPredicates, orderOf) : selectOfTable(registry, selection, tagPredicates, orderOf);
  const tags = selection?.tags ?? numbered;
  return { ...rest, opened, slots, tags, seriesCount: registry.count, numberCount: numbered.count };
}

async function openFiles(scan: ResolvedScan): Promise<OpenedFile[]> {
  const { metrics } = scan;
  const { timeRange } = scan.request;
  const wanted = scan.selection === undefined ? wantedTagsIn(scan.request.tagPredicates, scan.registry) : scan.selection.fileTags;
  const opened: OpenedFile[] = [];
  for (const file of scan.files) {
    const isInRange = file.meta.maxTime >= timeRange.start && file.meta.minTime < timeRange.end;
    const sst = isInRange ? await file.openIfHolds(wanted, scan.registry, scan.cache, scan.selection?.tableId) : undefined;
    if (sst !== undefined) opened.push({ meta: file.meta, sst });
    if (metrics === undefined) continue;
    if (sst !== undefined) metrics.filesRead++;
    else {
      metrics.filesSkipped++;
      if (isInRange) metrics.filesSkippedByTags++;
    }
  }
  return opened;
}
