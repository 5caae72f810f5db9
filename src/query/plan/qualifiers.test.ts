/** What stands before the name of a column says where its table is, in every clause. */
import { beforeAll, describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(`CREATE DATABASE other;
    CREATE TABLE t (h STRING PRIMARY KEY, x BIGINT, ts TIMESTAMP TIME INDEX);
    CREATE TABLE other.t (h STRING PRIMARY KEY, x BIGINT, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 1); INSERT INTO other.t VALUES ('a', 2, 1)`);
});

const CLAUSES: readonly ((column: string) => string)[] = [
  (column) => `SELECT ${column} FROM t`,
  (column) => `SELECT 1 FROM t WHERE ${column} IS NOT NULL`,
  (column) => `SELECT count(*) FROM t GROUP BY ${column}`,
  (column) => `SELECT h FROM t GROUP BY h HAVING max(${column}) IS NOT NULL`,
  (column) => `SELECT h FROM t ORDER BY ${column}`,
  (column) => `SELECT sum(1) OVER (PARTITION BY ${column}) FROM t`,
  (column) => `SELECT h FROM t QUALIFY row_number() OVER (ORDER BY ${column}) = 1`,
  (column) => `SELECT DISTINCT ON (${column}) h FROM t`,
  (column) => `SELECT max(ts) RANGE '1h' FROM t ALIGN '1h' BY (${column})`,
  (column) => `SELECT 1 FROM t JOIN (SELECT h AS k FROM t) AS a ON ${column} = a.k`,
  (column) => `SELECT (SELECT ${column}) FROM t`,
];

describe("a qualifier", () => {
  test.each(CLAUSES.map((clause) => [clause("…"), clause] as const))("that is wrong is refused in %s", async (_, clause) => {
    for (const wrong of ["nothing.h", "other.t.h", "greptime.other.t.h", "nowhere.public.t.h", "a.greptime.public.t.h"]) {
      const failure = await data.sql(clause(wrong)).then(String, String);
      expect([wrong, failure]).toEqual([wrong, expect.stringContaining(`No field named ${wrong}`)]);
    }
    for (const right of ["h", "t.h", "public.t.h", "greptime.public.t.h"])
      expect([right, (await data.sql(clause(right))).rows.length]).toEqual([right, 1]);
  });

  test("of DELETE is that of its table", async () => {
    const failure = await data.sql("DELETE FROM t WHERE other.t.h = 'b'").then(String, String);
    expect(failure).toContain("No field named other.t.h");
    expect((await data.sql("DELETE FROM t WHERE public.t.h = 'b'")).affected).toBe(0);
  });

  test("tells tables of one name apart", async () => {
    const { rows } = await data.both("SELECT public.t.x, other.t.x FROM t JOIN other.t ON public.t.h = other.t.h");
    expect(rows).toEqual([[1, 2]]);
    expect(await data.sql("SELECT t.x FROM t JOIN other.t ON public.t.h = other.t.h").then(String, String)).toContain(
      "Ambiguous reference",
    );
  });

  test("is the alias alone where there is one", async () => {
    expect((await data.both("SELECT a.x FROM t AS a")).rows).toEqual([[1]]);
    for (const wrong of ["t.x", "public.a.x"])
      expect(await data.sql(`SELECT ${wrong} FROM t AS a`).then(String, String)).toContain(`No field named ${wrong}`);
  });
});

test("information_schema is one in any case, quoted too", async () => {
  for (const name of ["INFORMATION_SCHEMA.TABLES", '"INFORMATION_SCHEMA"."TABLES"', '"Information_Schema".tables'])
    expect((await data.both(`SELECT count(*) > 0 FROM ${name}`)).rows).toEqual([[true]]);
  const fixture = new QueryFixture();
  await fixture.sql('USE "INFORMATION_SCHEMA"');
  expect((await fixture.sql("SELECT database(), (SELECT count(*) > 0 FROM tables)")).rows).toEqual([["information_schema", true]]);
  expect((await fixture.sql("SHOW TABLES FROM \"INFORMATION_SCHEMA\" LIKE 'tables'")).rows).toEqual([["tables"]]);
  expect(await fixture.sql('CREATE DATABASE "Information_Schema"').then(String, String)).toContain("already exists");
});
