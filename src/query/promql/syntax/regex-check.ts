/**
 * Whether the values of `=~` and `!~` are regular expressions, and whether they match "".
 *
 * A list of texts, as dashboards make it of chosen values (`a|b|10\.0\.0\.1`), is recognized and never compiled, however long it is.
 */
import { PROMQL_REGEX_CHARACTERS_MAX } from "../../../base/limits.ts";
import { compileLinearRegex } from "../../../base/text/linear-regex.ts";
import { parsed, refused, type Parsed } from "../../../base/text/parsed.ts";

const SPECIAL: ReadonlySet<string> = new Set("\\.+*?()|[]{}^$");
/** What a backslash makes an ordinary character. */
const ESCAPABLE = /^[!-/:-@[-^`{-~]$/;

/** What is known of a pattern. */
interface CheckedRegex {
  readonly matchesEmpty: boolean;
}

/** The regular expressions of one query. */
export class RegexCheck {
  private characters = 0;

  /** What a pattern is, or why it is none. */
  check(pattern: string): Parsed<CheckedRegex> {
    const plain = plainTexts(pattern);
    if (plain !== undefined) return parsed(plain);
    this.characters += pattern.length;
    if (this.characters > PROMQL_REGEX_CHARACTERS_MAX) {
      const most = `more than ${PROMQL_REGEX_CHARACTERS_MAX} characters`;
      return refused(`the regular expressions of the query have ${most}, lists of plain texts left out`);
    }
    const compiled = compileLinearRegex(pattern);
    // A match in "" is all of it: whether the ends are anchored does not matter here.
    if (compiled.ok) return parsed({ matchesEmpty: compiled.value.test("") });
    return refused(compiled.reason.startsWith("error parsing") ? compiled.reason : `regular expression refused: ${compiled.reason}`);
  }
}

/** Undefined when a pattern is more than plain texts with `|` between them. */
function plainTexts(pattern: string): CheckedRegex | undefined {
  let matchesEmpty = false;
  let length = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === "|") {
      matchesEmpty ||= length === 0;
      length = 0;
      continue;
    }
    length++;
    if (!SPECIAL.has(character)) continue;
    if (character !== "\\" || !ESCAPABLE.test(pattern.charAt(at + 1))) return undefined;
    at++;
  }
  return { matchesEmpty: matchesEmpty || length === 0 };
}
