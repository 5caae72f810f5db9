/** What one operator did, for EXPLAIN ANALYZE. */
import type { ScanMetrics } from "../../table/scan.ts";

/** Figures of one operator; times include those of the operators below it. */
export interface NodeMetrics {
  rows: number;
  batches: number;
  elapsedMs: number;
  /** Bytes written to disk because rows did not fit in memory. */
  spilledBytes: number;
  /** Of a scan. */
  scan: ScanMetrics | undefined;
  /** Of an operator that ran on other threads, with those below it: in how many parts, and how long they worked together. */
  parts?: number;
  partMs?: number;
}

/** Figures before anything happened. */
export function newNodeMetrics(): NodeMetrics {
  return { rows: 0, batches: 0, elapsedMs: 0, spilledBytes: 0, scan: undefined };
}

/** Figures of two runs of one operator together. */
export function addNodeMetrics(a: NodeMetrics, b: NodeMetrics): NodeMetrics {
  const { rows, batches, elapsedMs } = a;
  const scan = a.scan !== undefined && b.scan !== undefined ? addScanMetrics(a.scan, b.scan) : (a.scan ?? b.scan);
  return { ...a, rows: rows + b.rows, batches: batches + b.batches, elapsedMs: elapsedMs + b.elapsedMs, scan };
}

function addScanMetrics(a: ScanMetrics, b: ScanMetrics): ScanMetrics {
  return {
    rowsReturned: a.rowsReturned + b.rowsReturned,
    bytesRead: a.bytesRead + b.bytesRead,
    filesRead: a.filesRead + b.filesRead,
    filesSkipped: a.filesSkipped + b.filesSkipped,
    filesSkippedByTags: a.filesSkippedByTags + b.filesSkippedByTags,
    pagesRead: a.pagesRead + b.pagesRead,
    pagesSkipped: a.pagesSkipped + b.pagesSkipped,
    pagesSummarised: a.pagesSummarised + b.pagesSummarised,
    pagesSkippedByIndex: a.pagesSkippedByIndex + b.pagesSkippedByIndex,
  };
}
