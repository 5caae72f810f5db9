/**
 * LIKE over bytes, by the segments between the `%` of a constant pattern (`text/like.ts`). The longest range of text in the pattern is
 * looked for in all rows at once first: rows without it are no match, and where the pattern is nothing else they are all the others.
 */
import { utf8Text } from "../../../column/text-table.ts";
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";
import { likeSegments, likeTest } from "../text/like.ts";
import { comparedWithText } from "./compare.ts";
import { placeOf } from "./cut.ts";
import { asciiInCase, isAsciiRange } from "./letters.ts";
import { rowsThatBegin, rowsThatEnd, rowsThatHold } from "./search.ts";

/** Longest pattern that is tested so. Reason: at worst all of it is compared at each byte. */
const PATTERN_CHARACTERS_MAX = 128;

const encoder = new TextEncoder();

/** A range of bytes, or one character of any kind. */
type Part = Uint8Array | undefined;
type Segment = readonly Part[];

/** A pattern, made ready. */
export interface BytePattern {
  readonly segments: readonly Segment[];
  /** Of rows with other letters than ASCII where any case will do; undefined: bytes alone tell. */
  readonly otherwise: ((text: string) => boolean) | undefined;
}

/** A pattern made ready for rows of bytes; undefined where it is too long for that. */
export function bytePattern(pattern: string, escape: string | undefined, insensitive: boolean): BytePattern | undefined {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return undefined;
  const segments = likeSegments(pattern, escape, insensitive).map((segment) =>
    segment.map((part) => (part === undefined ? undefined : encoder.encode(part))),
  );
  return { segments, otherwise: insensitive ? likeTest(pattern, escape, true) : undefined };
}

/** Whether the text of each row meets a pattern, as 0 and 1; undefined where texts are too long together. */
export function likeRows(texts: Texts, rowCount: number, present: Validity, { segments, otherwise }: BytePattern): Uint8Array | undefined {
  if (otherwise === undefined) return meeting(texts, rowCount, segments);
  const folded = asciiInCase(texts, rowCount, "lower");
  if (folded === undefined) return undefined;
  const meets = meeting(folded, rowCount, segments);
  if (texts.ascii) return meets;
  const { bytes, starts, ends } = texts;
  for (let row = 0; row < rowCount; row++) {
    const [start, end] = [starts[row] as number, ends[row] as number];
    if (isAsciiRange(bytes, start, end) || (present !== undefined && present[row] === 0)) continue;
    meets[row] = otherwise(utf8Text(bytes, start, end)) ? 1 : 0;
  }
  return meets;
}

const EMPTY = new Uint8Array(0);

/** The range of bytes that a segment is; undefined where it holds a character of any kind. */
function plain(segment: Segment): Uint8Array | undefined {
  return segment.length === 0 ? EMPTY : segment.length === 1 ? segment[0] : undefined;
}

function meeting(texts: Texts, rowCount: number, segments: readonly Segment[]): Uint8Array {
  const ranges = segments.map(plain);
  const [first, second, third] = ranges;
  if (first !== undefined && ranges.length === 1) return comparedWithText(texts, rowCount, "=", Buffer.from(first).toString());
  if (first !== undefined && second !== undefined && ranges.length === 2) {
    if (second.length === 0) return rowsThatBegin(texts, rowCount, first);
    if (first.length === 0) return rowsThatEnd(texts, rowCount, second);
  }
  if (first?.length === 0 && second !== undefined && third?.length === 0 && ranges.length === 3)
    return rowsThatHold(texts, rowCount, second);
  const longest = longestPart(segments);
  const meets = longest === undefined ? new Uint8Array(rowCount).fill(1) : rowsThatHold(texts, rowCount, longest);
  const { bytes, starts, ends } = texts;
  for (let row = 0; row < rowCount; row++) {
    if (meets[row] === 1 && !rangeMeets(bytes, starts[row] as number, ends[row] as number, segments)) meets[row] = 0;
  }
  return meets;
}

function longestPart(segments: readonly Segment[]): Uint8Array | undefined {
  let longest: Uint8Array | undefined;
  for (const segment of segments) for (const part of segment) if ((part?.length ?? 0) > (longest?.length ?? 0)) longest = part;
  return longest;
}

function rangeMeets(bytes: Uint8Array, start: number, end: number, segments: readonly Segment[]): boolean {
  const last = segments.length - 1;
  let at = endOf(segments[0] as Segment, bytes, start, end);
  if (last === 0) return at === end;
  for (let i = 1; i < last && at >= 0; i++) at = endOfFirst(segments[i] as Segment, bytes, at, end);
  return at >= 0 && startOf(segments[last] as Segment, bytes, start, end) >= at;
}

/** Where a segment that begins at `at` ends, or -1. */
function endOf(segment: Segment, bytes: Uint8Array, at: number, end: number): number {
  let place = at;
  for (const part of segment) {
    if (part === undefined) {
      if (place >= end) return -1;
      place++;
      while (place < end && ((bytes[place] as number) & 0xc0) === 0x80) place++;
    } else if (liesAt(part, bytes, place, end)) place += part.length;
    else return -1;
  }
  return place;
}

/** Where a segment that ends with the text begins, or -1. */
function startOf(segment: Segment, bytes: Uint8Array, start: number, end: number): number {
  let place = end;
  for (let i = segment.length - 1; i >= 0; i--) {
    const part = segment[i];
    if (part === undefined) {
      if (place <= start) return -1;
      place--;
      while (place > start && ((bytes[place] as number) & 0xc0) === 0x80) place--;
    } else if (place - part.length >= start && liesAt(part, bytes, place - part.length, place)) place -= part.length;
    else return -1;
  }
  return place;
}

/** Where a segment ends at the first place from `at` on where it fits, or -1. */
function endOfFirst(segment: Segment, bytes: Uint8Array, at: number, end: number): number {
  const [head] = segment;
  if (segment.length === 0) return at;
  for (let from = at; from <= end; from++) {
    if (head !== undefined) {
      from = placeOf(bytes, from, end, head);
      if (from < 0) return -1;
    } else if (from < end && ((bytes[from] as number) & 0xc0) === 0x80) continue;
    const found = endOf(segment, bytes, from, end);
    if (found >= 0) return found;
  }
  return -1;
}

function liesAt(part: Uint8Array, bytes: Uint8Array, at: number, end: number): boolean {
  if (at + part.length > end) return false;
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}
