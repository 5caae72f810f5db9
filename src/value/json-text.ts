/**
 * JSON as Varve keeps it: compact text in which the keys of every object are sorted by code point, the last of equal keys stays, and
 * U+2028, U+2029 are escaped. Equal documents then have equal texts, so that grouping and comparing work on bytes.
 *
 * Whole numbers keep all their digits. Numbers with a point or an exponent are 64-bit floats, printed with the shortest digits that read
 * back (`1.0`, `1e30`). One pass over the text, RFC 8259.
 *
 * Limits: nesting 128 levels, so that no document exhausts the stack.
 */
import { compareCodePoints } from "../column/code-points.ts";
import { floatText } from "./number-text.ts";

/** Most levels of arrays and objects in each other. */
export const JSON_DEPTH_MAX = 128;

/** The canonical text, or what is wrong at which character (counted from 1). */
export type CanonicalJson =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string; readonly position: number };

/** The canonical text of a JSON document. */
export function canonicalJson(text: string): CanonicalJson {
  const reader = new JsonReader(text);
  const value = reader.value(0);
  if (value !== undefined) {
    reader.skipBlanks();
    if (reader.at === text.length) return { ok: true, text: value };
    reader.fail("trailing characters");
  }
  return { ok: false, why: reader.why, position: reader.at + 1 };
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const BLANKS = /[ \t\n\r]*/y;
const WORDS: readonly string[] = ["true", "false", "null"];

/** Reads values from `at` on. After a failure `why` and `at` say what and where; results are then undefined. */
class JsonReader {
  at = 0;
  why = "";
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Remembers why the document is none. */
  fail(why: string): undefined {
    this.why = why;
    return undefined;
  }

  skipBlanks(): void {
    BLANKS.lastIndex = this.at;
    BLANKS.test(this.text);
    this.at = BLANKS.lastIndex;
  }

  value(depth: number): string | undefined {
    this.skipBlanks();
    const first = this.text[this.at];
    if (first === "{" || first === "[") {
      if (depth >= JSON_DEPTH_MAX) return this.fail(`more than ${JSON_DEPTH_MAX} levels`);
      return first === "{" ? this.object(depth + 1) : this.array(depth + 1);
    }
    if (first === '"') return this.string();
    const word = WORDS.find((candidate) => this.text.startsWith(candidate, this.at));
    if (word !== undefined) {
      this.at += word.length;
      return word;
    }
    return this.number();
  }

  private number(): string | undefined {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) return this.fail(this.at === this.text.length ? "unexpected end" : "expected value");
    const [digits, fraction, exponent] = match;
    if (fraction === undefined && exponent === undefined) {
      this.at += digits.length;
      return digits === "-0" ? "0" : digits;
    }
    const value = Number(digits);
    if (!Number.isFinite(value)) return this.fail("number out of range");
    this.at += digits.length;
    return floatText(value);
  }

  private string(): string | undefined {
    const end = this.endOfString();
    if (end < 0) return this.fail("unexpected end");
    try {
      const value = JSON.parse(this.text.slice(this.at, end)) as string; // In quotes, so it is a string or nothing.
      this.at = end;
      return jsonString(value);
    } catch (error) {
      if (error instanceof SyntaxError) return this.fail("invalid string");
      throw error;
    }
  }

  /** Where the string at `at` ends: past the first quote that an even number of backslashes precedes. */
  private endOfString(): number {
    for (let from = this.at + 1; ; ) {
      const quote = this.text.indexOf('"', from);
      if (quote < 0) return -1;
      let backslashes = 0;
      while (this.text[quote - 1 - backslashes] === "\\") backslashes++;
      if (backslashes % 2 === 0) return quote + 1;
      from = quote + 1;
    }
  }

  private array(depth: number): string | undefined {
    const items: string[] = [];
    this.at++;
    this.skipBlanks();
    if (this.take("]")) return "[]";
    do {
      const item = this.value(depth);
      if (item === undefined) return undefined;
      items.push(item);
      this.skipBlanks();
    } while (this.take(","));
    return this.take("]") ? `[${items.join(",")}]` : this.fail("expected `,` or `]`");
  }

  private object(depth: number): string | undefined {
    const entries = new Map<string, string>();
    this.at++;
    this.skipBlanks();
    if (this.take("}")) return "{}";
    do {
      this.skipBlanks();
      if (this.text[this.at] !== '"') return this.fail("expected a key");
      const key = this.string();
      if (key === undefined) return undefined;
      this.skipBlanks();
      if (!this.take(":")) return this.fail("expected `:`");
      const value = this.value(depth);
      if (value === undefined) return undefined;
      entries.set(key, value);
      this.skipBlanks();
    } while (this.take(","));
    if (!this.take("}")) return this.fail("expected `,` or `}`");
    const sorted = entries.size < 2 ? [...entries] : sortedByKey(entries);
    return `{${sorted.map(([key, value]) => `${key}:${value}`).join(",")}}`;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

/** Sorted by the keys themselves, not by their escaped texts. */
function sortedByKey(entries: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const decoded = Array.from(entries, ([key, value]) => ({ key, value, plain: JSON.parse(key) as string }));
  return decoded.sort((a, b) => compareCodePoints(a.plain, b.plain)).map(({ key, value }) => [key, value] as const);
}

/** A string as JSON, with the two line ends escaped that JavaScript once took for its own. */
function jsonString(value: string): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
