/**
 * `default_constraint` of a column: JSON, as the reference writes it.
 *
 *   {"Value":{"Int32":5}}   {"Value":"Null"}   {"Value":{"Timestamp":{"value":0,"unit":"Millisecond"}}}   {"Function":"now()"}
 */
import { invalidArguments } from "../../base/error.ts";
import { utf8Text } from "../../base/bytes/utf8.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import type { Expression } from "../../query/sql/syntax/ast.ts";
import { formatDate, formatTimestamp } from "../../value/format-time.ts";
import { decimalText } from "../../column/decimal.ts";
import { NO_SPAN } from "./names.ts";

const UNITS: Readonly<Record<string, TimeUnit>> = {
  Second: "second",
  Millisecond: "millisecond",
  Microsecond: "microsecond",
  Nanosecond: "nanosecond",
};
/** Longest text. Reason: a default is in every schema. */
const BYTES_MAX = 65_536;

/** A whole number of JSON, which keeps all its digits. */
interface Digits {
  readonly digits: string;
}

type Json = string | number | boolean | null | Digits | Json[] | { readonly [key: string]: Json };

/** The DEFAULT of a column; undefined without one. @throws DbError InvalidArguments */
export function defaultExpression(column: string, bytes: Uint8Array): Expression | undefined {
  if (bytes.length === 0) return undefined;
  const given = bytes.length > BYTES_MAX ? undefined : jsonOf(bytes);
  const [kind, value] = memberOf(given);
  const made = kind === "Function" ? callOf(value) : kind === "Value" ? literalOf(value) : undefined;
  if (made !== undefined) return made;
  const example = '{"Value":{"Int32":5}} or {"Function":"current_timestamp()"}';
  throw invalidArguments(`cannot read the default_constraint of column ${column}: it is not like ${example}`);
}

/** JSON whose numbers are their digits. */
function jsonOf(bytes: Uint8Array): Json | undefined {
  const text = utf8Text(bytes);
  if (text === undefined) return undefined;
  try {
    // Numbers as the text has them: those of 64 bits do not fit.
    return JSON.parse(text, (_, value: Json, context?: { readonly source?: string }) =>
      typeof value === "number" ? { digits: context?.source ?? String(value) } : value,
    ) as Json;
  } catch {
    return undefined;
  }
}

/** The one member of an object. */
function memberOf(json: Json | undefined): readonly [string, Json | undefined] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return ["", undefined];
  const [entry, ...others] = Object.entries(json);
  return entry === undefined || others.length > 0 ? ["", undefined] : (entry as [string, Json]);
}

function callOf(value: Json | undefined): Expression | undefined {
  const name = typeof value === "string" ? /^\s*(now|current_timestamp)\s*(?:\(\s*\))?\s*$/i.exec(value)?.[1] : undefined;
  if (name === undefined) return undefined;
  const call = { args: [], star: false, distinct: false, orderBy: [], filter: undefined };
  return { kind: "call", name: name.toLowerCase(), ...call, span: NO_SPAN };
}

function literalOf(json: Json | undefined): Expression | undefined {
  const span = NO_SPAN;
  if (json === "Null") return { kind: "null", span };
  const [type, value] = memberOf(json);
  switch (type) {
    case "Boolean":
      return typeof value === "boolean" ? { kind: "boolean", value, span } : undefined;
    case "String":
      return typeof value === "string" ? { kind: "string", value, span } : undefined;
    case "Date": {
      const days = digitsOf(value);
      return days === undefined ? undefined : { kind: "string", value: formatDate(Number(days)), span };
    }
    case "Timestamp": {
      const text = timestampText(value);
      return text === undefined ? undefined : { kind: "string", value: text, span };
    }
    case "Decimal128": {
      const text = decimalOf(value);
      return text === undefined ? undefined : numberOf(text);
    }
    case "Binary":
      return Array.isArray(value)
        ? { kind: "binary-literal", value: Uint8Array.from(value, (byte) => Number(digitsOf(byte))), span }
        : undefined;
    default: {
      const digits = /^(?:U?Int|Float)(?:8|16|32|64)$/.test(type) ? digitsOf(value) : undefined;
      return digits === undefined ? undefined : numberOf(digits);
    }
  }
}

/** A number as SQL writes it: the sign is an operator. */
function numberOf(text: string): Expression {
  const number: Expression = { kind: "number", text: text.replace(/^-/, ""), span: NO_SPAN };
  return text.startsWith("-") ? { kind: "unary", operator: "-", operand: number, span: NO_SPAN } : number;
}

function digitsOf(json: Json | undefined): string | undefined {
  return typeof json === "object" && json !== null && "digits" in json && typeof json.digits === "string" ? json.digits : undefined;
}

function partOf(json: Json | undefined, key: string): Json | undefined {
  return typeof json === "object" && json !== null && !Array.isArray(json) && key in json ? (json as Record<string, Json>)[key] : undefined;
}

function wholeOf(json: Json | undefined): bigint | undefined {
  const digits = digitsOf(json);
  return digits !== undefined && /^-?\d{1,20}$/.test(digits) ? BigInt(digits) : undefined;
}

function unitOf(json: Json | undefined): TimeUnit | undefined {
  return typeof json === "string" ? UNITS[json] : undefined;
}

function timestampText(json: Json | undefined): string | undefined {
  const [value, unit] = [wholeOf(partOf(json, "value")), unitOf(partOf(json, "unit"))];
  return value === undefined || unit === undefined ? undefined : `${formatTimestamp(value, unit)}Z`;
}

function decimalOf(json: Json | undefined): string | undefined {
  const [value, scale] = [digitsOf(partOf(json, "value")), Number(digitsOf(partOf(json, "scale")))];
  if (value === undefined || !/^-?\d{1,39}$/.test(value) || !(scale >= 0 && scale <= 38)) return undefined;
  return decimalText(BigInt(value), scale);
}
