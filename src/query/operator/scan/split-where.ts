/**
 * Splits a WHERE into what storage can do and the rest. Time range and tag predicates are exact, so their conjuncts leave the
 * residual filter; conditions on fields only prune, so theirs stay.
 */
import { type DataType, sameType, type TimeUnit } from "../../../column/data-type.ts";
import { decimalText } from "../../../column/decimal.ts";
import { ALL_TIME, type FieldBounds, type FieldCondition, type TimeRange } from "../../../table/scan.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { tagText, tagValue } from "../../../table/tag-value.ts";
import { floorDivide } from "../../../value/civil.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { textOf, type Value } from "../../function/value/value.ts";
import { columnsOf, comparisonOf, hasParameter, isVolatile, type TypedExpression } from "../../expression/expression.ts";
import { fieldConditionOf } from "./field-conditions.ts";
import type { PlannedTagPredicate } from "./node.ts";
import { staysShort } from "./stays-short.ts";

/** A WHERE in parts, joined by AND. */
export interface SplitWhere {
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly PlannedTagPredicate[];
  readonly fieldBounds: readonly FieldBounds[];
  /** What `fieldBounds` do not say of single fields. */
  readonly fieldConditions: readonly FieldCondition[];
  readonly residual: readonly TypedExpression[];
}

/** Splits conjuncts over the columns of a schema, by position. */
export function splitWhere(conjuncts: readonly TypedExpression[], schema: TableSchema): SplitWhere {
  let timeRange = ALL_TIME;
  const tagPredicates: PlannedTagPredicate[] = [];
  const fieldBounds: FieldBounds[] = [];
  const fieldConditions: FieldCondition[] = [];
  const residual: TypedExpression[] = [];
  for (const conjunct of conjuncts) {
    if (hasParameter(conjunct)) {
      residual.push(conjunct);
      continue;
    }
    const range = timeRangeOf(conjunct, schema);
    const tag = range === undefined ? tagPredicateOf(conjunct, schema) : undefined;
    if (range !== undefined) timeRange = intersect(timeRange, range);
    else if (tag !== undefined) tagPredicates.push(tag);
    else {
      residual.push(conjunct);
      const bounds = fieldBoundsOf(conjunct, schema);
      if (bounds !== undefined) fieldBounds.push(bounds);
      const condition = fieldConditionOf(conjunct, schema);
      if (condition !== undefined && !(condition.kind === "range" && bounds !== undefined)) fieldConditions.push(condition);
    }
  }
  return { timeRange, tagPredicates, fieldBounds, fieldConditions, residual };
}

/** Times in both ranges; empty ranges come out as `[start, start)`. */
export function intersect(a: TimeRange, b: TimeRange): TimeRange {
  const start = a.start > b.start ? a.start : b.start;
  const end = a.end < b.end ? a.end : b.end;
  return { start, end: end < start ? start : end };
}

/** The time range that a conjunct means exactly, or undefined when it means something else. */
function timeRangeOf(expression: TypedExpression, schema: TableSchema): TimeRange | undefined {
  const comparison = comparisonOf(expression);
  if (comparison === undefined) return undefined;
  const scale = timeScaleOf(comparison.subject, schema);
  const { value } = comparison.constant;
  if (scale === undefined || typeof value !== "bigint") return undefined;
  // `time * scale op value` on whole numbers: `below` is the first time at or after value, `above` the first time after it.
  const below = -floorDivide(-value, scale);
  const above = floorDivide(value, scale) + 1n;
  switch (comparison.operator) {
    case ">=":
      return clamp(below, ALL_TIME.end);
    case ">":
      return clamp(above, ALL_TIME.end);
    case "<":
      return clamp(ALL_TIME.start, below);
    case "<=":
      return clamp(ALL_TIME.start, above);
    case "=":
      return clamp(below, above);
    case "<>":
      return undefined;
  }
}

function clamp(start: bigint, end: bigint): TimeRange {
  return intersect(ALL_TIME, { start, end });
}

/** How many units of the comparison one unit of the time index is, when `expression` is the time index, cast to a finer unit or not. */
function timeScaleOf(expression: TypedExpression, schema: TableSchema): bigint | undefined {
  const inner = expression.kind === "cast" && !expression.safe ? expression.operand : expression;
  if (inner.kind !== "column" || schema.columns[inner.index]?.semantic !== "timestamp") return undefined;
  if (inner.type.kind !== "timestamp" || expression.type.kind !== "timestamp") return undefined;
  return ratio(inner.type.unit, expression.type.unit);
}

