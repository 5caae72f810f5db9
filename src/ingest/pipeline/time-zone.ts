/** The zone of texts that name none. A local time that does not exist or happens twice is none (contract ingest.md 8.5). */
import { onlyUtcSecondsOf, parseTimeZone } from "../../base/text/time-zone.ts";
import { failure } from "./failure.ts";

/** Makes moments of what a clock on the wall shows. */
export interface TimeZone {
  /** UTC seconds of local seconds; undefined for a local time that does not exist or happens twice. */
  toUtc(localSeconds: number): number | undefined;
}

const UTC: TimeZone = { toUtc: (seconds) => seconds };

/** The zone of a name. @throws DbError InvalidArguments */
export function timeZoneOf(name: string): TimeZone {
  const zone = parseTimeZone(name);
  if (zone === undefined) throw failure(`Processor date: timezone ${name} is unknown`);
  return zone === "UTC" ? UTC : { toUtc: (local) => onlyUtcSecondsOf(zone, local) };
}
