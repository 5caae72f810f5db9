/**
 * Cuts a long cluster at times, so that the memory of a merge is bounded however many rows of one series overlap.
 */
import type { Segment } from "./assemble.ts";
import { firstRowFrom, timeAt } from "../runs/row-at-time.ts";
import type { ScanSource } from "../runs/scan-source.ts";

/** Rows that are merged at a time. Equal times stay together, so a part may be longer when a time repeats that often. */
const CLUSTER_ROWS_MAX = 65_536;

/** The parts of a cluster in order of time, of at most `rowsMax` rows each. */
export async function splitCluster(
  cluster: readonly Segment[],
  sources: readonly ScanSource[],
  rowsMax: number = CLUSTER_ROWS_MAX,
): Promise<(readonly Segment[])[]> {
  let rowCount = 0;
  let longest = cluster[0];
  for (const segment of cluster) {
    rowCount += lengthOf(segment);
    if (longest === undefined || lengthOf(segment) > lengthOf(longest)) longest = segment;
  }
  if (rowCount <= rowsMax || longest === undefined) return [cluster];
  const middle = await timeAt(sources[longest.source] as ScanSource, longest.start + (lengthOf(longest) >> 1));
  for (const at of [middle, middle + 1]) {
    const before: Segment[] = [];
    const after: Segment[] = [];
    for (const segment of cluster) {
      const cut = await firstRowFrom(sources[segment.source] as ScanSource, segment, at);
      if (cut > segment.start) before.push({ ...segment, end: cut });
      if (cut < segment.end) after.push({ ...segment, start: cut });
    }
    if (before.length === 0 || after.length === 0) continue;
    return [...(await splitCluster(before, sources, rowsMax)), ...(await splitCluster(after, sources, rowsMax))];
  }
  return [cluster]; // All rows have one time.
}

function lengthOf({ start, end }: Segment): number {
  return end - start;
}
