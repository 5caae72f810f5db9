/**
 * `length`, `lower`, `upper` and the like over bytes.
 *
 * ASCII letters change case four at a time: with the eighth bit of each byte free, `byte + (0x80 - 'A')` has it exactly when the byte is
 * 'A' or above, and `byte + (0x7f - 'Z')` when it is above 'Z'; what has one of both is a capital, whose bit 5 changes. Texts of other
 * letters go through the runtime, one by one.
 */
import { utf8Text } from "../../../column/text-table.ts";
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";
import type { ColumnFunction } from "../signature/column-function.ts";
import { numbers, texts as textOperand, textsOfOperand } from "./operand.ts";
import { bytesOfRows, TextSink } from "./text-sink.ts";

const encoder = new TextEncoder();

/** Characters of a range: bytes that begin one. */
export function characterCount(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (((bytes[at] as number) & 0xc0) !== 0x80) count++;
  return count;
}

/** Whether a range is ASCII. */
export function isAsciiRange(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] as number) >= 0x80) return false;
  return true;
}

/** `length(text)`: characters. */
export const characterCounts: ColumnFunction = ([text], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  if (given === undefined) return undefined;
  const { bytes, starts, ends, ascii } = given;
  const counts = new Int32Array(rowCount);
  if (ascii) for (let row = 0; row < rowCount; row++) counts[row] = (ends[row] as number) - (starts[row] as number);
  else for (let row = 0; row < rowCount; row++) counts[row] = characterCount(bytes, starts[row] as number, ends[row] as number);
  return numbers(counts, present);
};

/** `octet_length(text)` and, eightfold, `bit_length(text)`. */
export function byteCounts(factor: number): ColumnFunction {
  return ([text], { rowCount, present }) => {
    const given = textsOfOperand(text, rowCount);
    if (given === undefined) return undefined;
    const { starts, ends } = given;
    const counts = new Int32Array(rowCount);
    for (let row = 0; row < rowCount; row++) counts[row] = ((ends[row] as number) - (starts[row] as number)) * factor;
    return numbers(counts, present);
  };
}

/** `ascii(text)`: the code point of the first character, 0 of none. */
export const firstCodes: ColumnFunction = ([text], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  if (given === undefined) return undefined;
  const { bytes, starts, ends } = given;
  const codes = new Int32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    if (start < (ends[row] as number)) codes[row] = codePointAt(bytes, start);
  }
  return numbers(codes, present);
};

function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return first;
  const tail = (i: number): number => (bytes[at + i] as number) & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | tail(1);
  if (first < 0xf0) return ((first & 0x0f) << 12) | (tail(1) << 6) | tail(2);
  return ((first & 0x07) << 18) | (tail(1) << 12) | (tail(2) << 6) | tail(3);
}

/** Which case letters change to. */
export type LetterCase = "lower" | "upper";

/** `lower(text)` and `upper(text)`. */
export function changeCase(to: LetterCase): ColumnFunction {
  const run = (text: string): string => (to === "lower" ? text.toLowerCase() : text.toUpperCase());
  return ([text], { rowCount, present }) => {
    const given = textsOfOperand(text, rowCount);
    if (given === undefined) return undefined;
    const changed = given.ascii ? asciiInCase(given, rowCount, to) : rowsInCase(given, rowCount, present, to, run);
    return changed === undefined ? undefined : textOperand({ ...changed, validity: present });
  };
}

/** Texts with their ASCII letters in one case and all other bytes as they are; undefined where they are too long together. */
export function asciiInCase(texts: Texts, rowCount: number, to: LetterCase): Texts | undefined {
  const { bytes, starts, ends, validity, ascending, ascii } = texts;
  if (rowCount === 0) return texts;
  if (!ascending) {
    const sink = new TextSink(rowCount, bytesOfRows(texts, rowCount));
    for (let row = 0; row < rowCount; row++) {
      sink.append(bytes, starts[row] as number, ends[row] as number);
      sink.end();
    }
    const copied = sink.texts(validity, ascii);
    return copied === undefined ? undefined : { ...copied, bytes: bytesInCase(copied.bytes, 0, sink.length, to) };
  }
  const first = starts[0] as number;
  const last = ends[rowCount - 1] as number;
  return { ...shifted(texts, rowCount, first), bytes: bytesInCase(bytes, first, last, to) };
}

function shifted(texts: Texts, rowCount: number, by: number): Texts {
  if (by === 0) return texts;
  const [starts, ends] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  for (let row = 0; row < rowCount; row++) {
    starts[row] = (texts.starts[row] as number) - by;
    ends[row] = (texts.ends[row] as number) - by;
  }
  return { ...texts, starts, ends };
}

const ONES = 0x0101_0101;
const HIGH_BITS = 0x8080_8080;

/** A copy of `bytes[from, to)` with its ASCII letters in one case. */
function bytesInCase(bytes: Uint8Array, from: number, to: number, letterCase: LetterCase): Uint8Array {
  const length = to - from;
  const words = new Int32Array((length + 3) >> 2);
  const changed = new Uint8Array(words.buffer, 0, length);
  changed.set(bytes.subarray(from, to));
  const first = letterCase === "lower" ? 0x41 : 0x61; // 'A', 'a'
  const fromFirst = (0x80 - first) * ONES;
  const behindLast = (0x7f - (first + 25)) * ONES;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    const low = word & 0x7f7f_7f7f;
    // Bytes that are no ASCII have their eighth bit and stay.
    const letters = (low + fromFirst) & ~(low + behindLast) & ~word & HIGH_BITS;
    words[i] = word ^ (letters >>> 2);
  }
  return changed;
}

/** Texts of which some are no ASCII: those one by one. */
function rowsInCase(given: Texts, rowCount: number, present: Validity, to: LetterCase, run: (text: string) => string): Texts | undefined {
  const { bytes, starts, ends } = given;
  const quick = asciiInCase(given, rowCount, to);
  if (quick === undefined) return undefined;
  const sink = new TextSink(rowCount, bytesOfRows(given, rowCount));
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (present !== undefined && present[row] === 0) sink.end();
    else {
      if (isAsciiRange(bytes, start, end)) sink.append(quick.bytes, quick.starts[row] as number, quick.ends[row] as number);
      else {
        const changed = encoder.encode(run(utf8Text(bytes, start, end)));
        sink.append(changed, 0, changed.length);
      }
      sink.end();
    }
  }
  return sink.texts(present, false);
}

/** `reverse(text)`: characters from the last to the first. */
export const reversed: ColumnFunction = ([text], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  if (given === undefined) return undefined;
  const { bytes, starts, ends, ascii } = given;
  const sink = new TextSink(rowCount, bytesOfRows(given, rowCount));
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    for (let end = ends[row] as number; end > start; ) {
      let from = end - 1;
      while (from > start && ((bytes[from] as number) & 0xc0) === 0x80) from--;
      sink.append(bytes, from, end);
      end = from;
    }
    sink.end();
  }
  const made = sink.texts(present, ascii);
  return made === undefined ? undefined : textOperand(made);
};
