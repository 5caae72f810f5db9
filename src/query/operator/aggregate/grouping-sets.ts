/** GROUPING SETS: each batch once for each set, with NULL for the keys that are not of the set. */
import type { Vector } from "../../../column/vector.ts";
import type { PlanNode } from "../contract/node.ts";
import { VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** The rows of `input` for each set, with a column more for each key and the number of the set. */
export async function* groupingSets(
  node: Extract<PlanNode, { kind: "grouping-sets" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const evaluators = node.keys.map((key) => new VectorEvaluator(key, node.input.columns, context));
  const numberType = node.columns.at(-1)?.type ?? { kind: "null" };
  for await (const batch of input) {
    const { rowCount } = batch;
    const keys = await vectorsOf(evaluators, batch);
    for (const [number, set] of node.sets.entries()) {
      const vectors = keys.map((key, i): Vector => {
        const { type } = node.keys[i] ?? { type: { kind: "null" } };
        if (set.includes(i)) return key;
        if (type.kind === "string") return { kind: "dictionary", codes: new Uint32Array(rowCount), dictionary: [undefined] };
        return constantVector(type, undefined, rowCount);
      });
      yield { rowCount, vectors: [...batch.vectors, ...vectors, constantVector(numberType, number, rowCount)] };
      await context.pace.turn();
    }
  }
}
