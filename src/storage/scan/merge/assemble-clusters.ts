/** Clusters of segments in, batches out: the rows of each series merged by time. */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import { type Assembler, joinNeighbours, readField, readTimes, type Segment, tagVector } from "./assemble.ts";
import { CandidateRows } from "./candidate-rows.ts";
import { mergeColumn, planMerge } from "./merge-rows.ts";

/**
 * A batch of clusters: the rows of each series of all its segments merged by time, those that pass the tests of the scan. `clusters[k]` are
 * the segments of one series, oldest source first.
 */
export async function assembleClusters(assembler: Assembler, clusters: readonly (readonly Segment[])[]): Promise<ScanBatch> {
  const { output, mergeMode, tests } = assembler;
  const segments = clusters.flat();
  let total = 0;
  for (const { start, end } of segments) total += end - start;
  const group = new Uint32Array(total);
  const age = new Uint32Array(total);
  let at = 0;
  for (let k = 0; k < clusters.length; k++) {
    for (const { source, start, end } of clusters[k] ?? []) {
      group.fill(k, at, at + end - start);
      age.fill(source, at, at + end - start);
      at += end - start;
    }
  }
  const joined = joinNeighbours(segments);
  const times = await readTimes(assembler, joined, total);
  if (times.kind !== "time") throw new Error(`times come as a time vector; got ${times.kind}`);
  const plan = planMerge(group, times.offsets, age, mergeMode);
  const runs = runsOfGroups(clusters, group, plan.order, plan.starts, plan.rowCount);
  const rows = new CandidateRows({
    rowCount: plan.rowCount,
    runs,
    async column(place): Promise<Vector> {
      const column = output[place];
      if (column?.kind === "tag") return tagVector(assembler, column.position, runs, plan.rowCount);
      return mergeColumn(plan, column?.kind === "field" ? await readField(assembler, column.column, joined, total) : times, mergeMode);
    },
  });
  await rows.test(tests);
  return await rows.batch(assembler);
}

function runsOfGroups(
  clusters: readonly (readonly Segment[])[],
  group: Uint32Array,
  order: Uint32Array,
  planStarts: Uint32Array,
  rowCount: number,
): SeriesRuns {
  const starts: number[] = [];
  const series: number[] = [];
  let current = -1;
  for (let r = 0; r < rowCount; r++) {
    const g = group[order[planStarts[r] as number] as number] as number;
    if (g === current) continue;
    current = g;
    starts.push(r);
    series.push(clusters[g]?.[0]?.series ?? 0);
  }
  starts.push(rowCount);
  return { starts: Uint32Array.from(starts), series: Uint32Array.from(series) };
}
