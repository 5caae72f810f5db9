/**
 * What a condition of a WHERE says about single fields, so that storage may leave out pages: comparisons with constants, IN, IS NOT NULL,
 * LIKE, searches in texts, and AND and OR of these. Never more than the condition says: a row that meets it meets the answer.
 */
import type { Scalar } from "../../../column/vector.ts";
import type { FieldCondition, TextPart } from "../../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { likePieces } from "../../function/text/like.ts";
import { type FullTextQuery, fullTextQueryOf } from "../../function/text/full-text-query.ts";
import { bordersOf } from "../../function/text/term.ts";
import { floorDivide } from "../../../value/civil.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { isInterval, type Value } from "../../function/value/value.ts";
import { type CompareOperator, comparisonOf, type TypedExpression } from "../../expression/expression.ts";

type Of<K extends TypedExpression["kind"]> = Extract<TypedExpression, { kind: K }>;

/**
 * The condition; undefined when it says nothing about fields that storage could use.
 *
 * @throws DbError InvalidArguments for a query of `matches` that does not parse
 */
export function fieldConditionOf(expression: TypedExpression, schema: TableSchema): FieldCondition | undefined {
  switch (expression.kind) {
    case "logic":
      return logic(expression, schema);
    case "compare":
      return comparison(expression, schema);
    case "in-set":
      return expression.negated ? undefined : valuesIn(expression.operand, expression.values, schema);
    case "is":
      return isNotNull(expression, schema);
    case "column":
      return valuesIn(expression, [true], schema);
    case "not":
      return expression.operand.kind === "column" ? valuesIn(expression.operand, [false], schema) : undefined;
    case "like":
      return like(expression, schema);
    case "call":
      return search(expression, schema);
    default:
      return undefined;
  }
}

function logic({ operator, operands }: Of<"logic">, schema: TableSchema): FieldCondition | undefined {
  const parts = operands.map((operand) => fieldConditionOf(operand, schema));
  const known = parts.filter((part) => part !== undefined);
  if (operator === "or") return known.length === parts.length ? { kind: "any", of: known } : undefined;
  return known.length === 0 ? undefined : { kind: "all", of: known };
}

function fieldOf(expression: TypedExpression, schema: TableSchema): ColumnSchema | undefined {
  const column = expression.kind === "column" ? schema.columns[expression.index] : undefined;
  return column?.semantic === "field" ? column : undefined;
}

/** A field, and how its values become those that are compared. */
interface Subject {
  readonly column: ColumnSchema;
  /** "same": as they are; "number": through a cast between numbers; a bigint: times that many, to a finer unit. */
  readonly as: "same" | "number" | bigint;
}

function subjectOf(expression: TypedExpression, schema: TableSchema): Subject | undefined {
  const own = fieldOf(expression, schema);
  if (own !== undefined) return { column: own, as: "same" };
  if (expression.kind !== "cast" || expression.safe) return undefined;
  const column = fieldOf(expression.operand, schema);
  if (column === undefined) return undefined;
  const [from, to] = [column.type, expression.type];
  const isNumber = (kind: string): boolean => kind === "int" || kind === "float";
  // A cast to a narrower number rounds or fails; to Float64 it keeps order, and values up to 2^53.
  if (isNumber(from.kind) && to.kind === "float" && to.bits === 64) return { column, as: "number" };
  if (from.kind !== "timestamp" || to.kind !== "timestamp" || NANOS_PER_UNIT[from.unit] < NANOS_PER_UNIT[to.unit]) return undefined;
  return { column, as: NANOS_PER_UNIT[from.unit] / NANOS_PER_UNIT[to.unit] };
}

function comparison(expression: Of<"compare">, schema: TableSchema): FieldCondition | undefined {
  const parts = comparisonOf(expression);
  const value = parts?.constant.value;
  if (parts === undefined || value === undefined) return undefined;
  if (parts.operator === "=") return valuesIn(parts.subject, [value], schema);
  const subject = subjectOf(parts.subject, schema);
  return subject === undefined ? undefined : rangeOf(subject, parts.operator, value);
}

function rangeOf({ column: { name, type }, as }: Subject, operator: CompareOperator, value: Value): FieldCondition | undefined {
  if (value === undefined || isInterval(value) || operator === "<>" || operator === "=" || type.kind === "boolean") return undefined;
  if (as === "number" && !isExact(value)) return undefined;
  let [low, high]: [Scalar, Scalar] = [value, value];
  if (typeof as === "bigint") {
    if (typeof value !== "bigint") return undefined;
    [low, high] = [-floorDivide(-value, as), floorDivide(value, as)];
  }
  const isUpper = operator === "<" || operator === "<=";
  return { kind: "range", column: name, min: isUpper ? undefined : low, max: isUpper ? high : undefined };
}

