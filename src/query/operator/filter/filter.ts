/** Rows that meet a condition. */
import { FilterEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { NodeOf } from "../contract/node.ts";
import { gatherRuns } from "../kernels/gather.ts";
import { gatherBatch } from "../rows/held-rows.ts";

/** The rows of `input` that meet the condition. */
export async function* filter(node: NodeOf<"filter">, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const evaluator = new FilterEvaluator(node.predicate, node.input.columns, context);
  for await (const batch of input) {
    const { selection, count } = await evaluator.selectInTurns(batch);
    if (count === batch.rowCount) yield batch;
    else if (count > 0) {
      const runs = batch.runs === undefined ? undefined : gatherRuns(batch.runs, selection, count);
      yield { ...gatherBatch(batch, selection, count), runs };
    }
    await context.pace.turn();
  }
}
