/** Parquet of other writers, by way of DuckDB, and DuckDB reading what we write. */
import { afterEach, beforeEach, expect, test } from "bun:test";
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

test("DuckDB reads what is written, types and values", async () => {
  await db.sql(`create table t (host string primary key, v double, n int unsigned, d date, dec decimal(10, 2), ts timestamp(6) time index);
    insert into t values ('a', 1.5, 4294967295, '2024-02-29', 12.34, '2024-01-01 00:00:00.000001'), ('b', null, null, null, null, 2)`);
  expect(await db.count("copy t to 't.parquet'")).toBe(2);
  expect(await duckRows(`select host, v, n, d::varchar, dec::varchar, epoch_us(ts) from '${db.path("t.parquet")}' order by host`)).toEqual([
    ["a", 1.5, 4_294_967_295, "2024-02-29", "12.34", 1_704_067_200_000_001n],
    ["b", null, null, null, null, 2n],
  ]);
});

test("a file of several row groups keeps all rows", async () => {
  await db.sql("copy (select number as n, 'host' as h from numbers limit 100) to 'small.parquet'");
  await duck.run(`copy (select i::bigint as n, 'h' || (i % 7) as host, make_timestamp(i * 1000) as ts from range(60000) r(i))
    to '${db.path("big.parquet")}' (format parquet, row_group_size 20000)`);
  await db.sql("create external table big with (location = 'big.parquet', format = 'parquet')");
  expect((await db.sql("select count(*), sum(n), count(distinct host) from big")).rows).toEqual([[60_000, 1_799_970_000, 7]]);
  expect(await db.count("copy (select * from big) to 'again.parquet'")).toBe(60_000);
  const counts = await duckRows(`select count(*), sum(n), max(epoch_us(ts)) from '${db.path("again.parquet")}'`);
  expect(counts.map((row) => row.map(String))).toEqual([["60000", "1799970000", "59999000"]]);
});

for (const codec of ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]) {
  test(`reads pages packed by ${codec}`, async () => {
    await duck.run(`copy (select i as n, repeat('x' || (i % 5), 20) as s, make_timestamp(i) as ts from range(5000) r(i))
      to '${db.path("f.parquet")}' (format parquet, compression '${codec}')`);
    await db.sql("create table t (n bigint, s string, ts timestamp(6) time index)");
    expect(await db.count("copy t from 'f.parquet'")).toBe(5000);
    expect((await db.sql("select sum(n), count(distinct s), max(length(s)) from t")).rows).toEqual([[12_497_500, 5, 40]]);
  });
}

test("foreign types become what the table's columns are, every digit kept", async () => {
  await duck.run(`copy (select 12345678901234567890.1234567890::decimal(38,10) as big, 1.25::decimal(5,2) as small,
    18446744073709551615::ubigint as u,
    '2024-02-29'::date as d, '12:34:56.789'::time as t, uuid '00112233-4455-6677-8899-aabbccddeeff' as id, true as b, 1.5::float as f,
    '2024-01-01 00:00:00.123456789'::timestamp_ns as ns, interval '14 months 3 days 4 hours' as iv,
    [1, 2] as list, {'a': 1} as rec, '\\xAA'::blob as bin, make_timestamp(5) as ts)
    to '${db.path("f.parquet")}' (format parquet)`);
  await db.sql(`create table t (big decimal(38, 10), small string, u bigint unsigned, d date, t time(3), id string, b boolean, f double,
    ns timestamp(9), bin varbinary, iv string, ts timestamp(6) time index)`);
  expect(await db.count("copy t from 'f.parquet'")).toBe(1);
  const { rows } = await db.sql("select cast(big as string), small, u, cast(d as string), cast(t as string), id, b, f, ns, bin, iv from t");
  expect(rows).toEqual([
    [
      "12345678901234567890.1234567890",
      "1.25",
      18_446_744_073_709_551_615n,
      "2024-02-29",
      "12:34:56.789",
      "00112233-4455-6677-8899-aabbccddeeff",
      true,
      1.5,
      1_704_067_200_123_456_789n,
      Uint8Array.of(0xaa),
      "14 mons 3 days 4 hours",
    ],
  ]);
  await db.sql("create table lists (list string, ts timestamp(6) time index)");
  expect(await db.count("copy lists from 'f.parquet'")).toBe(1);
  expect((await db.sql("select list from lists")).rows).toEqual([["[1,2]"]]);
});

test("damaged files are refused by name", async () => {
  await db.sql("create table t (n bigint, ts timestamp(6) time index)");
  await duck.run(`copy (select i as n, make_timestamp(i) as ts from range(5000) r(i)) to '${db.path("f.parquet")}' (format parquet)`);
  const whole = new Uint8Array(await Bun.file(db.path("f.parquet")).arrayBuffer());
  await db.write("f.parquet", whole.subarray(0, whole.length - 20));
  expect(db.sql("copy t from 'f.parquet'")).rejects.toThrow("cannot read 'f.parquet': it is no whole Parquet file");
  const damaged = whole.slice();
  damaged.fill(0xff, 4, 200);
  await db.write("f.parquet", damaged);
  expect(db.sql("copy t from 'f.parquet'")).rejects.toThrow("cannot read 'f.parquet': the Parquet file is damaged");
});
