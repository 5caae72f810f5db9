/**
 * Whether the values of `=~` and `!~` are regular expressions, and whether they match "".
 */
import { PROMQL_REGEX_CHARACTERS_MAX } from "../../../../base/limits.ts";
import { compileLinearRegex } from "../../../../base/text/linear-regex.ts";
import { parsed, refused, type Parsed } from "../../../../base/text/parsed.ts";
import { plainAlternatives } from "./plain-alternatives.ts";

/** What is known of a pattern. */
interface CheckedRegex {
  readonly matchesEmpty: boolean;
}

/** The regular expressions of one query. */
export class RegexCheck {
  private characters = 0;

  /** What a pattern is, or why it is none. */
  check(pattern: string): Parsed<CheckedRegex> {
    const plain = plainAlternatives(pattern);
    if (plain !== undefined) return parsed({ matchesEmpty: plain.includes("") });
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
