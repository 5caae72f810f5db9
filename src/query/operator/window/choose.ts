/** Window calls that give the value of another row: lag, lead, first_value, last_value, nth_value. */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { WindowCall } from "./node.ts";
import { concat } from "../kernels/concat.ts";
import { gather } from "../kernels/gather.ts";
import type { Frames, VectorOf } from "./frames.ts";
import type { Layout } from "./layout.ts";
import { presence } from "./presence.ts";

/** Marks a row for which there is no other. */
export const NONE = 0xff_ff_ff_ff;

type CallOf<K extends WindowCall["kind"]> = Extract<WindowCall, { kind: K }>;

/** Rows of a vector that count under IGNORE NULLS. */
interface Present {
  /** `before[i]`: how many rows before `i` are not NULL. */
  readonly before: Uint32Array;
  /** Their positions. */
  readonly rows: Uint32Array;
}

/** Values of `lag` and `lead`. */
export function shifted(call: CallOf<"shift">, layout: Layout, vectorOf: VectorOf): Vector {
  const vector = vectorOf(call.value);
  const { rowCount, partitionStarts } = layout;
  const { steps } = call;
  const source = new Uint32Array(rowCount);
  const present = call.ignoreNulls ? presentRows(vector, rowCount) : undefined;
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    if (present === undefined || steps === 0) {
      for (let i = from; i < to; i++) source[i] = i - steps >= from && i - steps < to ? i - steps : NONE;
      continue;
    }
    const { before, rows } = present;
    const [first = 0, end = 0] = [before[from], before[to]];
    for (let i = from; i < to; i++) {
      const at = steps > 0 ? (before[i] ?? 0) - steps : (before[i + 1] ?? 0) - steps - 1;
      source[i] = at >= first && at < end ? (rows[at] ?? NONE) : NONE;
    }
  }
  const isNull = call.otherwise.kind === "literal" && call.otherwise.value === undefined;
  return picked(vector, rowCount, source, isNull ? undefined : vectorOf(call.otherwise), call.type);
}

/** Values of `first_value`, `last_value` and `nth_value`. */
export function picks(call: CallOf<"pick">, frames: Frames, layout: Layout, vectorOf: VectorOf): Vector {
  const vector = vectorOf(call.value);
  const { rowCount } = layout;
  const { starts, ends } = frames;
  const source = new Uint32Array(rowCount);
  const present = call.ignoreNulls ? presentRows(vector, rowCount) : undefined;
  for (let i = 0; i < rowCount; i++) {
    const [start = 0, end = 0] = [starts[i], ends[i]];
    const [from = 0, to = 0] = present === undefined ? [start, end] : [present.before[start], present.before[end]];
    const at = call.nth > 0 ? from + call.nth - 1 : to + call.nth;
    source[i] = at < from || at >= to ? NONE : present === undefined ? at : (present.rows[at] ?? NONE);
  }
  return picked(vector, rowCount, source, undefined, call.type);
}

function presentRows(vector: Vector, rowCount: number): Present {
  const present = presence(vector, rowCount);
  const before = new Uint32Array(rowCount + 1);
  const rows = new Uint32Array(rowCount);
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    before[i] = count;
    if (present === undefined || present[i] === 1) rows[count++] = i;
  }
  before[rowCount] = count;
  return { before, rows };
}

/** Values at `source` of a vector of `rowCount` rows, and where that is `NONE`, those of `otherwise` in the same place, or NULL. */
export function picked(vector: Vector, rowCount: number, source: Uint32Array, otherwise: Vector | undefined, type: DataType): Vector {
  const count = source.length;
  if (!source.includes(NONE)) return gather(vector, source, count);
  if (otherwise !== undefined) {
    const both = concat(type, [
      { vector, rowCount },
      { vector: otherwise, rowCount: count },
    ]);
    return gather(
      both,
      source.map((row, i) => (row === NONE ? rowCount + i : row)),
      count,
    );
  }
  const found = gather(
    vector,
    source.map((row) => (row === NONE ? 0 : row)),
    count,
  );
  if (found.kind === "dictionary") return { ...found, codes: found.codes.map((code, i) => (source[i] === NONE ? 0 : code)) };
  const validity = found.validity?.slice(0, count) ?? new Uint8Array(count).fill(1);
  for (let i = 0; i < count; i++) if (source[i] === NONE) validity[i] = 0;
  return { ...found, validity };
}
