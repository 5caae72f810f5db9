/** The rows of a plan as those outside of the operators read them: intervals, which are bytes between operators, as text. */
import type { Batch } from "../../column/batch.ts";
import { INTERVAL } from "../../column/data-type.ts";
import { intervalText } from "../../value/interval/interval-text.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Vector } from "../../column/vector.ts";
import { isInterval } from "../function/value/value.ts";
import type { PlanNode } from "./contract/node.ts";
import type { ExecBatch, ExecContext } from "./contract/exec-context.ts";
import { run } from "./run.ts";
import { valueAt } from "../expression/vector-values.ts";

/**
 * The rows of a plan, computed while they are read. A batch is valid until the next one.
 *
 * @param keepsIntervals they stay bytes, which wire protocols write in forms of their own
 */
export function answer(plan: PlanNode, exec: ExecContext, keepsIntervals = false): AsyncIterable<Batch> {
  const places = plan.columns.flatMap(({ type }, i) => (type.kind === "interval" ? [i] : []));
  const batches = run(plan, exec);
  return places.length === 0 || keepsIntervals ? batches : withText(batches, places);
}

async function* withText(batches: AsyncIterable<ExecBatch>, places: readonly number[]): AsyncIterable<Batch> {
  for await (const batch of batches) {
    const vectors = batch.vectors.map((vector, i) => (places.includes(i) ? textOf(vector, batch.rowCount) : vector));
    yield { ...batch, vectors };
  }
}

function textOf(vector: Vector, rowCount: number): Vector {
  const texts = Array.from({ length: rowCount }, (_, row) => {
    const value = valueAt(vector, INTERVAL, row);
    return isInterval(value) ? intervalText(value) : undefined;
  });
  return vectorOf(INTERVAL, texts);
}
