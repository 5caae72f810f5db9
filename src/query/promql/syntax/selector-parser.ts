/**
 * `name{label="value", …}` and lists of labels in parentheses.
 */
import type { DurationValue, LabelMatcher, MatchOperator, Span, VectorSelector } from "./ast.ts";
import { quoted } from "./quoting.ts";
import { Refusal } from "./refusal.ts";
import type { RegexCheck } from "./regex/regex-check.ts";
import { type Place, spanOf, type TokenStream } from "./token-stream.ts";
import { unquoted } from "./string-value.ts";
import { isLabelName, type Token, type TokenKind } from "./token.ts";

/** Label of the metric's name. */
export const NAME_LABEL = "__name__";
/** No time at all. */
export const NO_DURATION: DurationValue = { kind: "Milliseconds", millis: 0 };

const MATCHING = "label matching";
const NAME: Place = { where: MATCHING, expected: 'identifier or "}"' };
const OPERATOR: Place = { where: MATCHING, expected: "label matching operator" };
const VALUE: Place = { where: MATCHING, expected: "string" };
const NEXT: Place = { where: MATCHING, expected: '"," or "}"' };

const GROUPING = "grouping opts";
const OPEN: Place = { where: GROUPING, expected: '"("' };
const LABEL: Place = { where: GROUPING, expected: "label" };
const NEXT_LABEL: Place = { where: GROUPING, expected: '"," or ")"' };

/** A selector whose name was read, or that begins with its braces. @throws Refusal */
export function vectorSelector(tokens: TokenStream, regexes: RegexCheck, name: Token | undefined): VectorSelector {
  const open = tokens.peek();
  const matchers: LabelMatcher[] = [];
  let span: Span = spanOf(name ?? open);
  if (open.kind === "{") span = { start: span.start, end: labelMatchers(tokens, regexes, matchers) };
  if (name !== undefined) matchers.push(nameMatcher(name.text));
  return {
    kind: "VectorSelector",
    name: name?.text ?? "",
    matchers,
    offset: NO_DURATION,
    at: undefined,
    isAnchored: false,
    isSmoothed: false,
    valueType: "vector",
    span,
  };
}

/** Reads what stands in braces. @returns where they end */
function labelMatchers(tokens: TokenStream, regexes: RegexCheck, matchers: LabelMatcher[]): number {
  tokens.next();
  for (;;) {
    const close = tokens.accept("}");
    if (close !== undefined) return close.end;
    matchers.push(labelMatcher(tokens, regexes));
    if (tokens.accept(",") === undefined) return tokens.expect("}", NEXT).end;
  }
}

function labelMatcher(tokens: TokenStream, regexes: RegexCheck): LabelMatcher {
  const { kind } = tokens.peek();
  if (kind !== "identifier" && kind !== "string") return tokens.unexpected(NAME);
  const label = tokens.next();
  const name = kind === "string" ? unquoted(label.text) : label.text;
  const operator = tokens.peek().kind;
  if (!isMatchOperator(operator)) return kind === "string" ? nameMatcher(name) : tokens.unexpected(OPERATOR);
  tokens.next();
  const text = tokens.expect("string", VALUE);
  const value = unquoted(text.text);
  if (operator === "=" || operator === "!=") return { name, operator, value, takesEmpty: (value === "") === (operator === "=") };
  const regex = regexes.check(value);
  if (!regex.ok) throw new Refusal(regex.reason, { start: label.start, end: text.end });
  return { name, operator, value, takesEmpty: regex.value.matchesEmpty === (operator === "=~") };
}

function nameMatcher(value: string): LabelMatcher {
  return { name: NAME_LABEL, operator: "=", value, takesEmpty: value === "" };
}

function isMatchOperator(kind: TokenKind): kind is MatchOperator {
  return kind === "=" || kind === "!=" || kind === "=~" || kind === "!~";
}

/** `(a, "b c", by)`. @throws Refusal */
export function labelList(tokens: TokenStream): readonly string[] {
  tokens.expect("(", OPEN);
  const labels: string[] = [];
  for (;;) {
    if (tokens.accept(")") !== undefined) return labels;
    labels.push(label(tokens));
    if (tokens.accept(",") !== undefined) continue;
    tokens.expect(")", NEXT_LABEL);
    return labels;
  }
}

function label(tokens: TokenStream): string {
  const { kind } = tokens.peek();
  if (kind !== "string" && !isLabelName(kind)) return tokens.unexpected(LABEL);
  const token = tokens.next();
  const name = kind === "string" ? unquoted(token.text) : token.text;
  if (name === "" || !name.isWellFormed()) throw new Refusal(`invalid label name for grouping: ${quoted(name)}`, spanOf(token));
  return name;
}
