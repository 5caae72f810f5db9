/** `LIKE` patterns: `%` stands for any text, `_` for one character. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** A test of texts against a pattern, for patterns that stay the same over many rows. */
export function likeTest(pattern: string, escape: string | undefined, insensitive: boolean): (text: string) => boolean {
  const plain = /^%?([^%_\\]*)%?$/.exec(pattern);
  if (plain !== null && !insensitive && escape === undefined) return plainTest(pattern, plain[1] ?? "");
  const expression = new RegExp(`^${sourceOf(pattern, escape ?? "\\")}$`, insensitive ? "isu" : "su");
  return (text) => expression.test(text);
}

function plainTest(pattern: string, middle: string): (text: string) => boolean {
  const open = pattern.startsWith("%");
  const close = pattern.length > 1 && pattern.endsWith("%");
  if (pattern === "%") return () => true;
  if (open && close) return (text) => text.includes(middle);
  if (open) return (text) => text.endsWith(middle);
  return close ? (text) => text.startsWith(middle) : (text) => text === middle;
}

/** A stretch of a pattern that stands for itself. */
export interface LikePiece {
  readonly text: string;
  /** Whether the text tested begins with it. */
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** The stretches of a pattern that a matching text holds, in their order. */
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

function sourceOf(pattern: string, escape: string): string {
  let source = "";
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === escape && i + 1 < characters.length) source += literal(characters[++i] ?? "");
    else if (character === "%") source += "[^]*";
    else if (character === "_") source += "[^]";
    else source += literal(character);
  }
  return source;
}

const literal = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/]/g, (special) => `\\${special}`);

const CACHE_MAX = 256;
const cache = new Map<string, RegExp>();

/** A regular expression of a query, compiled once. @throws DbError EngineExecuteQuery when it is none */
export function regexOf(pattern: string, flags: string): RegExp {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  try {
    const made = new RegExp(pattern, flags);
    if (cache.size >= CACHE_MAX) cache.clear();
    cache.set(key, made);
    return made;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot compile regular expression '${pattern.slice(0, 80)}': ${why}`, { cause });
  }
}
