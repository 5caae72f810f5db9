/**
 * Time zones of a session: "UTC", "±HH:MM", or an IANA name, whose rules come from the runtime's own tables (`Intl`).
 */

const FIXED = /^([+-])(\d{1,2}):(\d{2})$/;
/** Where the runtime's dates end, less a day for its zones; beyond it a zone stays as it is there. */
const DATE_MILLIS_MAX = 8_640_000_000_000_000 - 86_400_000;
const formatters = new Map<string, Intl.DateTimeFormat>();
/** Most zones kept; a session sends whatever name it likes, but only valid names get here. */
const FORMATTERS_MAX = 700;

/** The canonical name of a zone, or undefined when there is none: "utc" → "UTC", "+8:00" → "+08:00", "asia/shanghai" → "Asia/Shanghai". */
export function parseTimeZone(text: string): string | undefined {
  const name = text.trim();
  const fixed = FIXED.exec(name);
  if (fixed !== null) {
    const [, sign = "+", hours = "0", minutes = "00"] = fixed;
    const total = Number(hours) * 60 + Number(minutes);
    if (Number(minutes) > 59 || total > 14 * 60 || (sign === "-" && total > 13 * 60 + 59)) return undefined;
    return `${sign}${hours.padStart(2, "0")}:${minutes}`;
  }
  const upper = name.toUpperCase();
  if (upper === "UTC" || upper === "Z" || upper === "GMT" || upper === "ETC/UTC") return "UTC";
  if (upper === "SYSTEM") return parseTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? "UTC";
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return undefined;
  try {
    const resolved = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    return resolved === "UTC" ? "UTC" : resolved;
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined; // the documented answer for an unknown name
    throw thrown;
  }
}

/** Seconds that a zone is ahead of UTC at a moment. @param zone a canonical name from `parseTimeZone` */
export function offsetSecondsAt(zone: string, utcSeconds: number): number {
  if (zone === "UTC") return 0;
  const fixed = FIXED.exec(zone);
  if (fixed !== null) return (fixed[1] === "-" ? -60 : 60) * (Number(fixed[2]) * 60 + Number(fixed[3]));
  const millis = Math.min(Math.max(utcSeconds * 1000, -DATE_MILLIS_MAX), DATE_MILLIS_MAX);
  const parts = formatterOf(zone).formatToParts(new Date(millis));
  const fields = new Map(parts.map((part) => [part.type, Number(part.value)]));
  const get = (name: Intl.DateTimeFormatPartTypes): number => fields.get(name) ?? 0;
  const local = Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second")) / 1000;
  return local - Math.floor(millis / 1000);
}

/** The moment at which a zone's clock shows `localSeconds`: in an overlap the earlier one, in a gap the one after the change. */
export function utcSecondsOf(zone: string, localSeconds: number): number {
  const before = offsetSecondsAt(zone, localSeconds - 86_400);
  const early = localSeconds - before;
  if (offsetSecondsAt(zone, early) === before) return early;
  const late = localSeconds - offsetSecondsAt(zone, early);
  return offsetSecondsAt(zone, late) === localSeconds - late ? late : early;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formatters.set(zone, made);
  return made;
}
