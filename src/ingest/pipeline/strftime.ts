/**
 * Reads times by a strftime format in chrono's dialect. A format is compiled once to a list of steps, each of which reads one item from
 * the text by character codes; nothing is allocated for a text.
 *
 * Blanks in a format stand for any number of blanks, numbers may lack leading zeros and have blanks before them, the whole text must be
 * read. `%.3f` wants the dot and exactly three digits, `%.f` a dot and any digits or nothing.
 * Source: https://docs.rs/chrono/latest/chrono/format/strftime/index.html
 */
import { TIME_SHORTHANDS } from "../../value/time-shorthands.ts";
import { PipelineTime } from "../common/value.ts";
import type { TimeZone } from "./time-zone.ts";
import { TimeFields } from "./strftime-fields.ts";

/** Reads an item at `at` and gives the place behind it, or -1. */
type Step = (text: string, at: number, fields: TimeFields) => number;

/** A compiled format. */
export interface TimeFormat {
  /** Whether the text names its offset from UTC. */
  readonly hasOffset: boolean;
  /** The moment of a text, in nanoseconds; undefined when it is none. `zone` is that of texts without an offset. */
  parse(text: string, zone: TimeZone): PipelineTime | undefined;
}

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** Moments that fit into 64 bits of nanoseconds, in seconds. */
const SECONDS_MAX = 9_223_372_036;

const NUMBERS: Readonly<Record<string, readonly [digits: number, set: (fields: TimeFields, value: number) => void]>> = {
  C: [2, (f, v) => void (f.century = v)],
  y: [2, (f, v) => void (f.yearOfCentury = v)],
  m: [2, (f, v) => void (f.month = v)],
  d: [2, (f, v) => void (f.day = v)],
  e: [2, (f, v) => void (f.day = v)],
  j: [3, (f, v) => void (f.dayOfYear = v)],
  V: [2, (f, v) => void (f.isoWeek = v)],
  u: [1, (f, v) => void (f.weekday = v - 1)],
  w: [1, (f, v) => void (f.weekday = (v + 6) % 7)],
  H: [2, (f, v) => void (f.hour = v)],
  k: [2, (f, v) => void (f.hour = v)],
  I: [2, (f, v) => void (f.hour12 = v)],
  l: [2, (f, v) => void (f.hour12 = v)],
  M: [2, (f, v) => void (f.minute = v)],
  S: [2, (f, v) => void (f.second = v)],
  f: [9, (f, v) => void (f.nanos = v)],
};

/** Items that stand for several. */
const SHORTHANDS: Readonly<Record<string, string>> = { ...TIME_SHORTHANDS, h: "%b" };

/** Compiles a format. Undefined when it has an item that chrono does not know. */
export function compileTimeFormat(format: string): TimeFormat | undefined {
  const steps: Step[] = [];
  if (!addSteps(format, steps)) return undefined;
  const hasOffset = steps.includes(offset) || steps.includes(offsetOrZulu) || steps.includes(epochSeconds);
  const fields = new TimeFields();
  return {
    hasOffset,
    parse: (text, zone) => {
      fields.clear();
      let at = 0;
      for (let i = 0; i < steps.length; i++) {
        at = (steps[i] as Step)(text, at, fields); // i < length
        if (at < 0) return undefined;
      }
      return at === text.length ? moment(fields, zone) : undefined;
    },
  };
}

function moment(fields: TimeFields, zone: TimeZone): PipelineTime | undefined {
  const local = fields.localSeconds();
  if (!(Math.abs(local) < 2 * SECONDS_MAX)) return undefined; // NaN, or further than any zone's calendar need be asked for
  const { epochSeconds: epoch, offsetSeconds } = fields;
  const utc = !Number.isNaN(epoch) ? epoch : Number.isNaN(offsetSeconds) ? zone.toUtc(local) : local - offsetSeconds;
  if (utc === undefined || !(Math.abs(utc) < SECONDS_MAX)) return undefined;
  const nanos = fields.nanos < 0 ? 0 : fields.nanos;
  // Whole milliseconds are exact in a double, so most texts make one product of 64-bit integers only.
  const millis = Math.floor(nanos / 1_000_000);
  const value = BigInt(utc * 1000 + millis) * 1_000_000n;
  const rest = nanos - millis * 1_000_000;
  return new PipelineTime(rest === 0 ? value : value + BigInt(rest), "nanosecond");
}

