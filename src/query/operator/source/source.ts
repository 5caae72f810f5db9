/** Rows that the server computes itself. */
import { assert } from "../../../base/assert.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { Batch } from "../../../column/batch.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { SourceNode } from "./node.ts";

/** The rows of a source. */
export async function* source(node: SourceNode, context: ExecContext): AsyncIterable<ExecBatch> {
  for await (const batch of rowsOf(node, context)) {
    checkCancelled(context);
    yield batch;
    await context.pace.turn();
  }
}

function rowsOf({ source: from, columns, rowsWanted }: SourceNode, context: ExecContext): Iterable<Batch> | AsyncIterable<Batch> {
  switch (from.kind) {
    case "one-row":
      return [{ rowCount: 1, vectors: [] }];
    case "no-rows":
      return [];
    case "values":
      return [from];
    case "working": {
      const round = context.rounds?.get(from.of);
      assert(round !== undefined, `rows of a round are read within their query; got ${from.of}`);
      return [round];
    }
    default:
      return context.sources.open(from, { signal: context.signal, pace: context.pace, budget: context.budget, columns, rowsWanted });
  }
}
