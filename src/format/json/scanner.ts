/**
 * A cursor over a JSON text, for decoders written by hand. It makes no objects and no strings: a decoder walks the values and reads each
 * where it stands. Accepts exactly the texts that `JSON.parse` accepts, but for nesting beyond `JSON_DEPTH_MAX`. Source: RFC 8259.
 *
 *   if (json.peek() === Code.brace && json.enterObject()) {
 *     do {
 *       json.key();
 *       if (json.is(NAME) && json.peek() === Code.quote) json.string(); else json.skip();
 *     } while (json.nextMember());
 *   }
 *   json.finish();
 *
 * Bodies of the bench of ingest/loki: 540 MB/s to columns on one thread, measured while other processes ran.
 */

/** Why bytes are no JSON text that can be used. The message names line and column. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /** Position of the byte that is wrong. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Deepest nesting that is followed. Reason: `skip` recurses. Error: JsonError. */
export const JSON_DEPTH_MAX = 128;

/** What a value begins with. */
export const Code = { quote: 0x22, bracket: 0x5b, brace: 0x7b, minus: 0x2d, zero: 0x30, nine: 0x39 } as const;

const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const END_BRACE = 0x7d;
const END_BRACKET = 0x5d;
const POINT = 0x2e;
const LOWER_E = 0x65;
/** Digits of a whole number that a double holds exactly whatever they are. */
const EXACT_DIGITS = 15;
/** Powers of ten that a double holds exactly. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const WORDS: readonly Uint8Array[] = ["true", "false", "null"].map((word) => new TextEncoder().encode(word));
const decoder = new TextDecoder();

/** See the file header. */
export class JsonScanner {
  bytes: Uint8Array = new Uint8Array(0);
  /** Position of the next byte. */
  at = 0;
  /** Extent of the string (without its quotes) or the number read last. */
  start = 0;
  stop = 0;
  /** Whether the string read last has escapes. */
  hasEscape = false;
  /** Whether the number read last has neither a fraction nor an exponent. */
  isInteger = false;
  private depth = 0;

