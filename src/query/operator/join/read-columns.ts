/**
 * Which columns of a join somebody reads: its reader, or its own residual. Others come out as NULL, since to pick them is most of the work
 * of a join that matches many rows: of 5M pairs of two columns a side, of which one a side is read, 230 of 600 ms of CPU.
 */
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { columnsOf } from "../../expression/expression.ts";
import { gather } from "../kernels/gather.ts";
import { asksOnly, type Join, type Side } from "./join-sides.ts";

/** Most rows that a join gives out at once. */
export const ROWS_AT_ONCE = 32_768;

/** What nobody reads, of any type. */
const NULLS: Vector = { kind: "dictionary", codes: new Uint32Array(ROWS_AT_ONCE), dictionary: [undefined] };

/** By column of each side: whether it is read. */
export type ReadColumns = Readonly<Record<Side, readonly boolean[]>>;

/** @param needed columns that the reader of the join looks at; undefined: all */
export function readColumns(node: Join, needed: ReadonlySet<number> | undefined): ReadColumns {
  const width = node.left.columns.length;
  const own = node.residual === undefined ? undefined : columnsOf(node.residual);
  const isRead = (column: number): boolean => needed === undefined || needed.has(column) || own?.has(column) === true;
  return {
    left: node.left.columns.map((_, c) => isRead(c)),
    // What gives rows of the left alone gives none of the right to its reader.
    right: node.right.columns.map((_, c) => (asksOnly(node) ? own?.has(width + c) === true : isRead(width + c))),
  };
}

/** What the sides of a join have to give, for its reader and itself; undefined: all. */
export function neededOfSides(
  node: Join,
  needed: ReadonlySet<number> | undefined,
): Readonly<Record<Side, ReadonlySet<number> | undefined>> {
  const read = readColumns(node, needed);
  const side = (name: Side): ReadonlySet<number> => {
    const found = new Set(read[name].keys().filter((c) => read[name][c] === true));
    for (const key of node.keys) columnsOf(key[name], found);
    return found;
  };
  return needed === undefined && !asksOnly(node) ? { left: undefined, right: undefined } : { left: side("left"), right: side("right") };
}

/** Rows `selection[0, count)` of the columns that are read; `count <= ROWS_AT_ONCE`. */
export function gatherRead({ vectors }: Batch, read: readonly boolean[], selection: Uint32Array, count: number): Batch {
  return { rowCount: count, vectors: vectors.map((vector, c) => (read[c] === true ? gather(vector, selection, count) : NULLS)) };
}

/** A batch without the columns that are not read: what they hold may go. */
export const withoutUnread = ({ rowCount, vectors }: Batch, read: readonly boolean[]): Batch => ({
  rowCount,
  vectors: vectors.map((vector, c) => (read[c] === true ? vector : NULLS)),
});
