/** Expressions as text, for EXPLAIN. */
import { type DataType, displayName, isNested } from "../../column/data-type.ts";
import { floatText } from "../../value/number-text.ts";
import { intervalText } from "../../value/interval/interval-text.ts";
import { toText } from "../../value/value-text.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { isInterval, type Value } from "../function/value/value.ts";
import { operandsOf, type TypedExpression } from "./expression.ts";

/** Most values of an IN that are listed. */
export const VALUES_SHOWN = 8;

/** A typed expression as a person would write it. */
export function expressionText(expression: TypedExpression): string {
  const parts = operandsOf(expression).map(expressionText);
  const [first = "", second = ""] = parts;
  switch (expression.kind) {
    case "literal":
      return literalText(expression.type, expression.value);
    case "parameter":
      return `$${expression.id}`;
    case "column":
      return expression.name;
    case "call":
      return `${expression.function.name}(${parts.join(", ")})`;
    case "arithmetic":
    case "compare":
      return `(${first} ${expression.operator} ${second})`;
    case "logic":
      return `(${parts.join(` ${expression.operator.toUpperCase()} `)})`;
    case "not":
      return `NOT ${first}`;
    case "is":
      return `${first} IS ${expression.negated ? "NOT " : ""}${expression.test.toUpperCase()}`;
    case "in-set": {
      const values = expression.values.slice(0, VALUES_SHOWN).map((value) => literalText(expression.operand.type, value));
      return `${first} ${expression.negated ? "NOT " : ""}IN (${values.join(", ")}${expression.values.length > VALUES_SHOWN ? ", …" : ""})`;
    }
    case "like":
      return `${first} ${expression.negated ? "NOT " : ""}${expression.insensitive ? "ILIKE" : "LIKE"} ${second}`;
    case "case":
      return `CASE(${parts.join(", ")})`;
    case "cast":
      return `${expression.safe ? "TRY_CAST" : "CAST"}(${first} AS ${displayName(expression.type)})`;
  }
}

/** A constant as a person would write it. */
export function literalText(type: DataType, value: Value): string {
  if (value === undefined) return "NULL";
  if (isInterval(value)) return `INTERVAL '${intervalText(value)}'`;
  if (value instanceof Uint8Array) return isNested(type) ? toText(value, type) : `X'${value.toHex()}'`;
  if (type.kind === "timestamp") return `'${formatTimestamp(BigInt(value as bigint), type.unit)}'`;
  if (type.kind === "float") return floatText(Number(value));
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
