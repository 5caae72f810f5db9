/** JSON texts whose whole numbers beyond 2^53 keep all their digits, as bigints. */
import { exactInteger } from "../../column/exact-integer.ts";

/** Numbers of so many digits do not fit a double. */
const LONG_NUMBER = /\d{16}/;

/** The value of a text. @throws SyntaxError */
export function parseDocument(text: string): unknown {
  const value: unknown = LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  return value;
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || !/^-?\d{16,}$/.test(source)) return value;
  return exactInteger(BigInt(source));
}

/** The text of a value. */
export function documentText(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(documentText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${documentText(inner)}`)
    .join(",")}}`;
}
