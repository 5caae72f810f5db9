/** The unit of a request's timestamps (contract ingest.md 1). */
import { invalidArguments } from "../../../../base/error.ts";
import type { Precision } from "../../../../ingest/influx/types.ts";
import { decodedValueOf } from "../../query-string.ts";

const PRECISIONS: Readonly<Record<string, Precision>> = {
  n: "ns",
  ns: "ns",
  u: "us",
  us: "us",
  ms: "ms",
  s: "s",
  m: "m",
  h: "h",
};

/** What `precision` says; absent: nanoseconds. @throws DbError InvalidArguments */
export function precisionOf(rawQuery: string): Precision {
  const text = decodedValueOf(rawQuery, "precision");
  if (text === undefined) return "ns";
  const precision = Object.hasOwn(PRECISIONS, text) ? PRECISIONS[text] : undefined;
  if (precision === undefined) throw invalidArguments(`Failed to convert time precision, name: ${text}`);
  return precision;
}
