/**
 * Regular expressions of label matchers, in RE2's dialect, which is that of Prometheus, and in time linear in the text: the runtime's own
 * engine goes back and forth (`(a+)+$` takes 2 s on one text of 28 letters), and anyone who may read sends them.
 */
import { RE2JS } from "re2js";
import { invalid } from "./failure.ts";
import { READ_REGEX_PROGRAM_MAX, READ_REGEX_STEPS_MAX } from "./limits.ts";

/** A test whether a text holds a match of an expression; `.` meets line ends, too. @throws DbError InvalidArguments for one that is none */
export function matcherRegex(pattern: string): (text: string) => boolean {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern, RE2JS.DOTALL);
  } catch (error) {
    throw invalid(
      `cannot compile regular expression '${shown(pattern)}': ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`,
    );
  }
  const size = compiled.programSize();
  if (size > READ_REGEX_PROGRAM_MAX) {
    throw invalid(`regular expression '${shown(pattern)}' makes more than ${READ_REGEX_PROGRAM_MAX} instructions`);
  }
  let steps = 0;
  return (text) => {
    steps += (text.length + 1) * size;
    if (steps > READ_REGEX_STEPS_MAX) {
      throw invalid(`regular expression '${shown(pattern)}' takes too many steps over the values of its label; add a matcher by =`);
    }
    return compiled.test(text);
  };
}

function shown(pattern: string): string {
  return pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
}
