/** One value as PostgreSQL writes it in text: for arrays, and for values that no loop prints (contract query.md 4.2). */
import { type DataType, isNested, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { decimalText } from "../../../column/decimal.ts";
import { decodeNested } from "../../../column/nested.ts";
import type { IntervalParts } from "../../../column/interval-bytes.ts";
import type { SessionSettings } from "../../../query/session-settings.ts";
import { isInterval, textOf, type Value } from "../../../value/any-value.ts";
import { secondsAndFraction } from "../../../value/civil.ts";
import { clockText } from "../../../value/clock-time.ts";
import { shortestFloat32 } from "../../../value/float32.ts";
import { nestedJson } from "../../../value/nested-json.ts";
import { floatText } from "../../../value/number-text.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { dateText, intervalStyled, stampText } from "./time-styles.ts";

/** What a session says of texts. */
export type TextStyle = Pick<SessionSettings, "byteaOutput" | "dateStyle" | "dateOrder" | "intervalStyle">;

type Present = Exclude<Value, undefined>;

/** A value that is not NULL. */
export function valueText(value: Present, type: DataType, style: TextStyle): string {
  switch (type.kind) {
    case "boolean":
      return value === true ? "t" : "f";
    case "float":
      return floatWord(type.bits === 32 ? shortestFloat32(Number(value)) : Number(value));
    case "date":
      return dateText(Number(value), style);
    case "timestamp": {
      const { seconds, micros } = secondsAndMicros(BigInt(value as bigint), UNITS_PER_SECOND[type.unit]);
      return stampText(seconds, micros, style);
    }
    case "time":
      return clockText(microsOfClock(Number(value), UNITS_PER_SECOND[type.unit]), "microsecond");
    case "duration":
    case "interval":
      return intervalStyled(intervalOf(value, type), style.intervalStyle);
    case "decimal":
      return decimalText(value as number | bigint, type.scale);
    case "binary":
    case "vector":
      return byteaText(value as Uint8Array, style.byteaOutput);
    case "list":
      return arrayText(value as Uint8Array, type, style);
    default:
      return isNested(type) ? nestedJson(type, value as Uint8Array) : textOf(value);
  }
}

/** A float with the words that PostgreSQL has for what is no number. */
export function floatWord(value: number): string {
  if (value - value === 0) return floatText(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/** A timestamp in whole seconds and microseconds, what is finer cut off. */
function secondsAndMicros(value: bigint, perSecond: number): { readonly seconds: number; readonly micros: number } {
  const { seconds, fraction } = secondsAndFraction(value, perSecond);
  return { seconds, micros: Math.floor((fraction * 1_000_000) / perSecond) };
}

/** A time of day in microseconds. */
export function microsOfClock(value: number, perSecond: number): number {
  return perSecond > 1_000_000 ? Math.floor(value / (perSecond / 1_000_000)) : value * (1_000_000 / perSecond);
}

/** A duration as an interval of nothing but time; an interval as it is. */
export function intervalOf(value: Present, type: DataType): IntervalParts {
  if (type.kind === "duration") return { months: 0, days: 0, nanos: BigInt(value as bigint) * NANOS_PER_UNIT[type.unit] };
  if (isInterval(value)) return value;
  throw new TypeError("a value of type interval has months, days and nanoseconds");
}

/** Bytes as `\x` and hex digits, or as characters with octal escapes. */
function byteaText(bytes: Uint8Array, output: TextStyle["byteaOutput"]): string {
  if (output === "hex") return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
  const characters = new Array<string>(bytes.length);
  for (const [i, byte] of bytes.entries()) {
    if (byte === 0x5c) characters[i] = "\\\\";
    else if (byte < 0x20 || byte > 0x7e) characters[i] = `\\${byte.toString(8).padStart(3, "0")}`;
    else characters[i] = String.fromCharCode(byte);
  }
  return characters.join("");
}

/** `{a,NULL,"b c"}`. */
function arrayText(bytes: Uint8Array, type: Extract<DataType, { kind: "list" }>, style: TextStyle): string {
  const parts = decodeNested(type, bytes).map((part) => (part === undefined ? "NULL" : elementText(valueText(part, type.element, style))));
  return `{${parts.join(",")}}`;
}

function elementText(text: string): string {
  const isPlain = text !== "" && !/[{},"\\\s]/.test(text) && !/^null$/i.test(text);
  return isPlain ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
