/**
 * Regular expressions in time linear in the text, for patterns that come from outside: the runtime's own engine goes back and forth
 * (`(a+)+$` takes 2 s on one text of 28 letters). The dialect is RE2's, which is that of Rust's `regex` crate but for a few escapes.
 *
 * Limits: `LINEAR_REGEX_PROGRAM_MAX`.
 */
import { RE2JS } from "re2js";
import { errorText } from "../error.ts";
import { LINEAR_REGEX_PROGRAM_MAX } from "../limits.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/** Characters of the engine's complaint that are shown: it may quote the pattern. */
const SHOWN_CHARACTERS_MAX = 200;

/** How an expression reads texts; all are off unless said. */
export interface RegexFlags {
  readonly insensitive?: boolean;
  /** `.` meets line ends, too. */
  readonly dotAll?: boolean;
  /** `^` and `$` meet the borders of lines. */
  readonly multiline?: boolean;
}

/** One match: where it lies and its groups, the whole first; a group that took no part is undefined. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

/** A compiled expression. Offsets count UTF-16 units. */
export interface Regex {
  readonly groupCount: number;
  /** Instructions: a measure of the time that a character takes. */
  readonly programSize: number;
  /** Named groups and their numbers. */
  readonly names: readonly (readonly [name: string, group: number])[];
  test(text: string): boolean;
  /** The matches from left to right, until `take` gives false. */
  each(text: string, take: (match: RegexMatch) => boolean): void;
  /** Groups of the first match, the whole first; undefined when there is none. */
  first(text: string): readonly (string | undefined)[] | undefined;
  /** What lies between the matches. */
  split(text: string): readonly string[];
  /** The text with its matches replaced, `countMax` of them at most (all unless said). */
  replaceAll(text: string, replacement: (groups: readonly (string | undefined)[]) => string, countMax?: number): string;
}

/** Compiles a pattern, or says why it is none. */
export function compileLinearRegex(pattern: string, flags: RegexFlags = {}): Parsed<Regex> {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern.replaceAll(/\\u\{/g, "\\x{"), flagBits(flags));
  } catch (error) {
    return refused(errorText(error, SHOWN_CHARACTERS_MAX));
  }
  const programSize = compiled.programSize();
  if (programSize > LINEAR_REGEX_PROGRAM_MAX) return refused(`it makes more than ${LINEAR_REGEX_PROGRAM_MAX} instructions`);
  return parsed(new LinearRegex(compiled, programSize));
}

function flagBits({ insensitive, dotAll, multiline }: RegexFlags): number {
  const bit = (isOn: boolean | undefined, flag: number): number => (isOn === true ? flag : 0);
  return bit(insensitive, RE2JS.CASE_INSENSITIVE) | bit(dotAll, RE2JS.DOTALL) | bit(multiline, RE2JS.MULTILINE);
}

class LinearRegex implements Regex {
  readonly groupCount: number;
  readonly programSize: number;
  readonly names: readonly (readonly [name: string, group: number])[];
  private readonly compiled: RE2JS;

  constructor(compiled: RE2JS, programSize: number) {
    this.compiled = compiled;
    this.programSize = programSize;
    this.groupCount = compiled.groupCount();
    this.names = Object.entries(compiled.namedGroups()).map(([name, group]) => [name, Number(group)] as const);
  }

  test(text: string): boolean {
    return this.compiled.test(text);
  }

  each(text: string, take: (match: RegexMatch) => boolean): void {
    const matcher = this.compiled.matcher(text);
    let lastEnd = -1;
    while (matcher.find()) {
      // An empty match right behind another one is none, as in RE2 and Rust.
      if (matcher.end() === lastEnd && matcher.start() === lastEnd) continue;
      lastEnd = matcher.end();
      const groups: (string | undefined)[] = [];
      for (let i = 0; i <= this.groupCount; i++) groups.push(matcher.group(i) ?? undefined);
      if (!take({ start: matcher.start(), end: matcher.end(), groups })) return;
    }
  }

  first(text: string): readonly (string | undefined)[] | undefined {
    let found: readonly (string | undefined)[] | undefined;
    this.each(text, ({ groups }) => {
      found = groups;
      return false;
    });
    return found;
  }

  split(text: string): readonly string[] {
    const parts: string[] = [];
    let at = 0;
    this.each(text, ({ start, end }) => {
      parts.push(text.slice(at, start));
      at = end;
      return true;
    });
    return [...parts, text.slice(at)];
  }

  replaceAll(
    text: string,
    replacement: (groups: readonly (string | undefined)[]) => string,
    countMax: number = Number.POSITIVE_INFINITY,
  ): string {
    let out = "";
    let at = 0;
    let count = 0;
    this.each(text, ({ start, end, groups }) => {
      out += text.slice(at, start) + replacement(groups);
      at = end;
      count++;
      return count < countMax;
    });
    return out + text.slice(at);
  }
}

/** A replacement with `$1`, `$name`, `${name}` and `$$`: texts and numbers of groups, of which those that do not exist are empty. */
export function replacementParts(text: string, regex: Pick<Regex, "names">): readonly (string | number)[] {
  const numbers = new Map(regex.names);
  const parts: (string | number)[] = [];
  let at = 0;
  for (const found of text.matchAll(/\$(?:\$|(\w+)|\{([^}]*)\})/g)) {
    parts.push(text.slice(at, found.index));
    at = found.index + found[0].length;
    const name = found[1] ?? found[2];
    if (name === undefined) parts.push("$");
    else parts.push(/^\d{1,5}$/.test(name) ? Number(name) : (numbers.get(name) ?? Number.MAX_SAFE_INTEGER));
  }
  parts.push(text.slice(at));
  return parts;
}

/** The same as a function of a match's groups, the whole first. */
export function compileReplacement(text: string, regex: Pick<Regex, "names">): (groups: readonly (string | undefined)[]) => string {
  const parts = replacementParts(text, regex);
  if (parts.length === 1) return () => String(parts[0]);
  return (groups) => parts.map((part) => (typeof part === "string" ? part : (groups[part] ?? ""))).join("");
}
