/**
 * Trees as Prometheus' API shows them: fields in the order of their names.
 */
import { unreachable } from "../../../base/assert.ts";
import type { AtModifier, DurationOperand, DurationValue, Expression, LabelMatcher, VectorMatching, VectorSelector } from "./ast.ts";
import { numberText } from "./value-text.ts";

/** A value that JSON can hold. */
type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A tree as an object of plain data, for `parse_query`. */
export function treeJson(node: Expression): JsonObject {
  switch (node.kind) {
    case "NumberLiteral":
      return { type: "numberLiteral", val: numberText(node.value) };
    case "StringLiteral":
      return { type: "stringLiteral", val: node.value.toWellFormed() };
    case "VectorSelector":
      return inOrder({ type: "vectorSelector", ...selectorFields(node) });
    case "MatrixSelector":
      return inOrder({ type: "matrixSelector", ...selectorFields(node.selector), ...durationFields("range", node.range) });
    case "SubqueryExpression": {
      const durations = { ...durationFields("range", node.range), ...durationFields("step", node.step), ...timeFields(node) };
      return inOrder({ type: "subquery", expr: treeJson(node.expression), ...durations });
    }
    case "AggregateExpression": {
      const { operator, expression, parameter, grouping, isWithout } = node;
      const param = parameter === undefined ? null : treeJson(parameter);
      return { expr: treeJson(expression), grouping, op: operator, param, type: "aggregation", without: isWithout };
    }
    case "BinaryExpression": {
      const { operator, left, right, returnsBool, matching } = node;
      const between = { matching: matching === undefined ? null : matchingJson(matching), op: operator };
      return { bool: returnsBool, lhs: treeJson(left), ...between, rhs: treeJson(right), type: "binaryExpr" };
    }
    case "UnaryExpression":
      return { expr: treeJson(node.expression), op: node.operator, type: "unaryExpr" };
    case "ParenExpression":
      return { expr: treeJson(node.expression), type: "parenExpr" };
    case "Call": {
      const { name, argumentTypes, variadic, returnType } = node.signature;
      return { args: node.args.map(treeJson), func: { argTypes: argumentTypes, name, returnType, variadic }, type: "call" };
    }
    default:
      return unreachable(node);
  }
}

function inOrder(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function selectorFields(selector: VectorSelector): JsonObject {
  const { name, matchers, isAnchored, isSmoothed } = selector;
  return { name, matchers: matchers.map(matcherJson), anchored: isAnchored, smoothed: isSmoothed, ...timeFields(selector) };
}

function matcherJson({ name, operator, value }: LabelMatcher): JsonObject {
  return { name: name.toWellFormed(), type: operator, value: value.toWellFormed() };
}

function timeFields({ offset, at }: { readonly offset: DurationValue; readonly at: AtModifier | undefined }): JsonObject {
  const timestamp = at?.kind === "time" ? at.millis : null;
  return { ...durationFields("offset", offset), timestamp, startOrEnd: at === undefined || at.kind === "time" ? null : at.kind };
}

/** Milliseconds, and the expression where there is one. */
function durationFields(name: "range" | "step" | "offset", duration: DurationValue | undefined): JsonObject {
  const isExpression = duration?.kind === "DurationExpression";
  return {
    [name]: duration === undefined || isExpression ? 0 : duration.millis,
    [`${name}Expr`]: isExpression ? operandJson(duration) : null,
  };
}

function operandJson(operand: DurationOperand | undefined): Json {
  if (operand === undefined) return null;
  if (operand.kind === "NumberLiteral") return { duration: operand.isDuration, type: "numberLiteral", val: numberText(operand.value) };
  const { operator, left, right, isWrapped } = operand;
  return { lhs: operandJson(left), op: operator, rhs: operandJson(right), type: "durationExpr", wrapped: isWrapped };
}

function matchingJson({ cardinality, labels, isOn, include, fillLeft, fillRight }: VectorMatching): JsonObject {
  return { card: cardinality, fillValues: { lhs: fillJson(fillLeft), rhs: fillJson(fillRight) }, include, labels, on: isOn };
}

/** JSON has no infinities: they are texts. */
function fillJson(value: number | undefined): Json {
  if (value === undefined) return null;
  return Number.isFinite(value) ? value : numberText(value);
}