function addSteps(format: string, steps: Step[]): boolean {
  for (let at = 0; at < format.length; ) {
    const character = format.charAt(at);
    if (character !== "%") {
      if (isBlank(format.charCodeAt(at))) {
        while (at < format.length && isBlank(format.charCodeAt(at))) at++;
        steps.push(skipBlanks);
        continue;
      }
      let end = at + 1;
      while (end < format.length && format[end] !== "%" && !isBlank(format.charCodeAt(end))) end++;
      steps.push(literal(format.slice(at, end)));
      at = end;
      continue;
    }
    const item = /^%(?:[-_0]?([a-zA-Z%+])|(\.?[369]?f)|(:{1,3}|#)z)/.exec(format.slice(at, at + 6));
    if (item === null || !addItem(item, steps)) return false;
    at += item[0].length;
  }
  return true;
}

function addItem([, letter, fraction, colons]: RegExpExecArray, steps: Step[]): boolean {
  if (colons !== undefined) return steps.push(colons === "#" ? offsetOrZulu : offset) > 0;
  if (fraction !== undefined) {
    const digits = /\d/.exec(fraction)?.[0];
    return steps.push(fractionStep(fraction.startsWith("."), digits === undefined ? 0 : Number(digits))) > 0;
  }
  const name = letter ?? "";
  const number = NUMBERS[name];
  if (number !== undefined) return steps.push(numberStep(...number)) > 0;
  const shorthand = SHORTHANDS[name];
  if (shorthand !== undefined) return addSteps(shorthand, steps);
  const step = OTHERS[name];
  return step !== undefined && steps.push(step) > 0;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (end < text.length && isBlank(text.charCodeAt(end))) end++;
  return end;
}

function literal(want: string): Step {
  if (want.length > 1) return (text, at) => (text.startsWith(want, at) ? at + want.length : -1);
  const code = want.charCodeAt(0);
  return (text, at) => (text.charCodeAt(at) === code ? at + 1 : -1);
}

function numberStep(digitsMax: number, set: (fields: TimeFields, value: number) => void): Step {
  return (text, from, fields) => {
    const at = skipBlanks(text, from);
    let value = 0;
    let end = at;
    for (; end < at + digitsMax; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    if (end === at) return -1;
    set(fields, value);
    return end;
  };
}

/** A year: four digits at most, or a sign and as many as there are. */
function yearStep(set: (fields: TimeFields, value: number) => void): Step {
  const plain = numberStep(4, set);
  return (text, from, fields) => {
    const at = skipBlanks(text, from);
    const sign = text.charCodeAt(at);
    if (sign !== 0x2d && sign !== 0x2b) return plain(text, at, fields);
    return numberStep(9, (f, v) => set(f, sign === 0x2d ? -v : v))(text, at + 1, fields);
  };
}

/** `digits` is 0 for any number of them. */
function fractionStep(hasDot: boolean, digits: number): Step {
  return (text, from, fields) => {
    let at = from;
    if (hasDot) {
      if (text.charCodeAt(at) !== 0x2e) return digits === 0 ? at : -1;
      at++;
    }
    let nanos = 0;
    let scale = 100_000_000;
    let end = at;
    const limit = digits === 0 ? text.length : at + digits;
    for (; end < limit; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      nanos += digit * Math.floor(scale);
      scale /= 10;
    }
    if (end === at || (digits > 0 && end !== limit)) return -1;
    fields.nanos = nanos;
    return end;
  };
}

function nameStep(names: readonly string[], set: (fields: TimeFields, index: number) => void): Step {
  const shorts = names.map((name) => name.slice(0, 3));
  return (text, at, fields) => {
    const short = text.slice(at, at + 3).toLowerCase();
    const index = shorts.indexOf(short);
    const name = names[index];
    if (name === undefined) return -1;
    set(fields, index);
    return text.slice(at, at + name.length).toLowerCase() === name ? at + name.length : at + 3;
  };
}

function half(text: string, at: number, fields: TimeFields): number {
  const word = text.slice(at, at + 2).toLowerCase();
  if (word !== "am" && word !== "pm") return -1;
  fields.half = word === "am" ? 0 : 1;
  return at + 2;
}

/** `+0800`, `+08:00`, `-08:00`. */
function offset(text: string, from: number, fields: TimeFields): number {
  const at = skipBlanks(text, from);
  const sign = text.charCodeAt(at);
  if (sign !== 0x2b && sign !== 0x2d) return -1;
  const hours = twoDigits(text, at + 1);
  let next = at + 3;
  if (text.charCodeAt(next) === 0x3a) next++;
  const minutes = twoDigits(text, next);
  if (hours < 0 || minutes < 0 || hours > 23 || minutes > 59) return -1;
  fields.offsetSeconds = (sign === 0x2d ? -1 : 1) * (hours * 3600 + minutes * 60);
  return next + 2;
}

/** As `offset`, or `Z`, or hours only. */
function offsetOrZulu(text: string, from: number, fields: TimeFields): number {
  const at = skipBlanks(text, from);
  if ((text.charCodeAt(at) | 0x20) === 0x7a) {
    fields.offsetSeconds = 0;
    return at + 1;
  }
  const end = offset(text, at, fields);
  if (end >= 0) return end;
  const sign = text.charCodeAt(at);
  const hours = twoDigits(text, at + 1);
  if ((sign !== 0x2b && sign !== 0x2d) || hours < 0 || hours > 23) return -1;
  fields.offsetSeconds = (sign === 0x2d ? -1 : 1) * hours * 3600;
  return at + 3;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

function epochSeconds(text: string, from: number, fields: TimeFields): number {
  const at = skipBlanks(text, from);
  const found = /^[+-]?\d{1,12}/.exec(text.slice(at, at + 13));
  if (found === null) return -1;
  fields.epochSeconds = Number(found[0]);
  return at + found[0].length;
}

/** A name of a zone is read over: it says nothing certain about the offset. */
function zoneName(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isBlank(text.charCodeAt(end))) end++;
  return end;
}

const ISO_STEPS: Step[] = [];

/** `%+`: ISO 8601 with any fraction and an offset. */
function iso(text: string, from: number, fields: TimeFields): number {
  if (ISO_STEPS.length === 0) addSteps("%Y-%m-%dT%H:%M:%S%.f%#z", ISO_STEPS);
  let at = from;
  for (const step of ISO_STEPS) {
    at = step(text, at, fields);
    if (at < 0) return -1;
  }
  return at;
}

const month = nameStep(MONTHS, (fields, index) => void (fields.month = index + 1));
const weekday = nameStep(WEEKDAYS, (fields, index) => void (fields.weekday = index));
const OTHERS: Readonly<Record<string, Step>> = {
  Y: yearStep((fields, year) => void (fields.year = year)),
  G: yearStep((fields, year) => void (fields.isoYear = year)),
  b: month,
  B: month,
  a: weekday,
  A: weekday,
  p: half,
  P: half,
  z: offset,
  Z: zoneName,
  s: epochSeconds,
  "+": iso,
  t: skipBlanks,
  n: skipBlanks,
  "%": literal("%"),
};
