/** Dates, timestamps, durations and intervals as text (contract query.md 2.3). */
import { type TimeUnit, UNITS_PER_SECOND } from "../column/data-type.ts";
import { civilFromDays, floorDivide, floorModulo } from "./civil.ts";
import { two } from "./clock-time.ts";
import { rescale } from "./time-units.ts";

/** `2024-01-31`. */
export function formatDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  const text = `${sign}${String(Math.abs(year)).padStart(4, "0")}`;
  return `${text}-${two(month)}-${two(day)}`;
}

/** `1970-01-01T00:00:00.001`: UTC, no zone, a fraction of 0, 3, 6 or 9 digits as needed. */
export function formatTimestamp(value: bigint, unit: TimeUnit): string {
  const nanos = rescale(value, unit, "nanosecond");
  const seconds = Number(floorDivide(nanos, 1_000_000_000n));
  const days = Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const time = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${formatDate(days)}T${time}${fractionOf(floorModulo(nanos, 1_000_000_000n))}`;
}

function fractionOf(nanos: bigint): string {
  if (nanos === 0n) return "";
  const digits = String(nanos).padStart(9, "0");
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return digits.endsWith("000") ? `.${digits.slice(0, 6)}` : `.${digits}`;
}

/** `1 days 2 hours 3 mins 4.500 secs`, with as many digits as the unit has and the sign at each part: durations as text. */
export function durationParts(value: bigint, unit: TimeUnit): string {
  const perSecond = BigInt(UNITS_PER_SECOND[unit]);
  const seconds = value / perSecond;
  const parts = [seconds / 86_400n, (seconds / 3600n) % 24n, (seconds / 60n) % 60n];
  const rest = value % (60n * perSecond);
  const digits = String(perSecond).length - 1;
  const [whole, fraction] = [rest / perSecond, rest % perSecond];
  const sign = rest < 0n && whole === 0n ? "-" : "";
  const tail = digits === 0 ? "" : `.${String(fraction < 0n ? -fraction : fraction).padStart(digits, "0")}`;
  return `${parts[0]} days ${parts[1]} hours ${parts[2]} mins ${sign}${whole}${tail} secs`;
}
