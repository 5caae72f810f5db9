/** Rows of constants that become sets mean what their equalities mean, NULL included. */
import { beforeAll, expect, test } from "bun:test";
import { seededRandom } from "../../../../bench/macro/random.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

type Cell = number | string | undefined;
type Truth = boolean | undefined;

const COLUMNS = ["a", "b", "s", "u"] as const;
const TIME = "ts";
let data: QueryFixture;
let rows: readonly (readonly Cell[])[];

beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (a INT, b BIGINT, s STRING PRIMARY KEY, u BIGINT UNSIGNED, ts TIMESTAMP(3) TIME INDEX)");
  rows = Array.from({ length: 300 }, (_, i) => [
    i % 7 === 0 ? undefined : (i * 5) % 11,
    i % 6 === 0 ? undefined : ((i * 3) % 9) - 2,
    i % 5 === 0 ? undefined : `s${i % 8}`,
    i % 4 === 0 ? undefined : (i * 7) % 10,
  ]);
  const texts = rows.map((row, i) => `(${row.map(literalOf).join(", ")}, ${i})`);
  await data.sql(`INSERT INTO t VALUES ${texts.join(", ")}`);
});

function literalOf(cell: Cell): string {
  if (cell === undefined) return "NULL";
  return typeof cell === "string" ? `'${cell}'` : String(cell);
}

function equal(a: Cell, b: Cell): Truth {
  return a === undefined || b === undefined ? undefined : a === b;
}

function and(values: readonly Truth[]): Truth {
  if (values.includes(false)) return false;
  return values.includes(undefined) ? undefined : true;
}

const not = (value: Truth): Truth => (value === undefined ? undefined : !value);
const or = (values: readonly Truth[]): Truth => not(and(values.map(not)));

/** Constants for columns, some of which no column can have, some NULL. */
function constantOf(column: number, random: { below(n: number): number }, hasNull: boolean): Cell {
  if (hasNull && random.below(40) === 0) return undefined;
  if (COLUMNS[column] === "s") return `s${random.below(10)}`;
  return random.below(30) === 0 ? -1 : random.below(12) - (COLUMNS[column] === "b" ? 2 : 0);
}

test.each(Array.from({ length: 6 }, (_, seed) => seed))("seed %i", async (seed) => {
  const random = seededRandom(1000 + seed);
  const columns = random.sample(COLUMNS.length, 2 + (seed % 3));
  const lists = Array.from({ length: 64 + random.below(40) }, () => columns.map((column) => constantOf(column, random, seed % 2 === 1)));
  const names = columns.map((column) => COLUMNS[column] ?? "");
  const tuple = (values: readonly string[]): string => `(${values.join(", ")})`;
  const inList = `${tuple(names)} IN (${lists.map((row) => tuple(row.map(literalOf))).join(", ")})`;
  const chain = lists.map((row) => `(${names.map((name, i) => `${name} = ${literalOf(row[i])}`).join(" AND ")})`).join(" OR ");
  const others = `(${chain} OR a > 9)`;
  const members = rows.map((row) => or(lists.map((values) => and(columns.map((column, i) => equal(row[column], values[i]))))));
  const above = rows.map(([a]) => (typeof a === "number" ? a > 9 : undefined));
  for (const [sql, wanted] of [
    [inList, members],
    [inList.replace(" IN ", " NOT IN "), members.map(not)],
    [chain, members],
    [others, members.map((member, i) => or([member, above[i]]))],
    [`NOT (${chain})`, members.map(not)],
  ] as const) {
    const { rows: told } = await data.both(`SELECT ${TIME}, ${sql} AS r FROM t ORDER BY ${TIME}`);
    expect(
      told.map(([, value]) => value),
      sql,
    ).toEqual([...wanted]);
    const { rows: kept } = await data.both(`SELECT count(*) FROM t WHERE ${sql}`);
    expect(Number(kept[0]?.[0]), sql).toBe(wanted.filter((value) => value === true).length);
  }
});
