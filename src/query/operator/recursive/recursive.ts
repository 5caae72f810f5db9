/** WITH RECURSIVE: runs a query over its own rows, round by round. The rows of one round are held and, without ALL, all distinct ones. */
import { executionError } from "../../function/value/execution-error.ts";
import { withOwnMemory } from "../contract/own-memory.ts";
import type { NodeOf } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch, HeldRows } from "../rows/held-rows.ts";
import { KeyTable } from "../group-keys/key-table.ts";

/** Most rounds. Reason: a query that never ends must end, also where no timeout is set. Error: EngineExecuteQuery. */
const ROUNDS_MAX = 100_000;

/** The rows of all rounds. @param runStep runs the step in a context that has the rows of a round */
export function recursive(
  node: NodeOf<"recursive">,
  first: AsyncIterable<ExecBatch>,
  runStep: (round: ExecContext) => AsyncIterable<ExecBatch>,
  shared: ExecContext,
): AsyncIterable<ExecBatch> {
  const stepOver = (rows: ExecBatch): AsyncIterable<ExecBatch> =>
    runStep({ ...shared, rounds: new Map(shared.rounds).set(node.working, rows) });
  return withOwnMemory("recursive query", shared, (context) => rounds(node, first, stepOver, context));
}

async function* rounds(
  node: NodeOf<"recursive">,
  first: AsyncIterable<ExecBatch>,
  stepOver: (rows: ExecBatch) => AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncGenerator<ExecBatch> {
  const types = node.columns.map(({ type }) => type);
  const known = node.all ? undefined : new KeyTable(types, { nullsMatch: true }, context.budget.reserve);
  let round = new HeldRows(node.columns, context.budget);
  let batches = first;
  for (let count = 0; ; count++) {
    if (count > ROUNDS_MAX) {
      throw executionError(`the recursive query did not end within ${ROUNDS_MAX} rounds; give its second part a condition that ends it`);
    }
    const made = new HeldRows(node.columns, context.budget);
    for await (const batch of batches) {
      checkCancelled(context);
      const kept = known === undefined ? batch : freshOf(batch, known);
      if (kept.rowCount === 0) continue;
      made.add(kept);
      yield kept;
      await context.pace.turn();
    }
    round.clear();
    if (made.rowCount === 0) return;
    round = made;
    batches = stepOver(made.joined());
  }
}

/** Rows that were not there before. */
function freshOf(batch: ExecBatch, known: KeyTable): ExecBatch {
  const rows = known.firsts(batch.vectors, batch.rowCount);
  return rows.length === batch.rowCount ? batch : gatherBatch(batch, rows, rows.length);
}
