/** Long lists of constants are taken out of a long text, and mean the same. */
import { expect, test } from "bun:test";
import { withTrees } from "../../../test/support/value-trees.ts";
import { parseInTurns } from "./parse-in-turns.ts";
import { parseSql } from "./parse.ts";

const PACE = { turn: () => Promise.resolve() };
const BLANKS = " ".repeat(70_000);

const without = (tree: unknown): string =>
  JSON.stringify(withTrees(tree), (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

/** A text means the same when it is long enough to be read in turns. */
async function check(text: string): Promise<void> {
  const long = `${text}${BLANKS}`;
  const inTurns = await parseInTurns(long, PACE).then(({ statements }) => without(statements), String);
  let atOnce: string;
  try {
    atOnce = without(parseSql(long));
  } catch (error) {
    atOnce = String(error);
  }
  expect([text, inTurns]).toEqual([text, atOnce]);
}

test("lists of IN and rows of VALUES, with what is no constant among them", async () => {
  for (const list of [
    "1",
    "1, 2",
    "-1, 'it''s', NULL",
    "1, 2, x, 3",
    "x, 1",
    "1, 2 + 3, 4",
    "1, (2), 3",
    "- 1, + 1",
    "1,",
    "",
    ", 1",
    "1 2",
    "NULL IS NULL",
  ]) {
    await check(`SELECT a FROM t WHERE a IN (${list}) AND b NOT IN (${list}) OR c`);
  }
  for (const rows of [
    "(1)",
    "(1, 'a'), (2, NULL)",
    "(1, -2), (x, 3), (4, 5)",
    "(1), (2),",
    "(1,), (2)",
    "(1), 2",
    "(-x)",
    "(1, (2))",
    "(NULL), (now())",
    "()",
  ]) {
    await check(`VALUES ${rows}`);
    await check(`SELECT * FROM (VALUES ${rows}) AS v (a) ORDER BY a`);
    await check(`INSERT INTO t (a) VALUES ${rows}`);
    await check(`INSERT INTO t SELECT 1 UNION VALUES ${rows}`);
  }
});

test("lists in lists and several statements", async () => {
  await check("SELECT a IN (1, b IN (2, 3), 4); SELECT 1 WHERE (x IN (1, 2)) IN (true, NULL); VALUES (1 IN (2, 3), 4)");
});

test("an open list, and more than may be, say so", async () => {
  await check("SELECT a IN (1, 2");
  const many = `SELECT a IN (${"1,".repeat(400_001)}1)`;
  expect(await parseInTurns(many, PACE).then(() => "accepted", String)).toContain("more than 400000 constants in lists");
});

test("a statement of too many tokens is refused before it is parsed, rows and lists left out", async () => {
  const chain = `SELECT ${Array.from({ length: 20_000 }, (_, i) => `a = ${i}`).join(" OR ")}`;
  expect(await parseInTurns(chain, PACE).then(() => "accepted", String)).toContain("a statement has more than 65536 words");
  const list = `SELECT a IN (${Array.from({ length: 100_000 }, (_, i) => i).join(", ")})`;
  expect((await parseInTurns(list, PACE)).statements.length).toBe(1);
});

test("a list tells how many constants it begins with", () => {
  for (const [list, want] of [
    ["1, 2", 2],
    ["-1, 'it''s', NULL, x, 3", 3],
    ["x, 1", 0],
    ["1, - x", 1],
    ["1, 2 + 3, 4", 1],
    ["1, (SELECT 2)", 1],
    ["1, ?, 3", 1],
  ] as const) {
    const [select] = parseSql(`SELECT a FROM t WHERE a IN (${list})`);
    const where = select?.kind === "select" ? select.where : undefined;
    expect([list, where?.kind === "in-list" ? where.constants : undefined]).toEqual([list, want]);
  }
});
