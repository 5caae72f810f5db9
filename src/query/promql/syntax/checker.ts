/**
 * Whether the parts of a tree fit together: types of operands and arguments, modifiers where they mean something, selectors that select.
 * The first error is told, in the order in which Prometheus looks: what is inside comes first.
 */
import { unreachable } from "../../../base/assert.ts";
import type { AggregateExpression, BinaryExpression, Call, Expression, Span, VectorSelector } from "./ast.ts";
import { typeText, type ValueType } from "./function-table.ts";
import { AGGREGATORS, BINARY_OPERATORS } from "./operators.ts";
import { quoted } from "./quoting.ts";
import { Refusal } from "./refusal.ts";
import { NAME_LABEL } from "./selector-parser.ts";

/** @param text that the tree was parsed from @throws Refusal */
export function checkTree(node: Expression, text: string): void {
  switch (node.kind) {
    case "NumberLiteral":
    case "StringLiteral":
      return;
    case "VectorSelector":
      return checkSelector(node);
    case "MatrixSelector":
      return checkSelector(node.selector);
    case "SubqueryExpression":
      checkTree(node.expression, text);
      if (node.expression.valueType !== "vector")
        throw new Refusal(`subquery is only allowed on instant vector, got ${node.expression.valueType} instead`, node.span);
      return;
    case "ParenExpression":
      return checkTree(node.expression, text);
    case "UnaryExpression": {
      checkTree(node.expression, text);
      const { valueType } = node.expression;
      if (valueType === "scalar" || valueType === "vector") return;
      const what = "unary expression only allowed on expressions of type scalar or instant vector";
      throw new Refusal(`${what}, got ${quoted(typeText(valueType))}`, node.span);
    }
    case "AggregateExpression":
      return checkAggregation(node, text);
    case "BinaryExpression":
      return checkBinary(node, text);
    case "Call":
      return checkCall(node, text);
    default:
      return unreachable(node);
  }
}

function expectType(node: Expression, type: ValueType, place: string): void {
  if (node.valueType !== type) throw new Refusal(`expected type ${typeText(type)} in ${place}, got ${typeText(node.valueType)}`, node.span);
}

function checkAggregation({ operator, expression, parameter }: AggregateExpression, text: string): void {
  checkTree(expression, text);
  expectType(expression, "vector", "aggregation expression");
  const type = AGGREGATORS[operator];
  if (parameter === undefined || type === undefined) return;
  checkTree(parameter, text);
  expectType(parameter, type, "aggregation parameter");
}

function checkBinary(node: BinaryExpression, text: string): void {
  const { left, right, operator, returnsBool, valueType } = node;
  checkTree(left, text);
  checkTree(right, text);
  const { family } = BINARY_OPERATORS[operator];
  if (returnsBool && family !== "comparison")
    throw new Refusal("bool modifier can only be used on comparison operators", operatorSpan(node, text));
  if (family === "comparison" && !returnsBool && valueType === "scalar")
    throw new Refusal("comparisons between scalars must use BOOL modifier", operatorSpan(node, text));
  checkLabels(node, text);
  for (const side of [left, right]) {
    if (side.valueType !== "scalar" && side.valueType !== "vector")
      throw new Refusal("binary expression must contain only scalar and instant vector types", side.span);
  }
  checkMatching(node);
  if (family === "set" && (left.valueType === "scalar" || right.valueType === "scalar"))
    throw new Refusal(`set operator ${quoted(operator)} not allowed in binary scalar expression`, node.span);
}

/** A label that picks the partner cannot be taken from it. */
function checkLabels(node: BinaryExpression, text: string): void {
  const { matching } = node;
  if (matching === undefined || !matching.isOn || matching.include.length === 0) return;
  const include = new Set(matching.include);
  const twice = matching.labels.find((label) => include.has(label));
  if (twice !== undefined)
    throw new Refusal(`label ${quoted(twice)} must not occur in ON and GROUP clause at once`, operatorSpan(node, text));
}

function checkMatching({ left, right, operator, matching, span }: BinaryExpression): void {
  if (matching === undefined) return;
  const { labels, fillLeft, fillRight, cardinality } = matching;
  const hasFill = fillLeft !== undefined || fillRight !== undefined;
  if (left.valueType !== "vector" || right.valueType !== "vector") {
    if (labels.length > 0) throw new Refusal("vector matching only allowed between instant vectors", span);
    if (hasFill) throw new Refusal("filling in missing series only allowed between instant vectors", span);
  }
  if (BINARY_OPERATORS[operator].family !== "set") return;
  if (cardinality !== "many-to-many") throw new Refusal(`no grouping allowed for ${quoted(operator)} operation`, span);
  if (hasFill) throw new Refusal("filling in missing series not allowed for set operators", span);
}

/** From the operator to the last character before the right operand that is no blank; `end` is where that stands, as Prometheus says. */
function operatorSpan({ left, right }: BinaryExpression, text: string): Span {
  let start = left.span.end;
  while (start < text.length && isBlank(text, start)) start++;
  let end = right.span.start - 1;
  while (end > start && isBlank(text, end)) end--;
  return { start, end };
}

function isBlank(text: string, at: number): boolean {
  return " \t\r\n".includes(text.charAt(at));
}

function checkCall({ signature, args, span }: Call, text: string): void {
  const { name, argumentTypes, variadic } = signature;
  checkCount(argumentTypes.length, variadic, args.length, name, span);
  const [, second] = args;
  if (name === "info" && second !== undefined) checkInfo(second, span);
  for (const [index, arg] of args.entries()) {
    const type = argumentTypes[Math.min(index, argumentTypes.length - 1)];
    if (type === undefined) return;
    // The second argument of `info` holds matchers alone, which may match anything.
    if (name !== "info" || index === 0) checkTree(arg, text);
    expectType(arg, type, `call to function ${quoted(name)}`);
  }
}

function checkCount(types: number, variadic: number, count: number, name: string, span: Span): void {
  const problem = (bound: string, wanted: number): Refusal =>
    new Refusal(`expected ${bound}${wanted} argument(s) in call to ${quoted(name)}, got ${count}`, span);
  if (variadic === 0) {
    if (count !== types) throw problem("", types);
    return;
  }
  const least = types - 1;
  if (count < least) throw problem("at least ", least);
  if (variadic > 0 && count > least + variadic) throw problem("at most ", least + variadic);
}

function checkInfo(matchers: Expression, span: Span): void {
  expectTypeAt(matchers, span);
  if (matchers.kind !== "VectorSelector") throw new Refusal("expected label selectors only", matchers.span);
  if (matchers.name !== "") throw new Refusal("expected label selectors only, got vector selector instead", matchers.span);
}

function expectTypeAt({ valueType }: Expression, span: Span): void {
  if (valueType === "vector") return;
  throw new Refusal(`expected type instant vector in call to function "info", got ${typeText(valueType)}`, span);
}

function checkSelector({ name, matchers, span }: VectorSelector): void {
  if (name !== "") {
    const twice = matchers.slice(0, -1).find((matcher) => matcher.name === NAME_LABEL);
    if (twice !== undefined) throw new Refusal(`metric name must not be set twice: ${quoted(name)} or ${quoted(twice.value)}`, span);
    return;
  }
  if (matchers.every(({ takesEmpty }) => takesEmpty))
    throw new Refusal("vector selector must contain at least one non-empty matcher", span);
}
