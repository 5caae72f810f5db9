/**
 * Resolves rows of one series and time that several sources hold. The rows of some series were read source by source into one set of
 * vectors; this finds their order by time and, for equal times, which row gives the value.
 */
import { presenceOf } from "../../../column/coded-text.ts";
import { takeRows } from "../../../column/take-rows.ts";
import type { Vector } from "../../../column/vector.ts";
import type { MergeMode } from "../../../table/schema.ts";

/** Rows to merge: `order[i]` are row numbers in the gathered vectors, sorted by (series, time, age). */
export interface MergePlan {
  /** Gathered rows in order; rows of equal series and time stand together, oldest first. */
  readonly order: Uint32Array;
  /** `rowCount + 1` positions in `order`: output row r is made of `order[starts[r], starts[r + 1])`. */
  readonly starts: Uint32Array;
  readonly rowCount: number;
}

/**
 * Plans the merge of gathered rows.
 *
 * @param group number of the series of each gathered row, in wanted order
 * @param times time of each gathered row
 * @param age larger is newer
 */
export function planMerge(group: Uint32Array, times: Float64Array, age: Uint32Array, mergeMode: MergeMode): MergePlan {
  const count = group.length;
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  order.sort(
    (a, b) =>
      (group[a] as number) - (group[b] as number) ||
      (times[a] as number) - (times[b] as number) ||
      (age[a] as number) - (age[b] as number) ||
      a - b,
  );
  const starts = new Uint32Array(count + 1);
  let rowCount = 0;
  for (let i = 0; i < count; i++) {
    const row = order[i] as number;
    const previous = i === 0 ? -1 : (order[i - 1] as number);
    const isSame = previous >= 0 && group[previous] === group[row] && times[previous] === times[row];
    if (isSame && mergeMode !== "append") continue;
    starts[rowCount++] = i;
  }
  starts[rowCount] = count;
  return { order, starts: starts.subarray(0, rowCount + 1), rowCount };
}

/** Which gathered row gives the value of each output row of one column: the newest, or the newest that is not NULL. */
function pickRows(plan: MergePlan, validity: Uint8Array | undefined, mergeMode: MergeMode): Uint32Array {
  const picks = new Uint32Array(plan.rowCount);
  for (let r = 0; r < plan.rowCount; r++) {
    const start = plan.starts[r] as number;
    let i = (plan.starts[r + 1] as number) - 1;
    if (mergeMode === "last_non_null" && validity !== undefined) {
      while (i > start && validity[plan.order[i] as number] === 0) i--;
    }
    picks[r] = plan.order[i] as number;
  }
  return picks;
}

/** One column of the output. */
export function mergeColumn(plan: MergePlan, vector: Vector, mergeMode: MergeMode): Vector {
  const validity = vector.kind === "dictionary" ? undefined : presenceOf(vector, plan.order.length);
  return takeRows(vector, pickRows(plan, validity, mergeMode));
}
