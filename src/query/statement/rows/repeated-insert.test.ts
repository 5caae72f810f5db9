/** One INSERT for many rows of values writes what its runs one after the other write, or is not made. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { errorText } from "../../../base/error.ts";
import { BOOLEAN, FLOAT64, INT64, STRING } from "../../../column/data-type.ts";
import { executeStatement } from "../../execute.ts";
import type { ParameterValue, PreparedQuery } from "../../prepared-query.ts";
import { onlyStatement, parsed } from "../../sql/parse.ts";
import { placeholdersOf, prepareQuery } from "../prepare-query.ts";
import { repeatedInsert } from "./repeated-insert.ts";

const TABLE = `CREATE TABLE t (h STRING, n INT, PRIMARY KEY (h, n), a BIGINT DEFAULT 7, d DOUBLE, s STRING NOT NULL DEFAULT 'none',
  ts TIMESTAMP(3) NOT NULL TIME INDEX)`;

async function fixture(table: string = TABLE): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql(table);
  return data;
}

function prepared(text: string, { context }: QueryFixture): Promise<PreparedQuery> {
  return prepareQuery(onlyStatement(parsed(text)), text, context);
}

/** Runs with values; the count of rows, or the error. */
async function run(query: PreparedQuery, values: readonly ParameterValue[], { context }: QueryFixture): Promise<number | string> {
  try {
    const placeholders = placeholdersOf(query, values, context.variables.timeZone);
    const result = await executeStatement(query.statement, { ...context, variables: { ...context.variables, placeholders } }, {});
    return result.kind === "affected" ? result.rowCount : expect.unreachable();
  } catch (error) {
    return errorText(error);
  }
}

/** Cells with one placeholder, with more, and without; `#` becomes the next one. */
const CELLS: Readonly<Record<string, readonly string[]>> = {
  h: ["#", "'x'", "# || #", "CAST(# AS STRING)"],
  n: ["#", "5", "# + 1", "NULL"],
  a: ["#", "DEFAULT", "-# * 2", "CASE WHEN # > 3 THEN # ELSE 0 END"],
  d: ["#", "1.5", "#::DOUBLE", "abs(#)"],
  s: ["#", "'it''s'", "DEFAULT", "upper(#)"],
  ts: ["#", "#::BIGINT + 1"],
};
const NAMES = Object.keys(CELLS);
const value: fc.Arbitrary<ParameterValue> = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: 0, max: 9 }).map((each): ParameterValue => ({ type: INT64, value: each })) },
  { weight: 1, arbitrary: fc.constantFrom<ParameterValue>({ type: STRING, value: "x" }, { type: STRING, value: undefined }) },
  { weight: 1, arbitrary: fc.constantFrom<ParameterValue>({ type: FLOAT64, value: 2.5 }, { type: BOOLEAN, value: true }) },
);
const rowsGiven = fc.array(fc.array(value, { minLength: 30, maxLength: 30 }), { minLength: 1, maxLength: 6 });
const inserts = fc
  .subarray(NAMES.slice(0, -1), { minLength: 1 })
  .chain((names) =>
    fc.record({
      names: fc.constant([...names, "ts"]),
      rows: fc.array(fc.tuple(...[...names, "ts"].map((name) => fc.constantFrom(...(CELLS[name] ?? [])))), { minLength: 1, maxLength: 3 }),
    }),
  )
  .map(({ names, rows }) => {
    let count = 0;
    const list = rows.map((row) => `(${row.join(", ").replaceAll("#", () => `$${++count}`)})`).join(", ");
    return { text: `INSERT INTO t (${names.join(", ")}) VALUES ${list}`, count };
  });

test("many rows of values write what the runs one after the other write, and fail where one of them fails", async () => {
  let compared = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(inserts, rowsGiven, async ({ text, count }, given) => {
      const [one, many] = [await fixture(), await fixture()];
      const query = await prepared(text, one);
      const rows = given.map((row) => row.slice(0, count));
      const repeat = repeatedInsert(query, many.context);
      if (count === 0 || repeat === undefined) return expect([text, count, repeat]).toEqual([text, 0, undefined]);
      const runs: (number | string)[] = [];
      for (const row of rows) runs.push(await run(query, row, one));
      const found = await run(repeat(rows.length), rows.flat(), many);
      if (runs.some((each) => typeof each === "string")) {
        // Values are made ready for their places before rows are completed, so that it may be another row's error.
        refused++;
        return expect([text, typeof found]).toEqual([text, "string"]);
      }
      compared++;
      expect([text, found]).toEqual([text, runs.reduce<number>((sum, each) => sum + Number(each), 0)]);
      const all = "SELECT h, n, a, d, s, ts FROM t ORDER BY h, n, ts";
      expect([text, (await many.sql(all)).rows]).toEqual([text, (await one.sql(all)).rows]);
    }),
    { seed: 20261124, numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(10);
});

test("a later part has more rows, or fewer", async () => {
  const data = await fixture();
  const query = await prepared("INSERT INTO t (h, a, ts) VALUES (?, 1, ?), ('second', ?, 5)", data);
  const repeat = repeatedInsert(query, data.context);
  if (repeat === undefined) return expect.unreachable();
  let next = 0;
  for (const times of [2, 5, 1, 3]) {
    const longer = repeat(times);
    expect(longer.parameters.length).toBe(3 * times);
    const values = Array.from({ length: 3 * times }, (): ParameterValue => ({ type: INT64, value: ++next }));
    expect(await run(longer, values, data)).toBe(2 * times);
  }
  expect((await data.sql("SELECT count(*) FROM t WHERE h <> 'second'")).rows).toEqual([[11]]);
});

test("what asks for the moment of its run, or is no INSERT of values with parameters, runs once a row", async () => {
  const data = await fixture("CREATE TABLE t (h STRING PRIMARY KEY, a BIGINT, ts TIMESTAMP(3) DEFAULT now() TIME INDEX)");
  const isMade = async (text: string): Promise<boolean> => repeatedInsert(await prepared(text, data), data.context) !== undefined;
  expect(await isMade("INSERT INTO t VALUES (?, ?, ?)")).toBe(true);
  expect(await isMade("INSERT INTO t (ts, h) VALUES (?::TIMESTAMP, lower(?))")).toBe(true);
  expect(await isMade("REPLACE INTO public.t (ts, h) VALUES (?, ?)")).toBe(true);
  expect(await isMade("INSERT INTO t (h, a) VALUES (?, ?)")).toBe(false);
  expect(await isMade("INSERT INTO t (h, ts) VALUES (?, DEFAULT)")).toBe(false);
  expect(await isMade("INSERT INTO t (h, ts) VALUES (?, now())")).toBe(false);
  expect(await isMade("INSERT INTO t (h, ts) VALUES (?, current_timestamp)")).toBe(false);
  expect(await isMade("INSERT INTO t (h, ts) VALUES ('a', 1)")).toBe(false);
  expect(await isMade("INSERT INTO t SELECT h, a + ?, ts FROM t")).toBe(false);
  expect(await isMade("DELETE FROM t WHERE h = ?")).toBe(false);
  expect(await isMade("UPDATE t SET a = ? WHERE h = ?")).toBe(false);
});
