/** What one operator did, for EXPLAIN ANALYZE. */
import type { ScanMetrics } from "../../table/scan.ts";
import { inputsOf, type PlanNode } from "../plan/node.ts";

/** Figures of one operator; times include those of the operators below it. */
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
}

/** Milliseconds that an operator took itself, without those below it. */
export function ownMillis(node: PlanNode, metrics: ReadonlyMap<PlanNode, NodeMetrics>): number {
  const below = inputsOf(node).reduce((sum, input) => sum + (metrics.get(input)?.elapsedMs ?? 0), 0);
  return Math.max(0, (metrics.get(node)?.elapsedMs ?? 0) - below);
}

/** Figures before anything happened. */
export function newNodeMetrics(): NodeMetrics {
  return { rows: 0, batches: 0, bytes: 0, elapsedMs: 0, spilledBytes: 0, scan: undefined };
}
