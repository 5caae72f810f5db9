import { describe, expect, test } from "bun:test";
import { checkFails, checkRows } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();

/** The rows of a query, in their order. loops and reference must agree. */
const check = (query: string, want: readonly (readonly unknown[])[]): Promise<void> => checkRows(fixture, query, want);

async function names(query: string, want: readonly string[]): Promise<void> {
  expect([query, (await fixture.both(query)).columns]).toEqual([query, [...want]]);
}

const fails = (query: string, message: string): Promise<void> => checkFails(fixture, query, message);

describe("unnest in the select list", () => {
  test("makes a row of each element", async () => {
    await check("SELECT unnest([1, NULL, 3]) AS x", [[1], [undefined], [3]]);
    await check("SELECT unnest(['a', 'b']) || '!' AS x, 7", [
      ["a!", 7],
      ["b!", 7],
    ]);
    await check("SELECT number, unnest([number, number + 1]) FROM numbers WHERE number < 2", [
      [0, 0],
      [0, 1],
      [1, 1],
      [1, 2],
    ]);
  });

  test("puts lists side by side, shorter ones with NULLs", async () => {
    await check("SELECT unnest([1, 2, 3]), unnest(['a'])", [
      [1, "a"],
      [2, undefined],
      [3, undefined],
    ]);
    await check("SELECT unnest([1, 2, 3]) + unnest([1, 2, 3]), unnest([1, 2, 3]) + unnest([4, 5])", [
      [2, 5],
      [4, 7],
      [6, undefined],
    ]);
  });

  test("drops rows whose lists are all empty or NULL", async () => {
    await check("SELECT v, unnest(l) FROM (VALUES (1, [10]), (2, []), (3, NULL)) AS t(v, l)", [[1, 10]]);
    await check("SELECT v, unnest(l), unnest([v]) FROM (VALUES (1, [10]), (2, NULL)) AS t(v, l)", [
      [1, 10, 1],
      [2, undefined, 2],
    ]);
    await check("SELECT unnest(NULL)", []);
  });

  test("takes lists of lists apart from the inside", async () => {
    await check("SELECT unnest(unnest([[1, 2], [3]]))", [[1], [2], [3]]);
    await check("SELECT unnest([1, 2, 3]), unnest(unnest([[1, 2, 3]]))", [
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    await check("SELECT unnest(unnest([[1, 2, 3]])) + unnest([4, 5]), unnest([4, 5])", [
      [5, 4],
      [7, 5],
      [undefined, undefined],
    ]);
  });

  test("goes with ORDER BY, LIMIT, DISTINCT and windows", async () => {
    await check("SELECT unnest([2, 3, 1]) AS x ORDER BY x DESC LIMIT 2", [[3], [2]]);
    await check("SELECT number FROM numbers WHERE number < 2 ORDER BY unnest([1, 2]), number DESC", [[1], [0], [1], [0]]);
    await check("SELECT DISTINCT unnest([1, 1, 2]) AS x ORDER BY x", [[1], [2]]);
    await check("SELECT x, sum(x) OVER (ORDER BY x) FROM (SELECT unnest([3, 1]) AS x)", [
      [1, 1],
      [3, 4],
    ]);
    await check("SELECT unnest([5, 6]), row_number() OVER (ORDER BY unnest([5, 6]) DESC)", [
      [6, 1],
      [5, 2],
    ]);
  });

  test("goes with GROUP BY, below and above it", async () => {
    await check("SELECT unnest([1, 2, 2]) AS x, count(*) FROM numbers GROUP BY unnest([1, 2, 2]) ORDER BY x", [
      [1, 100],
      [2, 200],
    ]);
    await check("SELECT unnest([1, 2, 2]) + 1 AS x, count(*) FROM numbers GROUP BY 1 ORDER BY x", [
      [2, 100],
      [3, 200],
    ]);
    await check("SELECT sum(unnest([1, 2, 3]))", [[6]]);
    await check("SELECT unnest(array_agg(number)) * 2, max(number) FROM numbers WHERE number < 3", [
      [0, 2],
      [2, 2],
      [4, 2],
    ]);
    await check("SELECT unnest([7, 8]), count(*) FROM numbers", [
      [7, 100],
      [8, 100],
    ]);
    await check("SELECT unnest([1, 2]) AS x, count(*) FROM numbers GROUP BY ROLLUP (unnest([1, 2])) ORDER BY x NULLS LAST", [
      [1, 100],
      [2, 100],
      [undefined, 200],
    ]);
    await fails("SELECT number FROM numbers GROUP BY unnest([1])", "must be in GROUP BY");
  });

  test("spreads a struct over columns", async () => {
    await check("SELECT unnest(struct(1, 'x')), 5", [[1, "x", 5]]);
    await names("SELECT unnest(struct(1, 'x'))", ["__unnest_placeholder(struct(1, 'x')).c0", "__unnest_placeholder(struct(1, 'x')).c1"]);
    await names("SELECT unnest(named_struct('lat', 1)) AS place", ["place.lat"]);
    await check("SELECT unnest(geo_path(x, x, x::TIMESTAMP)) FROM (VALUES (2.5), (1.5)) AS t(x)", [["[1.5,2.5]", "[1.5,2.5]"]]);
    await check("SELECT unnest(unnest([named_struct('a', 1), named_struct('a', 2)]))", [[1], [2]]);
    await fails("SELECT unnest(struct(1)) + 1", "must be a whole item of the select list");
  });

  test("is refused where it makes no rows", async () => {
    await fails("SELECT 1 WHERE unnest([1]) = 1", "unnest() belongs in the select list");
    await fails("SELECT count(*) FROM numbers HAVING unnest([1]) = 1", "unnest() belongs in the select list");
    await fails("SELECT unnest(1)", "can only be applied to a list or a struct, not to Int64");
    await fails("SELECT unnest(map('a', 1))", "not to Map<String, Int64>");
    await fails("SELECT unnest([1], [2])", "takes one list here");
    await fails("SELECT unnest([1]) FILTER (WHERE true)", "is no aggregate");
    await fails("SELECT unnest(DISTINCT [1])", "is no aggregate");
  });
});

describe("unnest in FROM", () => {
  test("gives the elements as rows", async () => {
    await check("SELECT * FROM unnest([1, 2]) AS t(x) WHERE x > 1", [[2]]);
    await check("SELECT a, b FROM unnest([1, 2], ['x']) AS t(a, b)", [
      [1, "x"],
      [2, undefined],
    ]);
    await names("SELECT * FROM unnest([1, 2])", ["unnest(make_array(1, 2))"]);
    await check("SELECT * FROM unnest(named_struct('a', 1, 'b', 'x')) AS t(p, q)", [[1, "x"]]);
    await check("SELECT s.a FROM unnest([named_struct('a', 1), named_struct('a', 2)]) AS t(s)", [[1], [2]]);
    await check("SELECT count(*) FROM unnest([]) AS t", [[0]]);
    await fails("SELECT * FROM unnest()", "one or more lists");
    await fails("SELECT * FROM unnest('a')", "not to String");
    await fails("SELECT * FROM unnest([x]) AS t", "No field named x");
  });

  test("names columns of the relations before it", async () => {
    const lists = "(VALUES (1, ['a', 'b']), (2, NULL), (3, ['c'])) AS t(v, l)";
    await check(`SELECT v, x FROM ${lists}, unnest(l) AS u(x)`, [
      [1, "a"],
      [1, "b"],
      [3, "c"],
    ]);
    await check(`SELECT v, x FROM ${lists} LEFT JOIN LATERAL unnest(t.l) AS u(x) ON true ORDER BY v, x`, [
      [1, "a"],
      [1, "b"],
      [2, undefined],
      [3, "c"],
    ]);
    await check("SELECT t.v, value FROM (VALUES (2), (1)) AS t(v) CROSS JOIN generate_series(1, t.v) ORDER BY 1, 2", [
      [1, 1],
      [2, 1],
      [2, 2],
    ]);
    await check("SELECT number, (SELECT sum(x) FROM unnest([number, 2]) AS t(x)) FROM numbers WHERE number < 2", [
      [0, 2],
      [1, 3],
    ]);
    await fails(`SELECT v FROM ${lists} FULL JOIN unnest(l) AS u(x) ON true`, "LATERAL goes with");
  });
});

describe("lists in queries", () => {
  const lists = "(SELECT [1, 2] AS a UNION ALL SELECT [0] UNION ALL SELECT [1, 2]) AS t";

  test("are grouped, sorted, joined and told apart", async () => {
    await check(`SELECT a, count(*) FROM ${lists} GROUP BY a ORDER BY a`, [
      ["[0]", 1],
      ["[1,2]", 2],
    ]);
    await check(`SELECT DISTINCT a FROM ${lists} ORDER BY a DESC`, [["[1,2]"], ["[0]"]]);
    await check(`SELECT t.a FROM ${lists} JOIN (SELECT [0] AS a) AS u ON t.a = u.a`, [["[0]"]]);
    await check(`SELECT a FROM ${lists} EXCEPT SELECT [0]`, [["[1,2]"]]);
    await check("SELECT [] AS a UNION ALL SELECT [1]", [["[]"], ["[1]"]]);
    await check(`SELECT lag(a) OVER (ORDER BY a) FROM ${lists}`, [[undefined], ["[0]"], ["[1,2]"]]);
  });

  test("that are constant are looked up by scans", async () => {
    const db = new QueryFixture();
    await db.sql("CREATE TABLE h (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX)");
    await db.sql("INSERT INTO h VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3)");
    expect((await db.both("SELECT v FROM h WHERE host = ANY(['a', 'c', NULL])")).rows).toEqual([[1], [3]]);
    expect((await db.both("SELECT v FROM h WHERE host <> ALL(['a', 'c'])")).rows).toEqual([[2]]);
    const plan = (await db.sql("EXPLAIN SELECT v FROM h WHERE host = ANY(['a', 'c'])")).rows.map(String).join("\n");
    expect(plan).toContain("tags=[host in ('a', 'c')]");
  });

  test("are no columns of tables", async () => {
    await fails("CREATE TABLE x (ts TIMESTAMP TIME INDEX, a BIGINT[])", "array type");
    const db = new QueryFixture();
    await db.sql("CREATE TABLE h (v DOUBLE, ts TIMESTAMP TIME INDEX)");
    const thrown = await db.sql("INSERT INTO h SELECT [1.5], 1::TIMESTAMP").then(() => undefined, String);
    expect(thrown).toContain("cannot insert List<Float64> into column v");
  });

  test("of too many bytes in one batch are refused", async () => {
    await fails("SELECT range(0, 2000000) FROM numbers", "computed for one batch of rows");
  });

  test("longer than a batch come out in parts", async () => {
    await check("SELECT count(*), sum(x) FROM (SELECT unnest(range(0, 20000)) AS x)", [[20_000, 199_990_000]]);
  });
});
