/**
 * The held side of a join: which of its rows have which keys.
 *
 *   ids      of key values (`KeyTable`), in the order of the rows
 *   heads    heads[id] → first held row; absent where each row is its id: keys that are there but once, none NULL
 *   next     next[row] → the next one of equal keys, ascending; absent where all keys are there but once
 */
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { slice, sliceBatch } from "../../../column/slice.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { constantVector } from "../../expression/vector-values.ts";
import { concat } from "../kernels/concat.ts";
import { KeyTable, NO_ROW } from "../group-keys/key-table.ts";
import { asksOnly, hasPairs, type Join, type Side } from "./join-sides.ts";
import { hasNull, JoinKeys, keyTypesOf } from "./join-keys.ts";

/** Rows whose keys are looked up before others get a turn: each key takes about 100 ns a row. */
export const PIECE_ROWS = 16_384;

/** What is held, and how its rows are found. */
export interface Held {
  readonly side: Side;
  /** Of outer joins, behind the rows stands one of NULLs. */
  readonly rows: Batch;
  readonly rowCount: number;
  readonly table: KeyTable;
  /** See the file header. */
  readonly heads: Int32Array | undefined;
  readonly next: Int32Array | undefined;
  /** Which rows found a partner; for full joins, and for semi and anti joins whose left side is held. */
  readonly met: Uint8Array;
  /** Of a join that asks for no row to be there: whether a key is NULL. */
  readonly hasNullKey: boolean;
}

/**
 * Finds the partners of held rows.
 *
 * @throws DbError RuntimeResourcesExhausted, Cancelled
 */
export async function build(node: Join, side: Side, all: Batch, context: ExecContext): Promise<Held> {
  const { rowCount } = all;
  const table = new KeyTable(keyTypesOf(node), { nullsMatch: false }, context.budget.reserve);
  const keys = new JoinKeys(node, side, context);
  const isNoted = node.join === "full" || (side === "left" && asksOnly(node));
  const met = new Uint8Array(isNoted ? rowCount : 0);
  const held = { side, rows: isPadded(node) ? await withNullRow(node, side, all, context) : all, rowCount, table, met };
  let hasNullKey = false;
  // What only asks whether a key is there needs no rows of it.
  const isAsked = side === "right" && asksOnly(node) && !hasPairs(node);
  const ids = keys.count === 0 || isAsked ? undefined : new Int32Array(rowCount);
  for (let at = 0; keys.count > 0 && at < rowCount; at += PIECE_ROWS) {
    checkCancelled(context);
    const part = sliceBatch(all, at, Math.min(rowCount, at + PIECE_ROWS));
    const vectors = await keys.of(part);
    const found = table.add(vectors, part.rowCount);
    ids?.set(found, at);
    if (node.join === "not-in") hasNullKey ||= hasNull(vectors, part.rowCount);
    await context.pace.turn();
  }
  if (ids === undefined) return { ...held, heads: undefined, next: undefined, hasNullKey };
  // Numbers are dense and come in the order of the rows: as many as there are rows, and each row is its number.
  if (table.size === rowCount) return { ...held, heads: undefined, next: undefined, hasNullKey };
  const heads = new Int32Array(table.size).fill(NO_ROW);
  const next = new Int32Array(rowCount);
  const hasMore = chained(ids, heads, next);
  return { ...held, heads, next: hasMore ? next : undefined, hasNullKey };
}

/** Puts rows of equal numbers into chains. @returns whether any has two rows */
function chained(ids: Int32Array, heads: Int32Array, next: Int32Array): boolean {
  let hasMore = 0;
  // From the last row to the first, so that chains ascend.
  for (let row = ids.length - 1; row >= 0; row--) {
    const id = ids[row] as number;
    if (id === NO_ROW) continue;
    const head = heads[id] as number;
    hasMore |= ~head;
    next[row] = head;
    heads[id] = row;
  }
  return hasMore !== 0;
}

/** Whether streaming rows without a partner are paired with NULLs. */
const isPadded = (node: Join): boolean => node.join === "left" || node.join === "full";

/** The rows of a side with one of NULLs behind them. */
async function withNullRow(node: Join, side: Side, { vectors, rowCount }: Batch, context: ExecContext): Promise<Batch> {
  const made: Vector[] = [];
  for (const [c, { type }] of node[side].columns.entries()) {
    const vector = vectors[c];
    if (vector === undefined || rowCount === 0) made.push(constantVector(type, undefined, 1));
    else {
      made.push(
        concat(type, [
          { vector, rowCount },
          { vector: nullLike(vector), rowCount: 1 },
        ]),
      );
    }
    await context.pace.turn();
  }
  return { rowCount: rowCount + 1, vectors: made };
}

/** A row of NULL of the kind of a vector with rows, so that both are joined without a look at each value. */
function nullLike(vector: Vector): Vector {
  const validity = new Uint8Array(1);
  switch (vector.kind) {
    case "dictionary":
    case "coded":
      return { ...vector, codes: new Uint32Array(1) };
    case "bytes":
      return { kind: "bytes", offsets: new Uint32Array(2), bytes: new Uint8Array(0), validity };
    case "time":
    case "number":
    case "wide":
      return { ...slice(vector, 0, 1), validity } as Vector; // Of the same kind, which has a validity.
  }
}
