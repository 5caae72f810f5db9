/** Cells of JSON answers as case files print them. */
import { UNITS_PER_SECOND, type TimeUnit } from "../../src/column/data-type.ts";

/** A value of an answer; an integer that a number cannot hold is a bigint. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The text of an answer; integers keep all their digits. */
export function parseExact(text: string): JsonValue {
  return JSON.parse(text, (_key, value: JsonValue, context?: { readonly source?: string }) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    return /^-?\d+$/.test(context?.source ?? "") ? BigInt(context?.source ?? "0") : value;
  }) as JsonValue;
}

/** A cell of a column of a type. NULL is empty. */
export function cellText(value: JsonValue, type: string): string {
  if (value === null) return "";
  if (type === "Float64" || type === "Float32") return typeof value === "string" ? value : floatText(Number(value), type === "Float32");
  if (typeof value === "number" || typeof value === "bigint") return numberText(BigInt(value), type);
  const dictionary = /^Dictionary<(.*)>$/.exec(type);
  if (dictionary !== null) return cellText(value, parts(dictionary[1] ?? "").at(-1) ?? "");
  if (type.startsWith("Json")) return JSON.stringify(sortedKeys(value));
  if (Array.isArray(value)) {
    if (type === "Binary" || type.startsWith("Vector")) return Uint8Array.from(value as readonly number[]).toHex();
    const element = /^List<(.*)>$/.exec(type)?.[1] ?? "";
    return `[${(value as readonly JsonValue[]).map((item) => cellText(item, element)).join(", ")}]`;
  }
  if (typeof value === "object") return structText(value as { readonly [key: string]: JsonValue }, type);
  return String(value);
}

/** `A, B<C, D>` as `A` and `B<C, D>`. */
function parts(text: string): readonly string[] {
  const found: string[] = [""];
  let depth = 0;
  for (const character of text) {
    if ("<(".includes(character)) depth++;
    if (">)".includes(character)) depth--;
    if (character === "," && depth === 0) found.push("");
    else found.push((found.pop() ?? "") + character);
  }
  return found.map((part) => part.trim());
}

function structText(value: { readonly [key: string]: JsonValue }, type: string): string {
  const types = new Map(
    parts(/^Struct<(.*)>$/.exec(type)?.[1] ?? "").map((part) => {
      const [name = "", own = ""] = part.split(/:(.*)/);
      return [name.trim().replaceAll('"', ""), own.trim()] as const;
    }),
  );
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${cellText(item, types.get(key) ?? "")}`)
    .join(", ")}}`;
}

function sortedKeys(value: JsonValue): unknown {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(sortedKeys);
  if (typeof value === "bigint") return String(value);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortedKeys(item)]),
  );
}

/** A whole number: itself, or the time that it counts. */
function numberText(value: bigint, type: string): string {
  const [, kind, name] = /^(Timestamp|Time|Duration)(Second|Millisecond|Microsecond|Nanosecond)$/.exec(type) ?? [];
  if (kind !== undefined && name !== undefined) {
    const perSecond = BigInt(UNITS_PER_SECOND[name.toLowerCase() as TimeUnit]);
    const nanosPer = 1_000_000_000n / perSecond;
    const second = floorDivide(value, perSecond);
    const nanos = (value - second * perSecond) * nanosPer;
    if (kind === "Time") return clockText(second, nanos);
    if (kind === "Duration") return durationText(value * nanosPer);
    const day = floorDivide(second, 86_400n);
    return `${dateText(Number(day))}T${clockText(second - day * 86_400n, nanos)}`;
  }
  if (type === "Date") return dateText(Number(value));
  if (type === "IntervalMonthDayNano")
    return intervalText(BigInt.asIntN(32, value >> 96n), BigInt.asIntN(32, value >> 64n), BigInt.asIntN(64, value));
  return String(value);
}

function floorDivide(a: bigint, b: bigint): bigint {
  return a / b - (a % b < 0n ? 1n : 0n);
}

/** Hours, minutes and seconds; a fraction of 3, 6 or 9 digits as needed. */
function clockText(second: bigint, nanos: bigint): string {
  const two = (number: bigint): string => String(number).padStart(2, "0");
  return `${two(second / 3600n)}:${two((second / 60n) % 60n)}:${two(second % 60n)}${fraction(nanos)}`;
}

function fraction(nanos: bigint): string {
  if (nanos === 0n) return "";
  const digits = String(nanos).padStart(9, "0");
  return `.${digits.replace(/(?:000){1,2}$/, "")}`;
}

/** A day since 1970 by its calendar date, in any year (days from civil, Hinnant). */
function dateText(days: number): string {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${sign}${String(Math.abs(year)).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

function durationText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const [seconds, rest] = [size / 1_000_000_000n, size % 1_000_000_000n];
  if (size === 0n) return "P0D";
  const digits = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${nanos < 0n ? "-" : ""}PT${seconds}${digits}S`;
}

function intervalText(months: bigint, days: bigint, nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? "-" : "";
  const [hours, minutes, seconds] = [size / 3_600_000_000_000n, (size / 60_000_000_000n) % 60n, (size / 1_000_000_000n) % 60n];
  const rest = size % 1_000_000_000n;
  const found = [
    months === 0n ? "" : `${months} mons`,
    days === 0n ? "" : `${days} days`,
    hours === 0n ? "" : `${sign}${hours} hours`,
    minutes === 0n ? "" : `${sign}${minutes} mins`,
    seconds === 0n && rest === 0n ? "" : `${sign}${seconds}${rest === 0n ? "" : `.${String(rest).padStart(9, "0")}`} secs`,
  ].filter((part) => part !== "");
  return found.length === 0 ? "0 secs" : found.join(" ");
}

/** Shortest digits that read back, with a point or an exponent. */
function floatText(value: number, isSmall: boolean): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const shortest = isSmall ? shortestSingle(value) : value;
  const [mantissa = "0", exponent = "0"] = Math.abs(shortest).toExponential().split("e");
  const sign = value < 0 ? "-" : "";
  const power = Number(exponent);
  if (power < -5 || power >= (isSmall ? 13 : 16)) return `${sign}${mantissa}e${power}`;
  const text = Math.abs(shortest).toFixed(Math.max(0, mantissa.replace(".", "").length - 1 - power));
  return `${sign}${text.includes(".") ? text : `${text}.0`}`;
}

/** The double with the fewest digits that is the same single. */
function shortestSingle(value: number): number {
  const single = Math.fround(value);
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = Number(single.toPrecision(digits));
    if (Math.fround(candidate) === single) return candidate;
  }
  return single;
}
