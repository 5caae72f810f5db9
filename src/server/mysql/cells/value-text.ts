/** One value as MySQL writes it in text, for types that no loop prints (contract query.md 4.1). */
import { type DataType, isNested, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { decimalText } from "../../../column/decimal.ts";
import type { IntervalParts } from "../../../column/interval-bytes.ts";
import { isInterval, textOf, type Value } from "../../../value/any-value.ts";
import { two } from "../../../value/clock-time.ts";
import { formatDate } from "../../../value/format-time.ts";
import { nestedJson } from "../../../value/nested-json.ts";
import { floatText } from "../../../value/number-text.ts";

type Present = Exclude<Value, undefined>;

/** A value that is not NULL, timestamps apart. */
export function valueText(value: Present, type: DataType): string {
  if (isInterval(value)) return intervalIso(value);
  switch (type.kind) {
    case "boolean":
      return value === true ? "1" : "0";
    case "float":
      return floatWord(Number(value));
    case "date":
      return formatDate(Number(value));
    case "time":
    case "duration":
      return clockOf(BigInt(value as bigint | number), UNITS_PER_SECOND[type.unit]);
    case "decimal":
      return decimalText(value as number | bigint, type.scale);
    default:
      return isNested(type) ? nestedJson(type, value as Uint8Array) : textOf(value);
  }
}

/** The shortest text of a float; a whole one has no point. */
export function floatWord(value: number): string {
  if (value - value === 0) return floatText(value).replace(/\.0$/, "");
  return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
}

/** `[-]HH:MM:SS[.f]` of more than a day too; a fraction of six digits at most. */
function clockOf(units: bigint, perSecond: number): string {
  const { isNegative, seconds, micros } = clockParts(units, perSecond);
  const clock = `${isNegative ? "-" : ""}${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  if (micros === 0) return clock;
  const digits = String(micros).padStart(6, "0");
  return `${clock}.${digits.endsWith("000") ? digits.slice(0, 3) : digits}`;
}

/** A time in whole seconds and microseconds, what is finer cut off. */
export function clockParts(
  units: bigint,
  perSecond: number,
): { readonly isNegative: boolean; readonly seconds: number; readonly micros: number } {
  const size = units < 0n ? -units : units;
  const whole = size / BigInt(perSecond);
  const micros = Math.floor((Number(size % BigInt(perSecond)) * 1_000_000) / perSecond);
  return { isNegative: units < 0n, seconds: Number(whole), micros };
}

/** `P1Y2M3DT4H5M6.5S`. */
function intervalIso({ months, days, nanos }: IntervalParts): string {
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const seconds = size / 1_000_000_000n;
  const fraction = size % 1_000_000_000n;
  const digits = fraction === 0n ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  const part = (amount: number | bigint, letter: string): string =>
    BigInt(amount) === 0n ? "" : `${typeof amount === "bigint" ? sign : ""}${amount}${letter}`;
  const date = `${part(Math.trunc(months / 12), "Y")}${part(months % 12, "M")}${part(days, "D")}`;
  const shownSeconds = seconds % 60n === 0n && digits === "" ? "" : `${sign}${seconds % 60n}${digits}S`;
  const time = `${part(seconds / 3600n, "H")}${part((seconds / 60n) % 60n, "M")}${shownSeconds}`;
  if (date === "" && time === "") return "PT0S";
  return `P${date}${time === "" ? "" : `T${time}`}`;
}
