/**
 * Long lists of rows behind VALUES, read from the text itself: no tokens are made of them, which take fifty times the bytes of the text and
 * most of the time. Only rows of plain constants are read, `(1, -2.5, 'it''s', NULL, true)`: the first that is none ends it, and is left to
 * lexer and grammar, as what is wrong is.
 *
 * Measured with 300,000 rows of three values: 45 ms, 10 ns a character; through tokens and the grammar 900 ms.
 */
import { Cell, type ConstantBlock } from "../syntax/value-rows.ts";
import { placeBehind, type TextPlace } from "./long-tokens.ts";

/** Values of a block at most. Reason: what is done with a block is done at once, which takes some milliseconds. */
const BLOCK_CELLS = 16 * 1024;
/** Longest text of a value; longer ones are left to the lexer, which reads them in steps. */
const TEXT_CHARACTERS_MAX = 32 * 1024;
/** Longest number and widest gap between two values. */
const SHORT_MAX = 256;
/** Characters of a block at most, once it has a row. */
const BLOCK_CHARACTERS = 128 * 1024;
/** Digits of a whole number that is a safe integer for certain. */
const WHOLE_DIGITS_MAX = 15;

const LEFT = 40;
const RIGHT = 41;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const QUOTE = 39;
const ZERO = 48;
const NINE = 57;
const UNDERSCORE = 95;

/** Words that are constants, by their first letter in lower case. */
const WORDS: readonly (readonly [string, number])[] = [
  ["null", Cell.Null],
  ["true", Cell.True],
  ["false", Cell.False],
  ["default", Cell.Default],
];

/** Rows, and what follows the last of them. */
export interface FoundRows {
  readonly block: ConstantBlock;
  /** Behind the right parenthesis of the last row. */
  readonly behind: TextPlace;
  /** Where the next row of constants may begin, if one follows. */
  readonly next: TextPlace | undefined;
}

/** Reads rows one block after the other. */
export class RowScanner {
  private readonly text: string;
  private readonly allowDefault: boolean;
  private readonly kinds: Uint8Array = new Uint8Array(BLOCK_CELLS);
  private readonly starts: Uint32Array = new Uint32Array(BLOCK_CELLS);
  private readonly ends: Uint32Array = new Uint32Array(BLOCK_CELLS);
  private cells = 0;

  /** @param allowDefault whether DEFAULT is a value */
  constructor(text: string, allowDefault: boolean) {
    this.text = text;
    this.allowDefault = allowDefault;
  }

  /** The rows from a left parenthesis on, a block of them; undefined when the first one is no row of plain constants. */
  *blockAt(at: TextPlace): Generator<undefined, FoundRows | undefined> {
    const { text } = this;
    this.cells = 0;
    let width = 0;
    let rowCount = 0;
    let behind = at.offset;
    let next = -1;
    for (let row = at.offset; ; ) {
      const before = this.cells;
      const end = this.rowAt(row);
      if (end < 0 || (rowCount > 0 && this.cells - before !== width)) {
        // One of another width begins a block of its own.
        if (end >= 0) next = row;
        this.cells = before;
        break;
      }
      width = this.cells - before;
      rowCount++;
      behind = end;
      const comma = behindBlanks(text, end);
      next = text.charCodeAt(comma) === COMMA ? behindBlanks(text, comma + 1) : -1;
      if (next >= 0 && text.charCodeAt(next) !== LEFT) next = -1;
      if (next < 0 || this.cells + width > BLOCK_CELLS || end - at.offset > BLOCK_CHARACTERS) break;
      row = next;
    }
    if (rowCount === 0) return undefined;
    const block: ConstantBlock = {
      kind: "constants",
      text,
      rowCount,
      width,
      kinds: this.kinds.slice(0, this.cells),
      starts: this.starts.slice(0, this.cells),
      ends: this.ends.slice(0, this.cells),
      from: at,
    };
    const place = yield* placeBehind(text.slice(at.offset, behind), at);
    return { block, behind: place, next: next < 0 ? undefined : yield* placeBehind(text.slice(behind, next), place) };
  }

  /** Reads one row. @returns what follows it; -1 when it is none of plain constants */
  private rowAt(from: number): number {
    const { text } = this;
    for (let at = from + 1; ; at++) {
      at = behindBlanks(text, at);
      if (this.cells === BLOCK_CELLS) return -1;
      at = this.cellAt(at);
      if (at < 0) return -1;
      this.ends[this.cells++] = at;
      at = behindBlanks(text, at);
      const code = text.charCodeAt(at);
      if (code === RIGHT) return at + 1;
      if (code !== COMMA) return -1;
    }
  }

  /** Reads one constant. @returns what follows it; -1 when there is none */
  private cellAt(at: number): number {
    const { text, cells } = this;
    this.starts[cells] = at;
    const code = text.charCodeAt(at);
    if (code === QUOTE) return this.textAt(at);
    if (code <= NINE) return this.numberAt(at);
    for (const [word, kind] of WORDS) {
      if ((code | 32) !== word.charCodeAt(0)) continue;
      const end = at + word.length;
      if (text.slice(at, end).toLowerCase() !== word || isWordCharacter(text.charCodeAt(end))) return -1;
      this.kinds[cells] = kind;
      return kind === Cell.Default && !this.allowDefault ? -1 : end;
    }
    return -1;
  }

  private textAt(at: number): number {
    const { text, cells } = this;
    this.kinds[cells] = Cell.String;
    for (let from = at + 1; ; ) {
      const end = text.indexOf("'", from);
      if (end < 0 || end - at > TEXT_CHARACTERS_MAX) return -1;
      if (text.charCodeAt(end + 1) !== QUOTE) return end + 1;
      this.kinds[cells] = Cell.QuotedString;
      from = end + 2;
    }
  }

  private numberAt(from: number): number {
    const { text, cells } = this;
    const first = text.charCodeAt(from) === MINUS ? from + 1 : from;
    let at = behindDigits(text, first);
    const whole = at - first;
    let kind: number = whole <= WHOLE_DIGITS_MAX ? Cell.Whole : Cell.Number;
    let digits = whole;
    if (text.charCodeAt(at) === DOT) {
      const point = at;
      at = behindDigits(text, point + 1);
      digits += at - point - 1;
      kind = Cell.Number;
    }
    if (digits === 0) return -1;
    if ((text.charCodeAt(at) | 32) === 101) {
      const sign = text.charCodeAt(at + 1);
      const exponent = sign === MINUS || sign === 43 ? at + 2 : at + 1;
      at = behindDigits(text, exponent);
      if (at === exponent) return -1;
      kind = Cell.Number;
    }
    // More behind it makes another token of it: `1abc`, `1.5.6`, `0x1F`.
    const behind = text.charCodeAt(at);
    if (isWordCharacter(behind) || behind === DOT || at - from > SHORT_MAX) return -1;
    this.kinds[cells] = kind;
    return at;
  }
}

function behindDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at++;
  return at;
}

/** What follows blanks; comments are none, and are left to the lexer, as many blanks are. */
function behindBlanks(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || (code >= 9 && code <= 13); code = text.charCodeAt(at)) {
    if (at - from > SHORT_MAX) return at;
    at++;
  }
  return at;
}

/** Whether a character may go on with a word: letters of all scripts among them. */
function isWordCharacter(code: number): boolean {
  if (code > 127 || code === UNDERSCORE || code === 36 || code === 35 || code === 64) return true;
  return (code >= ZERO && code <= NINE) || ((code | 32) >= 97 && (code | 32) <= 122);
}
