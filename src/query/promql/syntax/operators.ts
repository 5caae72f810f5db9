/**
 * Operators and aggregations as parser, checker and printer know them.
 */

/** Operators with two operands. `</` and `>/` cut histograms. */
export const BINARY_OPERATORS = {
  or: { precedence: 1, family: "set" },
  and: { precedence: 2, family: "set" },
  unless: { precedence: 2, family: "set" },
  "==": { precedence: 3, family: "comparison" },
  "!=": { precedence: 3, family: "comparison" },
  "<": { precedence: 3, family: "comparison" },
  "<=": { precedence: 3, family: "comparison" },
  ">": { precedence: 3, family: "comparison" },
  ">=": { precedence: 3, family: "comparison" },
  "</": { precedence: 3, family: "trim" },
  ">/": { precedence: 3, family: "trim" },
  "+": { precedence: 4, family: "arithmetic" },
  "-": { precedence: 4, family: "arithmetic" },
  "*": { precedence: 5, family: "arithmetic" },
  "/": { precedence: 5, family: "arithmetic" },
  "%": { precedence: 5, family: "arithmetic" },
  atan2: { precedence: 5, family: "arithmetic" },
  "^": { precedence: 6, family: "arithmetic" },
} as const;
/** See there. */
export type BinaryOperator = keyof typeof BINARY_OPERATORS;

/** Precedence of a sign: it binds as `*` does, so that `-1 ^ 2` is -1. */
export const SIGN_PRECEDENCE = 5;

/** `2 ^ 3 ^ 2` is `2 ^ (3 ^ 2)`; all others group from the left. */
export function groupsFromRight(operator: BinaryOperator): boolean {
  return operator === "^";
}

/** Aggregations and the type of the parameter that stands before the vector. */
export const AGGREGATORS = {
  avg: undefined,
  bottomk: "scalar",
  count: undefined,
  count_values: "string",
  group: undefined,
  limit_ratio: "scalar",
  limitk: "scalar",
  max: undefined,
  min: undefined,
  quantile: "scalar",
  stddev: undefined,
  stdvar: undefined,
  sum: undefined,
  topk: "scalar",
} as const;
/** See there. */
export type Aggregator = keyof typeof AGGREGATORS;
