/**
 * Whether some expressions have the values of one of many rows, as an expression: what `(a, b) IN ((1, 2), (1, 3), (4, NULL))` means.
 *
 *   a IN (1, 4) AND b IN (2, 3, NULL) AND (a = 1 AND b IN (2, 3) OR a = 4 AND NULL)
 *
 * The lists in front add nothing to the meaning, but storage prunes by them. The part with the fewest values comes first in the rest.
 * True, false or NULL as the equalities written out. Where it only matters whether it is true, many rows are one set:
 *
 *   a IN (…) AND b IN (…) AND struct(a, b) IN (struct(1, 2), …)
 *
 * Number: a row beside 4,000 rows takes 0.5 ms as equalities, and some microseconds in a set.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, sameType } from "../../../column/data-type.ts";
import { fold } from "../../expression/fold.ts";
import { conjunction, literal, type TypedExpression } from "../../expression/expression.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { type Present, type Value, valueKey } from "../../function/value/value.ts";
import type { JoinKey } from "../../operator/join/node.ts";
import { isRowOf, ROWS_AT_ONCE, SET_ROWS_MIN } from "../../plan/bind/row-sets.ts";
import type { Steps } from "../../plan/bind/steps.ts";

/** Values in the order of the keys. */
export type KeyRow = readonly Value[];

/** Most alternatives of rows of several values. Reason: each row of the table is tested by one after another. Error: Unsupported. */
const CHOICES_MAX = 4096;
/** Types whose equal values are the same bytes in a struct: not floats with their two zeros, nor decimals of several scales. */
const SAME_BYTES: ReadonlySet<DataType["kind"]> = new Set(["boolean", "string", "int", "timestamp", "date"]);

/**
 * The expression, over what `left` of the keys reads.
 *
 * @param rows of the types of `right`
 * @param isWhole whether false and NULL are one to whoever asks
 * @throws DbError Unsupported for too many
 */
export function* memberOf(
  keys: readonly JoinKey[],
  rows: readonly KeyRow[],
  environment: Environment,
  isWhole: boolean,
): Steps<TypedExpression> {
  if (isWhole) {
    const complete = rows.filter((row) => !row.includes(undefined)); // NULL equals nothing.
    if (complete.length < rows.length) return yield* memberOf(keys, complete, environment, true);
  }
  if (rows.length === 0) return literal(BOOLEAN, false);
  const lists: TypedExpression[] = [];
  for (const [i, key] of keys.entries()) lists.push(yield* listOf(key, rows, i, environment));
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  if (isWhole && rows.length >= SET_ROWS_MIN && keys.every(hasSameBytes)) {
    const subjects = keys.map(({ left }) => left);
    return conjunction([...lists, yield* isRowOf(subjects, rows, environment)]) ?? literal(BOOLEAN, true);
  }
  const counts = keys.map((_, i) => distinctOf(rows, i));
  const order = [...keys.keys()].toSorted((a, b) => (counts[a] ?? 0) - (counts[b] ?? 0));
  const choices = { left: CHOICES_MAX };
  return conjunction([...lists, yield* oneOf(keys, rows, order, choices, environment)]) ?? literal(BOOLEAN, true);
}

function distinctOf(rows: readonly KeyRow[], i: number): number {
  return new Set(rows.map((row) => valueKey(row[i]))).size;
}

/** `key IN (…)` with the values at one place of the rows. */
function* listOf({ left, right }: JoinKey, rows: readonly KeyRow[], i: number, environment: Environment): Steps<TypedExpression> {
  const values = new Map<string, Present>();
  let hasNull = false;
  for (const [n, row] of rows.entries()) {
    const value = row[i];
    if (value === undefined) hasNull = true;
    else values.set(valueKey(value), value);
    if ((n + 1) % ROWS_AT_ONCE === 0) yield;
  }
  const [only, second] = values.values();
  if (only === undefined) return literal(BOOLEAN, undefined);
  if (second === undefined && !hasNull) return equal(left, literal(right.type, only), environment);
  const known = new Set(values.keys());
  const set = { kind: "in-set", type: BOOLEAN, operand: left, values: [...values.values()], keys: known, hasNull, negated: false } as const;
  return fold(set, environment);
}

function hasSameBytes({ left, right }: JoinKey): boolean {
  return SAME_BYTES.has(left.type.kind) && sameType(left.type, right.type);
}

function equal(left: TypedExpression, right: TypedExpression, environment: Environment): TypedExpression {
  return fold({ kind: "compare", type: BOOLEAN, operator: "=", left, right }, environment);
}

/** The same of the keys at `order`, one after another. */
function* oneOf(
  keys: readonly JoinKey[],
  rows: readonly KeyRow[],
  order: readonly number[],
  choices: { left: number },
  environment: Environment,
): Steps<TypedExpression> {
  const [i, ...rest] = order;
  const key = i === undefined ? undefined : keys[i];
  if (i === undefined || key === undefined) return literal(BOOLEAN, true);
  if (rest.length === 0) return yield* listOf(key, rows, i, environment);
  const groups = Map.groupBy(rows, (row) => valueKey(row[i]));
  choices.left -= groups.size;
  if (choices.left < 0) {
    throw new DbError(
      StatusCode.Unsupported,
      `cannot test rows of ${keys.length} values on other machines: a sub-query gives them in more than ${CHOICES_MAX} combinations; ` +
        "change fewer rows at a time",
    );
  }
  const operands: TypedExpression[] = [];
  for (const group of groups.values()) {
    const value = group[0]?.[i];
    const own = value === undefined ? literal(BOOLEAN, undefined) : equal(key.left, literal(key.right.type, value), environment);
    const parts = [own, yield* oneOf(keys, group, rest, choices, environment)];
    operands.push(fold({ kind: "logic", type: BOOLEAN, operator: "and", operands: parts }, environment));
    if (operands.length % ROWS_AT_ONCE === 0) yield;
  }
  const [only, second] = operands;
  if (only !== undefined && second === undefined) return only;
  return fold({ kind: "logic", type: BOOLEAN, operator: "or", operands }, environment);
}
