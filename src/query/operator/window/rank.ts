/** Window calls that look at the order alone. */
import type { Vector } from "../../../column/vector.ts";
import type { RankName } from "./node.ts";
import type { Chunk, SortedRows } from "./sorted-rows.ts";

/** Calls for which it matters where groups begin and end. */
const BY_GROUPS: ReadonlySet<RankName> = new Set(["rank", "percent_rank", "cume_dist"]);

/** Ranks of the rows of a chunk. @param buckets of ntile, at least 1 */
export function ranks(name: RankName, buckets: number, chunk: Chunk, rows: SortedRows): Vector | Promise<Vector> {
  return BY_GROUPS.has(name)
    ? ranksByGroups(name, buckets, chunk, rows)
    : ranksAmong(name, buckets, chunk, rows, chunk.groups, chunk.groups);
}

async function ranksByGroups(name: RankName, buckets: number, chunk: Chunk, rows: SortedRows): Promise<Vector> {
  const { groups } = chunk;
  const starts = await rows.groups.at(groups);
  const ends = name === "cume_dist" ? await rows.groups.at(groups.map((group) => group + 1)) : groups;
  return ranksAmong(name, buckets, chunk, rows, starts, ends);
}

/** @param starts @param ends where groups begin and end, for those calls for which it matters */
function ranksAmong(
  name: RankName,
  buckets: number,
  { from, to, groups, partition }: Chunk,
  { partitionStarts, partitionGroups }: SortedRows,
  starts: Uint32Array,
  ends: Uint32Array,
): Vector {
  const values = new Float64Array(to - from);
  for (let p = partition; (partitionStarts[p] as number) < to; p++) {
    const first = partitionStarts[p] as number;
    const end = partitionStarts[p + 1] as number;
    const firstGroup = partitionGroups[p] as number;
    const last = Math.min(end, to) - from;
    for (let i = Math.max(first, from) - from; i < last; i++) {
      const group = (groups[i] as number) - firstGroup;
      values[i] = rankOf(name, from + i - first, (starts[i] as number) - first, (ends[i] as number) - first, group, end - first, buckets);
    }
  }
  return { kind: "number", values, validity: undefined };
}

/**
 * The rank of row `row` of a partition of `count` rows, whose peers are rows `[first, end)` and group number `group`, all from 0.
 */
function rankOf(name: RankName, row: number, first: number, end: number, group: number, count: number, buckets: number): number {
  switch (name) {
    case "row_number":
      return row + 1;
    case "rank":
      return first + 1;
    case "dense_rank":
      return group + 1;
    case "percent_rank":
      return count > 1 ? first / (count - 1) : 0;
    case "cume_dist":
      return end / count;
    case "ntile": {
      // The first buckets have one row more where the rows do not divide evenly.
      const size = Math.floor(count / buckets);
      const larger = count % buckets;
      const inLarger = larger * (size + 1);
      return row < inLarger ? Math.floor(row / (size + 1)) + 1 : larger + Math.floor((row - inLarger) / size) + 1;
    }
  }
}
