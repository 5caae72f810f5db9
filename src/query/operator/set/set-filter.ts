/**
 * INTERSECT and EXCEPT: one side is held, the other streams past. NULLs are equal here.
 *
 *   ALL         the right side is held, and counted row by row
 *   EXCEPT      the distinct rows of the left are held, those of the right strike them out, what stays comes at the end
 *   INTERSECT   the same, but what the right has stays; where the plan tells that the right is smaller it is held, and each of its rows
 *               comes once, when the left brings it first
 *
 * Once there are more distinct rows than fit in memory, further ones go to disk, split by their hash, and rows of the other side that are
 * not known likewise.
 *
 * 5M integers, half of them distinct, INTERSECT as many; 5M texts of 200,000, EXCEPT 250,000 (CPU ms of the query): with a grouping of the
 * left below and the right held 459 and 395, so 250 and 213.
 */
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { bytesOfBatch, gatherBatch } from "../rows/held-rows.ts";
import { pieces } from "../rows/pieces.ts";
import { estimated } from "../rows/row-estimate.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "../spill/partitions.ts";
import { keyHashes } from "../group-keys/key-hashes.ts";
import { type SpillContext, withSpill } from "../spill/spill-context.ts";
import { CountedRows, type HeldSet, MarkedRows, RowsOnce } from "./held-sets.ts";

type SetFilter = Extract<PlanNode, { kind: "set-filter" }>;
type Batches = AsyncIterable<ExecBatch>;

/** About what a distinct row takes for each of its columns, beside its bytes. */
const VALUE_BYTES = 48;
/** Rows that are looked at before others get a turn: each column takes about 100 ns a row. */
const PIECE_ROWS = 16_384;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** The rows of `left` that stay; without ALL each once. */
export function setFilter(node: SetFilter, left: Batches, right: Batches, context: ExecContext): Batches {
  const holdsLeft = !node.all && (node.operator === "except" || isLeftSmaller(node));
  const [held, streaming] = holdsLeft ? [left, right] : [right, left];
  return withSpill(node, context, (spill) => filtered({ node, holdsLeft, spill }, held, streaming, context, 0));
}

/** Whether a look at the plan tells that the left side has fewer rows. */
function isLeftSmaller({ left, right }: SetFilter): boolean {
  const [own, other] = [estimated(left), estimated(right)];
  if (own === undefined || other === undefined) return false;
  return own.rows === other.rows ? !own.isAll : own.rows < other.rows;
}

/** What is the same however often sides are split. */
interface Split {
  readonly node: SetFilter;
  readonly holdsLeft: boolean;
  readonly spill: SpillContext;
}

function heldSet({ node, holdsLeft }: Split, context: ExecContext): HeldSet {
  if (holdsLeft) return new MarkedRows(node, context);
  return node.all ? new CountedRows(node, context) : new RowsOnce(node, context);
}

async function* filtered(split: Split, held: Batches, streaming: Batches, shared: ExecContext, level: number): AsyncGenerator<ExecBatch> {
  const { node, spill } = split;
  const budget = shared.budget.part(node.operator);
  const context = { ...shared, budget };
  const set = heldSet(split, context);
  const cost = (piece: ExecBatch): number => bytesOfBatch(piece) * 2 + piece.rowCount * node.columns.length * VALUE_BYTES;
  let rest: readonly [Partitions, Partitions] | undefined;
  try {
    for await (const batch of held) {
      checkCancelled(context);
      for (const piece of pieces(batch, Math.min(PIECE_ROWS, spill.rowsOf(cost(batch), batch.rowCount, PIECES_PER_SHARE)))) {
        if (rest === undefined && set.size > 0 && level < SPLIT_LEVELS_MAX && !spill.fits(cost(piece), budget)) {
          rest = [await Partitions.create(node.columns, level, spill), await Partitions.create(node.columns, level, spill)];
        }
        if (rest === undefined) set.add(piece);
        else await addTo(rest[0], node, piece, set.addKnown(piece));
        checkCancelled(context);
        await context.pace.turn();
      }
    }
    for await (const batch of streaming) {
      checkCancelled(context);
      for (const piece of pieces(batch, PIECE_ROWS)) {
        const { kept, unknown } = set.pass(piece, rest !== undefined);
        if (kept.length > 0) yield gatherBatch(piece, kept, kept.length);
        if (rest !== undefined) await addTo(rest[1], node, piece, unknown);
        await context.pace.turn();
      }
    }
    for (const batch of set.rest()) {
      checkCancelled(context);
      yield batch;
      await context.pace.turn();
    }
  } finally {
    budget.close();
  }
  if (rest === undefined) return;
  const [ours, theirs] = rest;
  await ours.finish();
  await theirs.finish();
  const first = split.holdsLeft ? ours : theirs;
  for (const [i, part] of ours.parts.entries()) {
    const other = theirs.parts[i];
    // Without rows of the left nothing stays.
    if (first.parts[i]?.rowCount !== 0 && other !== undefined) yield* filtered(split, part.read(), other.read(), shared, level + 1);
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
