/**
 * What stands between a binary operator and its right operand: `bool`, `on (…)`, `group_left (…)`, `fill (…)`.
 */
import type { Cardinality, VectorMatching } from "./ast.ts";
import { numberOf } from "./duration-parser.ts";
import { labelList } from "./selector-parser.ts";
import { beginsExpression, isNumber, type TokenKind } from "./token.ts";
import type { Place, TokenStream } from "./token-stream.ts";

/** Modifiers as written. */
export interface BinaryModifiers {
  readonly returnsBool: boolean;
  readonly matching: VectorMatching;
}

const PLAIN: VectorMatching = {
  cardinality: "one-to-one",
  labels: [],
  isOn: false,
  include: [],
  fillLeft: undefined,
  fillRight: undefined,
};
const WITHOUT_MODIFIERS: BinaryModifiers = { returnsBool: false, matching: PLAIN };

/** @param place what an error says that has no words of its own @throws Refusal */
export function binaryModifiers(tokens: TokenStream, place: Place): BinaryModifiers {
  const returnsBool = tokens.accept("bool") !== undefined;
  const { kind } = tokens.peek();
  const isGrouped = kind === "on" || kind === "ignoring";
  if (!isGrouped && !isFill(kind)) return returnsBool ? { ...WITHOUT_MODIFIERS, returnsBool } : WITHOUT_MODIFIERS;
  const grouped = isGrouped ? groupedMatching(tokens) : PLAIN;
  return { returnsBool, matching: { ...grouped, ...fills(tokens, place) } };
}

function isFill(kind: TokenKind): boolean {
  return kind === "fill" || kind === "fill_left" || kind === "fill_right";
}

function groupedMatching(tokens: TokenStream): VectorMatching {
  const isOn = tokens.next().kind === "on";
  const labels = labelList(tokens);
  const { kind } = tokens.peek();
  if (kind !== "group_left" && kind !== "group_right") return { ...PLAIN, isOn, labels };
  tokens.next();
  const behind = tokens.peek().kind;
  // Anything that can neither be labels nor go on is taken for a bad list of labels.
  const include = behind !== "(" && (beginsExpression(behind) || isFill(behind)) ? [] : labelList(tokens);
  const cardinality: Cardinality = kind === "group_left" ? "many-to-one" : "one-to-many";
  return { ...PLAIN, isOn, labels, cardinality, include };
}

/** `fill (0)`, or `fill_left (0)` and `fill_right (1)` in either order. */
function fills(tokens: TokenStream, place: Place): Pick<VectorMatching, "fillLeft" | "fillRight"> {
  if (tokens.accept("fill") !== undefined) {
    const value = fillValue(tokens, place);
    return { fillLeft: value, fillRight: value };
  }
  let fillLeft = fillOf(tokens, place, "fill_left");
  const fillRight = fillOf(tokens, place, "fill_right");
  if (fillRight !== undefined) fillLeft ??= fillOf(tokens, place, "fill_left");
  return { fillLeft, fillRight };
}

function fillOf(tokens: TokenStream, place: Place, kind: "fill_left" | "fill_right"): number | undefined {
  return tokens.accept(kind) === undefined ? undefined : fillValue(tokens, place);
}

function fillValue(tokens: TokenStream, place: Place): number {
  tokens.expect("(", place);
  const sign = tokens.accept("-") ?? tokens.accept("+");
  if (!isNumber(tokens.peek().kind)) return tokens.unexpected(place);
  const number = numberOf(tokens.next());
  tokens.expect(")", place);
  return sign?.kind === "-" ? -number : number;
}
