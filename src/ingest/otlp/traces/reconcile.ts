/**
 * One type for an attribute's column, whatever types spans send (contract ingest.md 4.3): int → double, int/double/bool → text, and text →
 * int/double/bool where it reads as one.
 */
import { BINARY, BOOLEAN, type DataType, FLOAT64, INT64, JSON_TYPE, STRING } from "../../../column/data-type.ts";
import { fits } from "../../../value/integer-range.ts";
import { booleanOfText, floatText, integerOfText, numberOfText } from "../../../value/number-text.ts";

/** What an attribute was sent as. */
export type SentKind = "string" | "bool" | "int" | "double" | "json" | "bytes";

/** A value as it was sent: JSON is its text. */
export interface Sent {
  readonly kind: SentKind;
  readonly value: string | boolean | number | bigint | Uint8Array;
}

/** A value as it is kept; undefined = it cannot be. */
export type Kept = Sent["value"] | undefined;

const TYPES: Readonly<Record<SentKind, DataType>> = {
  string: STRING,
  bool: BOOLEAN,
  int: INT64,
  double: FLOAT64,
  json: JSON_TYPE,
  bytes: BINARY,
};
/** Types that a mixture may take, in order of preference, with what converts to each. */
const MIXTURES: readonly (readonly [SentKind, ReadonlySet<SentKind>])[] = [
  ["bool", new Set<SentKind>(["bool", "string"])],
  ["int", new Set<SentKind>(["int", "string"])],
  ["double", new Set<SentKind>(["double", "int", "string"])],
  ["string", new Set<SentKind>(["string", "bool", "int", "double"])],
];

/** The type of a new column that is sent these kinds; that of the first one when they do not go together. */
export function typeOfNew(kinds: ReadonlySet<SentKind>): DataType {
  const [first = "string"] = kinds;
  if (kinds.size === 1) return TYPES[first];
  for (const [kind, takes] of MIXTURES) if (kinds.has(kind) && [...kinds].every((each) => takes.has(each))) return TYPES[kind];
  return TYPES[first];
}

/** The value under a type. */
export function coerced({ kind, value }: Sent, type: DataType): Kept {
  switch (type.kind) {
    case "string":
      if (kind === "double") return floatText(value as number);
      return kind === "json" || kind === "bytes" ? undefined : String(value);
    case "boolean":
      if (kind === "bool") return value;
      return kind === "string" ? booleanOfText((value as string).trim()) : undefined;
    case "float":
      if (kind === "int" || kind === "double") return Number(value);
      return kind === "string" ? numberOfText(value as string) : undefined; // NaN and infinities have no text here
    case "int": {
      if (kind !== "int" && kind !== "string") return undefined;
      const whole = kind === "int" ? (value as number | bigint) : integerOfText(value as string);
      return whole !== undefined && fits(whole, type) ? whole : undefined;
    }
    case "json":
      return kind === "json" ? value : undefined;
    case "binary":
      return kind === "bytes" ? value : undefined;
    default:
      return undefined;
  }
}

/** How a value shows in the reason why its span is rejected. */
export function shown({ kind, value }: Sent): string {
  const names: Readonly<Record<SentKind, string>> = {
    string: "String",
    bool: "Bool",
    int: "Int",
    double: "Double",
    json: "Json",
    bytes: "Binary",
  };
  const text = kind === "string" || kind === "json" ? JSON.stringify(String(value).slice(0, 64)) : String(value).slice(0, 64);
  return `${names[kind]}(${text})`;
}
