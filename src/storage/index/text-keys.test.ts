import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import type { TextPart } from "../../table/scan.ts";
import { PairSet } from "./pair-set.ts";
import { keysOfPart, SPECIAL_KEY, TextKeys } from "./text-keys.ts";

const encoder = new TextEncoder();

/** One for all, as in a writer: its marks are 2 MB. */
const gatherer = new TextKeys();

function keySet(texts: readonly string[]): ReadonlySet<string> {
  const keys = gatherer;
  const set = new PairSet(1 << 10);
  for (const text of texts) {
    const bytes = encoder.encode(text);
    expect(keys.add(bytes, 0, bytes.length, set)).toBe(true);
  }
  expect(keys.finish(set)).toBe(true);
  return new Set(Array.from({ length: set.count }, (_, i) => `${set.highs[i]} ${set.lows[i]}`));
}

const part = (text: string, whole: boolean | readonly [boolean, boolean] = false, lowered = false): TextPart => ({
  text,
  wholeStart: typeof whole === "boolean" ? whole : whole[0],
  wholeEnd: typeof whole === "boolean" ? whole : whole[1],
  lowered,
});

/** Whether a block of the texts passes for the part: exact sets stand for filters. */
function passes(texts: readonly string[], wanted: TextPart): boolean {
  const keys = keySet(texts);
  if (wanted.lowered && keys.has(`${SPECIAL_KEY.high} ${SPECIAL_KEY.low}`)) return true;
  return keysOfPart(wanted).every(({ high, low }) => keys.has(`${high} ${low}`));
}

const check = (text: string, wanted: TextPart, want: boolean): void => expect(passes([text], wanted)).toBe(want);

describe("a block passes", () => {
  test("whole words that it holds, in any case", () => check("An Error occurred!", part("error", true), true));
  test("phrases", () => check("An Error occurred!", part("Error occurred", true), true));
  test("parts of words", () => check("reconnecting", part("connect"), true));
  test("words that only the search cuts short", () => check("errors", part("error", [true, false]), true));
  test("Chinese words within words", () => check("登录手机号18888888888的动态key", part("手机"), true));
  test("Chinese beside digits", () => check("手机号18888888888", part("机号1888"), true));
  test("other scripts as they are", () => check("русский!", part("русский", true), true));
  test("texts too short to say anything", () => check("abc", part("xy"), true));
  test("separators alone", () => check("abc", part("--"), true));
  test("everything, when nothing is looked for", () => check("abc", part(""), true));
  test("lower-cased text", () => check("WARNING: Überlast", part("warning", true, true), true));
  test("lower-cased text with letters that only lower case makes ASCII", () => check("\u212aELVIN", part("kelvin", true, true), true));
  test("lower-cased text of other scripts", () => check("РУССКИЙ", part("русский", true, true), true));
});

describe("a block is left out", () => {
  test("without the word", () => check("An error occurred", part("errors", true), false));
  test("with the word only as a part of others", () => check("errors error123", part("error", true), false));
  test("without a word within a phrase", () => check("disk is nearly full", part("disk was full"), false));
  test("without a trigram", () => check("timeout", part("tomeout"), false));
  test("without a Chinese word", () => check("手机号", part("日志"), false));
  test("with letters of other scripts in another case", () => check("РУССКИЙ", part("русский"), false));
});

test("whatever a text holds, its block passes", () => {
  const random = seededRandom(7);
  const letters = ["a", "B", "k", "I", "0", "9", " ", "-", "_", "é", "É", "手", "机", "🐟", "\u212a", "\u0130", "ſ", "Ω"];
  const word = (length: number): string => Array.from({ length }, () => letters[random.below(letters.length)]).join("");
  for (let i = 0; i < 3000; i++) {
    const text = word(random.below(20));
    const lowered = random.below(2) === 0;
    const searched = [...(lowered ? text.toLowerCase() : text)];
    const start = random.below(searched.length + 1);
    const end = start + random.below(searched.length + 1 - start);
    const isWord = (at: number): boolean => /[A-Za-z0-9]/.test(searched[at] ?? "");
    const whole = [!isWord(start - 1), !isWord(end)] as const;
    if (!passes([text, "other"], part(searched.slice(start, end).join(""), whole, lowered))) {
      throw new Error(`${JSON.stringify(searched.slice(start, end).join(""))} of ${JSON.stringify(text)} is left out`);
    }
  }
});

test("U+212A and U+0130 are all that lower case turns into ASCII", () => {
  const found: string[] = [];
  for (let code = 0x80; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    if (/[\0-\x7f]/.test(String.fromCodePoint(code).toLowerCase())) found.push(code.toString(16));
  }
  expect(found).toEqual(["130", "212a"]);
});

test("a block of more keys than there is room for says so, and the next one starts clean", () => {
  const keys = new TextKeys();
  const small = new PairSet(3);
  const bytes = encoder.encode("one two three four");
  expect(keys.add(bytes, 0, bytes.length, small)).toBe(false);
  expect(keys.finish(small)).toBe(false);
  small.clear();
  expect(keys.add(bytes, 0, 3, small)).toBe(true);
  expect(keys.finish(small)).toBe(true);
  expect(small.count).toBe(2);
});
