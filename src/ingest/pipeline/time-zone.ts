/** Local time of IANA zones to UTC. The offset is asked once a quarter of an hour of time and remembered. */
import { failure } from "./failure.ts";
import { ZONE_OFFSETS_MAX } from "./limits.ts";

const QUARTER_SECONDS = 900;
const DAY_SECONDS = 86_400;
const UTC_NAMES: ReadonlySet<string> = new Set(["utc", "etc/utc", "gmt", "zulu", "z"]);

/** Makes moments of what a clock on the wall shows. */
export interface TimeZone {
  /** UTC seconds of local seconds; undefined for a local time that does not exist or happens twice. */
  toUtc(localSeconds: number): number | undefined;
}

const UTC: TimeZone = { toUtc: (seconds) => seconds };

/** The zone of a name. @throws DbError InvalidArguments */
export function timeZoneOf(name: string): TimeZone {
  if (UTC_NAMES.has(name.toLowerCase())) return UTC;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    throw failure(`Processor date: timezone ${name} is unknown`); // Intl says no more than that, with a RangeError
  }
  const known = new Map<number, number>();
  const offsetAt = (utcSeconds: number): number => {
    const quarter = Math.floor(utcSeconds / QUARTER_SECONDS);
    const offset = known.get(quarter) ?? offsetOf(format, quarter * QUARTER_SECONDS);
    if (known.size >= ZONE_OFFSETS_MAX) known.clear();
    known.set(quarter, offset);
    return offset;
  };
  return {
    toUtc: (local) => {
      const before = offsetAt(local - DAY_SECONDS);
      const after = offsetAt(local + DAY_SECONDS);
      const early = local - before;
      const late = local - after;
      const isEarly = offsetAt(early) === before;
      if (before === after) return isEarly ? early : undefined;
      const isLate = offsetAt(late) === after;
      if (isEarly === isLate) return undefined;
      return isEarly ? early : late;
    },
  };
}

function offsetOf(format: Intl.DateTimeFormat, utcSeconds: number): number {
  const part: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(new Date(utcSeconds * 1000))) part[type] = value;
  const year = part["era"] === "BC" ? 1 - Number(part["year"]) : Number(part["year"]);
  const date = new Date(0);
  date.setUTCFullYear(year, Number(part["month"]) - 1, Number(part["day"]));
  date.setUTCHours(Number(part["hour"]), Number(part["minute"]), Number(part["second"]));
  return date.getTime() / 1000 - utcSeconds;
}
