/**
 * One type for an attribute's column, whatever types spans send (contract ingest.md 4.3): int → double, int/double/bool → text, and text →
 * int/double/bool where it reads as one.
 */
import { BINARY, BOOLEAN, type DataType, FLOAT64, INT64, JSON_TYPE, STRING } from "../../../column/data-type.ts";
import { booleanOfText, floatText } from "../../../column/retype-text.ts";

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
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d{1,19}$/;

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
      return kind === "string" ? booleanOfText(value as string) : undefined;
    case "float":
      if (kind === "int" || kind === "double") return Number(value);
      return kind === "string" && NUMBER.test(value as string) ? Number(value) : undefined;
    case "int":
      if (kind === "string" && !INTEGER.test(value as string)) return undefined;
      return kind === "int" || kind === "string" ? withinInt(BigInt(value as string), type.bits, type.signed) : undefined;
    case "json":
      return kind === "json" ? value : undefined;
    case "binary":
      return kind === "bytes" ? value : undefined;
    default:
      return undefined;
  }
}

function withinInt(value: bigint, bits: number, signed: boolean): number | bigint | undefined {
  if ((signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) !== value) return undefined;
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
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
