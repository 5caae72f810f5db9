/** Rows of other columns, one expression each. */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { Vector } from "../../../column/vector.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { NodeOf } from "../contract/node.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { bytesOfBatch } from "../rows/held-rows.ts";
import { rowsBetween } from "../rows/pieces.ts";
import { takesLong } from "../rows/short-pieces.ts";

/** Columns that are computed between two looks at the clock: of 65,536 rows each takes 0.1 ms. */
const COLUMNS_PER_TURN = 16;
/** Rows of which texts are computed first, and at most at a time: fewer while they take more than `TEXT_BYTES`, since each may be long. */
const TEXT_ROWS_FIRST = 32;
const TEXT_ROWS_MAX = 8192;
const TEXT_BYTES: number = 8 * 1024 * 1024;

/** The rows of `input` as expressions over them. @param inputOf the input's rows, given which columns of them are read */
export async function* project(
  node: NodeOf<"project">,
  inputOf: (needed: ReadonlySet<number>) => AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const evaluators = node.expressions.map((expression) => new VectorEvaluator(expression, node.input.columns, context));
  const needed = new Set<number>();
  for (const expression of node.expressions) columnsOf(expression, needed);
  const isLong = node.expressions.some(computesText);
  const mayBeLong = takesLong(node);
  let rowsAtOnce = TEXT_ROWS_FIRST;
  for await (const batch of inputOf(needed)) {
    for (let from = 0; from < batch.rowCount; ) {
      const to = isLong ? Math.min(batch.rowCount, from + rowsAtOnce) : batch.rowCount;
      const piece: ExecBatch = context.keepsRuns === true ? rowsBetween(batch, from, to) : sliceBatch(batch, from, to);
      const vectors: Vector[] = [];
      for (const evaluator of evaluators) {
        vectors.push(isLong || mayBeLong ? await evaluator.vectorInTurns(piece) : evaluator.vector(piece));
        if (vectors.length % COLUMNS_PER_TURN === 0) await context.pace.turn();
      }
      const made = { rowCount: to - from, vectors, runs: context.keepsRuns === true ? piece.runs : undefined };
      if (isLong) rowsAtOnce = bytesOfBatch(made) > TEXT_BYTES ? Math.max(1, rowsAtOnce >> 1) : Math.min(TEXT_ROWS_MAX, rowsAtOnce * 2);
      yield made;
      checkCancelled(context);
      from = to;
    }
  }
}

/** Whether an expression builds texts, other than one that all rows share. */
function computesText(expression: TypedExpression): boolean {
  return expression.kind !== "column" && expression.kind !== "literal" && expression.type.kind === "string";
}
