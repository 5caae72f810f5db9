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
}

/** Figures before anything happened. */
export function newNodeMetrics(): NodeMetrics {
  return { rows: 0, batches: 0, elapsedMs: 0, spilledBytes: 0, scan: undefined };
}
