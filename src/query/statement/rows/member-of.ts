/**
 * Whether some expressions have the values of one of many rows, as an expression: what `(a, b) IN ((1, 2), (1, 3), (4, NULL))` means.
 *
 *   a IN (1, 4) AND b IN (2, 3, NULL) AND (a = 1 AND b IN (2, 3) OR a = 4 AND NULL)
 *
 * The lists in front add nothing to the meaning, but storage prunes by them. The part with the fewest values comes first in the rest.
 * True, false or NULL as the equalities written out.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN } from "../../../column/data-type.ts";
import { fold } from "../../expression/fold.ts";
import { conjunction, literal, type TypedExpression } from "../../expression/expression.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { type Present, type Value, valueKey } from "../../function/value/value.ts";
import type { JoinKey } from "../../operator/join/node.ts";

/** Values in the order of the keys. */
export type KeyRow = readonly Value[];

/** Most alternatives of rows of several values. Reason: each row of the table is tested by one after another. Error: Unsupported. */
const CHOICES_MAX = 4096;

/** The expression, over what `left` of the keys reads. @param rows of the types of `right` @throws DbError Unsupported for too many */
export function memberOf(keys: readonly JoinKey[], rows: readonly KeyRow[], environment: Environment): TypedExpression {
  if (rows.length === 0) return literal(BOOLEAN, false);
  const lists = keys.map((key, i) => ({ key, i, list: listOf(key, rows, i, environment), count: distinctOf(rows, i) }));
  const [only, second] = lists;
  if (only !== undefined && second === undefined) return only.list;
  const order = lists.toSorted((a, b) => a.count - b.count).map(({ i }) => i);
  const choices = { left: CHOICES_MAX };
  return conjunction([...lists.map(({ list }) => list), oneOf(keys, rows, order, choices, environment)]) ?? literal(BOOLEAN, true);
}

function distinctOf(rows: readonly KeyRow[], i: number): number {
  return new Set(rows.map((row) => valueKey(row[i]))).size;
}

/** `key IN (…)` with the values at one place of the rows. */
function listOf({ left, right }: JoinKey, rows: readonly KeyRow[], i: number, environment: Environment): TypedExpression {
  const values = new Map<string, Present>();
  let hasNull = false;
  for (const row of rows) {
    const value = row[i];
    if (value === undefined) hasNull = true;
    else values.set(valueKey(value), value);
  }
  const [only, second] = values.values();
  if (only === undefined) return literal(BOOLEAN, undefined);
  if (second === undefined && !hasNull) return equal(left, literal(right.type, only), environment);
  const keys = new Set(values.keys());
  const set = { kind: "in-set", type: BOOLEAN, operand: left, values: [...values.values()], keys, hasNull, negated: false } as const;
  return fold(set, environment);
}

function equal(left: TypedExpression, right: TypedExpression, environment: Environment): TypedExpression {
  return fold({ kind: "compare", type: BOOLEAN, operator: "=", left, right }, environment);
}

/** The same of the keys at `order`, one after another. */
function oneOf(
  keys: readonly JoinKey[],
  rows: readonly KeyRow[],
  order: readonly number[],
  choices: { left: number },
  environment: Environment,
): TypedExpression {
  const [i, ...rest] = order;
  const key = i === undefined ? undefined : keys[i];
  if (i === undefined || key === undefined) return literal(BOOLEAN, true);
  if (rest.length === 0) return listOf(key, rows, i, environment);
  const groups = Map.groupBy(rows, (row) => valueKey(row[i]));
  choices.left -= groups.size;
  if (choices.left < 0) {
    throw new DbError(
      StatusCode.Unsupported,
      `cannot test rows of ${keys.length} values on other machines: a sub-query gives them in more than ${CHOICES_MAX} combinations; ` +
        "change fewer rows at a time",
    );
  }
  const operands = Array.from(groups.values(), (group) => {
    const value = group[0]?.[i];
    const own = value === undefined ? literal(BOOLEAN, undefined) : equal(key.left, literal(key.right.type, value), environment);
    const parts = [own, oneOf(keys, group, rest, choices, environment)];
    return fold({ kind: "logic", type: BOOLEAN, operator: "and", operands: parts }, environment);
  });
  const [only, second] = operands;
  if (only !== undefined && second === undefined) return only;
  return fold({ kind: "logic", type: BOOLEAN, operator: "or", operands }, environment);
}
