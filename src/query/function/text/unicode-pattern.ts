/**
 * Patterns as the SQL functions read them, in the dialect of the engine that runs them (`base/text/linear-regex.ts`): there `\w`, `\d` and
 * `\s` are of ASCII, here they are of Unicode, as in the `regex` crate of Rust. Borders of words (`\b`) stay those of ASCII.
 * Source: https://docs.rs/regex/latest/regex/#syntax
 */

/** What the classes list, for use inside and outside of brackets. */
const CLASSES: Readonly<Record<string, string>> = {
  w: String.raw`\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}`,
  d: String.raw`\p{Nd}`,
  s: String.raw`\t\n\x0b\f\r\x{85}\p{Z}`,
};

/** The same pattern in the engine's dialect. @param isVerbose blanks and comments outside of brackets mean nothing */
export function unicodePattern(pattern: string, isVerbose: boolean): string {
  if (!isVerbose && !/\\[wds]/i.test(pattern)) return pattern;
  let [result, inList, at] = ["", false, 0];
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    if (character === "\\") {
      const next = pattern.charAt(at + 1);
      result += classOf(next, inList) ?? character + next;
      at += 2;
      continue;
    }
    if (isVerbose && !inList && /\s/.test(character)) {
      at++;
      continue;
    }
    if (isVerbose && !inList && character === "#") {
      while (at < pattern.length && pattern.charAt(at) !== "\n") at++;
      continue;
    }
    if (inList && character === "]") inList = false;
    else if (!inList && character === "[") {
      const opening = /^\[\^?\]?/.exec(pattern.slice(at))?.[0] ?? "[";
      result += opening;
      at += opening.length;
      inList = true;
      continue;
    } else if (inList && pattern.startsWith("[:", at)) {
      const end = pattern.indexOf(":]", at);
      const named = end < 0 ? character : pattern.slice(at, end + 2);
      result += named;
      at += named.length;
      continue;
    }
    result += character;
    at++;
  }
  return result;
}

/** A class by its letter. What is in none of several cannot be said inside brackets but by negation, which `\W` there is not. */
function classOf(letter: string, inList: boolean): string | undefined {
  const listed = CLASSES[letter];
  if (listed !== undefined) return inList ? listed : `[${listed}]`;
  const negated = CLASSES[letter.toLowerCase()];
  if (negated === undefined) return undefined;
  if (letter === "D") return inList ? String.raw`\P{Nd}` : `[^${negated}]`;
  return inList ? undefined : `[^${negated}]`;
}
