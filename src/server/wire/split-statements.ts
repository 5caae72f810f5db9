/**
 * Statements of a text, cut at the `;` between them: for servers that answer some of them by themselves. Quotes and comments are those of
 * the grammar (`query/sql/tokens/token.ts`). Only the marks are looked at, which one pattern finds: 2 ns a character of an INSERT.
 */

/** One statement of a text. */
export interface StatementText {
  /** Where it begins in the text, blanks and comments before it left out. */
  readonly start: number;
  /** Where it ends: its `;`, or the end of the text. */
  readonly end: number;
}

/** Marks between two turns of others: about five milliseconds. */
const MARKS_AT_ONCE = 64 * 1024;

const NOT_BLANK = /[^\s\u200b]/g;
const DOLLAR_TAG = /\$(?:[A-Za-z_]\w{0,127})?\$/y;
const ESCAPED_TEXT = /'(?:[^'\\]|\\[^]|'')*(?:'|$)/y;
const LINE_END = /[\n\r]|$/g;
const WORD = /[A-Za-z_]\w{0,63}/y;

/** The statements of a text, empty ones left out; yields where others may have a turn. One that is not closed reaches to the end. */
export function* splitStatements(text: string): Generator<undefined, readonly StatementText[]> {
  const found: StatementText[] = [];
  const marks = /['"`;$]|--|\/\*/g;
  let count = 0;
  let start = behindComments(text, 0);
  marks.lastIndex = start;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (++count % MARKS_AT_ONCE === 0) yield;
    const at = mark.index;
    if (mark[0] !== ";") {
      marks.lastIndex = behindMark(text, at, mark[0]);
      continue;
    }
    if (start < at) found.push({ start, end: at });
    start = behindComments(text, at + 1);
    marks.lastIndex = start;
  }
  if (start < text.length) found.push({ start, end: text.length });
  return found;
}

/** What follows the quoted text, the name or the comment that begins there with that mark. */
export function behindMark(text: string, at: number, mark: string): number {
  switch (mark) {
    case "--":
      return indexOf(LINE_END, text, at);
    case "/*":
      return behind(text, "*/", at + 2);
    case "$": {
      if (isWordCharacter(text, at - 1)) return at + 1;
      DOLLAR_TAG.lastIndex = at;
      const tag = DOLLAR_TAG.exec(text)?.[0];
      return tag === undefined ? at + 1 : behind(text, tag, at + tag.length);
    }
    case "'": {
      const isEscaped = /[eE]/.test(text.charAt(at - 1)) && !isWordCharacter(text, at - 2);
      if (!isEscaped) return behind(text, mark, at + 1);
      ESCAPED_TEXT.lastIndex = at;
      return at + (ESCAPED_TEXT.exec(text)?.[0].length ?? text.length - at);
    }
    default:
      return behind(text, mark, at + 1); // A doubled quote begins another one, to the same end.
  }
}

/** Where the first thing stands that is neither a blank nor a comment. */
function behindComments(text: string, from: number): number {
  for (let at = from; ; ) {
    at = indexOf(NOT_BLANK, text, at);
    const mark = text.slice(at, at + 2);
    if (mark !== "--" && mark !== "/*") return at;
    at = behindMark(text, at, mark);
  }
}

/** The first words of a statement in capitals, comments between them left out: as many as there are, up to `count`. */
export function firstWords(text: string, count: number): readonly string[] {
  const words: string[] = [];
  for (let at = behindComments(text, 0); words.length < count; at = behindComments(text, at)) {
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0];
    if (word === undefined) break;
    words.push(word.toUpperCase());
    at += word.length;
  }
  return words;
}

function behind(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
}

function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

function isWordCharacter(text: string, at: number): boolean {
  return at >= 0 && /[\w$]/.test(text.charAt(at));
}
