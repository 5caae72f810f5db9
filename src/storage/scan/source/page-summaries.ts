/**
 * Pages that a scan need not read because statistics of them will do: all rows wanted, no other source beside them, one series or one time
 * bucket if that is asked for.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { ColumnSummary, ScanBatch, ScanMetrics, SummaryRequest } from "../../../table/scan.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";
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
    const { pageStarts } = this.file;
    const { rowCounts, series } = this.wantedRows(runs, own);
    const batches: ScanBatch[] = [];
    for (let page = 0; page < rowCounts.length; page++) {
      const rowCount = (pageStarts[page + 1] as number) - (pageStarts[page] as number);
      if (rowCounts[page] !== rowCount || (this.wanted.isPerSeries && (series[page] as number) < 0)) continue;
      const batch = this.batchOf(page, rowCount, series[page] as number);
      if (batch === undefined) continue;
      this.isDone[page] = 1;
      batches.push(batch);
    }
    if (this.metrics !== undefined) this.metrics.pagesSummarised += batches.length;
    return batches;
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

  private batchOf(page: number, rowCount: number, series: number): ScanBatch | undefined {
    const { file, wanted } = this;
    const times = file.pageStatistics(file.columnOf(wanted.timeColumnId), page, { wantsBounds: true, wantsSum: false });
    if (typeof times?.min !== "bigint" || typeof times.max !== "bigint") return undefined;
    if (wanted.buckets !== undefined && startOf(wanted.buckets, times.min) !== startOf(wanted.buckets, times.max)) return undefined;
    const columns: ColumnSummary[] = [];
    for (const column of wanted.columns) {
      const statistics = this.statisticsOf(column, page);
      if (statistics === undefined) return undefined;
      columns.push(statistics);
    }
    const runs = wanted.isPerSeries
      ? { starts: Uint32Array.of(0, rowCount), series: Uint32Array.of(series) }
      : { starts: Uint32Array.of(0), series: new Uint32Array(0) };
    return { rowCount, vectors: [], runs, summary: { minTime: times.min, maxTime: times.max, columns } };
  }

  private statisticsOf(column: SummaryColumn, page: number): ColumnSummary | undefined {
    const position = this.file.columnOf(column.id);
    if (position >= 0) return this.file.pageStatistics(position, page, column);
    const isOlder = column.former?.some(({ id }) => this.file.columnOf(id) >= 0) === true;
    return isOlder || column.hasDefault ? undefined : { valueCount: 0, min: undefined, max: undefined, sum: undefined };
  }
}

/** Start of the bucket that holds a time, from the origin. */
function startOf({ width, origin }: NonNullable<SummaryRequest["buckets"]>, time: bigint): bigint {
  return floorTo(time - origin, width);
}