  /** Starts over at the first of `bytes`, which are borrowed. */
  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.at = 0;
    this.depth = 0;
  }

  /** The error for what stands at `at`: "<what> at line L column C". */
  error(what: string, at: number = this.at): JsonError {
    const before = this.bytes.subarray(0, at);
    let line = 1;
    for (let i = before.indexOf(0x0a); i >= 0; i = before.indexOf(0x0a, i + 1)) line++;
    return new JsonError(`${what} at line ${line} column ${at - before.lastIndexOf(0x0a)}`, at);
  }

  /** Moves over blanks and returns the byte behind them, -1 at the end. */
  peek(): number {
    const { bytes } = this;
    let at = this.at;
    let byte = bytes[at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at];
    this.at = at;
    return byte ?? -1;
  }

  /** Asserts that only blanks follow. @throws JsonError */
  finish(): void {
    if (this.peek() !== -1) throw this.error("trailing characters");
  }

  /** Goes into the object at the cursor. Returns whether it has members; the cursor is then before the first key. @throws JsonError */
  enterObject(): boolean {
    return this.enter(END_BRACE);
  }

  /** Reads a key and moves to its value. The key's extent is in `start`, `stop`. @throws JsonError */
  key(): void {
    if (this.peek() !== Code.quote)
      throw this.error(this.at === this.bytes.length ? "EOF while parsing an object" : "key must be a string");
    this.string();
    if (this.peek() !== COLON) throw this.error("expected `:`");
    this.at++;
    this.peek();
  }

  /** After a member's value: moves to the next key, or out of the object and returns false. @throws JsonError */
  nextMember(): boolean {
    const byte = this.peek();
    if (byte !== COMMA && byte !== END_BRACE) throw this.error(byte < 0 ? "EOF while parsing an object" : "expected `,` or `}`");
    this.at++;
    if (byte === COMMA) return true;
    this.depth--;
    return false;
  }

  /** Goes into the array at the cursor. Returns whether it has elements; the cursor is then at the first. @throws JsonError */
  enterArray(): boolean {
    return this.enter(END_BRACKET);
  }

  private enter(end: number): boolean {
    this.deeper();
    this.at++;
    if (this.peek() !== end) return true;
    this.at++;
    this.depth--;
    return false;
  }

  /** After an element: moves to the next, or out of the array and returns false. @throws JsonError */
  nextElement(): boolean {
    const byte = this.peek();
    if (byte !== COMMA && byte !== END_BRACKET) throw this.error(byte < 0 ? "EOF while parsing a list" : "expected `,` or `]`");
    this.at++;
    if (byte === END_BRACKET) {
      this.depth--;
      return false;
    }
    this.peek();
    return true;
  }

  /** Whether the string read last is `name`, which has no escapes. */
  is(name: Uint8Array): boolean {
    const { bytes, start, stop } = this;
    if (this.hasEscape) return this.text() === decoder.decode(name);
    const length = name.length;
    if (stop - start !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== name[i]) return false;
    return true;
  }

  /** Text of the string read last. */
  text(): string {
    return String(JSON.parse(decoder.decode(this.bytes.subarray(this.start - 1, this.stop + 1))));
  }

  /** Reads the string at the cursor, which is at its first quote. @throws JsonError */
  string(): void {
    const { bytes } = this;
    let at = this.at + 1;
    this.start = at;
    this.hasEscape = false;
    for (;;) {
      const byte = bytes[at];
      if (byte === Code.quote) break;
      if (byte === BACKSLASH) {
        this.hasEscape = true;
        at = this.escapeEnd(at);
      } else if (byte === undefined) throw this.error("EOF while parsing a string", at);
      else if (byte < 0x20) throw this.error("control character (\\u0000-\\u001F) found while parsing a string", at);
      else at++;
    }
    this.stop = at;
    this.at = at + 1;
  }

  /** Reads the number at the cursor and returns it; beyond the range of doubles it is infinite. @throws JsonError */
  number(): number {
    const { bytes } = this;
    const start = this.at;
    let at = start;
    const isNegative = bytes[at] === Code.minus;
    if (isNegative) at++;
    const whole = at;
    let mantissa = 0;
    let digit = (bytes[at] ?? 0) - 48;
    while (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digit = (bytes[++at] ?? 0) - 48;
    }
    if (at === whole || (bytes[whole] === Code.zero && at > whole + 1)) throw this.error("invalid number", at);
    let digits = at - whole;
    let fraction = 0;
    this.isInteger = true;
    if (bytes[at] === POINT) {
      this.isInteger = false;
      const first = ++at;
      digit = (bytes[at] ?? 0) - 48;
      while (digit >= 0 && digit <= 9) {
        mantissa = mantissa * 10 + digit;
        digit = (bytes[++at] ?? 0) - 48;
      }
      fraction = at - first;
      if (fraction === 0) throw this.error("invalid number", at);
      digits += fraction;
    }
    const hasExponent = ((bytes[at] ?? 0) | 0x20) === LOWER_E;
    if (hasExponent) at = this.exponentEnd(at);
    this.start = start;
    this.stop = at;
    this.at = at;
    const power = POWERS[fraction];
    if (hasExponent || digits > EXACT_DIGITS || power === undefined) return Number(decoder.decode(bytes.subarray(start, at)));
    const size = fraction === 0 ? mantissa : mantissa / power; // One rounding of two exact numbers: the nearest double.
    return isNegative ? -size : size;
  }

  /** Moves over the value at the cursor, whatever it is. @throws JsonError */
  skip(): void {
    const byte = this.peek();
    if (byte === Code.quote) this.string();
    else if (byte === Code.brace) {
      if (!this.enterObject()) return;
      do {
        this.key();
        this.skip();
      } while (this.nextMember());
    } else if (byte === Code.bracket) {
      if (!this.enterArray()) return;
      do this.skip();
      while (this.nextElement());
    } else if (byte === Code.minus || (byte >= Code.zero && byte <= Code.nine)) this.number();
    else this.word();
  }

  private word(): void {
    const { bytes, at } = this;
    for (const word of WORDS) {
      let i = 0;
      while (i < word.length && bytes[at + i] === word[i]) i++;
      if (i < word.length) continue;
      this.at = at + i;
      return;
    }
    throw this.error(at === bytes.length ? "EOF while parsing a value" : "expected value");
  }

  private deeper(): void {
    if (++this.depth > JSON_DEPTH_MAX) throw this.error(`more than ${JSON_DEPTH_MAX} levels of nesting`);
  }

  private exponentEnd(at: number): number {
    const { bytes } = this;
    let end = at + 1;
    if (bytes[end] === 0x2b || bytes[end] === Code.minus) end++;
    const first = end;
    while ((bytes[end] ?? 0) >= Code.zero && (bytes[end] ?? 0) <= Code.nine) end++;
    if (end === first) throw this.error("invalid number", end);
    return end;
  }

  private escapeEnd(at: number): number {
    const byte = this.bytes[at + 1];
    switch (byte) {
      case Code.quote:
      case BACKSLASH:
      case 0x2f: // '/'
      case 0x62: // 'b'
      case 0x66: // 'f'
      case 0x6e: // 'n'
      case 0x72: // 'r'
      case 0x74: // 't'
        return at + 2;
      case 0x75: // 'u' and four hexadecimal digits
        for (let i = at + 2; i < at + 6; i++) if (hexDigit(this.bytes[i] ?? 0) < 0) throw this.error("invalid escape", i);
        return at + 6;
      default:
        throw this.error(byte === undefined ? "EOF while parsing a string" : "invalid escape", at + 1);
    }
  }
}

/** Value of a hexadecimal digit, -1 for any other byte. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
