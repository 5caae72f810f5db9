/**
 * Durations: a literal, or the expressions that may stand in brackets and behind `offset`.
 *
 * In brackets the whole arithmetic applies. Behind `offset` a literal, `step()` and the like end the duration, so that `x offset 1m + 2` is
 * a sum of two values; one in parentheses may go on: `x offset (1m) * 2`.
 */
import { BINARY_OPERATORS, SIGN_PRECEDENCE } from "./operators.ts";
import type { DurationExpression, DurationOperand, DurationValue, NumberLiteral, Span } from "./ast.ts";
import { durationMillis, numberValue } from "./number-scan.ts";
import { Refusal } from "./refusal.ts";
import { type Place, spanOf, type TokenStream } from "./token-stream.ts";
import type { Token, TokenKind } from "./token.ts";

type Operator = "+" | "-" | "*" | "/" | "%" | "^";
type Extreme = "min_of" | "max_of";
/** What 64 bits of nanoseconds hold, in seconds. */
const SECONDS_MAX = 2 ** 63 / 1e9;

const OFFSET: Place = { where: "offset", expected: "number, duration, step(), or range()" };

/** A number or a duration as a literal; the next token must be one. @throws Refusal */
export function numberLiteral(tokens: TokenStream): NumberLiteral {
  const token = tokens.next();
  const isDuration = token.kind === "duration";
  return { kind: "NumberLiteral", value: numberOf(token), isDuration, valueType: "scalar", span: spanOf(token) };
}

/** The value of a number, the seconds of a duration. @throws Refusal */
export function numberOf(token: Token): number {
  if (token.kind === "duration") {
    const millis = durationMillis(token.text);
    if (!millis.ok) throw new Refusal(millis.reason, spanOf(token));
    return Math.floor(millis.value / 1000) + (millis.value % 1000) / 1000;
  }
  const number = numberValue(token.text);
  if (!number.ok) throw new Refusal(`error parsing number: ${number.reason}`, spanOf(token));
  return number.value;
}

/** A range or a step: more than nothing. @param place what an error says @throws Refusal */
export function positiveDuration(tokens: TokenStream, place: Place): DurationValue {
  const duration = expression(tokens, place, 1);
  if (duration.kind === "NumberLiteral" && duration.value <= 0) throw new Refusal("duration must be greater than 0", duration.span);
  return durationValue(duration);
}

/** What stands behind `offset`. @throws Refusal */
export function offsetDuration(tokens: TokenStream): DurationValue {
  return durationValue(offsetOperand(tokens));
}

function offsetOperand(tokens: TokenStream): DurationOperand {
  const { kind } = tokens.peek();
  if (kind === "(") return operations(tokens, OFFSET, primary(tokens, OFFSET), 1);
  if (kind !== "+" && kind !== "-") return primary(tokens, OFFSET);
  const sign = tokens.next();
  const behind = tokens.peek().kind;
  switch (behind) {
    case "(":
      return signed(sign, kind, primary(tokens, OFFSET));
    case "number":
    case "duration":
      return signed(sign, kind, numberLiteral(tokens));
    case "+":
    case "-": {
      const operand = signed(sign, kind, expression(tokens, OFFSET, SIGN_PRECEDENCE + 1));
      return operations(tokens, OFFSET, operand, 1);
    }
    default: {
      const right = primary(tokens, OFFSET);
      return durationNode(kind, undefined, right, { start: sign.start, end: right.span.end });
    }
  }
}

function durationNode(
  operator: DurationExpression["operator"],
  left: DurationOperand | undefined,
  right: DurationOperand | undefined,
  span: DurationExpression["span"],
): DurationExpression {
  return { kind: "DurationExpression", operator, left, right, isWrapped: false, valueType: "scalar", span };
}

function expression(tokens: TokenStream, place: Place, precedenceMin: number): DurationOperand {
  return tokens.nested(() => operations(tokens, place, operand(tokens, place), precedenceMin));
}

