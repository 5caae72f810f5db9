/** What one operator did, for EXPLAIN ANALYZE. */
import type { ScanMetrics } from "../../../table/scan.ts";
import { inputsOf, type PlanNode } from "./node.ts";

/** Statistics of one operator; times include those of the operators below it. */
export interface NodeMetrics {
  rows: number;
  batches: number;
  /** Of the rows that it gave, as they lie in memory, about. */
  bytes: number;
  elapsedMs: number;
  /** Bytes written to disk because rows did not fit in memory. */
  spilledBytes: number;
  /** Of a scan. */
  scan: ScanMetrics | undefined;
  /** Of an operator that ran on other threads, with those below it: in how many parts, and how long they worked together. */
  parts?: number;
  partMs?: number;
  /** Of a join that ran in memory: the side that was held. */
  held?: "left" | "right";
}

/** Milliseconds that an operator took itself, without those below it. */
export function ownMillis(node: PlanNode, metrics: ReadonlyMap<PlanNode, NodeMetrics>): number {
  const below = inputsOf(node).reduce((sum, input) => sum + (metrics.get(input)?.elapsedMs ?? 0), 0);
  return Math.max(0, (metrics.get(node)?.elapsedMs ?? 0) - below);
}

/** Statistics before anything happened. */
export function newNodeMetrics(): NodeMetrics {
  return { rows: 0, batches: 0, bytes: 0, elapsedMs: 0, spilledBytes: 0, scan: undefined };
}

/** Statistics of two runs of one operator together. */
export function addNodeMetrics(a: NodeMetrics, b: NodeMetrics): NodeMetrics {
  const { rows, batches, bytes, elapsedMs, spilledBytes } = a;
  const scan = a.scan !== undefined && b.scan !== undefined ? addScanMetrics(a.scan, b.scan) : (a.scan ?? b.scan);
  return {
    ...a,
    rows: rows + b.rows,
    batches: batches + b.batches,
    bytes: bytes + b.bytes,
    elapsedMs: elapsedMs + b.elapsedMs,
    spilledBytes: spilledBytes + b.spilledBytes,
    scan,
  };
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
