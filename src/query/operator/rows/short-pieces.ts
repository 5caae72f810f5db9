/**
 * Rows in pieces that an operator gets through in some milliseconds, however long its expressions take for one row: a batch of 65,536 rows
 * is one step for the event loop, and `levenshtein(a, b)` over all of them would hold it for seconds.
 *
 *   batch ─► 16 rows ─► the operator ─► 64 rows ─► … ─► more while they are quick, fewer when they were slow
 *
 * Only operators that have such an expression get their rows so: functions without a generated loop, LIKE, casts to or from other than
 * numbers, expressions of many terms. What one call takes for one row is bounded where the function is.
 */
import { bucketOf } from "../../expression/bucket-of.ts";
import { timePartOf } from "../../expression/time-parts.ts";
import { operandsOf, partsOf, type TypedExpression } from "../../expression/expression.ts";
import { type PlanNode, visitExpressions } from "../contract/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { rowsBetween } from "./pieces.ts";

/** Rows of the first piece: a row may take a millisecond, and its texts megabytes. */
const FIRST_ROWS = 16;
/** Milliseconds below which the next piece is four times as long, twice as long, and above which it is shorter. */
const QUICK_MS = 1;
const SHORT_MS = 3;
const LONG_MS = 8;
/** Parts from which an expression takes long although each part is quick: 256 are 50 µs a row in the interpreter. */
const PARTS_MAX = 256;

/** Whether an operator computes something that no generated loop computes. */
export function takesLong(node: PlanNode): boolean {
  let found = false;
  let parts = 0;
  visitExpressions(node, (expression) => {
    parts += partsOf(expression, PARTS_MAX - parts);
    found ||= parts >= PARTS_MAX || hasLongPart(expression);
  });
  return found;
}

/** Whether no generated loop computes an expression, or only in many steps. */
export function isLongExpression(expression: TypedExpression): boolean {
  return partsOf(expression, PARTS_MAX) >= PARTS_MAX || hasLongPart(expression);
}

const isNumber = ({ type }: TypedExpression): boolean => type.kind === "int" || type.kind === "float";

function hasLongPart(expression: TypedExpression): boolean {
  switch (expression.kind) {
    case "call": {
      const [, time] = expression.args;
      if (time?.kind === "column" && bucketOf(expression, time.index) !== undefined) return false;
      if (timePartOf(expression) !== undefined) return false;
      if (expression.function.emit === undefined) return true;
      break;
    }
    case "like":
      return true;
    case "cast":
      if (!isNumber(expression) || !isNumber(expression.operand)) return true;
      break;
    default:
  }
  return operandsOf(expression).some(hasLongPart);
}

/** See the file header. The time that passes between two pieces, turns of others left out, is the operator's. */
export async function* shortPieces(batches: AsyncIterable<ExecBatch>, { clock, pace }: ExecContext): AsyncGenerator<ExecBatch> {
  let rows = FIRST_ROWS;
  for await (const batch of batches) {
    if (batch.summary !== undefined || batch.isTested === true) {
      yield batch;
      continue;
    }
    for (let from = 0; from < batch.rowCount; ) {
      const to = Math.min(batch.rowCount, from + rows);
      const begun = clock.monotonicMillis() - pace.awayMillis;
      yield rowsBetween(batch, from, to);
      const millis = clock.monotonicMillis() - pace.awayMillis - begun;
      if (millis > LONG_MS) rows = Math.max(1, Math.floor((rows * LONG_MS) / (2 * millis)));
      else if (millis < SHORT_MS) rows *= millis < QUICK_MS ? 4 : 2;
      from = to;
      await pace.turn();
    }
  }
}
