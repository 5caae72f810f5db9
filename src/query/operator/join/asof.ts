/**
 * ASOF JOIN over one stream of both sides, sorted by keys, order and side (`plan/from/asof.ts`): the last row of the right side is
 * remembered, and a row of the left side with equal keys is paired with it. Holds one row beside the batch at hand.
 */
import type { Vector } from "../../../column/vector.ts";
import type { PlanNode } from "../contract/node.ts";
import { compareValues, type Value } from "../../function/value/value.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { gather } from "../kernels/gather.ts";
import { oneBatch } from "../spill/concat-batches.ts";
import { pieces } from "../rows/pieces.ts";
import { constantVector, valueAt } from "../../expression/vector-values.ts";

type Asof = Extract<PlanNode, { kind: "asof" }>;

/** Rows between two turns of others: each key takes about 100 ns a row. */
const PIECE_ROWS = 16_384;

/** The pairs; of a left join, left rows without a partner too. */
export async function* asof(node: Asof, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const headers = node.input.columns;
  // Behind the rows at hand stands one of NULLs, the partner of rows that have none.
  const nulls: ExecBatch = { rowCount: 1, vectors: headers.map(({ type }) => constantVector(type, undefined, 1)) };
  let carried: ExecBatch | undefined;
  for await (const batch of input) {
    checkCancelled(context);
    for (const piece of pieces(batch, PIECE_ROWS)) {
      if (piece.rowCount === 0) continue;
      const all = oneBatch(headers, [...(carried === undefined ? [] : [carried]), piece, nulls]);
      const { lefts, rights, count, last } = paired(node, all, carried === undefined ? 0 : 1);
      if (last >= 0) carried = gatherBatch(all, Uint32Array.of(last), 1);
      if (count > 0) yield { rowCount: count, vectors: pairsOf(node, all.vectors, lefts, rights, count) };
      await context.pace.turn();
    }
  }
}

interface Paired {
  readonly lefts: Uint32Array;
  readonly rights: Uint32Array;
  readonly count: number;
  /** The last row of the right side that can be met; -1: none. */
  readonly last: number;
}

/** @param from rows before it were looked at: the one that is carried */
function paired(node: Asof, { vectors, rowCount }: ExecBatch, from: number): Paired {
  const { keyCount, isLeftLast, join } = node;
  const headers = node.input.columns;
  const keyAt = (column: number, row: number): Value => {
    const [vector, header] = [vectors[column], headers[column]];
    return vector === undefined || header === undefined ? undefined : valueAt(vector, header.type, row);
  };
  const nullRow = rowCount - 1;
  const [lefts, rights] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  let count = 0;
  let last = from - 1;
  let lastKeys = last < 0 ? [] : keysAt(keyCount, last, keyAt);
  for (let row = from; row < nullRow; row++) {
    const keys = keysAt(keyCount, row, keyAt);
    const isMet = keys !== undefined && keyAt(keyCount, row) !== undefined;
    if (keyAt(keyCount + 1, row) !== isLeftLast) {
      if (isMet) [last, lastKeys] = [row, keys];
      continue;
    }
    const hasPartner = isMet && last >= 0 && keys.every((key, i) => compareValues(key, lastKeys?.[i] ?? key) === 0);
    if (!hasPartner && join === "inner") continue;
    lefts[count] = row;
    rights[count++] = hasPartner ? last : nullRow;
  }
  return { lefts, rights, count, last };
}

/** The keys of a row; undefined where one is NULL, which equals nothing. */
function keysAt(keyCount: number, row: number, keyAt: (column: number, row: number) => Value): NonNullable<Value>[] | undefined {
  const keys: NonNullable<Value>[] = [];
  for (let column = 0; column < keyCount; column++) {
    const value = keyAt(column, row);
    if (value === undefined) return undefined;
    keys.push(value);
  }
  return keys;
}

function pairsOf(
  { keyCount, leftWidth, columns }: Asof,
  vectors: readonly Vector[],
  lefts: Uint32Array,
  rights: Uint32Array,
  count: number,
): Vector[] {
  return columns.map(({ type }, i) => {
    const vector = vectors[keyCount + 2 + i] ?? constantVector(type, undefined, count);
    return gather(vector, i < leftWidth ? lefts : rights, count);
  });
}
