/**
 * Query strings and forms. Most requests carry two or three short pairs, so single values are found without building a map.
 */
import { atOnce } from "../../base/scheduler/pace.ts";

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

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PERCENT = 0x25;

/** Most pairs of a form or query. Reason: a body of 64 MiB may have sixteen million. */
const PAIRS_MAX = 1000;

/** Longest name, encoded, that is looked at: known ones are short, and a body may be one name of 64 MiB. */
const NAME_BYTES_MAX = 256;
/** Bytes of a value that are decoded at once: about 6 ms where each is of a `%27`. */
const DECODED_AT_ONCE = 1024 * 1024;
/** Length of `%f0%9f%98%80`, and of the rest of a `%80` before. */
const CHARACTER_LENGTH_MAX = 15;

/** A form or query as a map; or the name of a known parameter that occurs twice, or that there are too many. */
export type UniquePairs = ReadonlyMap<string, string> | { readonly duplicate: string } | { readonly tooMany: number };

/** See `UniquePairs`, all at once: for queries, which are short. */
export function uniquePairs(text: string, known: ReadonlySet<string>): UniquePairs {
  return atOnce(uniquePairsInSteps(new TextEncoder().encode(text), known));
}

/** See `UniquePairs`; yields between steps of some milliseconds. */
export function* uniquePairsInSteps(text: Uint8Array, known: ReadonlySet<string>): Generator<undefined, UniquePairs> {
  const pairs = new Map<string, string>();
  let duplicate: string | undefined;
  const isTooMany = yield* eachPair(text, known, (name, value) => {
    if (pairs.has(name)) duplicate = name;
    else pairs.set(name, value);
    return duplicate === undefined;
  });
  if (duplicate !== undefined) return { duplicate };
  return isTooMany ? { tooMany: PAIRS_MAX } : pairs;
}

/** A form or query as a map of all values of each known name, in their order; or that there are too many pairs. */
export type RepeatedPairs = ReadonlyMap<string, readonly string[]> | { readonly tooMany: number };

/** See `RepeatedPairs`, all at once: for queries, which are short, and are texts already. */
export function repeatedPairs(text: string, known: ReadonlySet<string>): RepeatedPairs {
  const pairs = new Map<string, string[]>();
  let count = 0;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    if (++count > PAIRS_MAX) return { tooMany: PAIRS_MAX };
    const equals = pair.indexOf("=");
    const nameEnd = equals < 0 ? pair.length : equals;
    if (nameEnd > NAME_BYTES_MAX) continue;
    const name = decodedText(pair.slice(0, nameEnd));
    if (!known.has(name)) continue;
    const value = decodedText(pair.slice(nameEnd + 1).toWellFormed());
    const values = pairs.get(name);
    if (values === undefined) pairs.set(name, [value]);
    else values.push(value);
  }
  return pairs;
}

/** See `RepeatedPairs`; yields between steps of some milliseconds. */
export function* repeatedPairsInSteps(text: Uint8Array, known: ReadonlySet<string>): Generator<undefined, RepeatedPairs> {
  const pairs = new Map<string, string[]>();
  const isTooMany = yield* eachPair(text, known, (name, value) => {
    const values = pairs.get(name);
    if (values === undefined) pairs.set(name, [value]);
    else values.push(value);
    return true;
  });
  return isTooMany ? { tooMany: PAIRS_MAX } : pairs;
}

/** Hands on the pairs of known names until `take` gives false; tells whether there are too many. */
function* eachPair(
  text: Uint8Array,
  known: ReadonlySet<string>,
  take: (name: string, value: string) => boolean,
): Generator<undefined, boolean> {
  let count = 0;
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf(AMPERSAND, from);
    const to = found < 0 ? text.length : found;
    if (to > from && ++count > PAIRS_MAX) return true;
    const equals = text.subarray(from, Math.min(to, from + NAME_BYTES_MAX + 1)).indexOf(EQUALS);
    const nameEnd = equals < 0 ? to : from + equals;
    const name = nameEnd - from > NAME_BYTES_MAX ? "" : decoded(text.subarray(from, nameEnd));
    if (to > from && known.has(name)) {
      const value = yield* decodedInSteps(text.subarray(Math.min(nameEnd + 1, to), to));
      if (!take(name, value)) return false;
    }
    from = to + 1;
  }
  return false;
}

/** One value, decoded in pieces that end where a character does. */
function* decodedInSteps(text: Uint8Array): Generator<undefined, string> {
  if (text.length <= DECODED_AT_ONCE) return decoded(text);
  let made = "";
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from + DECODED_AT_ONCE);
    made += decoded(text.subarray(from, to));
    from = to;
    yield;
  }
  return made;
}

/**
 * The first place from there on that is neither within `%e4` nor before a byte that goes on with a character, 80 to bf, as it is or as
 * `%80`; more of these than a character has stand for none anyway.
 */
function endOfPiece(text: Uint8Array, from: number): number {
  let end = from;
  const isWithin = (): boolean => isEscape(text, end - 1) || isEscape(text, end - 2);
  while (end < text.length && (isWithin() || (end < from + CHARACTER_LENGTH_MAX && isContinued(text, end)))) end++;
  return Math.min(end, text.length);
}

/** Whether `%e4` stands there. */
function isEscape(text: Uint8Array, at: number): boolean {
  return text[at] === PERCENT && isHexDigit(text[at + 1]) && isHexDigit(text[at + 2]);
}

function isHexDigit(byte: number | undefined): boolean {
  return byte !== undefined && /[\da-fA-F]/.test(String.fromCharCode(byte));
}

function isContinued(text: Uint8Array, at: number): boolean {
  const byte = text[at] ?? 0;
  return byte === PERCENT ? /[89abAB]/.test(String.fromCharCode(text[at + 1] ?? 0)) : (byte & 0xc0) === 0x80;
}

/** One name or value. Most names and many values need no decoding. */
function decoded(bytes: Uint8Array): string {
  return decodedText(UTF8.decode(bytes));
}

function decodedText(text: string): string {
  return /[%+]/.test(text) ? (new URLSearchParams(`v=${text}`).get("v") ?? "") : text;
}
