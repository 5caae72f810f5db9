/** Moments of backups as text, and the ids that begin with them. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { parseTimestamp } from "../../value/parse-time.ts";

/** `2026-01-31T10:20:30.123Z`. */
export function momentText(millis: number): string {
  const text = formatTimestamp(BigInt(millis), "millisecond");
  return `${text.includes(".") ? text : `${text}.000`}Z`;
}

/** The id of a backup: its moment, so that ids sort as moments do, and what the server called it. */
export function backupId(millis: number, name: string): string {
  return `${momentText(millis).replace(/[-:.]/g, "")}-${name.slice(0, 8)}`;
}

/** Milliseconds of what `--at` says: ISO 8601, UTC without a zone. @throws ConfigError (exit 2) */
export function parseMoment(text: string): number {
  const nanos = parseTimestamp(text, "UTC");
  if (nanos !== undefined) return Number(nanos / 1_000_000n);
  throw new ConfigError(`cannot use --at ${text}: want a moment such as 2026-01-31T10:20:30.123Z`, EXIT_USAGE);
}
