/**
 * How tightly operators bind, shared by the parser (which climbs these powers) and the printer (which puts parentheses where they
 * are needed). All binary operators are left-associative. The order is that of PostgreSQL, with the bit operators told apart as in C.
 */
import type { BinaryOperator } from "./ast.ts";

/** Binding powers, loosest first. */
export const Power = {
  none: 0,
  or: 1,
  and: 2,
  not: 3,
  is: 4,
  comparison: 5,
  /** BETWEEN, IN, LIKE and the operators that match text. */
  predicate: 6,
  concat: 7,
  bitOr: 8,
  bitXor: 9,
  bitAnd: 10,
  shift: 11,
  sum: 12,
  product: 13,
  /** Prefix `-`, `+` and `~`. */
  sign: 14,
  zone: 15,
  cast: 16,
  primary: 17,
} as const;

/** Power of each binary operator. A missing operator is a compile error. */
export const OPERATOR_POWER: Readonly<Record<BinaryOperator, number>> = {
  or: Power.or,
  and: Power.and,
  "=": Power.comparison,
  "<>": Power.comparison,
  "<": Power.comparison,
  "<=": Power.comparison,
  ">": Power.comparison,
  ">=": Power.comparison,
  "~": Power.predicate,
  "~*": Power.predicate,
  "!~": Power.predicate,
  "!~*": Power.predicate,
  "@@": Power.predicate,
  "@>": Power.predicate,
  "<@": Power.predicate,
  "similar to": Power.predicate,
  "not similar to": Power.predicate,
  "is distinct from": Power.is,
  "is not distinct from": Power.is,
  "||": Power.concat,
  "|": Power.bitOr,
  "^": Power.bitXor,
  "&": Power.bitAnd,
  "<<": Power.shift,
  ">>": Power.shift,
  "+": Power.sum,
  "-": Power.sum,
  "*": Power.product,
  "/": Power.product,
  "%": Power.product,
  div: Power.product,
  "at time zone": Power.zone,
};
