/** What is gathered for the next batch, and when that is enough. */
import type { ScanBatch } from "../../table/scan.ts";
import { type Assembler, assembleSegments, type Segment } from "./merge/assemble.ts";
import { assembleClusters } from "./merge/assemble-clusters.ts";
import { TestedRows } from "./merge/tested-rows.ts";
import type { ScanSource } from "./runs/scan-source.ts";

/** Rows after which a batch is handed out. */
export const BATCH_ROWS = 16_384;
/** A batch that reached this many rows is handed out at the end of a page, so that whole pages pass through without a copy. */
const BATCH_ROWS_AT_PAGE_END = 4096;
/** Segments gathered for the next batch. */
export class PendingBatch {
  readonly assembler: Assembler;
  rowCount = 0;
  isFull = false;
  private readonly tested: TestedRows | undefined;
  private segments: Segment[] = [];

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
      const to = Math.min(end, pageEnd, at + BATCH_ROWS - this.rowCount);
      if (!rows.holdsNothing(at)) {
        this.segments.push({ source, series, start: at, end: to });
        this.rowCount += to - at;
        this.isFull = this.rowCount >= BATCH_ROWS || (to === pageEnd && this.rowCount >= BATCH_ROWS_AT_PAGE_END);
      }
      at = to;
    }
    return at;
  }

  /** What is ready of the rows that were added: where rows are tested, those that pass are gathered further. */
  async take(): Promise<readonly ScanBatch[]> {
    const { assembler, segments, tested } = this;
    this.segments = [];
    this.rowCount = 0;
    this.isFull = false;
    return tested === undefined ? [await assembleSegments(assembler, segments)] : await tested.add(segments);
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
