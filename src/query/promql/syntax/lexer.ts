/**
 * Query text to tokens, one at a time and only when asked: an error behind the place where the parser stops is never met. Comments and
 * blanks are left out.
 *
 * There are three dialects: that of expressions, that within braces, where all words are names, and that of a duration, which begins behind
 * a `[` and ends with the first number: behind that, words other than those of durations are refused by name.
 */
import { PROMQL_NUMBER_CHARACTERS_MAX, PROMQL_TOKENS_MAX } from "../../../base/limits.ts";
import { scanNumber } from "./number-scan.ts";
import { quoted, quotedCharacter } from "./quoting.ts";
import { Refusal } from "./refusal.ts";
import { scanRawString, scanString } from "./string-scan.ts";
import { isTimeWord, type Token, type TokenKind, wordKind } from "./token.ts";

/** Letters that begin `step`, `range`, `min_of` and `max_of`. */
const DURATION_LETTERS = /^[smrSMR]$/;
const WORD_START = /^[A-Za-z_]$/;
const DIGIT = /^\d$/;
const WORD = /[A-Za-z0-9_]+/y;
const METRIC = /[A-Za-z0-9_:]+/y;
/** In brackets a word ends at a digit. */
const DURATION_WORD = /[A-Za-z_]+/y;
const BLANKS = /[ \t\r\n]+/y;
const COMMENT = /#[^\r\n]*/y;
const BEFORE_PAREN = /[ \t\r\n]*\(/y;

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** See the file header. */
export class Lexer {
  private readonly text: string;
  private at = 0;
  private count = 0;
  private parenDepth = 0;
  private isInBraces = false;
  private isInBrackets = false;
  /** In brackets, before a number. */
  private isInDuration = false;
  private hasDuration = false;
  private hasColon = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The next token; behind the last one, `eof` again and again. @throws Refusal */
  next(): Token {
    this.skip();
    if (++this.count > PROMQL_TOKENS_MAX) throw this.refusal(`the query has more than ${PROMQL_TOKENS_MAX} words, names and signs`);
    if (this.isInBraces) return this.inBraces();
    return this.isInDuration ? this.inDuration() : this.inExpression();
  }

  private skip(): void {
    const { text } = this;
    for (;;) {
      const start = this.at;
      this.at = endOf(BLANKS, text, this.at);
      if (!this.isInDuration) this.at = endOf(COMMENT, text, this.at);
      if (this.at === start) return;
    }
  }

  private character(ahead = 0): string {
    const point = this.text.codePointAt(this.at + ahead);
    return point === undefined ? "" : String.fromCodePoint(point);
  }

  /** @param start of the token that cannot be read; the place is from there to the end of the text */
  private refusal(what: string, start: number = this.at): Refusal {
    return new Refusal(what, { start, end: this.text.length });
  }

  private token(kind: TokenKind, end: number): Token {
    const start = this.at;
    this.at = end;
    return { kind, text: this.text.slice(start, end), start, end };
  }

  private sign(kind: TokenKind): Token {
    return this.token(kind, this.at + kind.length);
  }

  private inExpression(): Token {
    const first = this.character();
    switch (first) {
      case "":
        return this.end();
      case ",":
      case "*":
      case "/":
      case "%":
      case "+":
      case "-":
      case "^":
      case "@":
        return this.sign(first);
      case "=":
        if (this.character(1) === "~") throw this.refusal("unexpected character after '=': '~'");
        return this.sign(this.character(1) === "=" ? "==" : "=");
      case "!":
        if (this.character(1) === "=") return this.sign("!=");
        throw this.refusal(`unexpected character after '!': ${quotedCharacter(this.character(1))}`);
      case "<":
        return this.sign(this.character(1) === "=" ? "<=" : this.character(1) === "/" ? "</" : "<");
      case ">":
        return this.sign(this.character(1) === "=" ? ">=" : this.character(1) === "/" ? ">/" : ">");
      case "(":
      case ")":
        return this.paren(first);
      case "{":
        this.isInBraces = true;
        return this.sign("{");
      case "[":
      case "]":
        return this.bracket(first);
      default:
        return this.literalOrWord(first);
    }
  }

  private end(): Token {
    if (this.parenDepth > 0) throw this.refusal("unclosed left parenthesis");
    if (this.isInBrackets) throw this.refusal("unclosed left bracket");
    return this.token("eof", this.at);
  }

  private paren(first: "(" | ")"): Token {
    this.parenDepth += first === "(" ? 1 : -1;
    if (this.parenDepth < 0) throw this.refusal("unexpected right parenthesis ')'", this.at + 1);
    return this.sign(first);
  }

  private bracket(first: "[" | "]"): Token {
    if (first === "]") {
      if (!this.isInBrackets) throw this.refusal("unexpected right bracket ']'");
      this.isInBrackets = false;
      this.isInDuration = false;
      return this.sign("]");
    }
    if (this.isInBrackets) throw this.refusal("unexpected left bracket '['");
    this.isInBrackets = true;
    this.isInDuration = true;
    this.hasDuration = false;
    this.hasColon = false;
    return this.sign("[");
  }

  private literalOrWord(first: string): Token {
    if (DIGIT.test(first) || (first === "." && DIGIT.test(this.character(1)))) return this.numberOrDuration();
    if (first === '"' || first === "'") return this.token("string", scanString(this.text, this.at));
    if (first === "`") return this.token("string", scanRawString(this.text, this.at));
    if (first !== ":" && !WORD_START.test(first)) throw this.refusal(`unexpected character: ${quotedCharacter(first)}`);
    return this.isInBrackets ? this.behindDuration(first) : this.word();
  }

  private word(): Token {
    const end = endOf(METRIC, this.text, this.at);
    const word = this.text.slice(this.at, end);
    const kind = wordKind(word) ?? (word.includes(":") ? "metric" : "identifier");
    // A metric may be called `fill`.
    if ((kind === "fill" || kind === "fill_left" || kind === "fill_right") && endOf(BEFORE_PAREN, this.text, end) === end)
      return this.token("identifier", end);
    return this.token(kind, end);
  }

  private numberOrDuration(): Token {
    this.isInDuration = false;
    const { kind, end } = scanNumber(this.text, this.at);
    if (end - this.at > PROMQL_NUMBER_CHARACTERS_MAX)
      throw this.refusal(`a number or a duration has more than ${PROMQL_NUMBER_CHARACTERS_MAX} characters`);
    if (kind === "neither") throw this.refusal(`bad number or duration syntax: ${quoted(this.text.slice(this.at, end))}`);
    return this.token(kind, end);
  }

  /** A colon or a word in brackets behind a number. */
  private behindDuration(first: string): Token {
    if (first === ":") {
      if (this.hasColon) throw this.refusal("unexpected colon ':'");
      this.hasColon = true;
      return this.sign(":");
    }
    const word = this.durationWord(first);
    if (word === undefined) throw this.refusal(`unexpected character: ${quotedCharacter(first)}, expected ':'`);
    return word;
  }

  private durationWord(first: string): Token | undefined {
    if (!DURATION_LETTERS.test(first)) return undefined;
    const end = endOf(DURATION_WORD, this.text, this.at);
    const kind = wordKind(this.text.slice(this.at, end));
    return kind === undefined || !isTimeWord(kind) || kind === "start" ? undefined : this.token(kind, end);
  }

  private inDuration(): Token {
    const first = this.character();
    if (first === "") throw this.refusal("unexpected end of input in duration expression");
    if (first === "]") return this.bracket("]");
    if (first === "(" || first === ")") return this.paren(first);
    if (first === ":") {
      if (!this.hasDuration) throw this.refusal("unexpected colon before duration in duration expression", this.at + 1);
      if (this.hasColon) throw this.refusal("unexpected repeated colon in duration expression", this.at + 1);
      this.hasColon = true;
      return this.sign(":");
    }
    if (first === "+" || first === "-" || first === "*" || first === "/" || first === "%" || first === "^" || first === ",")
      return this.sign(first);
    if (DIGIT.test(first) || (first === "." && DIGIT.test(this.character(1)))) {
      this.hasDuration = true;
      return this.numberOrDuration();
    }
    const word = this.durationWord(first);
    if (word === undefined) throw this.refusal(`unexpected character in duration expression: ${quotedCharacter(first)}`);
    this.hasDuration = true;
    return word;
  }

  private inBraces(): Token {
    const first = this.character();
    switch (first) {
      case "":
        throw this.refusal("unexpected end of input inside braces");
      case ",":
        return this.sign(",");
      case '"':
      case "'":
        return this.token("string", scanString(this.text, this.at));
      case "`":
        return this.token("string", scanRawString(this.text, this.at));
      case "=":
        return this.sign(this.character(1) === "~" ? "=~" : "=");
      case "!": {
        const second = this.character(1);
        if (second === "~" || second === "=") return this.sign(second === "~" ? "!~" : "!=");
        throw this.refusal(`unexpected character after '!' inside braces: ${quotedCharacter(second)}`);
      }
      case "{":
        throw this.refusal("unexpected left brace '{'");
      case "}":
        this.isInBraces = false;
        return this.sign("}");
      default:
        if (WORD_START.test(first)) return this.token("identifier", endOf(WORD, this.text, this.at));
        throw this.refusal(`unexpected character inside braces: ${quotedCharacter(first)}`);
    }
  }
}
