/** Versions of pipelines: the moment at which one was stored, printed as `2024-07-04 08:31:00.987136` in UTC (contract ingest.md 8.4). */
import { invalidArguments } from "../../base/error.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { parseTimestamp } from "../../value/parse-time.ts";

/** A clock behind the day, and no digits that would be dropped: a version is one moment. */
const EXACT = /^\S+[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?![.\d])/i;

/** A version as text, with as many groups of three digits of the fraction as it needs. */
export function versionText(createdAtNanos: bigint): string {
  return formatTimestamp(createdAtNanos, "nanosecond").replace("T", " ");
}

/** Nanoseconds since 1970 of a version; without a zone it is in UTC. @throws DbError InvalidArguments */
export function parseVersion(text: string): bigint {
  const nanos = parseTimestamp(text, "UTC");
  if (nanos !== undefined && EXACT.test(text)) return nanos;
  throw invalidArguments(`Invalid pipeline version format: ${text.slice(0, 120)}`);
}
