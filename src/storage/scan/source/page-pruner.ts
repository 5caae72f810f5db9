/** Which pages of a file hold no row of interest, by statistics and by the indexes of columns. */
import type { ScanMetrics } from "../../../table/scan.ts";
import { IndexLookup } from "../../index/index-lookup.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";
import { type ColumnCondition, indexesMayMeet, statisticsMayMeet } from "../select/column-condition.ts";
import type { RunList } from "../runs/run-list.ts";

/** Pages of one file in one scan. */
export class PagePruner {
  private readonly file: OpenSst;
  private readonly conditions: readonly ColumnCondition[];
  private readonly metrics: ScanMetrics | undefined;
  /** 1: no row of the page that the scan wants meets the conditions. */
  private readonly isOut: Uint8Array;

  /** @param conditions joined by AND */
  constructor(file: OpenSst, conditions: readonly ColumnCondition[], metrics: ScanMetrics | undefined) {
    this.file = file;
    this.conditions = conditions;
    this.metrics = metrics;
    this.isOut = new Uint8Array(conditions.length === 0 ? 0 : file.pageStarts.length);
  }

  /**
   * Decides on the pages of the runs `own`, which stand alone. To be called before `holdsNothing`; what was decided on these pages before,
   * for other runs, no longer counts.
   */
  async decide(runs: RunList, own: Uint32Array): Promise<void> {
    if (this.conditions.length === 0) return;
    const { file, metrics, isOut } = this;
    const { lows, highs } = this.wantedRows(runs, own);
    const indexes = await file.indexes();
    const lookup = indexes === undefined ? undefined : new IndexLookup(indexes, metrics);
    for (let page = 0; page < lows.length; page++) {
      const low = lows[page] as number;
      const high = highs[page] as number;
      if (low >= high) continue;
      const isOutByBounds = !this.conditions.every((condition) => statisticsMayMeet(file, condition, page));
      const isOutByIndex = !isOutByBounds && lookup !== undefined && !(await this.indexesMayMeet(lookup, low, high));
      isOut[page] = isOutByBounds || isOutByIndex ? 1 : 0;
      if (isOut[page] === 0) continue;
      if (metrics === undefined) continue;
      metrics.pagesSkipped++;
      if (isOutByIndex) metrics.pagesSkippedByIndex++;
    }
  }

  /** Whether the page of a row was decided to hold no row of interest. */
  holdsNothing(row: number): boolean {
    return this.conditions.length > 0 && this.isOut[this.file.pageOf(row)] === 1;
  }

  /** The smallest range of wanted rows in each page; empty where there is none. */
  private wantedRows(runs: RunList, own: Uint32Array): { readonly lows: Uint32Array; readonly highs: Uint32Array } {
    const { pageStarts } = this.file;
    const lows = new Uint32Array(pageStarts.length - 1).fill(0xffff_ffff);
    const highs = new Uint32Array(pageStarts.length - 1);
    for (let i = 0; i < own.length; i++) {
      const run = own[i] as number;
      const end = runs.ends[run] as number;
      let from = runs.starts[run] as number;
      for (let page = this.file.pageOf(from); from < end; page++) {
        const to = Math.min(end, pageStarts[page + 1] as number);
        if (from < (lows[page] as number)) lows[page] = from;
        if (to > (highs[page] as number)) highs[page] = to;
        from = to;
      }
    }
    return { lows, highs };
  }

  private async indexesMayMeet(lookup: IndexLookup, start: number, end: number): Promise<boolean> {
    for (const condition of this.conditions) if (!(await indexesMayMeet(lookup, condition, start, end))) return false;
    return true;
  }
}
