/** The error of a call that no form of its function takes: which argument is wrong, or that there are too few or too many. */
import { DbError } from "../../../base/error.ts";
import { type DataType, displayName, NULL } from "../../../column/data-type.ts";
import { planError } from "./plan-error.ts";

/** What is asked of a function here. */
interface Resolving {
  readonly signature: string;
  readonly resolve: (args: readonly DataType[]) => unknown;
}

/** Counts of arguments that are tried. Functions of any number take this many too. */
const COUNT_MAX = 8;

/** @param name as the client wrote it */
export function noMatch(name: string, found: Resolving, given: readonly DataType[]): Error {
  const call = `${name}(${given.map(displayName).join(", ")})`;
  const why = reasonOf(found, given);
  return planError(`No function matches ${call}; use ${found.signature}. ${why}You might need to add explicit type casts.`);
}

function reasonOf(found: Resolving, given: readonly DataType[]): string {
  const counts = Array.from({ length: COUNT_MAX + 1 }, (_, i) => i).filter((count) => takes(found, new Array<DataType>(count).fill(NULL)));
  if (counts.length > 0 && !counts.includes(given.length) && given.length <= COUNT_MAX) {
    const one = counts.length === 1 && counts[0] === 1;
    const takes = counts.includes(COUNT_MAX) ? `at least ${counts[0]}` : counts.join(" or ");
    return `It takes ${takes} argument${one ? "" : "s"}, not ${given.length}. `;
  }
  // NULL goes with every type: where it helps, the argument in its place is the wrong one.
  const wrong = given.findIndex((type, i) => type.kind !== "null" && takes(found, given.with(i, NULL)));
  const type = given[wrong];
  return type === undefined ? "" : `Argument ${wrong + 1} cannot be ${displayName(type)}${given.length > 1 ? " here" : ""}. `;
}

function takes(found: Resolving, args: readonly DataType[]): boolean {
  try {
    return found.resolve(args) !== undefined;
  } catch (thrown) {
    if (thrown instanceof DbError) return false; // Some functions refuse NULL alone in words of their own.
    throw thrown;
  }
}
