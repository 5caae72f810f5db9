/**
 * `offset`, `@`, `anchored` and `smoothed` put into the node before them, and what a range makes of it.
 */
import type { AtModifier, DurationValue, Expression, MatrixSelector, Span, SubqueryExpression, VectorSelector } from "./ast.ts";
import { Refusal } from "./refusal.ts";

/** What may have modifiers. */
type Modified = VectorSelector | MatrixSelector | SubqueryExpression;

function isModified(node: Expression): node is Modified {
  return node.kind === "VectorSelector" || node.kind === "MatrixSelector" || node.kind === "SubqueryExpression";
}

/** The node that holds offset and time. */
function holderOf(node: Modified): VectorSelector | SubqueryExpression {
  return node.kind === "MatrixSelector" ? node.selector : node;
}

/** The node with offset or time, ending at `end`. */
function withTime(node: Modified, change: { offset?: DurationValue; at?: AtModifier }, end: number): Expression {
  const span: Span = { start: node.span.start, end };
  if (node.kind === "MatrixSelector") return { ...node, selector: { ...node.selector, ...change }, span };
  return node.kind === "VectorSelector" ? { ...node, ...change, span } : { ...node, ...change, span };
}

function isSet(duration: DurationValue): boolean {
  return duration.kind === "DurationExpression" || duration.millis !== 0;
}

/** @throws Refusal */
export function withOffset(node: Expression, offset: DurationValue, end: number): Expression {
  if (!isModified(node)) {
    const what = "offset modifier must be preceded by an instant vector selector or range vector selector or a subquery";
    throw new Refusal(what, node.span);
  }
  if (isSet(holderOf(node).offset)) throw new Refusal("offset may not be set multiple times", node.span);
  return withTime(node, { offset }, end);
}

/** @throws Refusal */
export function withAt(node: Expression, at: AtModifier, end: number): Expression {
  if (!isModified(node)) {
    const what = "@ modifier must be preceded by an instant vector selector or range vector selector or a subquery";
    throw new Refusal(what, node.span);
  }
  if (holderOf(node).at !== undefined) throw new Refusal("@ <timestamp> may not be set multiple times", node.span);
  return withTime(node, { at }, end);
}

/** @throws Refusal */
export function withExtension(node: Expression, word: "anchored" | "smoothed"): Expression {
  if (node.kind === "SubqueryExpression") throw new Refusal(`${word} modifier is not supported for subqueries`, node.span);
  if (node.kind !== "VectorSelector" && node.kind !== "MatrixSelector") throw new Refusal(`${word} modifier not implemented`, node.span);
  const selector = node.kind === "MatrixSelector" ? node.selector : node;
  if (word === "anchored" ? selector.isSmoothed : selector.isAnchored)
    throw new Refusal("anchored and smoothed modifiers cannot be used together", node.span);
  const extended: VectorSelector = word === "anchored" ? { ...selector, isAnchored: true } : { ...selector, isSmoothed: true };
  return node.kind === "MatrixSelector" ? { ...node, selector: extended } : extended;
}

/** @param brackets where the range stands @throws Refusal */
export function withRange(node: Expression, range: DurationValue, brackets: Span, end: number): MatrixSelector {
  if (node.kind !== "VectorSelector") throw new Refusal("ranges only allowed for vector selectors", brackets);
  if (isSet(node.offset)) throw new Refusal("no offset modifiers allowed before range", brackets);
  if (node.at !== undefined) throw new Refusal("no @ modifiers allowed before range", brackets);
  return { kind: "MatrixSelector", selector: node, range, valueType: "matrix", span: { start: node.span.start, end } };
}
