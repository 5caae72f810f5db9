/**
 * Expressions → text, as a person would write them: operators apart by blanks, parentheses only where the tree needs them, names in
 * quotes only where they need them. Parsing the text gives the same tree again (a property test says so). This text is the name of a result
 * column without an alias.
 */
import { unreachable } from "../../base/assert.ts";
import { sqlName } from "../../column/data-type.ts";
import type { Expression, ObjectName, OrderItem } from "./ast.ts";
import { BARE_CALLS, SPECIAL_CALLS } from "./call-name.ts";
import { OPERATOR_POWER, Power } from "./precedence.ts";
import { isReserved } from "./token.ts";

/** How keywords and quoted names are written. */
export interface PrintStyle {
  /** Writes a keyword, given in lower case. */
  readonly word: (keyword: string) => string;
  /** Keeps the quotes of names that need none: in VALUES a quoted name is a string. */
  readonly keepQuotes: boolean;
}

const LOWER: PrintStyle = { word: (keyword) => keyword, keepQuotes: false };

/** `max(usage_user)`, `a + 1`, `date_trunc('minute', ts)`, `a is not null and (b or c)`; keywords in lower case. */
export function printExpression(expression: Expression): string {
  return print(expression, LOWER);
}

/** A name with its dots, in quotes where needed: `public."My Table"`. */
export function printName(name: ObjectName): string {
  return name.map((part) => printPart(part)).join(".");
}

/** One part of a name. */
export function printPart(part: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(part) && !isReserved(part) ? part : quoteName(part);
}

/** `'it''s'`. */
export function printString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoteName(part: string): string {
  return `"${part.replaceAll('"', '""')}"`;
}

/** An expression in a given style. */
export function print(expression: Expression, style: PrintStyle): string {
  const { word } = style;
  switch (expression.kind) {
    case "number":
      return expression.text;
    case "string":
      return printString(expression.value);
    case "binary-literal":
      return `x'${Buffer.from(expression.value).toString("hex")}'`;
    case "boolean":
      return word(String(expression.value));
    case "null":
    case "default":
      return word(expression.kind);
    case "interval":
      return `${word("interval")} ${printString(expression.text)}`;
    case "column":
      return printColumn(expression, style);
    case "unary":
      return printUnary(expression, style);
    case "binary":
      return printBinary(expression, style);
    case "is":
    case "between":
    case "in-list":
    case "like":
      return printPredicate(expression, style);
    case "cast":
      return printCast(expression, style);
    case "case":
      return printCase(expression, style);
    case "call":
      return printCall(expression, style);
    default:
      return unreachable(expression);
  }
}

type Node<Kind extends Expression["kind"]> = Extract<Expression, { kind: Kind }>;

/** How tightly an expression holds together. */
function powerOf(expression: Expression): number {
  switch (expression.kind) {
    case "binary":
      return OPERATOR_POWER[expression.operator];
    case "unary":
      return expression.operator === "not" ? Power.not : Power.sign;
    case "is":
      return Power.is;
    case "between":
    case "in-list":
    case "like":
      return Power.predicate;
    default:
      return Power.primary;
  }
}

/** An operand, in parentheses when it binds less tightly than `power`. */
function operand(expression: Expression, power: number, style: PrintStyle): string {
  const text = print(expression, style);
  return powerOf(expression) < power ? `(${text})` : text;
}

function printColumn({ name, quoted }: Node<"column">, { keepQuotes }: PrintStyle): string {
  const last = name.length - 1;
  return name
    .map((part, i) => ((quoted && keepQuotes && i === last) || (last === 0 && BARE_CALLS.has(part)) ? quoteName(part) : printPart(part)))
    .join(".");
}

function printUnary(node: Node<"unary">, style: PrintStyle): string {
  if (node.operator === "not") return `${style.word("not")} ${operand(node.operand, Power.not, style)}`;
  // A second sign goes into parentheses, since `--` begins a comment.
  return node.operator + operand(node.operand, Power.sign + 1, style);
}

function printBinary({ operator, left, right }: Node<"binary">, style: PrintStyle): string {
  const power = OPERATOR_POWER[operator];
  return `${operand(left, power, style)} ${style.word(operator)} ${operand(right, power + 1, style)}`;
}

function printPredicate(node: Node<"is" | "between" | "in-list" | "like">, style: PrintStyle): string {
  const { word } = style;
  const not = node.negated ? `${word("not")} ` : "";
  const left = operand(node.operand, node.kind === "is" ? Power.is : Power.predicate, style);
  const tight = (expression: Expression): string => operand(expression, Power.predicate + 1, style);
  switch (node.kind) {
    case "is":
      return `${left} ${word("is")} ${not}${word(node.test)}`;
    case "between":
      return `${left} ${not}${word("between")} ${tight(node.low)} ${word("and")} ${tight(node.high)}`;
    case "in-list":
      return `${left} ${not}${word("in")} (${node.items.map((item) => print(item, style)).join(", ")})`;
    case "like": {
      const escape = node.escape === undefined ? "" : ` ${word("escape")} ${printString(node.escape)}`;
      return `${left} ${not}${word(node.insensitive ? "ilike" : "like")} ${tight(node.pattern)}${escape}`;
    }
    default:
      return unreachable(node);
  }
}

function printCast(node: Node<"cast">, style: PrintStyle): string {
  const { word } = style;
  const type = word(sqlName(node.type).toLowerCase());
  return `${word(node.safe ? "try_cast" : "cast")}(${print(node.operand, style)} ${word("as")} ${type})`;
}

function printCase(node: Node<"case">, style: PrintStyle): string {
  const { word } = style;
  const parts = [word("case")];
  if (node.operand !== undefined) parts.push(print(node.operand, style));
  for (const { when, result } of node.branches) parts.push(word("when"), print(when, style), word("then"), print(result, style));
  if (node.otherwise !== undefined) parts.push(word("else"), print(node.otherwise, style));
  parts.push(word("end"));
  return parts.join(" ");
}

function printCall(node: Node<"call">, style: PrintStyle): string {
  const { word } = style;
  const name = SPECIAL_CALLS.has(node.name) ? quoteName(node.name) : printPart(node.name);
  const distinct = node.distinct ? `${word("distinct")} ` : "";
  const args = node.star ? "*" : node.args.map((arg) => print(arg, style)).join(", ");
  const order = node.orderBy.length === 0 ? "" : ` ${printOrderBy(node.orderBy, style)}`;
  const filter = node.filter === undefined ? "" : ` ${word("filter")} (${word("where")} ${print(node.filter, style)})`;
  return `${name}(${distinct}${args}${order})${filter}`;
}

/** `order by a, b desc nulls last`. */
export function printOrderBy(items: readonly OrderItem[], style: PrintStyle): string {
  const { word } = style;
  const texts = items.map(({ expression, descending, nullsFirst }) => {
    const nulls = nullsFirst === undefined ? "" : ` ${word(nullsFirst ? "nulls first" : "nulls last")}`;
    return `${print(expression, style)}${descending ? ` ${word("desc")}` : ""}${nulls}`;
  });
  return `${word("order by")} ${texts.join(", ")}`;
}
