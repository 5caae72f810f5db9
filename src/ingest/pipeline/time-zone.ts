/** Local time of zones to UTC, as logs have it: a local time that does not exist or happens twice is none. */
import { offsetSecondsAt, parseTimeZone } from "../../base/time-zone.ts";
import { failure } from "./failure.ts";

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
  const zone = parseTimeZone(name);
  if (zone === undefined) throw failure(`Processor date: timezone ${name} is unknown`);
  const offsetAt = (utcSeconds: number): number => offsetSecondsAt(zone, utcSeconds);
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
