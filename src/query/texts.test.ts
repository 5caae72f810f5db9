/** What a text may look like, from its characters to the rows: several statements, comments, quotes, names, numbers, the session. */
import { beforeEach, describe, expect, test } from "bun:test";
import { checkFails } from "../../test/support/query-check.ts";
import { QueryFixture } from "../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(() => {
  fixture = new QueryFixture();
});

/** The rows of the last statement of a text. */
async function check(text: string, want: readonly (readonly unknown[])[]): Promise<void> {
  const { rows } = await fixture.sql(text);
  expect([text, rows as unknown]).toEqual([text, want]);
}

const fails = (text: string, message: string): Promise<void> => checkFails(fixture, text, message);

describe("a text of several statements", () => {
  test("runs them in order; a semicolon in quotes or comments ends none", async () => {
    await check("SELECT 1; SELECT 'a;b' AS \"c;d\" -- e; f\n; /* ; */ SELECT $$;$$;", [[";"]]);
    await check(";;SELECT 1;;", [[1]]);
    await check("CREATE TABLE m (ts TIMESTAMP TIME INDEX); INSERT INTO m VALUES (1), (2); SELECT count(*) FROM m", [[2]]);
  });

  test("is parsed whole before the first one runs", async () => {
    await fails("CREATE TABLE never (ts TIMESTAMP TIME INDEX); SELEC 1", "SELEC");
    await check("SHOW TABLES LIKE 'never'", []);
  });
});

test("comments stand anywhere between tokens", async () => {
  await check("/* a */SELECT/* b */1/* c */+/**/-- d\n2-- e", [[3]]);
  await check("-- first line\r\nSELECT 1 -- last, without a line end", [[1]]);
  await check('SELECT \'-- no comment\', "/* nor" FROM (SELECT 1 AS "/* nor")', [["-- no comment", 1]]);
  await check("SELECT 5 --1\n", [[5]]);
  await fails("SELECT 1 /* open", "a comment is not closed");
});

describe("names", () => {
  test("fold unless quoted, in every script", async () => {
    await fixture.sql(
      'CREATE TABLE "Mixed.Name" ("Ts" TIMESTAMP TIME INDEX, "A b" INT, `C``d` INT, "e""f" INT, ' +
        'größe DOUBLE, "数量" BIGINT, Имя STRING, "a.b" INT)',
    );
    await fixture.sql(
      `INSERT INTO "Mixed.Name" ("Ts", "A b", \`C\`\`d\`, "e""f", GRÖßE, 数量, имя, "a.b") VALUES (1, 2, 3, 4, 5.5, 6, 'я', 7)`,
    );
    await check('SELECT "Ts", "A b", "C`d", `e"f`, größe, "数量", ИМЯ, "a.b", "Mixed.Name"."a.b" FROM public."Mixed.Name"', [
      [1n, 2, 3, 4, 5.5, 6, "я", 7, 7],
    ]);
    await check('SELECT x."A b" FROM greptime.public."Mixed.Name" AS X', [[2]]);
    await fails('SELECT ts FROM "Mixed.Name"', "No field named ts");
    await fails("SELECT 1 FROM mixed.name", "Table not found");
  });

  test("show again what reads back", async () => {
    await fixture.sql("CREATE TABLE q (ts TIMESTAMP TIME INDEX, \"a\"\"b\" INT COMMENT 'it''s', \"select\" STRING DEFAULT 'x''y')");
    const [[, text] = []] = (await fixture.sql("SHOW CREATE TABLE q")).rows;
    await fixture.sql(String(text).replace('"q"', '"r"'));
    const [[, again] = []] = (await fixture.sql("SHOW CREATE TABLE r")).rows;
    expect(String(again)).toBe(String(text).replace('"q"', '"r"'));
  });
});

describe("strings", () => {
  test("in every form of quotes", async () => {
    await check("SELECT 'it''s', 'back\\slash', 'two\nlines', '', E'a\\tb\\'c\\\\', U&'\\0041', N'n', $$a'\"b$$, $x$ $$ $x$", [
      ["it's", "back\\slash", "two\nlines", "", "a\tb'c\\", "A", "n", "a'\"b", " $$ "],
    ]);
    await check("SELECT octet_length(X'00ff'), 0x4142::STRING, b'1' = X'01'", [[2, "AB", true]]);
    await fails("SELECT 'open", "is not closed");
  });

  test("of any characters come back as they were written", async () => {
    await fixture.sql("CREATE TABLE s (ts TIMESTAMP TIME INDEX, v STRING)");
    const ascii = Array.from({ length: 128 }, (_, code) => `a${String.fromCharCode(code)}b`);
    const values = [...ascii, "é", "e\u0301", "漢字", "😀", "\u2028", "\ufeff", "\u00a0", "'; DROP TABLE s; --", "\\'", "''"];
    const rows = values.map((value, i) => `(${i}, '${value.replaceAll("'", "''")}')`);
    await fixture.sql(`INSERT INTO s VALUES ${rows.join(", ")}`);
    await check(
      "SELECT v FROM s ORDER BY ts",
      values.map((value) => [value]),
    );
  });

  test("in double quotes are values of INSERT only", async () => {
    await fixture.sql('CREATE TABLE d (ts TIMESTAMP TIME INDEX, v STRING); INSERT INTO d VALUES (1, "text")');
    await check("SELECT v FROM d", [["text"]]);
    await fails('SELECT "text"', "No field named text");
  });
});

test("numbers in every form", async () => {
  await check("SELECT 1., .5, 1e3, 1E-3, .5e1, 007, - -1, +1", [[1, 0.5, 1000, 0.001, 5, 7, 1, 1]]);
  await check("SELECT 9223372036854775807, -9223372036854775808, 18446744073709551615", [
    [9223372036854775807n, -9223372036854775808n, 18446744073709551615n],
  ]);
  await check("SELECT 1e400 > 1e308, 1e-400", [[true, 0]]);
  for (const bad of ["1abc", "1_000", "0b12x", "1e"]) await fails(`SELECT ${bad}`, "Invalid SQL syntax");
});

describe("the session", () => {
  test("reads times in its zone, however that is set", async () => {
    await fixture.sql("CREATE TABLE z (ts TIMESTAMP TIME INDEX)");
    const forms = [
      "SET time_zone = '+08:00'",
      "SET SESSION TIME_ZONE = '+8:00'",
      "SET @@session.time_zone = '+08:00'",
      "SET TIME ZONE '+08:00'",
    ];
    for (const [i, form] of forms.entries()) {
      await fixture.sql(`${form}; INSERT INTO z VALUES ('1970-01-01 08:00:0${i}')`);
      await check("SELECT @@time_zone, timezone()", [["+08:00", "+08:00"]]);
      await fixture.sql("SET time_zone = 'UTC'");
    }
    await check("SELECT ts FROM z ORDER BY ts", [[0n], [1000n], [2000n], [3000n]]);
    await fails("SET time_zone = 'Nowhere/Town'", "Invalid timezone string");
    await fails("SET nothing = 1", "Unsupported set variable NOTHING");
  });

  test("has a database that USE changes for names without one", async () => {
    await fixture.sql("CREATE DATABASE other; USE other; CREATE TABLE t (ts TIMESTAMP TIME INDEX)");
    await check("SELECT database(), count(*) FROM t GROUP BY 1", []);
    await check("SHOW TABLES", [["t"]]);
    await fixture.sql('USE "public"');
    await check("SELECT database()", [["public"]]);
    await fails("SELECT * FROM t", "Table not found: greptime.public.t");
    await fails("USE nowhere", "Database not found: nowhere");
  });
});
