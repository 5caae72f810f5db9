/**
 * GROUP BY with grouping sets: each row is grouped once for each set, with NULL for the keys that are not of it. The number of the set is
 * one more key, so that such a NULL never meets one that a row holds.
 *
 *   input → grouping-sets → aggregate by keys and set number → if-empty (totals of no rows)
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { BOOLEAN, INT32, INT64 } from "../../../column/data-type.ts";
import { valueKey } from "../../function/value/value.ts";
import { expressionKey, literal, type TypedExpression } from "../../expression/expression.ts";
import { printWhole } from "../../sql/print/print.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";

/** Stands for the number of a row's grouping set among the keys of an aggregation. */
export const SET_NUMBER: TypedExpression = { kind: "column", type: INT64, index: 3_000_000, name: "grouping set" };

/** A key as it is bound and as it is written. */
export interface WrittenKey {
  readonly key: TypedExpression;
  readonly name: string;
}

/**
 * What tells keys apart. Constants go by how they are written: `coalesce(1)` is another key than 1, and with ROLLUP one may be NULL where
 * the other is not.
 */
export function keyName(bound: TypedExpression, written: Expression): string {
  return bound.kind === "literal" ? `constant ${printWhole(written)}` : expressionKey(bound);
}

/** Keys of a GROUP BY, each once. */
export interface GroupKeys {
  readonly keys: readonly TypedExpression[];
  /** What each is known by (`keyName`). */
  readonly names: readonly string[];
  /** Positions in `keys`; undefined: one set of all. */
  readonly sets: readonly (readonly number[])[] | undefined;
}

/** Keys as they are written, each once: `ROLLUP (a, b), ROLLUP (a, c)` names a twice. */
export function distinctKeys(written: readonly WrittenKey[], sets: readonly (readonly number[])[] | undefined): GroupKeys {
  if (sets === undefined) return { keys: written.map(({ key }) => key), names: written.map(({ name }) => name), sets };
  const positions = new Map<string, number>();
  const keys: TypedExpression[] = [];
  const places = written.map(({ key, name }) => {
    const place = positions.get(name) ?? keys.push(key) - 1;
    positions.set(name, place);
    return place;
  });
  return { keys, names: [...positions.keys()], sets: sets.map((set) => [...new Set(set.map((index) => places[index] ?? -1))]) };
}

/**
 * The value of `grouping(a, b, …)`: a bit for each argument, the last one lowest, that is 1 where rows are not grouped by it.
 *
 * @param args positions of the arguments in the keys @param setNumber the column of `SET_NUMBER`; undefined: no sets
 */
export function groupingValue(args: readonly number[], { sets }: GroupKeys, setNumber: TypedExpression | undefined): TypedExpression {
  const numbersOf = new Map<number, number[]>();
  for (const [number, set] of (sets ?? []).entries()) {
    const bits = args.reduce((sum, key) => sum * 2 + (set.includes(key) ? 0 : 1), 0);
    numbersOf.set(bits, [...(numbersOf.get(bits) ?? []), number]);
  }
  if (setNumber === undefined) return literal(INT32, 0);
  const branches = [...numbersOf].map(([bits, values]) => {
    const keys = new Set(values.map(valueKey));
    const when: TypedExpression = { kind: "in-set", type: BOOLEAN, operand: setNumber, values, keys, hasNull: false, negated: false };
    return { when, result: literal(INT32, bits) };
  });
  return { kind: "case", type: INT32, branches, otherwise: literal(INT32, 0) };
}

/**
 * The aggregation of an input by each set: keys, the number of the set, aggregates. A set without keys has a row even when the input
 * has none.
 *
 * @param keys over `input` @param aggregates over `input`
 */
export function aggregationBySets(
  input: PlanNode,
  keys: readonly TypedExpression[],
  sets: readonly (readonly number[])[],
  aggregates: readonly AggregateCall[],
): PlanNode {
  const keyColumns = [...keys.map(({ type }, i): ColumnHeader => ({ name: `key ${i}`, type })), { name: "grouping set", type: INT64 }];
  const callColumns = aggregates.map((call): ColumnHeader => ({ name: call.function.name, type: call.type.result }));
  const shift = input.columns.length;
  const expanded: PlanNode = { kind: "grouping-sets", input, columns: [...input.columns, ...keyColumns], keys, sets };
  const groupKeys = keyColumns.map(({ name, type }, i): GroupKey => {
    return { kind: "row", type, expression: { kind: "column", type, index: shift + i, name } };
  });
  const columns = [...keyColumns, ...callColumns];
  const grouped: PlanNode = { kind: "aggregate", input: expanded, columns, keys: groupKeys, aggregates, table: undefined };
  const totals = sets.flatMap((set, number) => (set.length === 0 ? [number] : []));
  if (totals.length === 0) return grouped;
  const none: PlanNode = { kind: "source", name: "no rows", columns: input.columns, source: { kind: "no-rows" } };
  const total: PlanNode = { kind: "aggregate", input: none, columns: callColumns, keys: [], aggregates, table: undefined };
  const inputs = totals.map((number): PlanNode => {
    const nulls = keys.map(({ type }) => literal(type, undefined));
    const results = callColumns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
    return { kind: "project", input: total, columns, expressions: [...nulls, literal(INT64, number), ...results] };
  });
  return { kind: "if-empty", input: grouped, otherwise: { kind: "union", inputs, columns }, columns };
}
