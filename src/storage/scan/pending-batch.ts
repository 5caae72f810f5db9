/** What is gathered for the next batch, and when that is enough. */
import type { ScanBatch } from "../../table/scan.ts";
import { type Assembler, assembleSegments, type Segment } from "./merge/assemble.ts";
import { assembleClusters } from "./merge/assemble-clusters.ts";
import { TestedRows } from "./merge/tested-rows.ts";
import type { ScanSource } from "./runs/scan-source.ts";

/** Rows after which a batch is handed out. */
export const BATCH_ROWS = 16_384;
/**
 * A batch that reached this many rows is handed out at the end of a page, so that whole pages pass through without a copy. 5M rows in 90
 * files, whose last pages are short: from 4,096 on every fifth page was cut and copied.
 */
const BATCH_ROWS_AT_PAGE_END = 1024;
/** Pages left out by bounds after which the reader has a turn. */
const SKIPPED_PAGES = 4096;

/** Segments gathered for the next batch. */
export class PendingBatch {
  readonly assembler: Assembler;
  rowCount = 0;
  isFull = false;
  private readonly tested: TestedRows | undefined;
  private segments: Segment[] = [];
  private skipped = 0;

  constructor(assembler: Assembler) {
    this.assembler = assembler;
    this.tested = assembler.tests.length === 0 ? undefined : new TestedRows(assembler);
  }

  /** Adds rows of a run from row `from` on, until the batch is full or the run ends. Returns the first row that was not looked at. */
  add({ source, series, end }: Segment, from: number): number {
    const rows = this.assembler.sources[source] as ScanSource;
    let at = from;
    while (at < end && !this.isFull) {
      const pageEnd = rows.pageEnd(at);
      if (this.rowCount > 0 && this.rowCount + Math.min(end, pageEnd) - at > BATCH_ROWS) {
        this.isFull = true; // What is left of the page comes without a copy then.
        break;
      }
      const to = Math.min(end, pageEnd, at + BATCH_ROWS - this.rowCount);
      if (rows.holdsNothing(at)) {
        // Known before.
      } else if (this.isOutside(rows, at)) this.skip();
      else {
        this.segments.push({ source, series, start: at, end: to });
        this.rowCount += to - at;
        this.isFull = this.rowCount >= BATCH_ROWS || (to === pageEnd && this.rowCount >= BATCH_ROWS_AT_PAGE_END);
      }
      at = to;
    }
    return at;
  }

  /** Whether what tests say by now leaves no room for a row of a page. */
  private isOutside(rows: ScanSource, row: number): boolean {
    const { tests, output, timeColumnId } = this.assembler;
    for (const test of tests) {
      const bound = test.bound?.();
      const column = bound === undefined ? undefined : output[bound.place];
      if (bound === undefined || column === undefined || column.kind === "tag") continue;
      if (!rows.mayHold(row, column.kind === "time" ? timeColumnId : column.column.id, bound)) return true;
    }
    return false;
  }

  private skip(): void {
    const { metrics } = this.assembler;
    if (metrics !== undefined) metrics.pagesSkipped++;
    if (++this.skipped % SKIPPED_PAGES === 0) this.isFull = true;
  }

  /** What is ready of the rows that were added: where rows are tested, those that pass are gathered further. */
  async take(): Promise<readonly ScanBatch[]> {
    const { assembler, segments, tested } = this;
    this.segments = [];
    this.rowCount = 0;
    this.isFull = false;
    if (tested === undefined) return [await assembleSegments(assembler, segments)];
    return segments.length > 0 ? await tested.add(segments) : [await tested.take()]; // Perhaps without rows: for the turn.
  }

  /** What there is when no row is to come. */
  async rest(): Promise<readonly ScanBatch[]> {
    const batches = this.rowCount === 0 ? [] : await this.take();
    const last = await this.tested?.rest();
    return last === undefined ? batches : [...batches, last];
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

  async take(): Promise<readonly ScanBatch[]> {
    const clusters = this.clusters;
    this.clusters = [];
    this.rowCount = 0;
    return [await assembleClusters(this.assembler, clusters)];
  }

  /** What there is when no row is to come. */
  async rest(): Promise<readonly ScanBatch[]> {
    return this.rowCount === 0 ? [] : await this.take();
  }
}
