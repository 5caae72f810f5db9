/** Texts that are parsed in steps give the trees and errors that they give at once. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { errorText } from "../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { withTrees } from "../../../test/support/value-trees.ts";
import { parseSql } from "./parse.ts";
import { parseInTurns } from "./parse-in-turns.ts";

/** What a text gives both ways, and how often others had a turn. */
async function check(text: string): Promise<number> {
  let turns = 0;
  const inTurns = await parseInTurns(text, { turn: async () => void turns++ }).then(
    ({ statements }) => ({ statements: withTrees(statements) }),
    (error: unknown) => ({ error: errorText(error) }),
  );
  let atOnce: unknown;
  try {
    atOnce = { statements: withTrees(parseSql(text)) };
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

test("tokens that are longer than a slice", async () => {
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

test("doubled quotes give turns wherever their string begins", async () => {
  const turns: number[] = [];
  for (const shift of ["", " "]) turns.push(await check(`SELECT${shift} '${"''".repeat(500_000)}'`));
  expect(Math.abs((turns[0] ?? 0) - (turns[1] ?? 0))).toBeLessThan(3);
});

test("a string of very many doubled quotes, and of escapes, gives turns while it is read", async () => {
  expect(await check(`SELECT 1,\n '${"''".repeat(300_000)}', 2`)).toBeGreaterThan(5);
  expect(await check(`SELECT 1,\n E'${"\\n\\x41\\''' \\u00e4\\U0001F600\u{1F600}\\303\\244".repeat(20_000)}', 2`)).toBeGreaterThan(5);
  expect(await check(`SELECT 1,\n U&'${"\\00e4\\\\''\\+01F600\u{1F600}".repeat(30_000)}', 2`)).toBeGreaterThan(5);
});

test("every place where a slice may end", async () => {
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
  const refused = parseInTurns("SELECT 1;\n".repeat(10_001), { turn: () => Promise.resolve() });
  expect(await refused.then(() => "accepted", errorText)).toBe(
    "Invalid SQL syntax: the text has more than 10000 statements; send several texts at Line: 10001, Column: 1",
  );
});

test("what tokens and trees take is counted as it grows, and a refusal ends the parsing", async () => {
  const list = `SELECT a IN (${rows(100_000, String)})`;
  let held = 0;
  await parseInTurns(list, { turn: () => Promise.resolve(), hold: (bytes) => void (held += bytes) });
  expect(held).toBeGreaterThan(100_000 * 100);
  expect(held).toBeLessThan(100_000 * 200);
  let most = 0;
  const hold = (bytes: number): void => {
    if (most + bytes > 1_000_000) throw new Error("no memory");
    most += bytes;
  };
  expect(await parseInTurns(list, { turn: () => Promise.resolve(), hold }).then(() => "accepted", errorText)).toBe("no memory");
  await parseInTurns("SELECT 1", { turn: () => Promise.resolve(), hold: () => expect.unreachable() });
});

test("TQL in a long text, and one that is too long", async () => {
  const tql = "TQL EVAL (0, 10, '5s') sum by (host) (rate(cpu{a=\"'\"}[5m])) # it's\n AS busy";
  await check(
    `${tql};${" ".repeat(70_000)}WITH a AS (${tql}) SELECT tql, 1 FROM a; EXPLAIN ${tql}; SELECT (tql eval), ${"1,".repeat(9000)}1`,
  );
  await check(`${"-- tql\n".repeat(9000)}; SELECT 'tql eval (', tql FROM (tql)`);
  const long = parseInTurns(`TQL EVAL (0, 10, '5s') ${"up + ".repeat(20_000)} up`, { turn: () => Promise.resolve() });
  expect(await long.then(() => "accepted", errorText)).toContain("a TQL query has more than 65536 characters at Line: 1, Column: 1");
});

test("dollars, hex and marks that a slice cuts, and literals without an end", async () => {
  const long = "it's $ $$a \\' \n".repeat(6000);
  await check(`SELECT $tag$${long}$tag$, $1, ${"x".repeat(40_000).replaceAll("xxxxxxxx", "xxxxxxx,")} FROM t`);
  await check(`SELECT x'${"00".repeat(50_000)}', 1.5e+10, U&'${"\\00e4".repeat(20_000)}', n'${"x".repeat(90_000)}'`);
  for (const open of ["$a$", "E'", "U&'", "x'", "/*", '"']) await check(`SELECT 1, ${open}${"x ".repeat(50_000)}`);
  for (let shift = 0; shift < 8; shift++)
    await check(`SELECT${" ".repeat(32 * 1024 - 10 - shift)}1.5e+10, u&x, a!~*b, $$y$$${" ".repeat(64 * 1024)}`);
});

test("a CREATE TABLE of too many columns ends with the first one too many, not with what stands behind it", async () => {
  const table = (count: number, behind: string): string => `CREATE TABLE t (${rows(count, (i) => `c${i} BIGINT`)}, ts TIMESTAMP ${behind}`;
  expect(await check(table(TABLE_COLUMNS_MAX - 1, "TIME INDEX)"))).toBeGreaterThan(0);
  const broken = table(TABLE_COLUMNS_MAX + 1, "SELECT ;");
  await check(broken);
  expect(() => parseSql(broken)).toThrow(`it has more than ${TABLE_COLUMNS_MAX} columns`);
});

test("breaks of every kind in a long string count as lines, also where a piece ends between two characters of one", async () => {
  for (const before of ["", "x"])
    for (const lineEnd of ["\n", "\r", "\r\n"]) await check(`SELECT '${before}${lineEnd.repeat(150_000)}é'  FROM FROM`);
});

test("rows of anything give what they give at once, errors too", async () => {
  const value = fc.constantFrom(
    "1",
    "-2.5",
    "'it''s'",
    "NULL",
    "true",
    "DEFAULT",
    "now()",
    "1 + 1",
    "(3)",
    '"q"',
    "?",
    "$2",
    "'\r\n\n'",
    "/* , ( */ 1",
  );
  const odd = fc.constantFrom("", "1 2", "x'0", "1abc", ",", "(", ")", "--", ";", "'open", "1..2", "nul", "FROM", "- -1", "1 -- c\n");
  const row = fc.array(value, { minLength: 1, maxLength: 4 });
  const text = fc.record({
    head: fc.constantFrom(
      "INSERT INTO t VALUES",
      "REPLACE INTO t (a, values) VALUES\n",
      "VALUES",
      "SELECT * FROM (VALUES",
      "EXPLAIN INSERT INTO values VALUES",
    ),
    same: fc.array(row, { minLength: 1, maxLength: 6 }),
    times: fc.constantFrom(1, 60, 400),
    cell: fc.option(fc.tuple(fc.nat(5), odd), { freq: 3 }),
    between: fc.constantFrom(",", " , ", ",\r\n", ", -- c\n", ",,", " "),
    end: fc.constantFrom("", ";", ",", ") AS v (a)", "; SELECT 1", " ON CONFLICT DO NOTHING", " ORDER BY 1", ", (1", ", (1) (2)"),
  });
  await fc.assert(
    fc.asyncProperty(text, async ({ head, same, times, cell, between, end }) => {
      const rows = same.map((each) => `(${each.join(", ")})`);
      const plain = Array.from({ length: times }, () => rows.join(", ")).join(", ");
      const last = same.map((each, i) => `(${(i === cell?.[0] ? [...each, cell[1]] : each).join(",")})`).join(between);
      await check(`${head} ${plain}, ${last}${end}${" ".repeat(2048)}`);
    }),
    { seed: 20260301, numRuns: 120 },
  );
});

test("rows of an INSERT are held as what they are, not as trees", async () => {
  const held = async (text: string): Promise<number> => {
    let bytes = 0;
    await parseInTurns(text, { turn: () => Promise.resolve(), hold: (more) => void (bytes += more) });
    return bytes - text.length;
  };
  const constants = await held(`INSERT INTO t VALUES ${rows(100_000, (i) => `('h${i % 100}', ${i}, NULL)`)}`);
  expect(constants).toBeGreaterThan(300_000 * 9);
  expect(constants).toBeLessThan(300_000 * 9 + 2_000_000);
  // Trees of computed rows are let go as they were read.
  expect(await held(`INSERT INTO t VALUES ${rows(20_000, (i) => `('h' || ${i}, ${i} + 1)`)}`)).toBeLessThan(3_000_000);
});
