/**
 * Time zones, for all that names one: SQL, SET time_zone, AT TIME ZONE, texts of timestamps, HTTP headers, pipelines, the configuration.
 *
 * A zone is "UTC", an offset "±HH:MM" of less than a day (as RFC 3339 has it), or an IANA name, whose rules come from the runtime's own
 * tables (`Intl`). Days that begin and end at one distance from UTC are remembered as one number, days of a change with the second of it.
 *
 * What a clock shows is a moment by one of two rules: `utcSecondsOf` always gives one, as SQL does; `onlyUtcSecondsOf` gives none for what
 * the clock shows twice or never, as pipelines do.
 */
import { invalidArguments } from "../error.ts";

const FIXED = /^[+-]\d{1,2}:\d{2}$/;
const OFFSET_TEXT = /^([+-])(\d{1,2})(?::?(\d{2}))?$/;
const OFFSET = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;
const DAY_SECONDS = 86_400;
/** Where the runtime's dates end, less a day for its zones; beyond it a zone stays as it is there. */
const DAY_MAX = 100_000_000 - 1;
/** Most zones kept; a session sends whatever name it likes, but only valid names get here. */
const ZONES_MAX = 700;
/** Most days kept of a zone: 11 years. */
const DAYS_MAX = 4096;
/** Most names kept with what they stand for. */
const NAMES_MAX = 1024;

/** A day of a zone: seconds ahead of UTC at its start, and from `change` on. */
interface ZoneDay {
  readonly before: number;
  readonly change: number;
  readonly after: number;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly days: Map<number, ZoneDay>;
}

const zones = new Map<string, Zone>();
const names = new Map<string, string>();

/** The canonical name of a zone, or undefined when there is none: "utc" → "UTC", "+8:00" → "+08:00", "asia/shanghai" → "Asia/Shanghai". */
export function parseTimeZone(text: string): string | undefined {
  const name = text.trim();
  if (FIXED.test(name)) {
    if (offsetSecondsOfText(name) === undefined) return undefined;
    return name.length === 5 ? `${name.slice(0, 1)}0${name.slice(1)}` : name;
  }
  const upper = name.toUpperCase();
  if (upper === "UTC" || upper === "Z" || upper === "GMT" || upper === "ETC/UTC") return "UTC";
  if (upper === "SYSTEM") return parseTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? "UTC";
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return undefined;
  const known = names.get(upper);
  if (known !== undefined) return known;
  const resolved = namedTimeZone(name);
  if (names.size >= NAMES_MAX) names.clear();
  if (resolved !== undefined) names.set(upper, resolved);
  return resolved;
}

/** The canonical name of a zone of the IANA tables; undefined when there is none: offsets and SYSTEM are not in them. */
export function namedTimeZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined; // the documented answer for an unknown name
    throw thrown;
  }
}

/** The canonical name of a zone. @throws DbError InvalidArguments that names what is none */
export function timeZoneNamed(text: string): string {
  const zone = parseTimeZone(text);
  if (zone !== undefined) return zone;
  throw invalidArguments(`Invalid timezone string ${text.slice(0, 80)}: use a name such as Asia/Shanghai or an offset such as +08:00`);
}

/** Seconds ahead of UTC of an offset behind a time, `+08:00`, `-0730` or `+8`; undefined for another text and for a day or more. */
export function offsetSecondsOfText(text: string): number | undefined {
  const match = OFFSET_TEXT.exec(text);
  if (match === null) return undefined;
  const [hours, minutes] = [Number(match[2]), Number(match[3] ?? 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (match[1] === "-" ? -60 : 60) * (hours * 60 + minutes) + 0; // -00:00 is 0
}

/** Seconds that a zone is ahead of UTC at a moment. @param zone a canonical name from `parseTimeZone` */
export function offsetSecondsAt(zone: string, utcSeconds: number): number {
  if (zone === "UTC") return 0;
  const fixed = offsetSecondsOfText(zone);
  if (fixed !== undefined) return fixed;
  const { before, change, after } = dayOf(zoneNamed(zone), Math.floor(utcSeconds / DAY_SECONDS));
  return utcSeconds < change ? before : after;
}

/** The moment at which a zone's clock shows `localSeconds`: in an overlap the earlier one, in a gap the one after the change. */
export function utcSecondsOf(zone: string, localSeconds: number): number {
  const before = offsetSecondsAt(zone, localSeconds - DAY_SECONDS);
  const early = localSeconds - before;
  if (offsetSecondsAt(zone, early) === before) return early;
  const late = localSeconds - offsetSecondsAt(zone, early);
  return offsetSecondsAt(zone, late) === localSeconds - late ? late : early;
}

/** The moment at which a zone's clock shows `localSeconds`; undefined where it never does, in a gap, or does twice, in an overlap. */
export function onlyUtcSecondsOf(zone: string, localSeconds: number): number | undefined {
  const before = offsetSecondsAt(zone, localSeconds - DAY_SECONDS);
  const after = offsetSecondsAt(zone, localSeconds + DAY_SECONDS);
  const [early, late] = [localSeconds - before, localSeconds - after];
  const isEarly = offsetSecondsAt(zone, early) === before;
  if (before === after) return isEarly ? early : undefined;
  const isLate = offsetSecondsAt(zone, late) === after;
  if (isEarly === isLate) return undefined;
  return isEarly ? early : late;
}

function zoneNamed(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (zones.size >= ZONES_MAX) zones.clear();
  const made = { format: new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" }), days: new Map() };
  zones.set(name, made);
  return made;
}

function dayOf({ format, days }: Zone, number: number): ZoneDay {
  const day = Math.min(Math.max(number, -DAY_MAX), DAY_MAX);
  const known = days.get(day);
  if (known !== undefined) return known;
  if (days.size >= DAYS_MAX) days.clear();
  const made = dayFrom(format, day * DAY_SECONDS);
  days.set(day, made);
  return made;
}

/** A day changes its distance from UTC at most once, at a second that halving finds. */
function dayFrom(format: Intl.DateTimeFormat, start: number): ZoneDay {
  const [before, after] = [shownOffset(format, start), shownOffset(format, start + DAY_SECONDS - 1)];
  if (before === after) return { before, change: -Infinity, after };
  let [low, high] = [start, start + DAY_SECONDS - 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (shownOffset(format, middle) === before) low = middle;
    else high = middle;
  }
  return { before, change: high, after };
}

/** What the runtime says of a moment: "GMT", "GMT+02:00" or, before zones were whole minutes, "GMT+00:53:28". */
function shownOffset(format: Intl.DateTimeFormat, utcSeconds: number): number {
  const shown = format.formatToParts(new Date(utcSeconds * 1000)).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const match = OFFSET.exec(shown);
  if (match === null) throw new Error(`the runtime shows an offset as "${shown}"`);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}
