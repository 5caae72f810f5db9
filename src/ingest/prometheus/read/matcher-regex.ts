/** Regular expressions of label matchers, in RE2's dialect, which is that of Prometheus, and in time linear in the text. */
import { compileLinearRegex } from "../../../base/text/linear-regex.ts";
import { invalid } from "../failure.ts";
import { READ_REGEX_STEPS_MAX } from "../limits.ts";

/** A test whether a text holds a match of an expression; `.` meets line ends, too. @throws DbError InvalidArguments for one that is none */
export function matcherRegex(pattern: string): (text: string) => boolean {
  const compiled = compileLinearRegex(pattern, { dotAll: true });
  if (!compiled.ok) throw invalid(`cannot compile regular expression '${shown(pattern)}': ${compiled.reason}`);
  const regex = compiled.value;
  let steps = 0;
  return (text) => {
    steps += (text.length + 1) * regex.programSize;
    if (steps > READ_REGEX_STEPS_MAX) {
      throw invalid(`regular expression '${shown(pattern)}' takes too many steps over the values of its label; add a matcher by =`);
    }
    return regex.test(text);
  };
}

function shown(pattern: string): string {
  return pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
}
