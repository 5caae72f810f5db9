/**
 * The telnet form of a put: words between blanks, with the messages of OpenTSDB's own `put`.
 *
 *   put <metric> <seconds or milliseconds> <value> <tag>=<value> ...
 */
import { utf8Text } from "../../base/bytes/utf8.ts";
import { numberOfText } from "../../value/number-text.ts";
import { type ParsedSeries, type Points, timeMsOf } from "./points.ts";

const FORM = 2;
const BLANK = 0x20;
const ARGUMENTS_MIN = 4;
const WHOLE_TIME = /^\d{1,16}$/;
/** Seconds with milliseconds behind a point. */
const SPLIT_TIME = /^(\d{10})\.(\d{1,3})$/;

/** Where words stand: start and end of each of the first four. */
const WORDS_APART = 4;

/** Reads one line after the other. */
export class LinePut {
  private readonly points: Points;
  private readonly places: Uint32Array<ArrayBuffer> = new Uint32Array(2 * WORDS_APART);

  constructor(points: Points) {
    this.points = points;
  }

  /** Reads `bytes[start, end)`, which begins with the word `put`. Returns why it is no point, in OpenTSDB's words. */
  read(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { places } = this;
    let count = 0;
    let tagsStart = end;
    for (let at = start; at < end; ) {
      while (at < end && bytes[at] === BLANK) at++;
      if (at === end) break;
      const word = at;
      while (at < end && bytes[at] !== BLANK) at++;
      if (count < WORDS_APART) {
        places[2 * count] = word;
        places[2 * count + 1] = at;
      } else if (count === WORDS_APART) tagsStart = word;
      count++;
    }
    if (count <= ARGUMENTS_MIN)
      return `illegal argument: not enough arguments (need least ${ARGUMENTS_MIN}, got ${Math.max(0, count - 1)})`;
    const [, , metricStart, metricEnd, timeStart, timeEnd, valueStart, valueEnd] = places;
    const time = latin1(bytes, timeStart as number, timeEnd as number);
    const timeMs = timeOf(time);
    if (timeMs === undefined) return `illegal argument: Invalid timestamp: ${quoted(time)}`;
    const text = latin1(bytes, valueStart as number, valueEnd as number);
    const value = numberOfText(text) ?? Number.NaN;
    if (!Number.isFinite(value)) return `invalid value: For input string: "${quoted(text)}"`;
    const metricAt = metricStart as number;
    const metricStop = metricEnd as number;
    const flaw = this.points.add(bytes, metricAt, metricStop, tagsStart, end, FORM, timeMs, value, () =>
      seriesOf(bytes.subarray(metricAt, metricStop), bytes.subarray(tagsStart, end)),
    );
    return flaw === undefined ? undefined : `illegal argument: ${flaw}`;
  }
}

function timeOf(text: string): number | undefined {
  if (WHOLE_TIME.test(text)) return timeMsOf(Number(text), text.length);
  const [, seconds, fraction] = SPLIT_TIME.exec(text) ?? [];
  return seconds === undefined || fraction === undefined ? undefined : Number(seconds) * 1000 + Number(fraction.padEnd(3, "0"));
}

function seriesOf(metric: Uint8Array, tags: Uint8Array): ParsedSeries {
  const name = utf8Text(metric);
  const words = utf8Text(tags)?.split(" ");
  if (name === undefined || words === undefined) return { flaw: "metric or tags are not UTF-8" };
  const pairs = new Map<string, string>();
  for (const word of words) {
    if (word === "") continue;
    const equals = word.indexOf("=");
    if (equals <= 0 || equals === word.length - 1 || word.includes("=", equals + 1)) return { flaw: `invalid tag: ${word.slice(0, 80)}` };
    const tag = word.slice(0, equals);
    const value = word.slice(equals + 1);
    const other = pairs.get(tag);
    if (other !== undefined && other !== value) return { flaw: `duplicate tag: ${word.slice(0, 80)}` };
    pairs.set(tag, value);
  }
  return { metric: name, tags: pairs };
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

/** A word as an answer quotes it: short, and without what a terminal would obey. */
function quoted(text: string): string {
  return text.slice(0, 40).replace(/[^\x21-\x7e]/g, "?");
}
