/** Text of a VRL program to tokens. Line ends are tokens, since they end expressions. */
import { failure } from "../failure.ts";

/** A piece of the program. */
export interface Token {
  readonly kind: "name" | "int" | "float" | "string" | "raw" | "regex" | "time" | "punct" | "newline" | "end";
  /** What it stands for: quotes are gone, escapes are not. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const BLANK = /[ \t\r]+|#[^\n]*/y;
const PATTERNS: readonly (readonly [Token["kind"], RegExp])[] = [
  ["newline", /\n/y],
  ["raw", /s'((?:[^'\\]|\\[\s\S])*)'/y],
  ["regex", /r'((?:[^'\\]|\\[\s\S])*)'/y],
  ["time", /t'((?:[^'\\]|\\[\s\S])*)'/y],
  ["name", /[A-Za-z_@][A-Za-z0-9_@]*/y],
  ["float", /\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d+)?/y],
  ["int", /\d[\d_]*/y],
  ["string", /"((?:[^"\\]|\\[\s\S])*)"/y],
  ["punct", /->|\|\||&&|\?\?|==|!=|<=|>=|\|=|[-+*/=<>!(){}[\],.:;|%?^~]/y],
];

/** The tokens of a program, the last of kind "end". @throws DbError InvalidArguments */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    BLANK.lastIndex = at;
    const blank = BLANK.exec(source);
    if (blank !== null) {
      at += blank[0].length;
      continue;
    }
    const token = tokenAt(source, at);
    if (token === undefined) throw compileError(source, at, `unexpected '${source.charAt(at)}'`);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", text: "", start: at, end: at });
  return tokens;
}

function tokenAt(source: string, at: number): Token | undefined {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) return { kind, text: found[1] ?? found[0], start: at, end: at + found[0].length };
  }
  return undefined;
}

/** The error of a program at a place, with line and column from 1. */
export function compileError(source: string, at: number, why: string): Error {
  const before = source.slice(0, at).split("\n");
  return failure(`Failed to compile VRL, ${why} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", "\n": "" };

/** The characters that a string with escapes stands for. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u\{([0-9a-fA-F]{1,6})\}|([\s\S]))/g, (_, code: string | undefined, character: string) => {
    if (code === undefined) return ESCAPES[character] ?? character;
    const point = Number.parseInt(code, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  });
}
