/** Lists, structs and maps in Parquet files: ours read by DuckDB, and DuckDB's by us. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { CopyFixture } from "../../../test/support/copy-fixture.ts";

let db: CopyFixture;
let duck: DuckDBConnection;

beforeEach(async () => {
  db = await CopyFixture.start();
  duck = await (await DuckDBInstance.create(":memory:")).connect();
});
afterEach(async () => {
  duck.closeSync();
  await db.close();
});

async function duckRows(sql: string): Promise<unknown[][]> {
  return (await duck.runAndReadAll(sql)).getRows() as unknown[][];
}

async function rowsOf(sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await db.sql(sql)).rows;
}

async function rejects(text: string, why: string | RegExp): Promise<void> {
  let thrown: unknown;
  await db.sql(text).catch((error: unknown) => (thrown = error));
  expect(thrown instanceof Error ? thrown.message : "it was taken").toMatch(why);
}

describe("DuckDB reads what is written", () => {
  /** A column of one value: its type in DuckDB, and the value as its text. */
  async function check(expression: string, type: string, text: string | null): Promise<void> {
    await db.sql(`copy (select ${expression} as x) to 'x.parquet'`);
    const file = `'${db.path("x.parquet")}'`;
    expect((await duckRows(`describe select x from ${file}`))[0]?.[1]).toBe(type);
    expect(await duckRows(`select x::varchar from ${file}`)).toEqual([[text]]);
  }

  test("types and values", async () => {
    await check("[1, NULL, 3]", "BIGINT[]", "[1, NULL, 3]");
    await check("[[1], [], NULL, [NULL, 2]]", "BIGINT[][]", "[[1], [], NULL, [NULL, 2]]");
    await check("['a', '', NULL]", "VARCHAR[]", "[a, '', NULL]");
    await check("named_struct('a', 1, 'b', 'x')", "STRUCT(a BIGINT, b VARCHAR)", "{'a': 1, 'b': x}");
    await check("named_struct('s', named_struct('l', [1.5]))", "STRUCT(s STRUCT(l DOUBLE[]))", "{'s': {'l': [1.5]}}");
    await check("map(['k', 'l'], [1, NULL])", "MAP(VARCHAR, BIGINT)", "{k=1, l=NULL}");
    await check("map([1], [[true, NULL]])", "MAP(BIGINT, BOOLEAN[])", "{1=[true, NULL]}");
    await check("[DATE '2024-02-29']", "DATE[]", "[2024-02-29]");
    await check("[CAST(1.25 AS DECIMAL(10, 2))]", "DECIMAL(10,2)[]", "[1.25]");
    await check("[CAST(1.25 AS DECIMAL(38, 2))]", "DECIMAL(38,2)[]", "[1.25]");
    await check("[CAST('2024-01-01 00:00:00.000001' AS TIMESTAMP(6))]", "TIMESTAMP WITH TIME ZONE[]", "['2024-01-01 00:00:00.000001+00']");
  });

  test("a vector as a list of floats", async () => {
    await db.sql("create table v (e vector(3), ts timestamp time index); insert into v values ('[1,2.5,-3]', 1), (null, 2)");
    await db.sql("copy v to 'v.parquet'");
    const file = `'${db.path("v.parquet")}'`;
    expect((await duckRows(`describe select e from ${file}`))[0]?.[1]).toBe("FLOAT[]");
    expect(await duckRows(`select e::varchar from ${file} order by ts`)).toEqual([["[1.0, 2.5, -3.0]"], [null]]);
    await db.sql("create table w (e vector(3), ts timestamp time index); copy w from 'v.parquet'");
    expect(await rowsOf("select e from w order by ts")).toEqual(await rowsOf("select e from v order by ts"));
    await db.sql("create table short (e vector(2), ts timestamp time index)");
    await rejects("copy short from 'v.parquet'", /row 1, column e: values of type List<Float32> cannot become Vector\(2\): a list has 3/);
  });

  test("pages that end between rows of many elements", async () => {
    const sql =
      "select number as n, range(0, number % 7) as l, named_struct('h', concat('h', number), 'e', [number]) as s from numbers limit 20000";
    expect(await db.count(`copy (${sql}) to 'big.parquet'`)).toBe(20_000);
    const file = `'${db.path("big.parquet")}'`;
    const [row] = await duckRows(`select count(*), sum(len(l)), sum(list_sum(l)), count(distinct s.h), sum(s.e[1]) from ${file}`);
    expect(row?.map(String)).toEqual(["20000", "59997", "99995", "20000", "199990000"]);
    expect(await duckRows(`select n from ${file} where l <> range(n % 7) or s.h <> 'h' || n`)).toEqual([]);
    await db.sql("create external table big with (location = 'big.parquet')");
    expect(await rowsOf("select count(*), sum(array_length(l)), sum(s['e'][1]) from big")).toEqual([[20_000, 59_997, 199_990_000]]);
  });

  test("what no Parquet file can hold is refused, and leaves none", async () => {
    await rejects("copy (select named_struct('a', 1, 'a', 2) as x) to 'x.parquet'", /column x as Parquet: two of its fields are called a/);
    expect(await db.names()).toEqual([]);
  });
});

