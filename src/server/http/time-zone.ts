/**
 * The session's time zone from `x-greptime-timezone`. Anything that is no zone means UTC (contract http.md 4).
 */
import { TIME_ZONES_KEPT_MAX } from "./limits.ts";

const OFFSET = /^([+-])(\d{1,2}):(\d{2})$/;
const NAMED = /^[A-Za-z][A-Za-z0-9_+\-/]*$/;

const known = new Map<string, string>();

/** An IANA name, "UTC" or "±HH:MM". */
export function timeZoneOf(text: string | null): string {
  if (text === null) return "UTC";
  const trimmed = text.trim();
  const offset = OFFSET.exec(trimmed);
  if (offset !== null) return offsetOf(offset[1] ?? "+", Number(offset[2]), Number(offset[3]));
  if (trimmed.toUpperCase() === "SYSTEM") return Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!NAMED.test(trimmed)) return "UTC";
  const kept = known.get(trimmed);
  if (kept !== undefined) return kept;
  const zone = namedZone(trimmed);
  if (known.size >= TIME_ZONES_KEPT_MAX) known.clear();
  known.set(trimmed, zone);
  return zone;
}

function offsetOf(sign: string, hours: number, minutes: number): string {
  if (minutes > 59 || hours > 14 || (hours === 14 && minutes > 0)) return "UTC";
  return `${sign}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
}

function namedZone(name: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return "UTC"; // no such zone
    throw error;
  }
}
