/**
 * Where numbers and durations end, and what they are. What is scanned need not be a number: `1e+` is told apart when it is read.
 */
import { PROMQL_NUMBER_CHARACTERS_MAX } from "../../../base/limits.ts";
import { parsed, refused, type Parsed } from "../../../base/text/parsed.ts";
import { quoted } from "./quoting.ts";
import { INT64_MAX, UINT64_MAX } from "../../../column/exact-integer.ts";

const DECIMAL = "0123456789";
const HEXADECIMAL = "0123456789abcdefABCDEF";
const UNITS = "smhdwy";
/** Years come first or not at all. */
const LATER_UNITS = "smhdw";

/** A range of text that was looked at. */
export interface ScannedNumber {
  readonly kind: "number" | "duration" | "neither";
  /** One past the last character; of `neither`, of the last that was looked at. */
  readonly end: number;
}

/**
 * Scans the number or duration that begins at `start`, with a digit or a point. One that ends more than `PROMQL_NUMBER_CHARACTERS_MAX`
 * characters on is longer, and is not looked at further.
 */
export function scanNumber(text: string, start: number): ScannedNumber {
  const scan = new NumberScan(text.slice(start, start + PROMQL_NUMBER_CHARACTERS_MAX + 1));
  if (scan.number()) return { kind: "number", end: start + scan.at };
  return { kind: scan.restOfDuration() ? "duration" : "neither", end: start + scan.at };
}

/** Goes forward through a text. */
class NumberScan {
  at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  private isAt(characters: string): boolean {
    return this.at < this.text.length && characters.includes(this.text.charAt(this.at));
  }

  private accept(characters: string): boolean {
    if (!this.isAt(characters)) return false;
    this.at++;
    return true;
  }

  private acceptAll(characters: string): void {
    while (this.isAt(characters)) this.at++;
  }

  private isEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Digits with points, exponents and underscores between them, and nothing of a word behind. */
  number(): boolean {
    let digits = DECIMAL;
    if (this.accept("0") && this.accept("xX")) {
      this.accept("_");
      digits = HEXADECIMAL;
    }
    this.accept(".");
    this.accept(digits);
    let hasPoint = false;
    let hasExponent = false;
    while (this.isAt(digits) || this.isAt("._eE")) {
      if (this.isAt(".")) {
        this.at++;
        if (hasPoint || this.accept("_.") || digits === HEXADECIMAL) return false;
        hasPoint = true;
      } else if (this.isAt("eE")) {
        this.at++;
        if (hasExponent) return false;
        hasExponent = true;
        this.accept("+-");
        if (this.accept("._eE") || this.isEnd()) return false;
      } else if (this.accept("_")) {
        if (this.accept("._eE") || this.isEnd()) return false;
      } else {
        this.acceptAll(digits);
      }
    }
    return this.at > 0 && !isWordCharacter(this.text, this.at);
  }

  /** The unit behind digits that were read, and digits with units behind it. Looks at one character more. */
  restOfDuration(): boolean {
    if (!this.accept(UNITS)) return false;
    this.accept("s");
    while (this.accept(DECIMAL)) {
      this.acceptAll(DECIMAL);
      if (!this.accept(LATER_UNITS)) return false;
      this.accept("s");
    }
    if (!isWordCharacter(this.text, this.at)) return true;
    this.at++;
    return false;
  }
}

function isWordCharacter(text: string, at: number): boolean {
  return at < text.length && /^[A-Za-z0-9_]$/.test(text.charAt(at));
}

const WHOLE = /^(?:0[xX](?:_?[\da-fA-F])+|0(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/;
const FLOAT = /^(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/;
/** Digits of a whole number that fits 64 bits, in base 8. */
const WHOLE_CHARACTERS_MAX = 64;

/** The value of a number as it was scanned. Whole ones may be hexadecimal, or octal behind a 0. */
export function numberValue(text: string): Parsed<number> {
  const word = text.toLowerCase();
  if (word === "inf") return parsed(Number.POSITIVE_INFINITY);
  if (word === "nan") return parsed(Number.NaN);
  const plain = text.replaceAll("_", "");
  if (WHOLE.test(text) && plain.length <= WHOLE_CHARACTERS_MAX) {
    const isOctal = plain.length > 1 && plain.startsWith("0") && !/^0x/i.test(plain);
    const whole = BigInt(isOctal ? `0o${plain.slice(1)}` : plain);
    if (whole <= INT64_MAX) return parsed(Number(whole));
  }
  const failure = (why: string): Parsed<number> => refused(`strconv.ParseFloat: parsing ${quoted(text)}: ${why}`);
  if (!FLOAT.test(text)) return failure("invalid syntax");
  const value = Number(plain);
  return Number.isFinite(value) ? parsed(value) : failure("value out of range");
}

/** Units from the largest to the smallest, in milliseconds. */
const UNIT_MILLIS: ReadonlyMap<string, number> = new Map([
  ["y", 31_536_000_000],
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
]);
/** What 64 bits of nanoseconds hold. */
const DURATION_MILLIS_MAX = 9_223_372_036_854;
const COUNT_AND_UNIT = /(\d+)(\D+)/g;

/** Milliseconds of a duration such as `1h30m`: each unit once, the largest first. `text` begins with a digit or a point. */
export function durationMillis(text: string): Parsed<number> {
  const notValid = refused(`not a valid duration string: ${quoted(text)}`);
  if (text.startsWith(".")) return notValid;
  let millis = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, count = "", unit = ""] of text.matchAll(COUNT_AND_UNIT)) {
    const digits = count.replace(/^0+/, "");
    if (digits.length > WHOLE_CHARACTERS_MAX || BigInt(digits) > UINT64_MAX) return notValid;
    const size = UNIT_MILLIS.get(unit);
    if (size === undefined) return refused(`unknown unit ${quoted(unit)} in duration ${quoted(text)}`);
    if (size >= last) return notValid;
    last = size;
    millis += Number(digits) * size;
    if (millis > DURATION_MILLIS_MAX) return refused("duration out of range");
  }
  return parsed(millis);
}
