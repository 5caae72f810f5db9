/** Arithmetic at the edges of every integer type, sums and decimals, beside whole numbers of any length. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { DbError } from "../../src/base/error.ts";
import { QueryFixture } from "../support/query-fixture.ts";
import { cellOf, decimalCell } from "./compare-rows.ts";

const OPERATORS = ["+", "-", "*", "/", "%"] as const;

/** The exact result; undefined where there is none. */
function exact(operator: (typeof OPERATORS)[number], a: bigint, b: bigint): bigint | undefined {
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  if (b === 0n) return undefined;
  return operator === "/" ? a / b : a % b;
}

/** The only cell of a query by loops and reference, or the code of the error that both end in. */
async function cell(fixture: QueryFixture, text: string): Promise<string> {
  const outcomes = [{ forceInterpreter: true }, {}].map(async (options) => {
    try {
      const { rows, types } = await fixture.sql(text, options);
      return String(cellOf(rows[0]?.[0], types[0] ?? "") ?? "NULL");
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      return `error ${error.code}`;
    }
  });
  const [interpreted, generated] = await Promise.all(outcomes);
  expect([text, generated]).toEqual([text, interpreted]);
  return generated ?? "";
}

const TYPES = [
  ["TINYINT", -(2n ** 7n), 2n ** 7n - 1n],
  ["INT", -(2n ** 31n), 2n ** 31n - 1n],
  ["BIGINT", -(2n ** 63n), 2n ** 63n - 1n],
  ["SMALLINT UNSIGNED", 0n, 2n ** 16n - 1n],
  ["BIGINT UNSIGNED", 0n, 2n ** 64n - 1n],
] as const;

test.each(TYPES)("%s: a result is exact, or an error", async (type, min, max) => {
  const values = [min, min + 1n, 0n, 1n, 2n, max / 2n + 1n, max];
  const fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (a ${type}, b ${type}, ts TIMESTAMP TIME INDEX)`);
  const pairs = values.flatMap((a) => values.map((b) => [a, b] as const));
  await fixture.sql(`INSERT INTO t VALUES ${pairs.map(([a, b], i) => `(${a}, ${b}, ${i})`).join(", ")}`);
  for (const [i, [a, b]] of pairs.entries()) {
    for (const operator of OPERATORS) {
      const value = exact(operator, a, b);
      const want = value === undefined || value < min || value > max ? "error 3001" : String(value);
      expect([a, operator, b, await cell(fixture, `SELECT a ${operator} b FROM t WHERE ts = ${i}`)]).toEqual([a, operator, b, want]);
    }
  }
});

test("sums beyond 64 bits are an error, averages are not", async () => {
  const edge = fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n, -(2n ** 53n) - 1n, 1n, 0n);
  const value = fc.oneof(edge, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 12 }), async (values) => {
      const fixture = new QueryFixture();
      await fixture.sql("CREATE TABLE t (v BIGINT, u BIGINT UNSIGNED, ts TIMESTAMP TIME INDEX)");
      const unsigned = values.map((item) => BigInt.asUintN(64, item));
      await fixture.sql(`INSERT INTO t VALUES ${values.map((item, i) => `(${item}, ${unsigned[i] ?? 0n}, ${i})`).join(", ")}`);
      const total = values.reduce((sum, item) => sum + item, 0n);
      const unsignedTotal = unsigned.reduce((sum, item) => sum + item, 0n);
      const sum = BigInt.asIntN(64, total) === total ? String(total) : "error 3001";
      const unsignedSum = BigInt.asUintN(64, unsignedTotal) === unsignedTotal ? String(unsignedTotal) : "error 3001";
      expect(await cell(fixture, "SELECT sum(v) FROM t")).toBe(sum);
      expect(await cell(fixture, "SELECT sum(u) FROM t")).toBe(unsignedSum);
      expect(await cell(fixture, "SELECT avg(v) FROM t")).toBe(String(Number(total) / values.length));
      expect(await cell(fixture, "SELECT sum(v) OVER () FROM t LIMIT 1")).toBe(sum);
    }),
    { seed: 20241123, numRuns: 40 },
  );
});

test("decimals add, subtract and multiply to the last digit", async () => {
  const shape = fc.constantFrom([10, 2] as const, [18, 6] as const, [12, 0] as const, [9, 9] as const);
  const sized = shape.chain(([precision, scale]) => {
    const most = 10n ** BigInt(precision) - 1n;
    const value = fc.oneof(fc.constantFrom(most, -most, 0n, 1n), fc.bigInt({ min: -most, max: most }));
    return fc.record({ precision: fc.constant(precision), scale: fc.constant(scale), value });
  });
  await fc.assert(
    fc.asyncProperty(sized, sized, fc.constantFrom("+", "-", "*"), async (a, b, operator) => {
      const literal = ({ precision, scale, value }: typeof a): string =>
        `CAST('${decimalCell(value, scale)}' AS DECIMAL(${precision}, ${scale}))`;
      const scale = operator === "*" ? a.scale + b.scale : Math.max(a.scale, b.scale);
      const [x, y] = operator === "*" ? [a.value, b.value] : [a, b].map((side) => side.value * 10n ** BigInt(scale - side.scale));
      const value = exact(operator as "+" | "-" | "*", x ?? 0n, y ?? 0n) ?? 0n;
      const text = `SELECT ${literal(a)} ${operator} ${literal(b)}`;
      expect([text, await cell(new QueryFixture(), text)]).toEqual([text, decimalCell(value, scale)]);
    }),
    { seed: 20241124, numRuns: 150 },
  );
});

const UNITS = [
  [0, 1n],
  [3, 1000n],
  [6, 1_000_000n],
  [9, 1_000_000_000n],
] as const;

test.each(UNITS)("TIMESTAMP(%i) keeps, orders and compares its first and last tick", async (precision, perSecond) => {
  const values = [-(2n ** 63n), -1000n * perSecond, -1n, 0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
  const fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (v TIMESTAMP(${precision}), ts TIMESTAMP(${precision}) TIME INDEX)`);
  await fixture.sql(`INSERT INTO t VALUES ${values.map((value) => `(${value}, ${value})`).join(", ")}`);
  const { rows } = await fixture.both("SELECT v, ts FROM t ORDER BY v");
  expect(rows.map((row) => row.map(String))).toEqual(values.map((value) => [String(value), String(value)]));
  for (const column of ["v", "ts"]) {
    expect((await fixture.both(`SELECT min(${column}), max(${column}) FROM t`)).rows.map(String)).toEqual([
      `${values[0]},${values.at(-1)}`,
    ]);
    for (const [i, value] of values.entries()) {
      const literal = `CAST(${value} AS TIMESTAMP(${precision}))`;
      expect((await fixture.both(`SELECT count(*) FROM t WHERE ${column} < ${literal}`)).rows).toEqual([[i]]);
      expect((await fixture.both(`SELECT count(*) FROM t WHERE ${column} = ${literal}`)).rows).toEqual([[1]]);
    }
  }
});
