/**
 * Resolves rows of one series and time that several sources hold. The rows of some series were read source by source into one set of
 * vectors; this finds their order by time and, for equal times, which row gives the value.
 */
import { takeDoubles } from "../../../column/double-bits.ts";
import type { NumberArray, Vector } from "../../../column/vector.ts";
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
  const validity = vector.kind === "dictionary" ? undefined : vector.validity;
  return takeRows(vector, pickRows(plan, validity, mergeMode));
}

/** The rows `picks` of a vector. */
export function takeRows(vector: Vector, picks: Uint32Array): Vector {
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: takeNumbers(vector.values, picks), validity: takeValidity(vector.validity, picks) };
    case "wide": {
      const values = vector.values instanceof BigInt64Array ? new BigInt64Array(picks.length) : new BigUint64Array(picks.length);
      for (let i = 0; i < picks.length; i++) values[i] = vector.values[picks[i] as number] as bigint;
      return { kind: "wide", values, validity: takeValidity(vector.validity, picks) };
    }
    case "time": {
      const offsets = takeNumbers(vector.offsets, picks) as Float64Array;
      return { kind: "time", base: vector.base, offsets, validity: takeValidity(vector.validity, picks) };
    }
    case "dictionary":
      return { kind: "dictionary", codes: takeNumbers(vector.codes, picks) as Uint32Array, dictionary: vector.dictionary };
    case "bytes":
      return takeBytes(vector.offsets, vector.bytes, takeValidity(vector.validity, picks), picks);
  }
}

function takeNumbers(values: NumberArray, picks: Uint32Array): NumberArray {
  if (values instanceof Float64Array) {
    const doubles = new Float64Array(picks.length);
    takeDoubles(values, picks, picks.length, doubles);
    return doubles;
  }
  const taken = new (values.constructor as new (length: number) => NumberArray)(picks.length);
  for (let i = 0; i < picks.length; i++) taken[i] = values[picks[i] as number] as number;
  return taken;
}

function takeValidity(validity: Uint8Array | undefined, picks: Uint32Array): Uint8Array | undefined {
  if (validity === undefined) return undefined;
  const taken = new Uint8Array(picks.length);
  for (let i = 0; i < picks.length; i++) taken[i] = validity[picks[i] as number] as number;
  return taken;
}

function takeBytes(offsets: Uint32Array, bytes: Uint8Array, validity: Uint8Array | undefined, picks: Uint32Array): Vector {
  const taken = new Uint32Array(picks.length + 1);
  let length = 0;
  for (let i = 0; i < picks.length; i++) {
    const row = picks[i] as number;
    length += (offsets[row + 1] as number) - (offsets[row] as number);
    taken[i + 1] = length;
  }
  const text = new Uint8Array(length);
  for (let i = 0; i < picks.length; i++) {
    const row = picks[i] as number;
    text.set(bytes.subarray(offsets[row], offsets[row + 1]), taken[i]);
  }
  return { kind: "bytes", offsets: taken, bytes: text, validity };
}
