/**
 * The words and signs of PromQL, and how errors name them.
 */
import { AGGREGATORS, BINARY_OPERATORS, type Aggregator, type BinaryOperator } from "./operators.ts";
import type { Span } from "./ast.ts";
import { quoted } from "./quoting.ts";

/** Words that are no aggregation and no operator. In braces all words are names. */
const KEYWORDS = ["bool", "by", "group_left", "group_right", "fill", "fill_left", "fill_right", "ignoring", "offset"] as const;
const MODIFIERS = ["smoothed", "anchored", "on", "without"] as const;
/** Words that stand for moments and durations of the query. */
const TIME_WORDS = ["start", "end", "step", "range", "max_of", "min_of"] as const;

type Keyword = (typeof KEYWORDS)[number] | (typeof MODIFIERS)[number];
type TimeWord = (typeof TIME_WORDS)[number];
/** Signs that are no operators between two operands. */
type Sign = "(" | ")" | "{" | "}" | "[" | "]" | "," | ":" | "=" | "=~" | "!~" | "@";
/** Tokens that are told apart by their text as well. `metric` is a name with colons. */
type Variable = "identifier" | "metric" | "number" | "duration" | "string";

/** What a token is: its own text in lower case where that is fixed. */
export type TokenKind = Variable | Sign | Keyword | TimeWord | BinaryOperator | Aggregator | "eof";

/** A piece of a query. */
export interface Token extends Span {
  readonly kind: TokenKind;
  /** As written. */
  readonly text: string;
}

const WORDS: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ...[...KEYWORDS, ...MODIFIERS, ...TIME_WORDS].map((word) => [word, word] as const),
  ...(["and", "or", "unless", "atan2"] as const).map((word) => [word, word] as const),
  ...Object.keys(AGGREGATORS)
    .filter(isAggregator)
    .map((word) => [word, word] as const),
  ["inf", "number"],
  ["nan", "number"],
]);
const KEYWORD_KINDS: ReadonlySet<string> = new Set<string>([...KEYWORDS, ...MODIFIERS]);
const TIME_WORD_KINDS: ReadonlySet<string> = new Set<string>(TIME_WORDS);

/** The kind of a word outside braces that is no plain name. */
export function wordKind(word: string): TokenKind | undefined {
  return WORDS.get(word.toLowerCase());
}

/** Whether a kind is that of an aggregation. */
export function isAggregator(kind: string): kind is Aggregator {
  return Object.hasOwn(AGGREGATORS, kind);
}

/** Whether a kind is that of an operator between two operands. */
export function isBinaryOperator(kind: string): kind is BinaryOperator {
  return Object.hasOwn(BINARY_OPERATORS, kind);
}

/** Whether a kind is `start`, `end`, `step`, `range`, `min_of` or `max_of`. */
export function isTimeWord(kind: TokenKind): kind is TimeWord {
  return TIME_WORD_KINDS.has(kind);
}

/** Words that are no names of metrics. */
const NO_METRICS: ReadonlySet<string> = new Set(["bool", "group_left", "group_right", "ignoring", "on", "atan2"]);

/** Whether a word may name a metric where an operand is expected. */
export function isMetricName(kind: TokenKind): boolean {
  return kind === "without" || (isLabelName(kind) && !NO_METRICS.has(kind));
}

/** Whether a word may name a label in `by (…)` and the like; `without` may not, unless quoted. */
export function isLabelName(kind: TokenKind): boolean {
  return kind === "identifier" || kind === "metric" || (WORDS.has(kind) && kind !== "without");
}

/** Whether an expression may begin so. */
export function beginsExpression(kind: TokenKind): boolean {
  return isNumber(kind) || isMetricName(kind) || kind === "string" || kind === "(" || kind === "{" || kind === "+" || kind === "-";
}

/** Whether a token is a number or a duration. */
export function isNumber(kind: TokenKind): kind is "number" | "duration" {
  return kind === "number" || kind === "duration";
}

/** Characters of a token that errors show, quotes and what they escape left out. */
const SHOWN_CHARACTERS = 10;

/** How an error names a token. */
export function tokenText({ kind, text }: Token): string {
  switch (kind) {
    case "eof":
      return "end of input";
    case "identifier":
      return `identifier ${quoted(text)}`;
    case "metric":
      return `metric identifier ${quoted(text)}`;
    case "number":
    case "duration":
    case "string":
      return `${kind} ${shortened(text)}`;
    default:
      if (KEYWORD_KINDS.has(kind)) return `<${text}>`;
      if (isBinaryOperator(kind) || kind === "=~" || kind === "!~" || kind === "@") return `<op:${text}>`;
      return isAggregator(kind) ? `<aggr:${text}>` : shortened(text);
  }
}

function shortened(text: string): string {
  const head = Array.from(text.slice(0, 2 * SHOWN_CHARACTERS + 1))
    .slice(0, SHOWN_CHARACTERS)
    .join("");
  return new TextEncoder().encode(text.slice(0, SHOWN_CHARACTERS + 1)).length > SHOWN_CHARACTERS ? `${quoted(head)}...` : quoted(text);
}
