/** Versions of pipelines: the moment at which one was stored, printed as `2024-07-04 08:31:00.987136` in UTC (contract ingest.md 8.4). */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

const VERSION = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?\s?(?:Z|([+-])(\d{2}):?(\d{2}))?$/i;
const NANOS_PER_SECOND = 1_000_000_000n;

/** A version as text, with as many groups of three digits of the fraction as it needs. */
export function versionText(createdAtNanos: bigint): string {
  const fraction = ((createdAtNanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const seconds = (createdAtNanos - fraction) / NANOS_PER_SECOND;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ");
  const digits = String(fraction)
    .padStart(9, "0")
    .replace(/(?:000){1,3}$/, "");
  return digits === "" ? text : `${text}.${digits}`;
}

/** Nanoseconds since 1970 of a version; without a zone it is in UTC. @throws DbError InvalidArguments */
export function parseVersion(text: string): bigint {
  const match = VERSION.exec(text.trim());
  const invalid = (): DbError => new DbError(StatusCode.InvalidArguments, `Invalid pipeline version format: ${text.slice(0, 120)}`);
  if (match === null) throw invalid();
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHours = "0", zoneMinutes = "0"] = match;
  const plain = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const millis = Date.parse(`${plain}Z`);
  // The parser of the runtime lets 31 April pass as 1 May.
  if (Number.isNaN(millis) || !new Date(millis).toISOString().startsWith(plain)) throw invalid();
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === "-" ? -1 : 1);
  return BigInt(millis - offset) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}
