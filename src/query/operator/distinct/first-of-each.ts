/**
 * DISTINCT ON: rows stream past, and the first of each distinct key stays, in the order of the input. Once there are more keys than fit in
 * memory, rows of further ones go to disk as they come and are read again, as often as it takes: what stays of them comes behind what
 * stayed before in the input too.
 */
import { withOwnMemory } from "../contract/own-memory.ts";
import type { PlanNode } from "../contract/node.ts";
import { VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { KeyTable } from "../group-keys/key-table.ts";
import { pieces } from "../rows/pieces.ts";
import { type SpillContext, withSpill } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import type { SpillFile } from "../../../table/spill-space.ts";

type FirstOfEach = Extract<PlanNode, { kind: "first-of-each" }>;

/** About what a key takes for each of its columns. */
const VALUE_BYTES = 128;
/** Rows that are looked at before others get a turn: each key takes about 100 ns a row. */
const PIECE_ROWS = 16_384;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** Rows that are looked at again. */
interface Again {
  readonly file: SpillFile;
  readonly rows: SpilledRows;
}

/** The first row of each key. NULLs are equal here. */
export function firstOfEach(node: FirstOfEach, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  return withSpill(node, context, async function* (spill) {
    let again: Again | undefined;
    do {
      const before: Again | undefined = again;
      const rest: { again: Again | undefined } = { again: undefined };
      yield* firsts(node, before?.rows.read() ?? input, context, spill, rest);
      ({ again } = rest);
      if (before !== undefined) await spill.drop(before.file);
    } while (again !== undefined);
  });
}

/** The first rows of as many keys as fit; puts the rows of others into `rest`. */
function firsts(
  node: FirstOfEach,
  input: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
  rest: { again: Again | undefined },
): AsyncGenerator<ExecBatch> {
  return withOwnMemory("DISTINCT ON", shared, async function* (context) {
    const { budget } = context;
    const evaluators = node.keys.map((key) => new VectorEvaluator(key, node.input.columns, context));
    const types = node.keys.map(({ type }) => type);
    const table = new KeyTable(types, { nullsMatch: true }, budget.reserve);
    const keyBytes = VALUE_BYTES * Math.max(1, types.length);
    for await (const batch of input) {
      checkCancelled(context);
      for (const piece of pieces(batch, Math.min(PIECE_ROWS, spill.rowsOf(batch.rowCount * keyBytes, batch.rowCount, PIECES_PER_SHARE)))) {
        const keys = await vectorsOf(evaluators, piece);
        if (rest.again === undefined && table.size > 0 && !spill.fits(piece.rowCount * keyBytes, budget)) {
          const file = await spill.create();
          rest.again = { file, rows: spill.rowsIn(file, node.input.columns) };
        }
        const isFull = rest.again !== undefined;
        const picked = isFull ? table.strangers(keys, piece.rowCount) : table.firsts(keys, piece.rowCount);
        if (picked.length === 0) continue;
        const some = gatherBatch(piece, picked, picked.length);
        if (isFull) await rest.again?.rows.add(some);
        else yield some;
      }
      await context.pace.turn();
    }
    await rest.again?.rows.finish();
  });
}
