/**
 * Regular expressions over bytes: a table of states says for most texts whether there is a match (`base/text/byte-regex`); the full engine
 * is asked about the others. What each match has to hold is looked for first, in all rows at once.
 */
import { type ByteRegex, ByteTest } from "../../../base/text/byte-regex/byte-regex.ts";
import { type ByteCaptures, Found } from "../../../base/text/byte-regex/captures.ts";
import { utf8Text } from "../../../column/text-table.ts";
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";
import { isAsciiRange } from "./letters.ts";
import { rowsThatHold } from "./search.ts";
import { bytesOfRows, TextSink } from "./text-sink.ts";

/** Bytes of texts that the full engine looks at in one go: some milliseconds. More: the interpreter has to, in turns. */
const ASKED_BYTES_MAX = 16_384;
/** A range of bytes is looked for first if it is so long: shorter ones are in most texts. */
const REQUIRED_BYTES_MIN = 2;

/** An expression, made ready: over bytes, and by the full engine. */
export interface Matcher {
  readonly bytes: ByteRegex;
  readonly test: (text: string) => boolean;
}

/** Whether the expression fits somewhere in the text of each row, as 0 and 1; undefined where bytes do not tell. */
export function matchingRows(texts: Texts, rowCount: number, present: Validity, { bytes: regex, test }: Matcher): Uint8Array | undefined {
  const { bytes, starts, ends } = texts;
  const { required } = regex;
  const isWorth = required !== undefined && required.length >= REQUIRED_BYTES_MIN;
  const matches = isWorth ? rowsThatHold(texts, rowCount, required) : new Uint8Array(rowCount).fill(1);
  let asked = 0;
  for (let row = 0; row < rowCount; row++) {
    if (matches[row] === 0 || (present !== undefined && present[row] === 0)) continue;
    const start = starts[row] as number;
    const end = ends[row] as number;
    const found = regex.test(bytes, start, end);
    if (found <= ByteTest.yes) matches[row] = found;
    else {
      asked += end - start;
      if (found === ByteTest.gaveUp || asked > ASKED_BYTES_MAX) return undefined;
      matches[row] = test(utf8Text(bytes, start, end)) ? 1 : 0;
    }
  }
  return matches;
}

/** A replacement: bytes, and numbers of groups. */
export type ReplacementPart = Uint8Array | number;

/** Longest text that is made in a row. Reason: the interpreter tells what is too long. */
const ROW_BYTES_MAX: number = 1024 * 1024;

/** The texts of rows with their first match replaced, or all; undefined where bytes do not tell. */
export function replacedRows(
  texts: Texts,
  rowCount: number,
  present: Validity,
  captures: ByteCaptures,
  parts: readonly ReplacementPart[],
  isGlobal: boolean,
): Texts | undefined {
  prepare(texts, rowCount, captures);
  const [only] = parts;
  const asRanges = parts.length === 1 && typeof only === "number" ? groupRanges(texts, rowCount, present, captures, only) : undefined;
  if (asRanges !== undefined) return asRanges;
  const { bytes, starts, ends } = texts;
  const sink = new TextSink(rowCount, bytesOfRows(texts, rowCount));
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    const before = sink.length;
    const isTold = end - start <= ROW_BYTES_MAX && replaceRow(bytes, start, end, captures, parts, isGlobal, sink);
    if (!isTold || sink.length - before > ROW_BYTES_MAX) return undefined;
    sink.end();
  }
  return sink.texts(present, texts.ascii && parts.every((part) => typeof part === "number" || isAsciiRange(part, 0, part.length)));
}

/** Appends a text with its matches replaced; false: bytes do not tell. */
function replaceRow(
  bytes: Uint8Array,
  start: number,
  end: number,
  captures: ByteCaptures,
  parts: readonly ReplacementPart[],
  isGlobal: boolean,
  sink: TextSink,
): boolean {
  const { slots } = captures;
  let rest = start;
  let found = captures.find(bytes, start, start, end);
  while (found === Found.yes) {
    sink.append(bytes, rest, slots[0] as number);
    for (const part of parts) {
      if (typeof part !== "number") sink.append(part, 0, part.length);
      else if ((slots[part * 2 + 1] ?? -1) >= 0) sink.append(bytes, slots[part * 2] as number, slots[part * 2 + 1] as number);
    }
    rest = slots[1] as number;
    found = isGlobal ? captures.find(bytes, start, rest, end) : Found.no;
  }
  sink.append(bytes, rest, end);
  return found === Found.no;
}

function prepare({ bytes, starts, ends, ascending }: Texts, rowCount: number, captures: ByteCaptures): void {
  if (ascending && rowCount > 0) captures.prepare(bytes, starts[0] as number, ends[rowCount - 1] as number);
  else captures.prepare(bytes, 0, bytes.length);
}

/** A group in place of the whole text: a range of it. Undefined where a match is not its whole text. */
function groupRanges(texts: Texts, rowCount: number, present: Validity, captures: ByteCaptures, group: number): Texts | undefined {
  const { bytes, starts, ends } = texts;
  const { slots } = captures;
  const own = { starts: new Uint32Array(rowCount), ends: new Uint32Array(rowCount) };
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    own.starts[row] = start;
    own.ends[row] = end;
    const found = captures.find(bytes, start, start, end);
    if (found === Found.no) continue;
    if (found === Found.gaveUp || slots[0] !== start || slots[1] !== end) return undefined;
    const to = slots[group * 2 + 1] ?? -1;
    own.starts[row] = to < 0 ? start : (slots[group * 2] as number);
    own.ends[row] = to < 0 ? start : to;
  }
  return { ...texts, ...own, validity: present };
}

/** The first match of each row, NULL where there is none; undefined where bytes do not tell. */
export function extractedRows(texts: Texts, rowCount: number, present: Validity, captures: ByteCaptures): Texts | undefined {
  prepare(texts, rowCount, captures);
  const { bytes, starts, ends } = texts;
  const { slots } = captures;
  const own = { starts: new Uint32Array(rowCount), ends: new Uint32Array(rowCount), validity: new Uint8Array(rowCount) };
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    own.starts[row] = start;
    own.ends[row] = start;
    if (present !== undefined && present[row] === 0) continue;
    const found = captures.find(bytes, start, start, ends[row] as number);
    if (found === Found.gaveUp) return undefined;
    if (found === Found.no) continue;
    own.validity[row] = 1;
    own.starts[row] = slots[0] as number;
    own.ends[row] = slots[1] as number;
  }
  return { ...texts, ...own };
}

/** How many matches each row has, NULL none; undefined where bytes do not tell. */
export function matchCounts(texts: Texts, rowCount: number, captures: ByteCaptures): Int32Array | undefined {
  prepare(texts, rowCount, captures);
  const { bytes, starts, ends, validity } = texts;
  const counts = new Int32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (start === end || (validity !== undefined && validity[row] === 0)) continue;
    let found = captures.find(bytes, start, start, end);
    for (; found === Found.yes; found = captures.find(bytes, start, captures.slots[1] as number, end))
      counts[row] = (counts[row] as number) + 1;
    if (found === Found.gaveUp) return undefined;
  }
  return counts;
}
