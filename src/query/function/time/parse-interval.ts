/**
 * Reads intervals from text when a string is cast: `1 day`, `1 year 2 months 3 hours`, `5s`, `1h30m`, ISO 8601 `P1Y2M3DT4H5M6S`.
 */
import type { IntervalValue } from "../../sql/ast.ts";
import { NANOS_PER_DAY } from "../value.ts";

interface UnitSize {
  readonly months?: number;
  readonly days?: number;
  readonly nanos?: bigint;
}

const SECOND = 1_000_000_000n;
const UNITS: readonly (readonly [string, UnitSize])[] = [
  ["century centuries c", { months: 1200 }],
  ["decade decades", { months: 120 }],
  ["year years yr yrs y", { months: 12 }],
  ["month months mon mons", { months: 1 }],
  ["week weeks w", { days: 7 }],
  ["day days d", { days: 1 }],
  ["hour hours hr hrs h", { nanos: 3600n * SECOND }],
  ["minute minutes min mins m", { nanos: 60n * SECOND }],
  ["second seconds sec secs s", { nanos: SECOND }],
  ["millisecond milliseconds ms", { nanos: 1_000_000n }],
  ["microsecond microseconds us µs", { nanos: 1000n }],
  ["nanosecond nanoseconds ns", { nanos: 1n }],
];
const BY_NAME: ReadonlyMap<string, UnitSize> = new Map(
  UNITS.flatMap(([names, size]) => names.split(" ").map((name) => [name, size] as const)),
);
const ISO = /^(-)?P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$/i;

/** The interval of a text, or undefined when it is none. */
export function parseInterval(text: string): IntervalValue | undefined {
  const trimmed = text.trim();
  return /^-?P/i.test(trimmed) ? parseIso(trimmed) : parseParts(trimmed);
}

function parseIso(text: string): IntervalValue | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const sign = match[1] === undefined ? 1 : -1;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(2).map((part) => part ?? "0");
  const names = ["y", "mon", "w", "d", "h", "m", "s"];
  const amounts = [years, months, weeks, days, hours, minutes, seconds];
  return sum(amounts.map((amount, i) => [sign === -1 ? negated(amount ?? "0") : (amount ?? "0"), names[i] ?? "s"] as const));
}

const negated = (amount: string): string => (amount.startsWith("-") ? amount.slice(1) : `-${amount}`);

function parseParts(text: string): IntervalValue | undefined {
  const found: (readonly [string, string])[] = [];
  let rest = text.toLowerCase();
  while (rest.length > 0) {
    const clock = /^([+-]?)(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*/.exec(rest);
    const part = clock ?? /^([+-]?\d*\.?\d+)\s*([a-zµ]*)\s*/.exec(rest);
    if (part === null) return undefined;
    rest = rest.slice(part[0].length);
    if (clock !== null) {
      const sign = clock[1] ?? "";
      found.push([sign + clock[2], "h"], [sign + clock[3], "m"], [sign + (clock[4] ?? "0"), "s"]);
    } else found.push([part[1] ?? "", part[2] === "" ? "s" : (part[2] ?? "s")]);
  }
  return found.length === 0 ? undefined : sum(found);
}

function sum(parts: readonly (readonly [string, string])[]): IntervalValue | undefined {
  let [months, days, nanos] = [0, 0, 0n];
  for (const [amount, name] of parts) {
    const unit = BY_NAME.get(name);
    if (unit === undefined) return undefined;
    const number = Number(amount);
    if (!Number.isFinite(number)) return undefined;
    const whole = Math.trunc(number);
    const fraction = number - whole;
    if (unit.months !== undefined) {
      months += Math.trunc(number * unit.months);
    } else if (unit.days !== undefined) {
      days += whole * unit.days;
      nanos += BigInt(Math.round(fraction * unit.days * Number(NANOS_PER_DAY)));
    } else if (unit.nanos !== undefined) {
      nanos += BigInt(whole) * unit.nanos + BigInt(Math.round(fraction * Number(unit.nanos)));
    }
  }
  return { months, days, nanos };
}
