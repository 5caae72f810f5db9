/** Texts that are parsed in steps give the trees and errors that they give at once. */
import { expect, test } from "bun:test";
import { errorText } from "../../base/error.ts";
import { DOUBLED_QUOTES_MAX } from "./long-strings.ts";
import { parseSql } from "./parse.ts";
import { parseSqlInTurns } from "./parse-in-turns.ts";

/** What a text gives both ways, and how often others had a turn. */
async function check(text: string): Promise<number> {
  let turns = 0;
  const inTurns = await parseSqlInTurns(text, async () => void turns++).then(
    (statements) => ({ statements }),
    (error: unknown) => ({ error: errorText(error) }),
  );
  let atOnce: unknown;
  try {
    atOnce = { statements: parseSql(text) };
  } catch (error) {
    atOnce = { error: errorText(error) };
  }
  expect(Bun.deepEquals(inTurns, atOnce), `${text.slice(0, 60)}: ${JSON.stringify(inTurns).slice(0, 200)}`).toBe(true);
  return turns;
}

const rows = (count: number, row: (i: number) => string): string => Array.from({ length: count }, (_, i) => row(i)).join(",\n ");

test("an INSERT of many rows", async () => {
  const row = (i: number): string => `('it''s ${i}', -${i}.5, NULL, now(), [1, ${i}], (${i} + 1) /* , ( */)`;
  expect(await check(`-- head\nINSERT INTO "a b".t (a, b) VALUES ${rows(6000, row)}; SELECT 1`)).toBeGreaterThan(10);
  await check(`REPLACE INTO t VALUES ${rows(20_000, (i) => `(${i}, DEFAULT)`)}`);
  await check(`INSERT INTO public.values (values) VALUES ${rows(20_000, (i) => `(${i})`)}`);
  await check(`INSERT INTO t SELECT 1 UNION ALL VALUES ${rows(20_000, (i) => `(${i})`)}`);
});

test("several INSERTs, queries between them, and nothing between semicolons", async () => {
  const insert = `INSERT INTO t VALUES ${rows(9000, (i) => `(${i}, 'x')`)}`;
  await check(`${insert};;\n${insert} ;SELECT count(*) FROM t; ${insert};\n;`);
  await check(`${"SELECT 1;".repeat(8000)}SELECT 2`);
});

test("tokens that are longer than a stretch", async () => {
  const long = "y''".repeat(40_000);
  await check(`SELECT '${long}', "${"q".repeat(100_000)}" /* ${"*".repeat(90_000)} */ -- ${"-".repeat(70_000)}\n, 1`);
  await check(`SELECT ${" ".repeat(200_000)} 1`);
  await check(`SELECT a FROM t WHERE n IN (${rows(30_000, (i) => `${i}`)}) AND s >= 'x' AND t <> '' -- end`);
});

test("strings and quoted names of megabytes, with quotes and lines in them", async () => {
  const text = "y''\r\n\u00e4\rz\n".repeat(60_000);
  expect(
    await check(`SELECT 1,\n '${text}', "${text.replaceAll("'", '"')}" AS b, \`${text.replaceAll("'", "`")}\`, '', 'x';\nSELECT FROM`),
  ).toBeGreaterThan(10);
  await check(`'${text}'`);
  await check(`SELECT '${text}'`);
  await check(`SELECT 1, "${"x\n".repeat(60_000)}" FROM FROM`);
  await check(`SELECT 1,\n '${text}`);
  await check(`SELECT 1,\n '${text}''`);
});

test("a string of very many doubled quotes is refused where it begins, and gives turns while it is read", async () => {
  let turns = 0;
  const text = `SELECT 1,\n '${"''".repeat(DOUBLED_QUOTES_MAX + 1)}'`;
  const outcome = await parseSqlInTurns(text, async () => void turns++).then(() => "accepted", errorText);
  expect(outcome).toBe(`Invalid SQL syntax: a string has more than ${DOUBLED_QUOTES_MAX} doubled quotes at Line: 2, Column: 2`);
  expect(turns).toBeGreaterThan(10);
});

test("every place where a stretch may end", async () => {
  const tail = " a>=1 AND b<>'it''s' AND E'\\'' = c::text AND x'00ff' <> 1e10 /* c */ AND d !~* \"q\"\"q\" -- e\n OR f";
  for (let shift = 0; shift < tail.length; shift++) {
    await check(`SELECT 1 FROM t WHERE${" ".repeat(32 * 1024 - 22 - shift)}${tail} = 1${" ".repeat(64 * 1024)}`);
  }
});

test("errors say the same, wherever they are", async () => {
  const good = rows(9000, (i) => `(${i}, 'x')`);
  await check(`INSERT INTO t VALUES ${good}, (1, FROM)`);
  await check(`INSERT INTO t VALUES ${good}, (1, 2`);
  await check(`INSERT INTO t VALUES ${good},`);
  await check(`INSERT INTO t VALUES ${good} ON CONFLICT DO NOTHING`);
  await check(`INSERT INTO t VALUES ${good}; SELEC 1`);
  await check(`SELECT 1; ${" ".repeat(70_000)}\n SELECT 'not closed`);
  await check(`SELECT 1; ${" ".repeat(70_000)}\n\n  \\`);
  await check(`SELECT ${"(  ".repeat(30_000)}`);
});

test("a text of too many statements is refused", async () => {
  const refused = parseSqlInTurns("SELECT 1;\n".repeat(10_001), () => Promise.resolve());
  expect(await refused.then(() => "accepted", errorText)).toBe(
    "Invalid SQL syntax: the text has more than 10000 statements; send several texts at Line: 10001, Column: 1",
  );
});
