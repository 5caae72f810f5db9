/**
 * Runs a plan on ranges of time, newest first, until enough rows came out. The first range is guessed; each further one is
 * four times as long, so a wrong guess costs a third more than a right one; sixteen times where nothing was found yet.
 */
import { ALL_TIME, type TimeRange } from "../../../table/scan.ts";
import { bucketIndexOf, bucketStartOf } from "../../function/time/buckets.ts";
import { withTimeRange, type PlanNode } from "../contract/node.ts";
import { intersect } from "../scan/split-where.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { ScanNode } from "../scan/node.ts";
import { requestOf } from "../scan/scan.ts";

/** How much longer each range is than the one before. */
const GROWTH = 4n;
const GROWTH_OF_NOTHING = 16n;
/** Rows wanted times this is what a range of rows should hold, since a filter may drop some. */
const ROWS_MARGIN = 4;

/** The rows of `node.input`, newest first. */
export async function* newestFirst(
  node: Extract<PlanNode, { kind: "newest-first" }>,
  context: ExecContext,
  run: (plan: PlanNode) => AsyncIterable<ExecBatch>,
): AsyncIterable<ExecBatch> {
  await node.table.refreshed?.("figures");
  const bounds = node.table.timeBounds();
  if (bounds === undefined || node.wanted === 0) return;
  // A condition with a value of the query around it reaches the scan only when that value is known, after this was planned.
  const scan = scanBelow(node.input);
  const range = intersect(intersect(bounds, node.timeRange), scan?.request.timeRange ?? ALL_TIME);
  let { end } = range;
  let length = firstLength(node, range, scan, context);
  let found = 0;
  while (end > range.start && found < node.wanted) {
    const start = rangeStart(node, range, end, length);
    for await (const batch of run(withTimeRange(node.input, { start, end }))) {
      found += batch.rowCount;
      yield batch;
    }
    end = start;
    length *= found > 0 ? GROWTH : GROWTH_OF_NOTHING;
  }
}

/** The scan that a plan reads. */
function scanBelow(node: PlanNode): ScanNode | undefined {
  if (node.kind === "scan") return node;
  return "input" in node ? scanBelow(node.input) : undefined;
}

/** A first guess, in units of the time index: the wanted buckets, or as long as the wanted rows take on average. */
function firstLength(
  { table, buckets, wanted }: Extract<PlanNode, { kind: "newest-first" }>,
  range: TimeRange,
  scan: ScanNode | undefined,
  context: ExecContext,
): bigint {
  if (buckets?.kind === "fixed") return buckets.width * BigInt(Math.max(wanted - 1, 1));
  const span = range.end - range.start;
  const about = scan && table.rowsAbout?.({ ...requestOf(scan, context), timeRange: range });
  const rows = BigInt(Math.ceil(about ?? table.statistics().rowCount));
  if (rows <= 0n) return span < 1n ? 1n : span; // None has such tags: one look at all times sees that.
  const length = (span * BigInt(wanted * ROWS_MARGIN)) / rows;
  return length < 1n ? 1n : length;
}

/** Where a range of at least `length` before `end` begins: on a bucket border, not before the range. */
function rangeStart({ buckets }: Extract<PlanNode, { kind: "newest-first" }>, range: TimeRange, end: bigint, length: bigint): bigint {
  const wished = end - length;
  if (wished <= range.start) return range.start;
  const start = buckets === undefined ? wished : bucketStartOf(buckets, bucketIndexOf(buckets, wished));
  return start < range.start ? range.start : start;
}
