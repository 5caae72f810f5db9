/** Matchers as tests of one label's value. An absent label is "". */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { compileLinearRegex } from "../../../base/text/linear-regex.ts";
import type { LabelMatcher } from "../syntax/ast.ts";
import { plainAlternatives } from "../syntax/regex/plain-alternatives.ts";

/** Steps of one expression over all values of its label, at 7 ns or so. Reason: the thread that runs them serves everyone. */
const REGEX_STEPS_MAX = 1_000_000_000;
/** Characters of an expression that an error shows. */
const SHOWN_CHARACTERS_MAX = 80;

/** Whether a series with this value is taken. */
export type LabelTest = (value: string) => boolean;

/** The values that a matcher takes, where they are a list; undefined: they are told by `labelTest` alone. */
export function wantedValues({ operator, value }: LabelMatcher): readonly string[] | undefined {
  if (operator === "=") return [value];
  return operator === "=~" ? plainAlternatives(value) : undefined;
}

/** What a matcher says, expressions anchored at both ends. @throws DbError InvalidArguments, by the test also, when one takes too long */
export function labelTest(matcher: LabelMatcher): LabelTest {
  const { operator, value } = matcher;
  if (operator === "=") return (text) => text === value;
  if (operator === "!=") return (text) => text !== value;
  const isWanted = operator === "=~";
  const plain = plainAlternatives(value);
  if (plain !== undefined) {
    const texts = new Set(plain);
    return (text) => texts.has(text) === isWanted;
  }
  const compiled = compileLinearRegex(`^(?:${value})$`, { dotAll: true });
  if (!compiled.ok) throw refusal(matcher, compiled.reason);
  const regex = compiled.value;
  let steps = 0;
  return (text) => {
    steps += (text.length + 1) * regex.programSize;
    if (steps > REGEX_STEPS_MAX) throw refusal(matcher, "it takes too many steps over the values of its label; add a matcher by =");
    return regex.test(text) === isWanted;
  };
}

function refusal({ name, operator, value }: LabelMatcher, why: string): DbError {
  const shown = value.length > SHOWN_CHARACTERS_MAX ? `${value.slice(0, SHOWN_CHARACTERS_MAX)}…` : value;
  return new DbError(StatusCode.InvalidArguments, `cannot run the matcher ${name}${operator}"${shown}": ${why}`);
}
