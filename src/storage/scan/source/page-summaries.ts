/**
 * Pages that a scan need not read because statistics of them will do: all rows wanted, no other source beside them, one series or one time
 * bucket if that is asked for.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { ColumnSummary, ScanBatch, ScanMetrics, SummaryRequest } from "../../../table/scan.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";
import type { PageRange } from "../../sst/read/page-statistics.ts";
import { floorTo } from "../../../value/civil.ts";
import type { FormerColumn } from "../../../table/schema.ts";
import type { RunList } from "../runs/run-list.ts";
import type { SeriesSelection } from "../select/series-selection.ts";

/** A column whose statistics are wanted. */
export interface SummaryColumn {
  readonly id: number;
  readonly type: DataType;
  readonly wantsBounds: boolean;
  readonly wantsSum: boolean;
  /** Whether rows older than the column hold a value of it. */
  readonly hasDefault: boolean;
  readonly former: readonly FormerColumn[] | undefined;
}

/** A `SummaryRequest` with names resolved. */
export interface ResolvedSummaries {
  readonly columns: readonly SummaryColumn[];
  readonly timeColumnId: number;
  readonly buckets: SummaryRequest["buckets"];
  readonly isPerSeries: boolean;
}

/** Whether rows of all series and times may come together. */
export function isOfAll({ isPerSeries, buckets }: ResolvedSummaries): boolean {
  return !isPerSeries && buckets === undefined;
}

const NO_SERIES = -1;
const SEVERAL = -2;

/** Pages of one file in one scan. */
export class PageSummaries {
  private readonly file: OpenSst;
  private readonly wanted: ResolvedSummaries;
  private readonly selection: SeriesSelection;
  private readonly metrics: ScanMetrics | undefined;
  private readonly isDone: Uint8Array;

  constructor(file: OpenSst, wanted: ResolvedSummaries, selection: SeriesSelection, metrics: ScanMetrics | undefined) {
    this.selection = selection;
    this.file = file;
    this.wanted = wanted;
    this.metrics = metrics;
    this.isDone = new Uint8Array(file.pageStarts.length);
  }

  /** The batches of pages that statistics are enough for; their rows then count as read. `own` are runs of the file that stand alone. */
  take(runs: RunList, own: Uint32Array): readonly ScanBatch[] {
    const { rowCounts, series } = this.wantedRows(runs, own);
    const batches: ScanBatch[] = [];
    for (let page = 0; page < rowCounts.length; page++) {
      let to = page;
      while (to < rowCounts.length && this.isWhole(to, rowCounts, series) && this.goesWith(page, to)) to++;
      if (to > page + 1 && this.add({ from: page, to }, NO_SERIES, batches)) page = to - 1;
      else if (to > page) this.add({ from: page, to: page + 1 }, series[page] as number, batches);
    }
    return batches;
  }

  /** Whether a page has all its rows among those that are wanted, and of one series where that is asked for. */
  private isWhole(page: number, rowCounts: Uint32Array, series: Float64Array): boolean {
    const rowCount = (this.file.pageStarts[page + 1] as number) - (this.file.pageStarts[page] as number);
    return rowCounts[page] === rowCount && (!this.wanted.isPerSeries || (series[page] as number) >= 0);
  }

  /** Whether statistics of two pages may come together. */
  private goesWith(page: number, other: number): boolean {
    return page === other || (isOfAll(this.wanted) && this.file.rowGroupOf(page) === this.file.rowGroupOf(other));
  }

  /** Adds the batch of some pages, if statistics are enough. */
  private add(pages: PageRange, series: number, batches: ScanBatch[]): boolean {
    const batch = this.batchOf(pages, series);
    if (batch === undefined) return false;
    this.isDone.fill(1, pages.from, pages.to);
    if (this.metrics !== undefined) this.metrics.pagesSummarised += pages.to - pages.from;
    batches.push(batch);
    return true;
  }

  /** Whether the page of a row was handed out as statistics. */
  isTaken(row: number): boolean {
    return this.isDone[this.file.pageOf(row)] === 1;
  }

  /** Wanted rows of each page, and their series, NO_SERIES or SEVERAL. */
  private wantedRows(runs: RunList, own: Uint32Array): { readonly rowCounts: Uint32Array; readonly series: Float64Array } {
    const { pageStarts } = this.file;
    const rowCounts = new Uint32Array(pageStarts.length - 1);
    const series = new Float64Array(pageStarts.length - 1).fill(NO_SERIES);
    for (let i = 0; i < own.length; i++) {
      const run = own[i] as number;
      const end = runs.ends[run] as number;
      const number = this.selection.numberOf(runs.slots[run] as number);
      let from = runs.starts[run] as number;
      for (let page = this.file.pageOf(from); from < end; page++) {
        const to = Math.min(end, pageStarts[page + 1] as number);
        rowCounts[page] = (rowCounts[page] as number) + to - from;
        series[page] = series[page] === NO_SERIES || series[page] === number ? number : SEVERAL;
        from = to;
      }
    }
    return { rowCounts, series };
  }

  private batchOf(pages: PageRange, series: number): ScanBatch | undefined {
    const { file, wanted } = this;
    const rowCount = (file.pageStarts[pages.to] as number) - (file.pageStarts[pages.from] as number);
    const times = file.pageStatistics(file.columnOf(wanted.timeColumnId), pages, { wantsBounds: true, wantsSum: false });
    if (typeof times?.min !== "bigint" || typeof times.max !== "bigint") return undefined;
    if (wanted.buckets !== undefined && startOf(wanted.buckets, times.min) !== startOf(wanted.buckets, times.max)) return undefined;
    const columns: ColumnSummary[] = [];
    for (const column of wanted.columns) {
      const statistics = this.statisticsOf(column, pages);
      if (statistics === undefined) return undefined;
      columns.push(statistics);
    }
    const runs = wanted.isPerSeries
      ? { starts: Uint32Array.of(0, rowCount), series: Uint32Array.of(series) }
      : { starts: Uint32Array.of(0), series: new Uint32Array(0) };
    return { rowCount, vectors: [], runs, summary: { minTime: times.min, maxTime: times.max, columns } };
  }

  private statisticsOf(column: SummaryColumn, pages: PageRange): ColumnSummary | undefined {
    const position = this.file.columnOf(column.id);
    if (position >= 0) return this.file.pageStatistics(position, pages, column);
    const isOlder = column.former?.some(({ id }) => this.file.columnOf(id) >= 0) === true;
    return isOlder || column.hasDefault ? undefined : { valueCount: 0, min: undefined, max: undefined, sum: undefined };
  }
}

/** Start of the bucket that holds a time, from the origin. */
function startOf({ width, origin }: NonNullable<SummaryRequest["buckets"]>, time: bigint): bigint {
  return floorTo(time - origin, width);
}
