/** Rows of several plans one after the other. */
import type { ExecBatch } from "../contract/exec-context.ts";
import type { NodeOf, PlanNode } from "../contract/node.ts";

type Run = (node: PlanNode) => AsyncIterable<ExecBatch>;

/** The rows of all inputs. */
export async function* union(node: NodeOf<"union">, run: Run): AsyncIterable<ExecBatch> {
  for (const input of node.inputs) yield* run(input);
}

/** The rows of an input; of another plan where it has none. */
export async function* ifEmpty(node: NodeOf<"if-empty">, run: Run): AsyncIterable<ExecBatch> {
  let isEmpty = true;
  for await (const batch of run(node.input)) {
    isEmpty &&= batch.rowCount === 0;
    yield batch;
  }
  if (isEmpty) yield* run(node.otherwise);
}
