/**
 * Ranges, steps and offsets as milliseconds. `step()` and `range()` are the query's, also inside sub-queries.
 */
import { unreachable } from "../../../base/assert.ts";
import type { DurationOperand, DurationValue } from "../syntax/ast.ts";
import { evaluationError } from "./scope.ts";
import type { QueryTimes } from "./series-source.ts";

/** Milliseconds that a 64-bit number of nanoseconds holds. */
const MILLIS_MAX = 2 ** 63 / 1e6;

/** Whole milliseconds; may be negative. @throws DbError when it is no time */
export function durationMillis(duration: DurationValue, times: QueryTimes): number {
  if (duration.kind === "Milliseconds") return duration.millis;
  const millis = Math.trunc(Math.round(secondsOf(duration, times) * 1e9) / 1e6);
  if (!(Math.abs(millis) <= MILLIS_MAX)) throw evaluationError("duration out of range");
  return millis;
}

/** The same, more than nothing. @throws DbError */
export function positiveMillis(duration: DurationValue, times: QueryTimes): number {
  const millis = durationMillis(duration, times);
  if (millis <= 0) throw evaluationError("duration must be greater than 0");
  return millis;
}

function secondsOf(node: DurationOperand, times: QueryTimes): number {
  if (node.kind === "NumberLiteral") return node.value;
  const right = node.right === undefined ? 0 : secondsOf(node.right, times);
  const left = node.left === undefined ? 0 : secondsOf(node.left, times);
  switch (node.operator) {
    case "step":
      return times.startMillis === times.endMillis ? 0 : times.stepMillis / 1000;
    case "range":
      return (times.endMillis - times.startMillis) / 1000;
    case "min_of":
      return Math.min(left, right);
    case "max_of":
      return Math.max(left, right);
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0) throw evaluationError("division by zero");
      return left / right;
    case "%":
      if (right === 0) throw evaluationError("modulo by zero");
      return left % right;
    case "^":
      return left ** right;
    default:
      return unreachable(node.operator);
  }
}
