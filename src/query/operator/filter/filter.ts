/** Rows that meet a condition. */
import { FilterEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { NodeOf } from "../contract/node.ts";
import { gatherRuns } from "../kernels/gather.ts";
import { gatherBatch } from "../rows/held-rows.ts";

/** The rows of `input` that meet the condition. Those that were tested in storage do. */
export async function* filter(node: NodeOf<"filter">, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const evaluator = new FilterEvaluator(node.predicate, node.input.columns, context);
  for await (const batch of input) {
    if (batch.isTested === true) {
      if (batch.rowCount > 0) yield plain(batch);
      await context.pace.turn();
      continue;
    }
    const { selection, count } = await evaluator.selectInTurns(batch);
    if (count === batch.rowCount) yield batch;
    else if (count > 0) {
      const runs = batch.runs === undefined ? undefined : gatherRuns(batch.runs, selection, count);
      yield { ...gatherBatch(batch, selection, count), runs };
    }
    await context.pace.turn();
  }
}

/** Without the mark, which means the tests of this filter alone. */
function plain({ rowCount, vectors, runs }: ExecBatch): ExecBatch {
  return { rowCount, vectors, runs };
}
