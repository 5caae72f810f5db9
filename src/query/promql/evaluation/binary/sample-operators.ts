/**
 * Operators of two samples, each a number or a histogram.
 *
 *   histogram + - histogram    histogram * / number    number * histogram
 *   histogram == != histogram  histogram </ >/ number
 *
 * All else gives nothing, and an info says so.
 */
import type { BinaryExpression } from "../../syntax/ast.ts";
import type { BinaryOperator } from "../../syntax/operators.ts";
import { informBounds, informOperands, warn, warnHints } from "../annotation.ts";
import { compact, divided, minus, plus, scaled } from "../histogram/arithmetic.ts";
import { isEqual } from "../histogram/equality.ts";
import { trimmed } from "../histogram/trim.ts";
import type { QueryScope } from "../scope.ts";
import type { NativeHistogram } from "../series-source.ts";
import { numberOperator } from "./kernels/operators.ts";

/** What a step has. */
export type Sample = number | NativeHistogram;
/** What two samples give: a sample, whether a comparison holds, or nothing. */
export type SampleOperation = (left: Sample, right: Sample) => Sample | boolean | undefined;

/** The operation of an operator; annotations go to the query. */
export function sampleOperation(node: BinaryExpression, query: QueryScope): SampleOperation {
  const { operator } = node;
  const ofNumbers = numberOperator(operator);
  const compares = ["==", "!=", "<", "<=", ">", ">="].includes(operator);
  return (left, right) => {
    if (typeof left === "number" && typeof right === "number" && ofNumbers !== undefined) {
      const result = ofNumbers(left, right);
      return compares ? result === 1 : result;
    }
    const result = withHistogram(operator, left, right, node, query);
    if (result === undefined) informOperands(query, kindOf(left), operator, kindOf(right), node.span);
    return result === "incompatible" ? undefined : result;
  };
}

function kindOf(sample: Sample): string {
  return typeof sample === "number" ? "float" : "histogram";
}

/** Undefined: the operator does not take these. */
function withHistogram(
  operator: BinaryOperator,
  left: Sample,
  right: Sample,
  node: BinaryExpression,
  query: QueryScope,
): Sample | boolean | "incompatible" | undefined {
  if (typeof left === "number") return operator === "*" && typeof right === "object" ? compact(scaled(right, left)) : undefined;
  if (typeof right === "number") return histogramByNumber(operator, left, right);
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "+":
    case "-":
      return total(operator, left, right, node, query);
    default:
      return undefined;
  }
}

function histogramByNumber(operator: BinaryOperator, histogram: NativeHistogram, number: number): Sample | undefined {
  switch (operator) {
    case "*":
      return compact(scaled(histogram, number));
    case "/":
      return compact(divided(histogram, number));
    case "</":
      return trimmed(histogram, number, "below");
    case ">/":
      return trimmed(histogram, number, "above");
    default:
      return undefined;
  }
}

function total(
  operator: "+" | "-",
  left: NativeHistogram,
  right: NativeHistogram,
  { span }: BinaryExpression,
  query: QueryScope,
): Sample | "incompatible" {
  const result = operator === "+" ? plus(left, right) : minus(left, right);
  if (result === undefined) {
    warn(query, `incompatible bucket layout encountered for binary operator ${operator}`, span);
    return "incompatible";
  }
  const name = operator === "+" ? "addition" : "subtraction";
  if (result.doHintsCollide) warnHints(query, name, span);
  if (result.wereBoundsReconciled) informBounds(query, name, span);
  return operator === "+" ? result.histogram : { ...result.histogram, resetHint: "gauge" };
}