/** Whether a number is far enough from where casts to Float64 round. */
function isExact(value: Value): boolean {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function valuesIn(expression: TypedExpression, values: readonly Value[], schema: TableSchema): FieldCondition | undefined {
  const subject = subjectOf(expression, schema);
  if (subject === undefined) return undefined;
  const stored: Scalar[] = [];
  for (const value of values) {
    if (value === undefined || isInterval(value)) return undefined;
    if (typeof subject.as === "bigint") {
      if (typeof value !== "bigint") return undefined;
      if (value % subject.as === 0n) stored.push(value / subject.as); // No stored time equals any other.
    } else if (subject.as === "number" && subject.column.type.kind === "int") {
      if (!isExact(value)) return undefined;
      if (Number.isInteger(value)) stored.push(value);
    } else stored.push(value);
  }
  return { kind: "in", column: subject.column.name, values: stored };
}

function isNotNull({ operand, test, negated }: Of<"is">, schema: TableSchema): FieldCondition | undefined {
  if (test === "null" && negated) {
    const column = fieldOf(operand, schema);
    return column === undefined ? undefined : { kind: "range", column: column.name, min: undefined, max: undefined };
  }
  return (test === "true" || test === "false") && !negated ? valuesIn(operand, [test === "true"], schema) : undefined;
}

/** A text field, lower-cased or not. */
interface TextSubject {
  readonly column: string;
  readonly lowered: boolean;
}

function textSubjectOf(expression: TypedExpression | undefined, schema: TableSchema): TextSubject | undefined {
  if (expression === undefined) return undefined;
  const own = fieldOf(expression, schema);
  if (own !== undefined) return own.type.kind === "string" ? { column: own.name, lowered: false } : undefined;
  const isLower = expression.kind === "call" && (expression.function.name === "lower" || expression.function.name === "lcase");
  const inner = isLower ? textSubjectOf(expression.args[0], schema) : undefined;
  return inner === undefined ? undefined : { column: inner.column, lowered: true };
}

function partOf({ column, lowered }: TextSubject, text: string, wholeStart: boolean, wholeEnd: boolean): FieldCondition {
  const part: TextPart = { text, wholeStart, wholeEnd, lowered };
  return { kind: "text", column, part };
}

function like({ operand, pattern, escape, insensitive, negated }: Of<"like">, schema: TableSchema): FieldCondition | undefined {
  const subject = textSubjectOf(operand, schema);
  if (subject === undefined || insensitive || negated || pattern.kind !== "literal" || typeof pattern.value !== "string") return undefined;
  const pieces = likePieces(pattern.value, escape).filter(({ text }) => text !== "");
  return pieces.length === 0
    ? undefined
    : { kind: "all", of: pieces.map(({ text, atStart, atEnd }) => partOf(subject, text, atStart, atEnd)) };
}

function search({ function: { name }, args }: Of<"call">, schema: TableSchema): FieldCondition | undefined {
  const [, wanted] = args;
  if (args.length !== 2 || wanted?.kind !== "literal" || typeof wanted.value !== "string") return undefined;
  const subject = textSubjectOf(args[0], schema);
  const text = wanted.value;
  if (subject === undefined || (text === "" && name !== "matches")) return undefined;
  switch (name) {
    case "matches_term": {
      const { left, right } = bordersOf(text);
      return partOf(subject, text, left, right);
    }
    case "matches":
      return queryCondition(subject, fullTextQueryOf(text));
    case "contains":
      return partOf(subject, text, false, false);
    case "starts_with":
      return partOf(subject, text, true, false);
    case "ends_with":
      return partOf(subject, text, false, true);
    default:
      return undefined;
  }
}

/** What must occur in a text that a query of `matches` finds. */
function queryCondition(subject: TextSubject, query: FullTextQuery): FieldCondition | undefined {
  switch (query.kind) {
    case "contains":
      return partOf(subject, query.text, false, false);
    case "not":
      return undefined;
    case "all": {
      const known = query.of.map((part) => queryCondition(subject, part)).filter((part) => part !== undefined);
      return known.length === 0 ? undefined : { kind: "all", of: known };
    }
    case "any": {
      const parts = query.of.map((part) => queryCondition(subject, part));
      const known = parts.filter((part) => part !== undefined);
      return known.length === parts.length ? { kind: "any", of: known } : undefined;
    }
  }
}
