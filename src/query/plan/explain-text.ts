/** Plans as text, for EXPLAIN: one operator a line, indented below the one that reads it. */
import { explainLine, inputsOf, type PlanNode } from "../operator/contract/node.ts";
import { type NodeMetrics, ownMillis } from "../operator/contract/node-metrics.ts";

/** The plan as the query means it: what is read and computed. */
export function logicalText(node: PlanNode): string {
  return lines(node, 0, (each) => explainLine(each, "means")).join("\n");
}

/** The plan as it runs: what the scan is asked for. With `metrics`, what each operator did. */
export function physicalText(node: PlanNode, metrics?: ReadonlyMap<PlanNode, NodeMetrics>): string {
  return lines(node, 0, (each) => explainLine(each, "runs") + metricsText(each, metrics)).join("\n");
}

function lines(node: PlanNode, depth: number, line: (node: PlanNode) => string): string[] {
  return [`${"  ".repeat(depth)}${line(node)}`, ...inputsOf(node).flatMap((input) => lines(input, depth + 1, line))];
}

/** Times are in milliseconds: `elapsed_compute` without the operators below, `elapsed` with them. */
function metricsText(node: PlanNode, all: ReadonlyMap<PlanNode, NodeMetrics> | undefined): string {
  const metrics = all?.get(node);
  if (all === undefined || metrics === undefined) return "";
  const { scan, rows, batches, bytes, elapsedMs, spilledBytes, parts: tasks, partMs = 0, held } = metrics;
  const parts = [
    `output_rows: ${rows}`,
    `elapsed_compute: ${ownMillis(node, all).toFixed(3)}ms`,
    `elapsed: ${elapsedMs.toFixed(3)}ms`,
    `output_batches: ${batches}`,
    `output_bytes: ${bytes}`,
  ];
  if (spilledBytes > 0) parts.push(`spilled_bytes: ${spilledBytes}`);
  if (held !== undefined) parts.push(`held_side: ${held}`);
  if (tasks !== undefined) parts.push(`tasks: ${tasks}`, `tasks_elapsed: ${partMs.toFixed(3)}ms`);
  if (scan !== undefined) {
    parts.push(`bytes_read: ${scan.bytesRead}`, `files_read: ${scan.filesRead}`, `files_skipped: ${scan.filesSkipped}`);
    if (scan.filesSkippedByTags > 0) parts.push(`files_skipped_by_tags: ${scan.filesSkippedByTags}`);
    parts.push(`pages_read: ${scan.pagesRead}`, `pages_skipped: ${scan.pagesSkipped}`);
    if (scan.pagesSummarised > 0) parts.push(`pages_summarised: ${scan.pagesSummarised}`);
    if (scan.pagesSkippedByIndex > 0) parts.push(`pages_skipped_by_index: ${scan.pagesSkippedByIndex}`);
    parts.push(`rows_scanned: ${scan.rowsReturned}`);
  }
  return ` metrics=[${parts.join(", ")}]`;
}
