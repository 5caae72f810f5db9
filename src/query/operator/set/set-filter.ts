/**
 * INTERSECT and EXCEPT: the right side is counted row by row, the left side streams past. NULLs are equal here. Once there are more
 * distinct rows on the right than fit in memory, further ones go to disk, split by their hash, and rows of the left that are not known
 * likewise.
 */
import { longer } from "../../../base/bytes/longer-array.ts";
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { bytesOfBatch, gatherBatch } from "../rows/held-rows.ts";
import { KeyTable, NO_ROW } from "../group-keys/key-table.ts";
import { pieces } from "../rows/pieces.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "../spill/partitions.ts";
import { keyHashes } from "../group-keys/key-hashes.ts";
import { type SpillContext, withSpill } from "../spill/spill-context.ts";

type SetFilter = Extract<PlanNode, { kind: "set-filter" }>;

/** About what a distinct row takes for each of its columns, beside its bytes. */
const VALUE_BYTES = 48;
/** Rows that are looked at before others get a turn: each column takes about 100 ns a row. */
const PIECE_ROWS = 16_384;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** The rows of `left` that stay. */
export function setFilter(
  node: SetFilter,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  return withSpill(node, context, (spill) => filtered(node, left, right, context, spill, 0));
}

async function* filtered(
  node: SetFilter,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
  level: number,
): AsyncGenerator<ExecBatch> {
  const budget = shared.budget.part(node.operator);
  const context = { ...shared, budget };
  const counted = new CountedRows(node, context);
  let rest: readonly [Partitions, Partitions] | undefined;
  try {
    for await (const batch of right) {
      checkCancelled(context);
      const cost = (piece: ExecBatch): number => bytesOfBatch(piece) * 2 + piece.rowCount * node.columns.length * VALUE_BYTES;
      for (const piece of pieces(batch, Math.min(PIECE_ROWS, spill.rowsOf(cost(batch), batch.rowCount, PIECES_PER_SHARE)))) {
        if (rest === undefined && counted.size > 0 && level < SPLIT_LEVELS_MAX && !spill.fits(cost(piece), budget)) {
          rest = [await Partitions.create(node.columns, level, spill), await Partitions.create(node.columns, level, spill)];
        }
        if (rest === undefined) counted.add(piece);
        else await addTo(rest[1], node, piece, counted.addKnown(piece));
        checkCancelled(context);
        await context.pace.turn();
      }
    }
    for await (const batch of left) {
      checkCancelled(context);
      for (const piece of pieces(batch, PIECE_ROWS)) {
        const { kept, unknown } = counted.filter(piece, rest !== undefined);
        if (kept.length > 0) yield gatherBatch(piece, kept, kept.length);
        if (rest !== undefined) await addTo(rest[0], node, piece, unknown);
        await context.pace.turn();
      }
    }
  } finally {
    budget.close();
  }
  if (rest === undefined) return;
  const [ours, theirs] = rest;
  await ours.finish();
  await theirs.finish();
  for (const [i, part] of ours.parts.entries()) {
    const other = theirs.parts[i];
    if (part.rowCount > 0 && other !== undefined) yield* filtered(node, part.read(), other.read(), shared, spill, level + 1);
  }
  await ours.drop();
  await theirs.drop();
}

/** Copies some rows of a batch to their partitions. */
async function addTo(partitions: Partitions, node: SetFilter, batch: ExecBatch, rows: Uint32Array): Promise<void> {
  if (rows.length === 0) return;
  const some = gatherBatch(batch, rows, rows.length);
  const types = node.columns.map(({ type }) => type);
  await partitions.add(some, keyHashes(some.vectors, types, rows.length));
}

/** How often each distinct row of the right side is there. */
class CountedRows {
  private readonly node: SetFilter;
  private readonly table: KeyTable;
  private counts = new Uint32Array(1024);

  constructor(node: SetFilter, context: ExecContext) {
    this.node = node;
    const types = node.columns.map(({ type }) => type);
    this.table = new KeyTable(types, { nullsMatch: true }, context.budget.reserve);
  }

  get size(): number {
    return this.table.size;
  }

  /** Counts rows, new ones too. */
  add(batch: ExecBatch): void {
    const ids = this.table.add(batch.vectors, batch.rowCount);
    if (this.table.size > this.counts.length) this.counts = longer(this.counts, this.table.size);
    const { counts } = this;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      counts[id] = (counts[id] as number) + 1;
    }
  }

  /** Counts rows that are known; gives the positions of the others. */
  addKnown(batch: ExecBatch): Uint32Array {
    const ids = this.table.find(batch.vectors, batch.rowCount);
    const unknown = new Uint32Array(batch.rowCount);
    let count = 0;
    const { counts } = this;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      if (id === NO_ROW) unknown[count++] = row;
      else counts[id] = (counts[id] as number) + 1;
    }
    return unknown.subarray(0, count);
  }

  /** Positions of rows of the left side that stay and, when `isPart`, of those that are for others to decide. */
  filter(batch: ExecBatch, isPart: boolean): { readonly kept: Uint32Array; readonly unknown: Uint32Array } {
    const { counts, node } = this;
    const intersect = node.operator === "intersect";
    const ids = this.table.find(batch.vectors, batch.rowCount);
    const kept = new Uint32Array(batch.rowCount);
    const unknown = new Uint32Array(isPart ? batch.rowCount : 0);
    let [stay, others] = [0, 0];
    for (let row = 0; row < batch.rowCount; row++) {
      const id = ids[row] as number;
      if (isPart && id === NO_ROW) {
        unknown[others++] = row;
        continue;
      }
      const found = id !== NO_ROW && (counts[id] as number) > 0;
      // With ALL each row of the right side counts against one of the left.
      if (found && node.all) counts[id] = (counts[id] as number) - 1;
      if (found === intersect) kept[stay++] = row;
    }
    return { kept: kept.subarray(0, stay), unknown: unknown.subarray(0, others) };
  }
}
