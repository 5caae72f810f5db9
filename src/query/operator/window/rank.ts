/** Window calls that look at the order alone. */
import type { Vector } from "../../../column/vector.ts";
import type { RankName } from "./node.ts";
import type { Layout } from "./layout.ts";

/** Ranks of all rows. @param buckets of ntile, at least 1 */
export function ranks(name: RankName, buckets: number, layout: Layout): Vector {
  const values = new Float64Array(layout.rowCount);
  const { partitionStarts, groupStarts, groupOf } = layout;
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    const firstGroup = groupOf[from] ?? 0;
    for (let i = from; i < to; i++) {
      const group = groupOf[i] ?? 0;
      values[i] = rankOf(
        name,
        i - from,
        (groupStarts[group] ?? 0) - from,
        (groupStarts[group + 1] ?? 0) - from,
        group - firstGroup,
        to - from,
        buckets,
      );
    }
  }
  return { kind: "number", values, validity: undefined };
}

/**
 * The rank of row `row` of a partition of `count` rows, whose peers are rows `[first, end)` and group number `group`, all from 0.
 */
export function rankOf(name: RankName, row: number, first: number, end: number, group: number, count: number, buckets: number): number {
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