describe("DuckDB's files are read", () => {
  const SELECT = `select i as n,
      case when i % 5 = 0 then null else range(i % 4) end as l,
      case when i % 7 = 0 then null else [case when i % 3 = 0 then null else range(i % 3) end, [], [null, i]] end as ll,
      case when i % 4 = 0 then null else {'a': nullif(i % 6, 0), 'b': {'c': 'x' || (i % 3)}} end as s,
      case when i % 4 = 1 then null else [{'k': i, 'v': nullif(['p', 'q'], ['p', 'q'])}, null] end as sl,
      case when i % 6 = 0 then null when i % 6 = 1 then map {} else map {'a' || i: [i], 'b': null} end as m
    from range(4000) r(i)`;
  const SUMS = `select count(*), count(l), sum(array_length(l)), count(ll), sum(array_length(ll[3])), sum(ll[3][2]), count(s), sum(s['a']),
      count(s['b']['c']), count(sl), sum(sl[1]['k']), count(m), sum(cardinality(m)) from t`;

  for (const codec of ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]) {
    for (const version of ["v1", "v2"]) {
      test(`${codec}, ${version}`, async () => {
        const options = `format parquet, compression '${codec}', parquet_version '${version}', row_group_size 2048`;
        await duck.run(`copy (${SELECT}) to '${db.path("f.parquet")}' (${options})`);
        await db.sql("create external table t with (location = 'f.parquet')");
        const [want] =
          await duckRows(`select count(*), count(l), sum(len(l)) filter (len(l) > 0), count(ll), sum(len(ll[3])), sum(ll[3][2]),
          count(s), sum(s.a),
          count(s.b.c), count(sl), sum(sl[1].k), count(m), sum(cardinality(m)) from '${db.path("f.parquet")}'`);
        expect((await rowsOf(SUMS))[0]?.map(String)).toEqual(want?.map(String) ?? []);
      });
    }
  }

  test("with types and values, NULL at every level", async () => {
    await duck.run(`copy (select * from (values
        (1, [1, null], [[1], [], null], {'a': 1, 'b': {'c': ['x', null]}}, [{'k': 'x'}, null, {'k': null}], map {'a': 1, 'b': null}),
        (2, [], [], {'a': null, 'b': null}, [], map {}),
        (3, null, null, null, null, null)) v(n, l, ll, s, sl, m)) to '${db.path("f.parquet")}' (format parquet)`);
    await db.sql("create external table t with (location = 'f.parquet')");
    const { types, rows } = await db.query.both("select n, l, ll, s, sl, m from t order by n");
    expect(types).toEqual([
      "Int32",
      "List<Int32>",
      "List<List<Int32>>",
      'Struct<"a": Int32, "b": Struct<"c": List<String>>>',
      'List<Struct<"k": String>>',
      "Map<String, Int32>",
    ]);
    expect(rows).toEqual([
      [1, "[1,null]", "[[1],[],null]", '{"a":1,"b":{"c":["x",null]}}', '[{"k":"x"},null,{"k":null}]', '{"a":1,"b":null}'],
      [2, "[]", "[]", '{"a":null,"b":null}', "[]", "{}"],
      [3, undefined, undefined, undefined, undefined, undefined],
    ]);
    expect(await rowsOf("select n, u from t cross join unnest(l) as x(u) order by n, u")).toEqual([
      [1, 1],
      [1, undefined],
    ]);
    expect(String((await db.sql("show create table t")).rows[0]?.[1])).toContain('"ll" INT[][] NULL');
  });

  test("into columns of text and JSON, as JSON", async () => {
    await duck.run(`copy (select [1, null] as l, {'a': ['x'], 'd': date '2024-02-29'} as s, make_timestamp(5) as ts)
      to '${db.path("f.parquet")}' (format parquet)`);
    await db.sql("create table t (l string, s json, ts timestamp(6) time index); copy t from 'f.parquet'");
    expect(await rowsOf("select l, json_to_string(s) from t")).toEqual([["[1,null]", '{"a":["x"],"d":"2024-02-29"}']]);
    await db.sql("create table n (l bigint, ts timestamp(6) time index)");
    await rejects("copy n from 'f.parquet'", /'f.parquet': column l: values of type List<Int32> cannot become Int64/);
  });

  test("with the fields of the first file, in any order; other fields and types are refused", async () => {
    const write = (name: string, struct: string): Promise<unknown> =>
      duck.run(`copy (select ${struct} as s) to '${db.path(`f/${name}.parquet`)}' (format parquet)`);
    await db.write("f/.keep", "");
    await write("a", "{'a': 1::bigint, 'b': 'x'}");
    await write("b", "{'b': 'y', 'a': 2::int}");
    await db.sql("create external table t with (location = 'f/')");
    expect(await rowsOf("select s from t order by s['a']")).toEqual([['{"a":1,"b":"x"}'], ['{"a":2,"b":"y"}']]);
    await write("c", "{'a': 3::bigint}");
    await rejects(
      "select s from t",
      /'f\/c.parquet': column s: values of type Struct<"a": Int64> cannot become Struct<.*>: the file has no field b/,
    );
    await write("c", "{'a': 3::bigint, 'b': 'z', 'c': 1}");
    await rejects("select s from t", /the column has no field c/);
    await write("c", "{'a': [3], 'b': 'z'}");
    await rejects("select s from t", /column s: values of type List<Int32> cannot become Int64/);
    await write("c", "{'a': 1.5::double, 'b': 'z'}");
    await rejects("select s from t", /'f\/c.parquet': row 1, column s: '1.5' is no value of type Int64/);
  });

  test("a copy that fails says what it wrote before", async () => {
    await duck.run(`copy (select case when i < 20000 then [i] else null end as l, make_timestamp(i) as ts from range(20001) r(i))
      to '${db.path("f.parquet")}' (format parquet)`);
    await db.sql("create table t (l string not null, ts timestamp(6) time index)");
    await rejects("copy t from 'f.parquet'", /row 20001: .*column l is not null.*; 16384 rows were written before and stay/);
    expect(await rowsOf("select count(*) from t")).toEqual([[16_384]]);
  });
});

