/**
 * Query strings and forms. Most requests carry two or three short pairs, so single values are found without building a map.
 */
import { atOnce } from "../../base/pace.ts";

/** Value of the first pair of that name that is not empty, not percent-decoded; undefined when there is none. */
function rawValueOf(rawQuery: string, name: string): string | undefined {
  if (rawQuery === "") return undefined;
  const prefix = `${name}=`;
  for (const pair of rawQuery.split("&")) {
    if (pair.length > prefix.length && pair.startsWith(prefix)) return pair.slice(prefix.length);
  }
  return undefined;
}

/** The same, percent-decoded: names may hold any character. */
export function firstValueOf(rawQuery: string, name: string): string | undefined {
  const raw = rawValueOf(rawQuery, name);
  return raw === undefined || !/[%+]/.test(raw) ? raw : (new URLSearchParams(`v=${raw}`).get("v") ?? raw);
}

/** Decoded value of the last pair of that name, possibly empty; undefined when there is none. */
export function decodedValueOf(rawQuery: string, name: string): string | undefined {
  if (!rawQuery.includes(name)) return undefined;
  return new URLSearchParams(rawQuery).getAll(name).at(-1);
}

/** Most pairs of a form or query. Reason: a body of 64 MiB may have sixteen million. */
const PAIRS_MAX = 1000;

/** Longest name, encoded, that is looked at: known ones are short, and a body may be one name of 64 MiB. */
const NAME_CHARACTERS_MAX = 256;
/** Characters of a value that are decoded at once: about 6 ms where each is a `%27`. */
const DECODED_AT_ONCE = 1024 * 1024;
/** Length of `%f0%9f%98%80`, and of the rest of a `%80` before. */
const CHARACTER_LENGTH_MAX = 15;

/** A form or query as a map; or the name of a known parameter that occurs twice, or that there are too many. */
export type UniquePairs = ReadonlyMap<string, string> | { readonly duplicate: string } | { readonly tooMany: number };

/** See `UniquePairs`, all at once: for queries, which are short. */
export function uniquePairs(text: string, known: ReadonlySet<string>): UniquePairs {
  return atOnce(uniquePairsInSteps(text, known));
}

/** See `UniquePairs`; yields between steps of some milliseconds. */
export function* uniquePairsInSteps(text: string, known: ReadonlySet<string>): Generator<undefined, UniquePairs> {
  const pairs = new Map<string, string>();
  let count = 0;
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf("&", from);
    const to = found < 0 ? text.length : found;
    if (to > from && ++count > PAIRS_MAX) return { tooMany: PAIRS_MAX };
    const equals = text.indexOf("=", from);
    const nameEnd = equals < 0 || equals > to ? to : equals;
    const name = nameEnd - from > NAME_CHARACTERS_MAX ? "" : decoded(text.slice(from, nameEnd));
    if (to > from && known.has(name)) {
      if (pairs.has(name)) return { duplicate: name };
      pairs.set(name, yield* decodedInSteps(text.slice(Math.min(nameEnd + 1, to), to)));
    }
    from = to + 1;
  }
  return pairs;
}

/** One value, decoded in pieces that end where a character does. */
function* decodedInSteps(text: string): Generator<undefined, string> {
  if (text.length <= DECODED_AT_ONCE) return decoded(text);
  let made = "";
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from + DECODED_AT_ONCE);
    made += decoded(text.slice(from, to));
    from = to;
    yield;
  }
  return made;
}

/**
 * The first place from there on that is neither within `%e4` nor before a byte that goes on with a character, `%80` to `%bf`; more of these
 * than a character has stand for none anyway.
 */
function endOfPiece(text: string, from: number): number {
  let end = from;
  const isWithin = (): boolean => isEscape(text, end - 1) || isEscape(text, end - 2);
  while (end < text.length && (isWithin() || (end < from + CHARACTER_LENGTH_MAX && isContinued(text, end)))) end++;
  return Math.min(end, text.length);
}

/** Whether `%e4` stands there. */
function isEscape(text: string, at: number): boolean {
  return text.charAt(at) === "%" && /^[\da-fA-F]{2}$/.test(text.slice(at + 1, at + 3));
}

function isContinued(text: string, at: number): boolean {
  return (text.charAt(at) === "%" && /[89abAB]/.test(text.charAt(at + 1))) || /[\udc00-\udfff]/.test(text.charAt(at));
}

/** One name or value. Most names and many values need no decoding. */
function decoded(text: string): string {
  return /[%+]/.test(text) ? (new URLSearchParams(`v=${text}`).get("v") ?? "") : text;
}
