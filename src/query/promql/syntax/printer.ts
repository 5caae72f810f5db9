/**
 * Trees as text: on one line, or over several where they are longer than 100 bytes.
 *
 * The text of each node is made once, from those of its parts, so that a tree of any shape takes time linear in what is printed.
 */
import { DbError } from "../../../base/error.ts";
import { PROMQL_PRINTED_CHARACTERS_MAX } from "../../../base/limits.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { unreachable } from "../../../base/assert.ts";
import type { AggregateExpression, BinaryExpression, Expression, LabelMatcher, SubqueryExpression, VectorSelector } from "./ast.ts";
import { durationValueText, endsWithOpenOffset, offsetText } from "./duration-printer.ts";
import { quoted } from "./quoting.ts";
import { NAME_LABEL } from "./selector-parser.ts";
import { atText, literalText, shortNumberText } from "./value-text.ts";

/** Bytes of a line before it is split. */
const LINE_BYTES_MAX = 100;
const INDENT = "  ";
/** Operators that durations have as well. */
const DURATION_OPERATORS: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "^"]);
const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A tree on one line, in its normal form. */
export function printPromql(node: Expression): string {
  return new Printer().line(node);
}

/** A tree over as many lines as it needs. @throws DbError InvalidArguments past `PROMQL_PRINTED_CHARACTERS_MAX` */
export function formatPromql(node: Expression): string {
  const printer = new Printer();
  printer.write(node, 0);
  return printer.text();
}

class Printer {
  private readonly lines: Map<Expression, string> = new Map();
  private readonly parts: string[] = [];
  private length = 0;

  text(): string {
    return this.parts.join("");
  }

  /** The node on one line. Texts of parts are kept, as ropes that share their pieces. */
  line(node: Expression): string {
    const known = this.lines.get(node);
    if (known !== undefined) return known;
    const made = this.made(node);
    this.lines.set(node, made);
    return made;
  }

  private made(node: Expression): string {
    switch (node.kind) {
      case "NumberLiteral":
        return literalText(node);
      case "StringLiteral":
        return quoted(node.value);
      case "VectorSelector":
        return `${selectorText(node)}${atText(node.at)}${extensionText(node)}${offsetText(node.offset)}`;
      case "MatrixSelector": {
        const { selector, range } = node;
        const modifiers = `${extensionText(selector)}${atText(selector.at)}${offsetText(selector.offset)}`;
        return `${selectorText(selector)}[${durationValueText(range)}]${modifiers}`;
      }
      case "SubqueryExpression":
        return `${this.line(node.expression)}${subqueryText(node)}`;
      case "AggregateExpression": {
        const parameter = node.parameter === undefined ? "" : `${this.line(node.parameter)}, `;
        return `${aggregationText(node)}(${parameter}${this.line(node.expression)})`;
      }
      case "BinaryExpression":
        return `${this.leftLine(node)} ${operatorText(node)} ${this.line(node.right)}`;
      case "UnaryExpression":
        return `${node.operator}${this.line(node.expression)}`;
      case "ParenExpression":
        return `(${this.line(node.expression)})`;
      case "Call":
        return `${node.signature.name}(${node.args.map((arg) => this.line(arg)).join(", ")})`;
      default:
        return unreachable(node);
    }
  }

  /** The left operand, in parentheses where its offset would go on with the operator. */
  private leftLine({ left, operator }: BinaryExpression): string {
    const line = this.line(left);
    return DURATION_OPERATORS.has(operator) && endsWithOpenOffset(left) ? `(${line})` : line;
  }

  private add(text: string): void {
    this.length += text.length;
    if (this.length > PROMQL_PRINTED_CHARACTERS_MAX)
      throw new DbError(StatusCode.InvalidArguments, `the formatted query is longer than ${PROMQL_PRINTED_CHARACTERS_MAX} characters`);
    this.parts.push(text);
  }

  /** Writes a node that begins a line, indented by so many levels. */
  write(node: Expression, level: number): void {
    const indent = INDENT.repeat(level);
    if (node.kind === "UnaryExpression") {
      this.add(`${indent}${node.operator}`);
      this.writeBehind(node.expression, level);
      return;
    }
    this.writeParts(node, level, indent);
  }

  /** Writes a node behind something else of its line: its first line is not indented. */
  private writeBehind(node: Expression, level: number): void {
    if (node.kind === "UnaryExpression") {
      this.add(node.operator);
      this.writeBehind(node.expression, level);
      return;
    }
    const first = this.parts.length;
    this.write(node, level);
    this.parts[first] = (this.parts[first] ?? "").trimStart();
  }

