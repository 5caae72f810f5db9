/** What clients may ask of the language itself: its words, and functions by what they are about. */
import { CALENDAR_FUNCTIONS } from "./function/family/calendar-functions.ts";
import { MATH_FUNCTIONS } from "./function/family/math-functions.ts";
import { SESSION_FUNCTIONS } from "./function/family/session-functions.ts";
import { STRING_FUNCTIONS } from "./function/family/string-functions.ts";
import { TIME_FUNCTIONS } from "./function/family/time-functions.ts";
import { functionNames } from "./function/registry.ts";
import { KEYWORDS } from "./sql/tokens/token.ts";

/** What functions are about. */
type Subject = "numbers" | "texts" | "session" | "times";

const FAMILIES: Readonly<Record<Subject, readonly (readonly { readonly name: string }[])[]>> = {
  numbers: [MATH_FUNCTIONS],
  texts: [STRING_FUNCTIONS],
  session: [SESSION_FUNCTIONS],
  times: [TIME_FUNCTIONS, CALENDAR_FUNCTIONS],
};

/** Words of the grammar, in capitals and in order. */
export const languageWords = (): readonly string[] => [...KEYWORDS.keys()].map((word) => word.toUpperCase()).toSorted();

/** Names of functions that statements may call, in order. */
export function functionsAbout(subject: Subject): readonly string[] {
  const callable = new Set(functionNames());
  const names = FAMILIES[subject].flatMap((family) => family.map(({ name }) => name));
  return [...new Set(names.filter((name) => callable.has(name)))].toSorted();
}
