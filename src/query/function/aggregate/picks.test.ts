import { expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

async function fixture(): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql(`CREATE TABLE t (h STRING PRIMARY KEY, x BIGINT, s STRING, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 'p', 1), ('a', 5, 'q', 2), ('b', 5, NULL, 3), ('b', NULL, 'z', 4), ('c', 1, 'q', 5)`);
  return data;
}

test("arg_max and arg_min take the value of the best row, without NULLs, the least of those that tie", async () => {
  const data = await fixture();
  const { rows } = await data.both(
    "SELECT arg_max(s, x), arg_min(h, x), max_by(s, ts), min_by(x, ts), argmax(h, s), argmin(ts, h), arg_max(x, NULL) FROM t",
  );
  expect(rows).toEqual([["q", "a", "q", 1, "b", 1n, undefined]]);
  expect((await data.both("SELECT h, arg_max(x, ts) FROM t GROUP BY h ORDER BY h")).rows).toEqual([
    ["a", 5],
    ["b", 5],
    ["c", 1],
  ]);
  expect((await data.both("SELECT arg_max(s, ts) OVER (ORDER BY ts) FROM t ORDER BY ts")).rows.flat()).toEqual(["p", "q", "q", "z", "q"]);
  expect(await data.sql("SELECT arg_max(s, parse_json('{}')) FROM t").then(String, String)).toContain("No function matches arg_max");
});

test("mode is the value that comes most often, the first in order of several", async () => {
  const data = await fixture();
  const { rows, types } = await data.both(
    "SELECT mode(x), mode() WITHIN GROUP (ORDER BY x), mode() WITHIN GROUP (ORDER BY x DESC), mode(s), mode(NULL) FROM t",
  );
  expect([rows, types[0]]).toEqual([[[1, 1, 5, "q", undefined]], "Int64"]);
  expect((await data.both("SELECT h, mode(s) FROM t GROUP BY h ORDER BY h")).rows.map(([, value]) => value)).toEqual(["p", "z", "q"]);
});

test("group_concat joins texts in an order, by a separator", async () => {
  const data = await fixture();
  const { rows, columns } = await data.both(
    "SELECT group_concat(s ORDER BY ts), group_concat(DISTINCT s ORDER BY s DESC SEPARATOR ';'), group_concat(h, '-', x ORDER BY ts), " +
      "group_concat(x ORDER BY x SEPARATOR ''), group_concat(s) FILTER (WHERE false) FROM t",
  );
  expect(rows).toEqual([["p,q,z,q", "z;q;p", "a-1,a-5,b-5,c-1", "1155", undefined]]);
  expect(columns.slice(0, 2)).toEqual([
    "group_concat(s order by ts separator ',')",
    "group_concat(distinct s order by s desc separator ';')",
  ]);
  expect(
    (await data.both("SELECT listagg(s, '|') WITHIN GROUP (ORDER BY s), listagg(DISTINCT h) WITHIN GROUP (ORDER BY h) FROM t")).rows,
  ).toEqual([["p|q|q|z", "abc"]]);
  expect(await data.sql("SELECT sum(x SEPARATOR ',') FROM t").then(String, String)).toContain("SEPARATOR does not go with sum()");
});

test("any_value, every and count_if leave NULL out", async () => {
  const data = await fixture();
  const { rows } = await data.both("SELECT any_value(s), arbitrary(x), every(x > 0), every(x > 1), count_if(x > 1), countif(x > 9) FROM t");
  expect(rows).toEqual([["p", 1, true, false, 2, 0]]);
});
