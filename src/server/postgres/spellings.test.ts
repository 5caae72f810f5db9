/** Functions, casts and items of FROM that statements of PostgreSQL's clients hold, through a driver. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";

let server: PostgresFixture;
let client: pg.Client;

beforeAll(async () => {
  server = await startPostgres();
  client = new pg.Client(server.url);
  await client.connect();
  await client.query(`CREATE TABLE "T x" (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE SKIPPING INDEX)`);
  await client.query("CREATE TABLE logged (ts TIMESTAMP TIME INDEX, line STRING) WITH (append_mode = 'true')");
  await client.query("COMMENT ON TABLE logged IS 'what was said'");
});

afterAll(async () => {
  await client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

const CASES: readonly (readonly [text: string, want: readonly (readonly unknown[])[]])[] = [
  [
    "SELECT format('%I.%I', 'a b', 'c'), format('%s-%L', 1, 'it''s'), format('%2$s %1$s %%', 'x', 'y'), format('%-4s|', 'z')",
    [['"a b".c', "1-'it''s'", "y x %", "z   |"]],
  ],
  ["SELECT format(1234567.891, 2), format('1234.5', 1)", [["1,234,567.89", "1,234.5"]]],
  ["SELECT quote_ident('Ab'), quote_literal('a''b'), quote_nullable(NULL)", [['"Ab"', "'a''b'", "NULL"]]],
  ["SELECT json_build_object('b', 1, 'a', ARRAY[1, 2]), json_build_array('x', NULL, true)", [[{ a: [1, 2], b: 1 }, ["x", null, true]]]],
  ["SELECT json_agg(x ORDER BY x), json_object_agg(x, x + 1) FROM (VALUES (1), (2)) t(x)", [[[1, 2], { "1": 2, "2": 3 }]]],
  ["SELECT coalesce(json_agg(x), '[]') FROM (VALUES (1)) t(x) WHERE x > 1", [[[]]]],
  [
    "SELECT a, n FROM unnest(ARRAY['x', 'y']) WITH ORDINALITY AS t(a, n)",
    [
      ["x", "1"],
      ["y", "2"],
    ],
  ],
  [
    "SELECT k, o, i FROM unnest(ARRAY[5, 6], ARRAY[7, 8]) WITH ORDINALITY AS t(k, o, i)",
    [
      ["5", "7", "1"],
      ["6", "8", "2"],
    ],
  ],
  [
    "SELECT x, n FROM _pg_expandarray(ARRAY['a', 'b'])",
    [
      ["a", 1],
      ["b", 2],
    ],
  ],
  [
    "SELECT (k).x, (k).n FROM (SELECT _pg_expandarray(ARRAY[3, 4]) AS k) t",
    [
      ["3", 1],
      ["4", 2],
    ],
  ],
  ["SELECT generate_subscripts(ARRAY['a', 'b'], 1) AS i", [["1"], ["2"]]],
  ["SELECT part FROM string_to_table('a,b', ',') AS part", [["a"], ["b"]]],
  [
    "SELECT option_name, option_value FROM pg_options_to_table(ARRAY['a=b=c', 'd'])",
    [
      ["a", "b=c"],
      ["d", null],
    ],
  ],
  [
    "SELECT 'int4'::regtype, 23::regtype::text, format_type(1043, 24), 'numeric(8,2)'::regtype::oid::text",
    [["integer", "integer", "character varying(20)", "1700"]],
  ],
  [`SELECT '"T x"'::regclass, 'public."T x"'::regclass = '"T x"'::regclass, to_regclass('nothing')`, [['"T x"', true, null]]],
  [
    "SELECT a.attname FROM pg_attribute a WHERE a.attrelid = '\"T x\"'::regclass AND a.attnum = ANY(ARRAY[1, 3]) ORDER BY a.attnum",
    [["host"], ["v"]],
  ],
  [
    "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = '\"T x\"'::regclass ORDER BY 1",
    [
      ['CREATE INDEX "T x_time_index" ON public."T x" USING btree (ts)'],
      ['CREATE INDEX "T x_v_skipping" ON public."T x" USING skipping (v)'],
      ['CREATE UNIQUE INDEX "T x_pkey" ON public."T x" USING btree (host, ts)'],
    ],
  ],
  ["SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint", [["T x_pkey", "PRIMARY KEY (host, ts)"]]],
  ["SELECT indkey::text, indkey[0], array_upper(indkey, 1) FROM pg_index WHERE indisprimary", [[expect.any(String), 1, "1"]]],
  [
    "SELECT obj_description('logged'::regclass, 'pg_class'), count(*) FROM pg_constraint WHERE conrelid = 'logged'::regclass",
    [["what was said", "0"]],
  ],
  [
    `SELECT a.x, b.y FROM (VALUES (1), (2)) a(x)
     LEFT JOIN (VALUES (1, 'p'), (2, 'q')) b(x, y) ON b.x = (SELECT min(c.z) FROM (VALUES (2)) c(z) WHERE c.z = a.x) ORDER BY 1`,
    [
      ["1", null],
      ["2", "q"],
    ],
  ],
  ["SELECT a.x FROM (VALUES (2), (1)) a(x) JOIN (VALUES (1), (2)) b(x) ON a.x = b.x ORDER BY x", [["1"], ["2"]]],
  ["SELECT ARRAY(SELECT x FROM (VALUES (1)) t(x) WHERE x > 5), 'a' = ANY(ARRAY(SELECT 'a'))", [[[], true]]],
  ["SELECT tableoid = 'pg_class'::regclass FROM pg_class LIMIT 1", [[true]]],
];

for (const [text, want] of CASES) {
  test(text, async () => {
    expect((await client.query<unknown[]>({ text, rowMode: "array" })).rows).toEqual(want as unknown[][]);
  });
}

test("says what is wrong", async () => {
  const failure = async (text: string): Promise<unknown> =>
    client.query(text).then(
      () => "no error",
      (thrown: pg.DatabaseError) => [thrown.code, thrown.message],
    );
  expect(await failure("SELECT 'nope'::regclass")).toEqual(["42P01", 'relation "nope" does not exist']);
  expect(await failure("SELECT format('%d', 1)")).toEqual(["P0000", 'Execution error: unrecognized format() type specifier "d"']);
  expect(await failure("CREATE TABLE bad (a regclass, ts TIMESTAMP TIME INDEX)")).toEqual(["42601", expect.stringContaining("regclass")]);
  expect(await failure("ALTER USER me PASSWORD 'x'")).toEqual(["0A000", expect.stringContaining("--user-provider")]);
  expect(await failure("SELECT json_build_object('a')")).toEqual(["P0000", expect.stringContaining("even number")]);
});
