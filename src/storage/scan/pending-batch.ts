/** What is gathered for the next batch, and when that is enough. */
import type { ScanBatch } from "../../table/scan.ts";
import { type Assembler, assembleClusters, assembleSegments, type Segment } from "./merge/assemble.ts";
import { assembleFiltered } from "./merge/assemble-rows.ts";
import type { RowFilter } from "./select/row-filter.ts";
import type { ScanSource } from "./runs/scan-source.ts";

/** Rows after which a batch is handed out. */
export const BATCH_ROWS = 16_384;
/** A batch that reached this many rows is handed out at the end of a page, so that whole pages pass through without a copy. */
const BATCH_ROWS_AT_PAGE_END = 4096;
/** Rows that a filter looks at for one batch: what is read of a page is read for few rows. */
const FILTERED_ROWS = 65_536;
/** A filter that leaves more than one row in so many is not asked again. */
const FILTER_SHARE = 4;

/** Segments gathered for the next batch. */
export class PendingBatch {
  readonly assembler: Assembler;
  rowCount = 0;
  isFull = false;
  private filter: RowFilter | undefined;
  private segments: Segment[] = [];

  constructor(assembler: Assembler) {
    this.assembler = assembler;
    this.filter = assembler.filter;
  }

  /** Adds rows of a run from row `from` on, until the batch is full or the run ends. Returns the first row that was not looked at. */
  add({ source, series, end }: Segment, from: number): number {
    const rows = this.assembler.sources[source] as ScanSource;
    const rowsMax = this.filter === undefined ? BATCH_ROWS : FILTERED_ROWS;
    const rowsAtPageEnd = this.filter === undefined ? BATCH_ROWS_AT_PAGE_END : FILTERED_ROWS;
    let at = from;
    while (at < end && !this.isFull) {
      const pageEnd = rows.pageEnd(at);
      const to = Math.min(end, pageEnd, at + rowsMax - this.rowCount);
      if (!rows.holdsNothing(at)) {
        this.segments.push({ source, series, start: at, end: to });
        this.rowCount += to - at;
        this.isFull = this.rowCount >= rowsMax || (to === pageEnd && this.rowCount >= rowsAtPageEnd);
      }
      at = to;
    }
    return at;
  }

  async take(): Promise<ScanBatch> {
    const { assembler, segments, filter } = this;
    this.segments = [];
    this.rowCount = 0;
    this.isFull = false;
    if (filter === undefined) return await assembleSegments(assembler, segments);
    const filtered = await assembleFiltered(assembler, filter, segments, FILTER_SHARE);
    if (filtered !== undefined) return filtered;
    this.filter = undefined;
    return await assembleSegments(assembler, segments);
  }
}

/** Clusters gathered for the next batch; each stays whole. */
export class PendingClusters {
  readonly assembler: Assembler;
  rowCount = 0;
  private clusters: (readonly Segment[])[] = [];

  constructor(assembler: Assembler) {
    this.assembler = assembler;
  }

  get isFull(): boolean {
    return this.rowCount >= BATCH_ROWS;
  }

  add(cluster: readonly Segment[]): void {
    this.clusters.push(cluster);
    for (const { start, end } of cluster) this.rowCount += end - start;
  }

  take(): Promise<ScanBatch> {
    const clusters = this.clusters;
    this.clusters = [];
    this.rowCount = 0;
    return assembleClusters(this.assembler, clusters);
  }
}
