/**
 * Regular expressions in the dialect of Rust's `regex` crate, in time linear in the text: RE2 runs them, since a pattern that a user stores
 * runs on text that anyone sends.
 */
import { RE2JS } from "re2js";
import { failure } from "./failure.ts";
import { REGEX_PROGRAM_MAX } from "./limits.ts";

/** A compiled expression. */
export interface Regex {
  readonly groupCount: number;
  /** Named groups and their numbers. */
  readonly names: readonly (readonly [name: string, group: number])[];
  test(text: string): boolean;
  /** Groups of the first match, the whole first; undefined when there is none. */
  first(text: string): readonly (string | undefined)[] | undefined;
  /** What lies between the matches. */
  split(text: string): readonly string[];
  /** The text with every match replaced. */
  replaceAll(text: string, replacement: (groups: readonly (string | undefined)[]) => string): string;
}

/** Compiles a pattern. @throws DbError InvalidArguments, the text begins with `what` */
export function compileRegex(pattern: string, what: string): Regex {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern.replaceAll(/\\u\{/g, "\\x{"));
  } catch (error) {
    throw failure(`${what}: cannot compile the pattern '${pattern}': ${error instanceof Error ? error.message : String(error)}`);
  }
  if (compiled.programSize() > REGEX_PROGRAM_MAX) {
    throw failure(`${what}: cannot compile the pattern '${pattern}': it makes more than ${REGEX_PROGRAM_MAX} instructions`);
  }
  const names = Object.entries(compiled.namedGroups()).map(([name, group]) => [name, Number(group)] as const);
  const groupCount = compiled.groupCount();
  const groupsOf = (matcher: ReturnType<RE2JS["matcher"]>): (string | undefined)[] => {
    const groups: (string | undefined)[] = [];
    for (let i = 0; i <= groupCount; i++) groups.push(matcher.group(i) ?? undefined);
    return groups;
  };
  return {
    groupCount,
    names,
    test: (text) => compiled.test(text),
    first: (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? groupsOf(matcher) : undefined;
    },
    split: (text) => {
      const matcher = compiled.matcher(text);
      const parts: string[] = [];
      let at = 0;
      while (matcher.find()) {
        parts.push(text.slice(at, matcher.start()));
        at = matcher.end();
      }
      return [...parts, text.slice(at)];
    },
    replaceAll: (text, replacement) => {
      const matcher = compiled.matcher(text);
      let out = "";
      let at = 0;
      while (matcher.find()) {
        out += text.slice(at, matcher.start()) + replacement(groupsOf(matcher));
        at = matcher.end();
      }
      return out + text.slice(at);
    },
  };
}

/** A replacement with `$1`, `$name`, `${name}` and `$$`; groups that do not exist are empty. */
export function compileReplacement(text: string, regex: Regex): (groups: readonly (string | undefined)[]) => string {
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
  if (at === 0) return () => text;
  return (groups) => parts.map((part) => (typeof part === "string" ? part : (groups[part] ?? ""))).join("");
}