/** `left` with the operators behind it that bind at least so strongly. */
function operations(tokens: TokenStream, place: Place, left: DurationOperand, precedenceMin: number): DurationOperand {
  let result = left;
  for (let height = 1; ; height++) {
    const { kind } = tokens.peek();
    if (!isOperator(kind)) return result;
    const { precedence } = BINARY_OPERATORS[kind];
    if (precedence < precedenceMin) return result;
    tokens.checkDepth(height);
    const sign = tokens.next();
    const right = expression(tokens, place, kind === "^" ? precedence : precedence + 1);
    // What stands behind is looked at before the operation is made, as Prometheus does.
    tokens.peek();
    if ((kind === "/" || kind === "%") && right.kind === "NumberLiteral" && right.value === 0)
      throw new Refusal(kind === "/" ? "division by zero" : "modulo by zero", spanOf(sign));
    result = durationNode(kind, result, right, { start: result.span.start, end: right.span.end });
  }
}

function isOperator(kind: TokenKind): kind is Operator {
  return kind === "+" || kind === "-" || kind === "*" || kind === "/" || kind === "%" || kind === "^";
}

function operand(tokens: TokenStream, place: Place): DurationOperand {
  const { kind } = tokens.peek();
  if (kind !== "+" && kind !== "-") return primary(tokens, place);
  const sign = tokens.next();
  return signed(sign, kind, expression(tokens, place, SIGN_PRECEDENCE + 1));
}

/** The operand with its sign. A plus is dropped. */
function signed(sign: Token, kind: "+" | "-", right: DurationOperand): DurationOperand {
  if (right.kind === "DurationExpression") {
    return kind === "+" ? right : durationNode("-", undefined, right, { start: sign.start, end: right.span.end });
  }
  const value = kind === "-" ? -right.value : right.value;
  checkRange(value, spanOf(sign));
  return { ...right, value, span: { start: sign.start, end: right.span.end } };
}

function primary(tokens: TokenStream, place: Place): DurationOperand {
  const { kind } = tokens.peek();
  switch (kind) {
    case "number":
    case "duration": {
      const literal = numberLiteral(tokens);
      checkRange(literal.value, literal.span);
      return literal;
    }
    case "step":
    case "range": {
      const { start } = tokens.next();
      tokens.expect("(", place);
      return durationNode(kind, undefined, undefined, { start, end: tokens.expect(")", place).end });
    }
    case "min_of":
    case "max_of":
      return extreme(tokens, place, kind);
    case "(":
      return wrapped(tokens, place);
    default:
      return tokens.unexpected(place);
  }
}

function extreme(tokens: TokenStream, place: Place, kind: Extreme): DurationExpression {
  const { start } = tokens.next();
  tokens.expect("(", place);
  const left = expression(tokens, place, 1);
  tokens.expect(",", place);
  const right = expression(tokens, place, 1);
  return durationNode(kind, left, right, { start, end: tokens.expect(")", place).end });
}

function wrapped(tokens: TokenStream, place: Place): DurationExpression {
  const { start } = tokens.next();
  const inner = expression(tokens, place, 1);
  const { end } = tokens.expect(")", place);
  if (inner.kind === "DurationExpression") return { ...inner, isWrapped: true };
  return { ...durationNode("+", undefined, inner, { start, end }), isWrapped: true };
}

/** @throws Refusal for what is no time: NaN, and what 64 bits of nanoseconds do not hold */
function checkRange(seconds: number, span: Span): void {
  if (!(Math.abs(seconds) <= SECONDS_MAX)) throw new Refusal("duration out of range", span);
}

/** Whole milliseconds of a literal; seconds are rounded to nanoseconds first, as Prometheus holds them. */
function durationValue(duration: DurationOperand): DurationValue {
  if (duration.kind === "DurationExpression") return duration;
  const { value } = duration;
  const nanos = Math.sign(value) * Math.round(Math.abs(value) * 1e9);
  return { kind: "Milliseconds", millis: Number(BigInt(nanos) / 1_000_000n) };
}
