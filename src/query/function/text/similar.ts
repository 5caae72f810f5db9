/**
 * `SIMILAR TO` patterns, SQL:2003: the whole text must match. `%` stands for any text, `_` for one character, `|` for either, `* + ? {m,n}`
 * repeat, `( )` group, `[ ]` list characters, and a backslash takes the meaning from the next character. Dots, `^` and `$` mean themselves.
 */
import { DbError } from "../../../base/error.ts";
import { compileLinearRegex, type Regex } from "../../../base/text/linear-regex.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Characters that mean the same in a regular expression. */
const OPERATORS: ReadonlySet<string> = new Set("|*+?{}()");

/** A test of texts. @throws DbError EngineExecuteQuery for a pattern that is none */
export function similarTest(pattern: string): (text: string) => boolean {
  if (pattern !== last?.pattern) last = { pattern, regex: regexOf(pattern) };
  const { regex } = last;
  return (text) => regex.test(text);
}

/** The pattern of the rows before, which is nearly always that of the next. */
let last: { readonly pattern: string; readonly regex: Regex } | undefined;

function regexOf(pattern: string): Regex {
  const compiled = compileLinearRegex(`^(?:${sourceOf(pattern)})$`, { dotAll: true });
  if (!compiled.ok) throw invalid(pattern, compiled.reason);
  return compiled.value;
}

function sourceOf(pattern: string): string {
  const characters = [...pattern];
  let source = "";
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === "%") source += ".*";
    else if (character === "_") source += ".";
    else if (character === "\\") source += literal(escaped(characters[++i], pattern));
    else if (character === "[") {
      const end = closing(characters, i, pattern);
      source += listOf(characters.slice(i + 1, end), pattern);
      i = end;
    } else if (character === "(") source += "(?:";
    else source += OPERATORS.has(character) ? character : literal(character);
  }
  return source;
}

function escaped(character: string | undefined, pattern: string): string {
  if (character === undefined) throw invalid(pattern, "it ends with an escape");
  return character;
}

/** Where the list that begins at `from` ends. A bracket right behind the opening one is a character of the list. */
function closing(characters: readonly string[], from: number, pattern: string): number {
  let at = from + 1;
  if (characters[at] === "^") at++;
  if (characters[at] === "]") at++;
  for (; at < characters.length; at++) {
    if (characters[at] === "\\") at++;
    else if (characters[at] === "[" && characters[at + 1] === ":") at = Math.max(at, characters.indexOf("]", at));
    else if (characters[at] === "]") return at;
  }
  throw invalid(pattern, "a [ has no ]");
}

/** Named lists of characters. */
const CLASSES: Readonly<Record<string, string>> = {
  alpha: "\\p{L}",
  digit: "\\p{Nd}",
  alnum: "\\p{L}\\p{Nd}",
  upper: "\\p{Lu}",
  lower: "\\p{Ll}",
  space: "\\s",
};

function listOf(characters: readonly string[], pattern: string): string {
  const isNegated = characters[0] === "^";
  const named = characters.slice(isNegated ? 1 : 0).join("");
  const parts = named.split(/\[:(\w+):\]/);
  const inner = parts.map((part, i) => (i % 2 === 0 ? listed(part) : (CLASSES[part] ?? unknownClass(part, pattern))));
  return `[${isNegated ? "^" : ""}${inner.join("")}]`;
}

/** Characters and ranges of a list, with what a list of a regular expression reserves escaped. */
function listed(part: string): string {
  return part.replace(/\\([^])|[[\]^&~`!#$%*+,./:;<=>?@{}()|"']/g, (found, character: string | undefined) => literal(character ?? found));
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(character) ? `\\${character}` : character;
}

function unknownClass(name: string, pattern: string): never {
  throw invalid(pattern, `there is no class [:${name}:]`);
}

function invalid(pattern: string, why: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `cannot match SIMILAR TO '${pattern}': ${why}`);
}
