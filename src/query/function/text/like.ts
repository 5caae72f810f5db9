/**
 * `LIKE` patterns: `%` stands for any text, `_` for one character.
 *
 * A pattern is cut at its `%` into segments. The first lies at the start of a text, the last at its end, and each one between at the first
 * place where it fits behind the one before it: no later place can do better, so there is no going back, and a test takes at most
 * text x pattern steps.
 */

/** A test of texts against a pattern, for patterns that stay the same over many rows. */
export function likeTest(pattern: string, escape: string | undefined, insensitive: boolean): (text: string) => boolean {
  const plain = /^%?([^%_\\]*)%?$/.exec(pattern);
  if (plain !== null && !insensitive && escape === undefined) return plainTest(pattern, plain[1] ?? "");
  const segments = likeSegments(pattern, escape, insensitive);
  return insensitive ? (text) => meets(segments, folded(text)) : (text) => meets(segments, text);
}

/** What lies between the `%` of a pattern, at least one segment; where any case will do, of texts in the folded form. */
export function likeSegments(pattern: string, escape: string | undefined, insensitive: boolean): readonly LikeSegment[] {
  return segmentsOf(insensitive ? folded(pattern) : pattern, insensitive ? foldedEscape(escape) : (escape ?? "\\"));
}

/** A form in which texts that differ in case alone are equal, of as many characters. */
function folded(text: string): string {
  return PLAIN.test(text) ? text.toLowerCase() : Array.from(text, foldedCharacter).join("");
}

const PLAIN = /^[\x20-\x7e\s]*$/;

function foldedCharacter(character: string): string {
  const lower = character.toUpperCase().toLowerCase();
  return lower.length === character.length ? lower : character;
}

const foldedEscape = (escape: string | undefined): string => (escape === undefined ? "\\" : folded(escape));

function plainTest(pattern: string, middle: string): (text: string) => boolean {
  const open = pattern.startsWith("%");
  const close = pattern.length > 1 && pattern.endsWith("%");
  if (pattern === "%") return () => true;
  if (open && close) return (text) => text.includes(middle);
  if (open) return (text) => text.endsWith(middle);
  return close ? (text) => text.startsWith(middle) : (text) => text === middle;
}

/** A range of a pattern that stands for itself. */
export interface LikePiece {
  readonly text: string;
  /** Whether the text tested begins with it. */
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** The ranges of a pattern that a matching text holds, in their order. */
export function likePieces(pattern: string, escape = "\\"): readonly LikePiece[] {
  const pieces: LikePiece[] = [];
  const characters = [...pattern];
  let text = "";
  let atStart = true;
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === escape && i + 1 < characters.length) text += characters[++i] ?? "";
    else if (character !== "%" && character !== "_") text += character;
    else {
      if (text !== "") pieces.push({ text, atStart, atEnd: false });
      text = "";
      atStart = false;
    }
  }
  if (text !== "" || atStart) pieces.push({ text, atStart, atEnd: true });
  return pieces;
}

/** Ranges of text, and `undefined` for one character of any kind. */
export type LikeSegment = readonly (string | undefined)[];

function segmentsOf(pattern: string, escape: string): readonly LikeSegment[] {
  const segments: (string | undefined)[][] = [];
  let segment: (string | undefined)[] = [];
  let text = "";
  const endText = (): void => {
    if (text !== "") segment.push(text);
    text = "";
  };
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === escape && i + 1 < characters.length) text += characters[++i] ?? "";
    else if (character === "_") {
      endText();
      segment.push(undefined);
    } else if (character === "%") {
      endText();
      segments.push(segment);
      segment = [];
    } else text += character;
  }
  endText();
  return [...segments, segment];
}

function meets(segments: readonly LikeSegment[], text: string): boolean {
  const [first = [], ...rest] = segments;
  let at = endOf(first, text, 0);
  const last = rest.pop();
  if (last === undefined) return at === text.length;
  if (at < 0) return false;
  for (let i = 0; i < rest.length; i++) {
    at = endOfFirst(rest[i] ?? [], text, at);
    if (at < 0) return false;
  }
  return startOf(last, text) >= at;
}

/** Where a segment that begins at `at` ends, or -1. */
function endOf(segment: LikeSegment, text: string, at: number): number {
  let end = at;
  for (const part of segment) {
    if (part === undefined) {
      if (end >= text.length) return -1;
      end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    } else if (text.startsWith(part, end)) end += part.length;
    else return -1;
  }
  return end;
}

/** Where a segment that ends with the text begins, or -1. */
function startOf(segment: LikeSegment, text: string): number {
  let start = text.length;
  for (let i = segment.length - 1; i >= 0; i--) {
    const part = segment[i];
    if (part === undefined) {
      if (start <= 0) return -1;
      start -= start > 1 && (text.codePointAt(start - 2) ?? 0) > 0xffff ? 2 : 1;
    } else if (text.endsWith(part, start)) start -= part.length;
    else return -1;
  }
  return start;
}

/** Where a segment ends at the first place from `at` on where it fits, or -1. */
function endOfFirst(segment: LikeSegment, text: string, at: number): number {
  const head = segment[0];
  if (segment.length === 1 && head !== undefined) {
    const found = text.indexOf(head, at);
    return found < 0 ? -1 : found + head.length;
  }
  for (let start = at; start <= text.length; start++) {
    // A range of text is found at once; a character of any kind fits everywhere but inside a pair of surrogates.
    if (head !== undefined) {
      start = text.indexOf(head, start);
      if (start < 0) return -1;
    } else if (isInsidePair(text, start)) continue;
    const end = endOf(segment, text, start);
    if (end >= 0) return end;
  }
  return -1;
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