function ratio(coarse: TimeUnit, fine: TimeUnit): bigint | undefined {
  return NANOS_PER_UNIT[coarse] >= NANOS_PER_UNIT[fine] ? NANOS_PER_UNIT[coarse] / NANOS_PER_UNIT[fine] : undefined;
}

function tagPredicateOf(expression: TypedExpression, schema: TableSchema): PlannedTagPredicate | undefined {
  const columns = columnsOf(expression);
  const [index] = columns;
  if (columns.size !== 1 || index === undefined || isVolatile(expression)) return undefined;
  const column = schema.columns[index];
  if (column?.semantic !== "tag") return undefined;
  const values = valuesOf(expression, column.type);
  if (values !== undefined) return { kind: "in", column: column.name, values: [...new Set(values)] };
  if (!staysShort(expression)) return undefined;
  return { kind: "test", column: column.name, condition: expression };
}

/** The texts that a tag may have when the condition is a choice of values: `=`, IN, IS NULL and ORs of these. */
function valuesOf(expression: TypedExpression, type: DataType): readonly (string | undefined)[] | undefined {
  if (expression.kind === "logic") {
    if (expression.operator !== "or") return undefined;
    const parts = expression.operands.map((operand) => valuesOf(operand, type));
    return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }
  if (expression.kind === "is")
    return expression.test === "null" && !expression.negated && isTag(expression.operand, type) ? [undefined] : undefined;
  if (expression.kind === "in-set")
    return isTag(expression.operand, type) && !expression.negated ? expression.values.flatMap((value) => textsOf(value, type)) : undefined;
  const comparison = comparisonOf(expression);
  if (comparison?.operator !== "=" || !isTag(comparison.subject, type)) return undefined;
  if (type.kind === "decimal" && !isOfScale(comparison.constant.type, type.scale)) return undefined;
  return comparison.constant.value === undefined ? [] : textsOf(comparison.constant.value, type);
}

/** Whether an expression over one tag of a type is the value of the tag, in its own type or as a wider integer. */
function isTag(expression: TypedExpression, type: DataType): boolean {
  if (type.kind === "string") return expression.kind === "column";
  if (expression.kind !== "cast" || expression.safe) return false;
  const { operand } = expression;
  if (operand.kind === "column") return sameType(expression.type, type);
  const isWider =
    type.kind === "int" && expression.type.kind === "int" && expression.type.signed === type.signed && expression.type.bits > type.bits;
  if (isWider) return isTag(operand, type);
  return sameType(expression.type, type) && operand.kind === "cast" && operand.operand.kind === "column";
}

const isOfScale = (type: DataType, scale: number): boolean => type.kind === "decimal" && type.scale === scale;

/** The text of the one tag value that equals a constant; none when the type has no such value. */
function textsOf(value: Value, type: DataType): readonly string[] {
  const text = type.kind === "decimal" ? decimalText(value as number | bigint, type.scale) : textOf(value);
  const parsed = tagValue(text, type);
  if (!parsed.ok) return [];
  const own = tagText(parsed.value, type);
  return own === undefined ? [] : [own];
}

/** Bounds within which all rows of interest lie, for pruning. Constants beyond ±2^53 are left out, since casts round there. */
function fieldBoundsOf(expression: TypedExpression, schema: TableSchema): FieldBounds | undefined {
  const comparison = comparisonOf(expression);
  if (comparison === undefined) return undefined;
  const subject = comparison.subject.kind === "cast" ? comparison.subject.operand : comparison.subject;
  const { value } = comparison.constant;
  if (subject.kind !== "column" || typeof value !== "number" || Math.abs(value) > Number.MAX_SAFE_INTEGER || Number.isNaN(value))
    return undefined;
  // Statistics of decimals are unscaled, as constants of the same scale are.
  if (subject.type.kind === "decimal" && (comparison.subject !== subject || !isOfScale(comparison.constant.type, subject.type.scale)))
    return undefined;
  if (subject.type.kind !== "int" && subject.type.kind !== "float" && subject.type.kind !== "decimal") return undefined;
  if (comparison.subject.kind === "cast" && comparison.subject.type.kind !== "float" && comparison.subject.type.kind !== "int")
    return undefined;
  const column = schema.columns[subject.index];
  if (column?.semantic !== "field") return undefined;
  // NaN is above every number, so a lower bound keeps it; storage must not prune NaN away by `max` alone. Floats get no lower bound.
  const float = subject.type.kind === "float";
  switch (comparison.operator) {
    case "=":
      return { column: column.name, min: value, max: value };
    case "<":
    case "<=":
      return { column: column.name, min: undefined, max: value };
    case ">":
    case ">=":
      return float ? undefined : { column: column.name, min: value, max: undefined };
    case "<>":
      return undefined;
  }
}
