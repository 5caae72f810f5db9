/**
 * Cuts a text into statements at `;`, where that is no part of a string, a quoted name or a comment. Works on a text that grows by lines:
 * what is not ended yet is kept.
 *
 * Quotes are those of `query/sql/tokens/token.ts`: a doubled quote stands for one, a backslash escapes in E'…' only, `$$…$$` and
 * `$tag$…$tag$` hold anything, block comments do not nest.
 */

/** A statement, and the line of the text that it begins on, counted from 1. */
export interface CutStatement {
  /** Without blanks around it and without its `;`. */
  readonly text: string;
  readonly line: number;
}

/** What a text is cut into. */
export interface CutText {
  readonly statements: readonly CutStatement[];
  /** What stands behind the last `;`. */
  readonly rest: string;
  /** Line of the text on which the rest begins. */
  readonly restLine: number;
}

const COMMENT = String.raw`--[^\n]*|/\*[^]*?(?:\*/|$)`;
const QUOTED = String.raw`[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|\x60[^\x60]*(?:\x60|$)`;
const DOLLARS = String.raw`\$([A-Za-z_]\w*|)\$[^]*?(?:\$\1\$|$)`;
/** One token, as far as it matters here; the last alternative is any other character. */
const TOKEN = new RegExp(`${COMMENT}|${QUOTED}|${DOLLARS}|\\w+|[^]`, "g");

/** Cuts a text. @param firstLine the number of its first line */
export function cutStatements(text: string, firstLine: number = 1): CutText {
  const statements: CutStatement[] = [];
  let from = 0;
  let line = firstLine;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token !== ";") continue;
    const whole = text.slice(from, index);
    const begin = whole.search(/\S/);
    if (begin >= 0 && hasCode(whole)) statements.push({ text: whole.trim(), line: line + linesIn(whole.slice(0, begin)) });
    line += linesIn(whole);
    from = index + 1;
  }
  return { statements, rest: text.slice(from), restLine: line };
}

/** The statement that a text ends with, without a `;` behind it; undefined: there are only blanks and comments. */
export function lastStatement({ rest, restLine }: CutText): CutStatement | undefined {
  if (!hasCode(rest)) return undefined;
  return { text: rest.trim(), line: restLine + linesIn(rest.slice(0, rest.search(/\S/))) };
}

/** Whether a text has more than blanks and comments. */
export function hasCode(text: string): boolean {
  return /\S/.test(text.replace(/--[^\n]*|\/\*[^]*?\*\//g, " "));
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