  private writeParts(node: Expression, level: number, indent: string): void {
    const line = this.line(node);
    if (!isLong(line)) {
      // Of a subquery, Prometheus forgets the indentation.
      this.add(node.kind === "SubqueryExpression" ? line : `${indent}${line}`);
      return;
    }
    switch (node.kind) {
      case "BinaryExpression":
        this.writeLeft(node, level + 1);
        this.add(`\n${indent}${operatorText(node)}\n`);
        this.write(node.right, level + 1);
        return;
      case "AggregateExpression": {
        const args = node.parameter === undefined ? [node.expression] : [node.parameter, node.expression];
        this.writeList(`${indent}${aggregationText(node)}`, args, level);
        return;
      }
      case "Call":
        this.writeList(`${indent}${node.signature.name}`, node.args, level);
        return;
      case "ParenExpression":
        this.writeList(indent, [node.expression], level);
        return;
      case "SubqueryExpression":
        this.write(node.expression, level);
        this.add(subqueryText(node));
        return;
      default:
        this.add(`${indent}${line}`);
    }
  }

  private writeLeft({ left, operator }: BinaryExpression, level: number): void {
    if (DURATION_OPERATORS.has(operator) && endsWithOpenOffset(left)) {
      this.write({ kind: "ParenExpression", expression: left, valueType: left.valueType, span: left.span }, level);
    } else {
      this.write(left, level);
    }
  }

  private writeList(head: string, args: readonly Expression[], level: number): void {
    this.add(`${head}(\n`);
    for (const [index, arg] of args.entries()) {
      if (index > 0) this.add(",\n");
      this.write(arg, level + 1);
    }
    this.add(`\n${INDENT.repeat(level)})`);
  }
}

function isLong(line: string): boolean {
  return line.length > LINE_BYTES_MAX || (line.length * 3 > LINE_BYTES_MAX && Buffer.byteLength(line) > LINE_BYTES_MAX);
}

function selectorText({ name, matchers }: VectorSelector): string {
  const shown = matchers.filter((matcher) => !isName(matcher, name)).map(matcherText);
  return shown.length === 0 ? name : `${name}{${shown.sort(byBytes).join(",")}}`;
}

function isName(matcher: LabelMatcher, name: string): boolean {
  return matcher.name === NAME_LABEL && matcher.operator === "=" && matcher.value === name && name !== "";
}

function matcherText({ name, operator, value }: LabelMatcher): string {
  return `${labelText(name)}${operator}${quoted(value)}`;
}

/** The order of their UTF-8, which is that of code points. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function labelText(name: string): string {
  return LABEL_NAME.test(name) ? name : quoted(name);
}

function labelsText(names: readonly string[]): string {
  return `(${names.map(labelText).join(", ")})`;
}

function extensionText({ isAnchored, isSmoothed }: VectorSelector): string {
  return isAnchored ? " anchored" : isSmoothed ? " smoothed" : "";
}

function aggregationText({ operator, grouping, isWithout }: AggregateExpression): string {
  if (isWithout) return `${operator} without ${labelsText(grouping)} `;
  return grouping.length === 0 ? operator : `${operator} by ${labelsText(grouping)} `;
}

/** `+ on (a) group_left (b)`. */
function operatorText({ operator, returnsBool, matching }: BinaryExpression): string {
  const operatorPart = `${operator}${returnsBool ? " bool" : ""}`;
  if (matching === undefined) return operatorPart;
  const { labels, isOn, cardinality, include, fillLeft, fillRight } = matching;
  const isGrouped = cardinality === "many-to-one" || cardinality === "one-to-many";
  let text = operatorPart;
  if (labels.length > 0 || isOn || isGrouped) text += ` ${isOn ? "on" : "ignoring"} ${labelsText(labels)}`;
  if (isGrouped) text += ` group_${cardinality === "many-to-one" ? "left" : "right"} ${labelsText(include)}`;
  if (fillLeft !== undefined && fillLeft === fillRight) return `${text} fill (${shortNumberText(fillLeft)})`;
  if (fillLeft !== undefined) text += ` fill_left (${shortNumberText(fillLeft)})`;
  return fillRight === undefined ? text : `${text} fill_right (${shortNumberText(fillRight)})`;
}

function subqueryText({ range, step, at, offset }: SubqueryExpression): string {
  return `[${durationValueText(range)}:${step === undefined ? "" : durationValueText(step)}]${atText(at)}${offsetText(offset)}`;
}
