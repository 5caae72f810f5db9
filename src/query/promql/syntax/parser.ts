/**
 * Query text to a syntax tree, by recursive descent with precedence climbing. Types are checked afterwards (`checker.ts`), so that an error
 * of the syntax is told before one of types, wherever it stands.
 *
 * Errors are those of Prometheus' parser, which is generated from a grammar: it takes a step as soon as that needs no look at the next
 * token. So does this one: it peeks where a decision needs it and nowhere else, or another error of two would come first.
 */

import type { AtModifier, BinaryExpression, Call, Expression, Span, StringLiteral, VectorMatching } from "./ast.ts";
import { aggregateExpression, isAggregation } from "./aggregation-parser.ts";
import { numberLiteral, numberOf, offsetDuration, positiveDuration } from "./duration-parser.ts";
import { functionNamed } from "./function-table.ts";
import { binaryModifiers, type BinaryModifiers } from "./matching-parser.ts";
import { withAt, withExtension, withOffset, withRange } from "./modifiers.ts";
import { BINARY_OPERATORS, groupsFromRight, SIGN_PRECEDENCE, type BinaryOperator } from "./operators.ts";
import { quoted } from "./quoting.ts";
import { Refusal } from "./refusal.ts";
import { RegexCheck } from "./regex/regex-check.ts";
import { NO_DURATION, vectorSelector } from "./selector-parser.ts";
import { ANYWHERE, type Place, spanOf, TokenStream } from "./token-stream.ts";
import { unquoted } from "./string-value.ts";
import { beginsExpression, isAggregator, isBinaryOperator, isMetricName, isNumber, isTimeWord, type Token } from "./token.ts";

const AT: Place = { where: "@", expected: "timestamp" };
const RANGE: Place = { where: "subquery or range selector", expected: "number, duration, step(), or range()" };
const RANGE_END: Place = { where: "subquery or range", expected: '":" or "]"' };
const STEP: Place = { where: "subquery selector", expected: 'number, duration, step(), range(), or "]"' };
const STEP_END: Place = { where: "subquery selector", expected: '"]"' };
/** What 64 bits hold, the borders left out. */
const TIMESTAMP_BORDER = 2 ** 63;

/** The tree of a text, whose types nobody checked. @throws Refusal */
export function parsedTree(text: string): Expression {
  return new Parser(text).query();
}

/** One parse of one text. */
class Parser {
  private readonly tokens: TokenStream;
  private readonly regexes: RegexCheck = new RegexCheck();
  /** What an error says that nothing further inside has words for. */
  private place: Place = ANYWHERE;
  /** Levels of the node that was made last. */
  private height = 0;

  constructor(text: string) {
    this.tokens = new TokenStream(text);
  }

  query(): Expression {
    const { tokens } = this;
    if (tokens.peek().kind === "eof") throw new Refusal("no expression found in input", { start: 0, end: 0 });
    const expression = this.expression(1);
    tokens.expect("eof", ANYWHERE);
    return expression;
  }

  private expression(precedenceMin: number): Expression {
    return this.tokens.nested(() => this.operations(precedenceMin));
  }

  private operations(precedenceMin: number): Expression {
    const { tokens } = this;
    let left = this.operand();
    for (;;) {
      const { kind } = tokens.peek();
      if (!isBinaryOperator(kind)) return left;
      const { precedence } = BINARY_OPERATORS[kind];
      if (precedence < precedenceMin) return left;
      tokens.next();
      const height = this.height;
      const modifiers = binaryModifiers(tokens, this.place);
      const right = this.expression(groupsFromRight(kind) ? precedence : precedence + 1);
      this.grow(Math.max(height, this.height));
      left = binaryExpression(kind, left, modifiers, right);
    }
  }

  /** Notes that a node was made above others. @throws Refusal when the tree is too high */
  private grow(below: number): void {
    this.height = below + 1;
    this.tokens.checkDepth(this.height);
  }

  private operand(): Expression {
    const { kind } = this.tokens.peek();
    if (kind !== "+" && kind !== "-") return this.modified(this.primary());
    const { start } = this.tokens.next();
    const expression = this.expression(SIGN_PRECEDENCE + 1);
    const span: Span = { start, end: expression.span.end };
    if (expression.kind === "NumberLiteral") return { ...expression, value: kind === "-" ? -expression.value : expression.value, span };
    this.grow(this.height);
    return { kind: "UnaryExpression", operator: kind, expression, valueType: expression.valueType, span };
  }

  private primary(): Expression {
    const { tokens } = this;
    this.height = 1;
    const { kind } = tokens.peek();
    if (isNumber(kind)) return numberLiteral(tokens);
    if (kind === "string") return stringLiteral(tokens.next());
    if (kind === "(") return this.parenthesis();
    if (kind === "{") return vectorSelector(tokens, this.regexes, undefined);
    if (!isMetricName(kind)) return tokens.unexpected(this.place);
    const name = tokens.next();
    if (isAggregator(kind) && isAggregation(tokens)) {
      return aggregateExpression(tokens, { ...name, kind }, (place) => this.args(place));
    }
    if ((kind === "identifier" || isTimeWord(kind)) && tokens.peek().kind === "(") return this.call(name);
    return vectorSelector(tokens, this.regexes, name);
  }