describe("JSON files", () => {
  test("hold lists and objects, and are read as such", async () => {
    await db.sql(
      `copy (select [1, null] as l, named_struct('x', 'NaN'::double, 'at', [DATE '2024-02-29']) as s, map(['k'], [[1.5]]) as m)
        to 'j' with (format = 'json')`,
    );
    expect(await db.text("j")).toBe('{"l":[1,null],"s":{"x":"NaN","at":["2024-02-29"]},"m":{"k":[1.5]}}\n');
    await db.write("k", '{"l":[1,null],"s":{"x":1}}\n{"l":[],"s":{"y":["a"]},"t":[1,"a"]}\n{"t":{"z":1}}\n');
    await db.sql("create external table k with (location = 'k', format = 'json')");
    const { types, rows } = await db.query.both("select l, s, t from k");
    expect(types).toEqual(["List<Int64>", 'Struct<"x": Int64, "y": List<String>>', "String"]);
    expect(rows).toEqual([
      ["[1,null]", '{"x":1,"y":null}', undefined],
      ["[]", '{"x":null,"y":["a"]}', '[1,"a"]'],
      [undefined, undefined, '{"z":1}'],
    ]);
    await db.write("k", '{"s":{"x":1,"other":2}}\n');
    await rejects("select s from k", /'k': line 1, column s: .* is no value of type Struct<.*>: it has no field other/);
  });

  test("and CSV files hold them as JSON in a field", async () => {
    await db.sql("copy (select [1, 2] as l) to 'c' with (format = 'csv')");
    expect(await db.text("c")).toBe('l\n"[1,2]"\n');
  });
});
