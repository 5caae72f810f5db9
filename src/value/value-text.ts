/**
 * Values as text: what `CAST(… AS STRING)` gives, and what columns, files and messages show. Wires that print another text by contract say
 * so where they do (README.md).
 */
import { utf8Text } from "../base/bytes/utf8.ts";
import { type DataType, isNested } from "../column/data-type.ts";
import { decimalText } from "../column/decimal.ts";
import { isInterval, type Present } from "./any-value.ts";
import { CastFailure } from "./cast-failure.ts";
import { clockText } from "./clock-time.ts";
import { embeddingText } from "./embedding.ts";
import { shortestFloat32 } from "./float32.ts";
import { durationParts, formatDate, formatTimestamp } from "./format-time.ts";
import { intervalText } from "./interval/interval-text.ts";
import { nestedText } from "./nested-text.ts";
import { floatText } from "./number-text.ts";

/** A value that is not NULL as text; binary must be UTF-8. @throws DbError EngineExecuteQuery for binary that is no text */
export function toText(value: Present, from: DataType): string {
  if (typeof value === "string") return value;
  if (isInterval(value)) return intervalText(value);
  if (value instanceof Uint8Array) {
    if (isNested(from)) return nestedText(from, value, toText);
    if (from.kind === "vector") return embeddingText(value);
    const text = textOfBytes(value);
    if (text instanceof CastFailure) throw text.error();
    return text;
  }
  switch (from.kind) {
    case "decimal":
      return decimalText(value as number | bigint, from.scale);
    case "time":
      return clockText(Number(value), from.unit);
    case "float":
      return floatText(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value));
    case "date":
      return formatDate(Number(value));
    case "timestamp":
      return formatTimestamp(BigInt(value), from.unit);
    case "duration":
      return durationParts(BigInt(value), from.unit);
    default:
      return String(value);
  }
}

/** The text that bytes are in UTF-8. */
export function textOfBytes(bytes: Uint8Array): string | CastFailure {
  const message = "Invalid argument error: Encountered non UTF-8 data: the binary value is not text; use encode(x, 'hex')";
  return utf8Text(bytes) ?? new CastFailure(() => message);
}
