/** `format(pattern, …)` of PostgreSQL: `%s` a value, `%I` a name, `%L` a literal, `%%` a percent sign; `%2$s` the second value. */
import { executionError } from "../value/execution-error.ts";
import { quoteIdentifier } from "./identifier.ts";

const PLACE = /%(?:(\d{1,4})\$)?(-)?(\d{1,4})?(.?)/gsu;

/** A text as an SQL literal. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** The pattern with values in its places; undefined is NULL. @throws DbError EngineExecuteQuery for what is no pattern, or lacks a value */
export function formatPattern(pattern: string, values: readonly (string | undefined)[]): string {
  let next = 0;
  return pattern.replace(PLACE, (_, position: string | undefined, left: string | undefined, width: string | undefined, kind: string) => {
    if (kind === "%") return "%";
    if (kind !== "s" && kind !== "I" && kind !== "L") throw executionError(`unrecognized format() type specifier "${kind}"`);
    const at = position === undefined ? next : Number(position) - 1;
    next = at + 1;
    if (at < 0 || at >= values.length) throw executionError("too few arguments for format()");
    const text = written(values[at], kind);
    return left === undefined ? text.padStart(Number(width ?? 0)) : text.padEnd(Number(width ?? 0));
  });
}

function written(value: string | undefined, kind: "s" | "I" | "L"): string {
  if (kind === "s") return value ?? "";
  if (kind === "L") return value === undefined ? "NULL" : quoteLiteral(value);
  if (value === undefined) throw executionError("null values cannot be formatted as an SQL identifier");
  return quoteIdentifier(value);
}
