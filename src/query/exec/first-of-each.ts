/** DISTINCT ON: rows stream past, and the first of each distinct key stays. */
import type { PlanNode } from "../plan/node.ts";
import { VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch } from "./held-rows.ts";
import { RowCodes } from "./row-codes.ts";

/** The first row of each key. NULLs are equal here. */
export async function* firstOfEach(
  node: Extract<PlanNode, { kind: "first-of-each" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const evaluators = node.keys.map((key) => new VectorEvaluator(key, node.input.columns, context));
  const codes = new RowCodes(
    node.keys.map(({ type }) => type),
    true,
    context.budget.reserve,
  );
  for await (const batch of input) {
    checkCancelled(context);
    let next = codes.size;
    const ids = codes.add(
      evaluators.map((evaluator) => evaluator.vector(batch)),
      batch.rowCount,
    );
    const selection = new Uint32Array(batch.rowCount);
    let kept = 0;
    // Numbers are dense and given in the order of the rows.
    for (let row = 0; row < batch.rowCount; row++) {
      if (ids[row] !== next) continue;
      selection[kept++] = row;
      next++;
    }
    if (kept > 0) yield gatherBatch(batch, selection, kept);
    await context.pace.turn();
  }
}