  private parenthesis(): Expression {
    const { tokens } = this;
    const { start } = tokens.next();
    const expression = this.expression(1);
    const { end } = tokens.expect(")", this.place);
    this.grow(this.height);
    return { kind: "ParenExpression", expression, valueType: expression.valueType, span: { start, end } };
  }

  private call(name: Token): Call {
    const args = this.args(this.place);
    const signature = functionNamed(name.text);
    if (signature === undefined) throw new Refusal(`unknown function with name ${quoted(name.text)}`, spanOf(name));
    const span: Span = { start: name.start, end: this.tokens.lastClosing };
    return { kind: "Call", signature, args, valueType: signature.returnType, span };
  }

  /** Arguments in parentheses. @param place what errors in them say that have no words of their own */
  private args(place: Place): readonly Expression[] {
    const { tokens, place: outer } = this;
    this.place = place;
    tokens.expect("(", place);
    const args: Expression[] = [];
    let height = 0;
    while (tokens.accept(")") === undefined) {
      args.push(this.expression(1));
      height = Math.max(height, this.height);
      const comma = tokens.accept(",");
      if (comma === undefined) {
        tokens.expect(")", place);
        break;
      }
      if (!beginsExpression(tokens.peek().kind)) throw new Refusal("trailing commas not allowed in function call args", spanOf(comma));
    }
    this.grow(height);
    this.place = outer;
    return args;
  }

  /** A node with the modifiers behind it. */
  private modified(node: Expression): Expression {
    const { tokens } = this;
    let result = node;
    for (;;) {
      const { kind } = tokens.peek();
      switch (kind) {
        case "offset":
          tokens.next();
          result = withOffset(result, offsetDuration(tokens), tokens.lastClosing);
          break;
        case "@":
          tokens.next();
          result = this.at(result);
          break;
        case "[":
          result = this.range(result);
          break;
        case "anchored":
        case "smoothed":
          tokens.next();
          result = withExtension(result, kind);
          break;
        default:
          return result;
      }
    }
  }

  /** What stands behind `@`. */
  private at(node: Expression): Expression {
    const { tokens } = this;
    const { kind } = tokens.peek();
    if (kind === "start" || kind === "end") {
      tokens.next();
      tokens.expect("(", AT);
      tokens.expect(")", AT);
      return withAt(node, { kind }, tokens.lastClosing);
    }
    if (kind === "+" || kind === "-") tokens.next();
    if (!isNumber(tokens.peek().kind)) return tokens.unexpected(AT);
    const number = numberOf(tokens.next());
    return withAt(node, momentOf(kind === "-" ? -number : number, node), tokens.lastClosing);
  }

  /** `[5m]` or `[5m:1m]`. */
  private range(node: Expression): Expression {
    const { tokens } = this;
    const open = tokens.next();
    const range = positiveDuration(tokens, RANGE);
    const close = tokens.accept("]");
    if (close !== undefined) {
      this.grow(this.height);
      return withRange(node, range, { start: open.start, end: close.end }, close.end);
    }
    tokens.expect(":", RANGE_END);
    const step = tokens.peek().kind === "]" ? undefined : positiveDuration(tokens, STEP);
    const { end } = tokens.expect("]", STEP_END);
    this.grow(this.height);
    const span: Span = { start: node.span.start, end };
    return { kind: "SubqueryExpression", expression: node, range, step, offset: NO_DURATION, at: undefined, valueType: "matrix", span };
  }
}

function stringLiteral(token: Token): StringLiteral {
  return { kind: "StringLiteral", value: unquoted(token.text), valueType: "string", span: spanOf(token) };
}

/** Seconds behind `@` in milliseconds. @throws Refusal */
function momentOf(seconds: number, { span }: Expression): AtModifier {
  if (!(seconds < TIMESTAMP_BORDER && seconds > -TIMESTAMP_BORDER))
    throw new Refusal(`timestamp out of bounds for @ modifier: ${outOfBounds(seconds)}`, span);
  const millis = Math.sign(seconds) * Math.round(Math.abs(seconds) * 1000);
  return { kind: "time", millis: millis + 0 }; // Of -0 it is 0.
}

function outOfBounds(seconds: number): string {
  if (Number.isNaN(seconds)) return "NaN";
  return Number.isFinite(seconds) ? `${BigInt(seconds)}.000000` : seconds > 0 ? "+Inf" : "-Inf";
}

/** Matching is kept where it means something, and where the checker will refuse it. */
function binaryExpression(operator: BinaryOperator, left: Expression, modifiers: BinaryModifiers, right: Expression): BinaryExpression {
  const { returnsBool, matching } = modifiers;
  const areVectors = left.valueType === "vector" && right.valueType === "vector";
  const isRefused = matching.labels.length > 0 || matching.fillLeft !== undefined || matching.fillRight !== undefined;
  return {
    kind: "BinaryExpression",
    operator,
    left,
    right,
    returnsBool,
    matching: areVectors || isRefused ? ofFamily(operator, matching) : undefined,
    valueType: left.valueType === "scalar" && right.valueType === "scalar" ? "scalar" : "vector",
    span: { start: left.span.start, end: right.span.end },
  };
}

/** Set operators look at all series of both sides. */
function ofFamily(operator: BinaryOperator, matching: VectorMatching): VectorMatching {
  const isSet = BINARY_OPERATORS[operator].family === "set";
  return isSet && matching.cardinality === "one-to-one" ? { ...matching, cardinality: "many-to-many" } : matching;
}
