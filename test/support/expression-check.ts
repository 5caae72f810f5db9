/** Checks of single SQL expressions: through loops and reference, with the type of the result and the words of an error. */
import { expect } from "bun:test";
import { DbError } from "../../src/base/error.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { QueryFixture } from "./query-fixture.ts";

/** What a test names: binary is hexadecimal text. */
type PlainValue = Exclude<Scalar, Uint8Array>;

/** The value of an expression, binary as hexadecimal text, and its type. */
export async function checkExpression(expression: string, want: PlainValue, type?: string): Promise<void> {
  const { rows, types } = await new QueryFixture().both(`SELECT ${expression}`);
  const value = rows[0]?.[0];
  const shown = value instanceof Uint8Array ? value.toHex() : value;
  expect([expression, shown, type ?? types[0]]).toEqual([expression, want, types[0]]);
}

/** The value of an expression on each row of a list of values, `v`. */
export async function checkOverRows(expression: string, values: readonly string[], want: readonly Scalar[]): Promise<void> {
  const list = values.map((value, i) => `(${i}, ${value})`).join(", ");
  const { rows } = await new QueryFixture().both(`SELECT ${expression} FROM (VALUES ${list}) AS t (i, v) ORDER BY i`);
  expect([expression, rows.map((row) => row[0])]).toEqual([expression, [...want]]);
}

/** The one value of an aggregate over a list of rows whose columns are `column1`, `column2`, … */
export async function checkAggregate(expression: string, values: readonly string[], want: PlainValue): Promise<void> {
  const list = values.map((value) => `(${value})`).join(", ");
  const { rows } = await new QueryFixture().both(`SELECT ${expression} FROM (VALUES ${list}) AS t`);
  const value = rows[0]?.[0];
  expect([expression, value instanceof Uint8Array ? value.toHex() : value]).toEqual([expression, want]);
}

/** A query of one expression fails; `want` is a part of "code message". */
export async function failsExpression(expression: string, want: string): Promise<void> {
  const failure = await new QueryFixture().sql(`SELECT ${expression}`).then(
    () => "no error",
    (thrown: unknown) => (thrown instanceof DbError ? `${thrown.code} ${thrown.message}` : `no DbError: ${String(thrown)}`),
  );
  expect([expression, failure]).toEqual([expression, expect.stringContaining(want)]);
}
