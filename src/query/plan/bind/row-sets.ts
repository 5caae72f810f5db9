/**
 * Many rows of constants that some expressions are compared with, as one look into a set:
 *
 *   a = 1 AND b = 2 OR a = 1 AND b = 3 OR …          (a, b) IN ((1, 2), (1, 3), …)
 *     ─►  a IN (1, …) AND b IN (2, 3, …) AND CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE struct(a, b) IN (…) END
 *
 * and NOT IN, `(a <> 1 OR b <> 2) AND …`, as NOT of that. The lists in front let scans prune, and decide where a part is NULL: of two parts
 * the answer is NULL if the other is in its list, else false. Of more parts the comparisons are made one after another for such rows.
 *
 * Number: 2,000 pairs beside 100,000 rows took 27 s, 4,000 took 220 s.
 */
import { BOOLEAN } from "../../../column/data-type.ts";
import { fits } from "../../../value/integer-range.ts";
import { comparisonOf, expressionKey, literal, type TypedExpression } from "../../expression/expression.ts";
import { fold, isSetOf } from "../../expression/fold.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { nestedOf } from "../../function/nested/parts.ts";
import { type Present, type Value, valueKey } from "../../function/value/value.ts";
import { rowOf } from "./bind-nested.ts";
import type { Steps } from "./steps.ts";

/** Rows from which on they are a set. Below, comparisons become one loop, which is faster than values put together. */
export const SET_ROWS_MIN = 64;

/** Rows beside the same expressions. */
interface Rows {
  readonly subjects: readonly TypedExpression[];
  readonly rows: (readonly Present[])[];
  /** Where each stands among the operands. */
  readonly places: number[];
}

/** Rows between two steps. */
export const ROWS_AT_ONCE = 512;

/** AND or OR of `operands`, with sets for rows of constants. Operands are folded. */
export function* logicOf(operator: "and" | "or", given: readonly TypedExpression[], environment: Environment): Steps<TypedExpression> {
  const operands = given.length < SET_ROWS_MIN ? given : yield* withRowSets(operator, given, environment);
  return fold({ kind: "logic", type: BOOLEAN, operator, operands }, environment);
}

function* withRowSets(
  operator: "and" | "or",
  operands: readonly TypedExpression[],
  environment: Environment,
): Steps<readonly TypedExpression[]> {
  const groups = new Map<string, Rows>();
  for (const [place, operand] of operands.entries()) {
    if ((place + 1) % ROWS_AT_ONCE === 0) yield;
    const parts = partsOf(operand, operator);
    if (parts === undefined) continue;
    const key = parts.map((part) => part.key).join("\n");
    const rows = groups.get(key) ?? { subjects: parts.map((part) => part.subject), rows: [], places: [] };
    rows.rows.push(parts.map((part) => part.value));
    rows.places.push(place);
    groups.set(key, rows);
  }
  const kept: (TypedExpression | undefined)[] = [...operands];
  for (const { subjects, rows, places } of groups.values()) {
    const [first] = places;
    if (first === undefined || rows.length < SET_ROWS_MIN) continue;
    const comparisons = places.flatMap((place) => operands[place] ?? []);
    const set = yield* setOf(subjects, rows, operator, comparisons, environment);
    for (const place of places) kept[place] = undefined;
    kept[first] = set;
  }
  return kept.filter((operand) => operand !== undefined);
}

/** An expression that has to have a value. */
interface Part {
  readonly key: string;
  readonly subject: TypedExpression;
  readonly value: Present;
}

/** What an operand compares, by the subjects' keys; undefined where it is something else than equalities of two subjects or more. */
function partsOf(operand: TypedExpression, operator: "and" | "or"): readonly Part[] | undefined {
  const [inner, comparison] = operator === "or" ? (["and", "="] as const) : (["or", "<>"] as const);
  if (operand.kind !== "logic" || operand.operator !== inner) return undefined;
  const parts: Part[] = [];
  for (const one of operand.operands) {
    const compared = comparisonOf(one);
    const value = compared?.operator === comparison ? compared.constant.value : undefined;
    if (compared === undefined || value === undefined || !hasSameBytes(compared.subject, compared.constant, value)) return undefined;
    parts.push({ key: expressionKey(compared.subject), subject: compared.subject, value });
  }
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return new Set(parts.map(({ key }) => key)).size === parts.length && parts.length > 1 ? parts : undefined;
}

/** Whether equal values are the same bytes in a struct: not floats with their two zeros. */
function hasSameBytes(subject: TypedExpression, constant: TypedExpression, value: Present): boolean {
  if (subject.type.kind === "float" || !isSetOf(subject, constant.type)) return false;
  return subject.type.kind !== "int" || ((typeof value === "number" || typeof value === "bigint") && fits(value, subject.type));
}

function* setOf(
  subjects: readonly TypedExpression[],
  rows: readonly (readonly Present[])[],
  operator: "and" | "or",
  comparisons: readonly TypedExpression[],
  environment: Environment,
): Steps<TypedExpression> {
  const isIncomplete = fold(
    {
      kind: "logic",
      type: BOOLEAN,
      operator: "or",
      operands: subjects.map((subject) => ({ kind: "is", type: BOOLEAN, operand: subject, test: "null", negated: false })),
    },
    environment,
  );
  const oneAfterAnother: TypedExpression = { kind: "logic", type: BOOLEAN, operator, operands: comparisons };
  const isOr = operator === "or";
  const ofIncomplete = subjects.length === 2 ? literal(BOOLEAN, undefined) : isOr ? oneAfterAnother : negated(oneAfterAnother);
  const lists: TypedExpression[] = [];
  for (const [i, subject] of subjects.entries()) lists.push(yield* inSet(subject, yield* distinct(rows, i)));
  const exact: TypedExpression = {
    kind: "case",
    type: BOOLEAN,
    branches: [{ when: isIncomplete, result: ofIncomplete }],
    otherwise: yield* isRowOf(subjects, rows, environment),
  };
  const isMember: TypedExpression = { kind: "logic", type: BOOLEAN, operator: "and", operands: [...lists, exact] };
  return isOr ? isMember : negated(isMember);
}

/** Whether the values of expressions together are one of the rows: a struct in a set. Rows hold values of the expressions' types. */
export function* isRowOf(
  subjects: readonly TypedExpression[],
  rows: readonly (readonly Value[])[],
  environment: Environment,
): Steps<TypedExpression> {
  const operand = rowOf(subjects, environment);
  const together: Present[] = [];
  for (const row of rows) if (together.push(nestedOf(operand.type, row)) % ROWS_AT_ONCE === 0) yield;
  return fold(yield* inSet(operand, together), environment);
}

function negated(operand: TypedExpression): TypedExpression {
  return { kind: "not", type: BOOLEAN, operand };
}

function* distinct(rows: readonly (readonly Present[])[], i: number): Steps<readonly Present[]> {
  const values = new Map<string, Present>();
  for (const [n, row] of rows.entries()) {
    const value = row[i];
    if (value !== undefined) values.set(valueKey(value), value);
    if ((n + 1) % ROWS_AT_ONCE === 0) yield;
  }
  return [...values.values()];
}

function* inSet(operand: TypedExpression, values: readonly Present[]): Steps<TypedExpression> {
  const keys = new Set<string>();
  for (const [n, value] of values.entries()) {
    keys.add(valueKey(value));
    if ((n + 1) % ROWS_AT_ONCE === 0) yield;
  }
  return { kind: "in-set", type: BOOLEAN, operand, values, keys, hasNull: false, negated: false };
}
