import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CopyFixture } from "../../../../test/support/copy-fixture.ts";

let db: CopyFixture;

beforeEach(async () => {
  db = await CopyFixture.start();
  await db.write("f/a.csv", "host,v,day,note\na,1,2024-01-01,x\nb,2.5,2024-01-02,\n");
  await db.write("f/b.csv", "host,v,day,note\nc,3,2024-01-03,z\n");
});
afterEach(() => db.close());

async function rejects(text: string, why: string | RegExp): Promise<void> {
  let thrown: unknown;
  await db.sql(text).catch((error: unknown) => (thrown = error));
  expect(thrown instanceof Error ? thrown.message : "it was taken").toMatch(why);
}

describe("an external table", () => {
  test("has the columns of its first file when none are named", async () => {
    await db.sql("create external table t with (location = 'f/', format = 'csv', pattern = 'csv$')");
    expect((await db.sql("describe t")).rows.map(([name, type]) => [name, type])).toEqual([
      ["host", "String"],
      ["v", "Float64"],
      ["day", "Date"],
      ["note", "String"],
      ["greptime_timestamp", "TimestampMillisecond"],
    ]);
    const answer = await db.query.both("select host, v, note from t where v > 1 order by host");
    expect(answer.rows).toEqual([
      ["b", 2.5, undefined],
      ["c", 3, "z"],
    ]);
  });

  test("is joined, grouped and counted like others", async () => {
    await db.sql("create external table t with (location = 'f/', format = 'csv')");
    expect((await db.query.both("select count(*), sum(v) from t")).rows).toEqual([[3, 6.5]]);
    expect((await db.query.both("select a.host from t a join t b on a.host = b.host order by 1")).rows).toEqual([["a"], ["b"], ["c"]]);
    expect((await db.query.both("select day, count(*) from t group by day order by day limit 1")).rows).toEqual([[19_723, 1]]);
  });

  test("may name its columns, a key and a time index", async () => {
    await db.write("j.json", '{"host":"a","n":9007199254740993,"at":1000}\n{"host":"b","at":"1970-01-01 00:00:02"}\n');
    await db.sql(`create external table if not exists t (host string, n bigint, extra string default 'd', at timestamp(3) time index,
      primary key (host)) engine = file with (location = 'j.json', format = 'json')`);
    expect((await db.query.both("select * from t order by at")).rows).toEqual([
      ["a", 9_007_199_254_740_993n, "d", 1000n],
      ["b", undefined, "d", 2000n],
    ]);
    expect((await db.sql("create external table if not exists t with (location = 'j.json', format = 'json')")).affected).toBe(0);
    await rejects("create external table t with (location = 'j.json', format = 'json')", /Table already exists/);
  });

  test("is printed with its options, secrets masked", async () => {
    await db.sql(`create external table t (host string) with (location = 's3://b/f/', format = 'csv', secret_access_key = 'hush',
      ACCESS_KEY_ID = 'hush', region = 'r')`);
    const text = String((await db.sql("show create table t")).rows[0]?.[1]);
    expect(text).toContain("CREATE EXTERNAL TABLE IF NOT EXISTS");
    expect(text).toContain("location = 's3://b/f/'");
    expect(text).toContain("region = 'r'");
    expect(text).toContain("ENGINE=file");
    expect(text).not.toContain("hush");
    expect(JSON.stringify((await db.sql("select create_options from information_schema.tables")).rows)).not.toContain("hush");
    expect(JSON.stringify((await db.sql("select region_options from information_schema.region_info")).rows)).not.toContain("hush");
    expect(JSON.stringify((await db.sql("show table status")).rows)).not.toContain("hush");
  });

  test("is read by views, windows and tables like it; a view is no target", async () => {
    await db.sql("create external table t (host string) with (location = 'f/', format = 'csv')");
    const { rows } = await db.sql("select host from t order by host");
    await db.sql("create view w as select host, row_number() over (order by host) as n from t");
    expect((await db.sql("select host, n from w order by n")).rows).toEqual(rows.map(([host], i) => [host, i + 1]));
    expect((await db.sql("select host from t order by host limit 1")).rows).toEqual(rows.slice(0, 1));
    await db.sql("create table u like t");
    expect((await db.sql("select host from u order by host")).rows).toEqual(rows);
    expect((await db.sql("copy w to 'w.csv' with (format = 'csv')")).affected).toBe(rows.length);
    await rejects("copy w from 'w.csv' with (format = 'csv')", /cannot copy into .*w: it is a view/);
    await rejects(
      "copy w to 'x.csv' with (format = 'csv', start_time = '2020-01-01')",
      /cannot copy a range of times of .*w: it is a view/,
    );
    await rejects("create external table w with (location = 'f/', format = 'csv')", /View already exists/);
    await rejects("create external table information_schema.x with (location = 'f/', format = 'csv')", /read-only/);
  });

  test("is read-only, and can be dropped", async () => {
    await db.sql("create external table t with (location = 'f/', format = 'csv')");
    const why = /cannot change table t: it is an external table, which is read-only/;
    await rejects("insert into t (host) values ('x')", why);
    await rejects("delete from t", why);
    await rejects("truncate table t", why);
    await rejects("alter table t add column c int", why);
    await rejects("copy t from 'f/' with (format = 'csv')", why);
    await db.sql("drop table t");
    await rejects("select * from t", /Table not found/);
    expect(await db.names()).toEqual(["f", "f/a.csv", "f/b.csv"]);
  });

  test("says what is wrong with its options and its files", async () => {
    await rejects("create external table t with (format = 'csv')", /Missing required field: location/);
    await rejects("create external table t with (location = 'f/', format = 'csv', colour = 'red')", /Unrecognized copy option key: colour/);
    await rejects("create external table t with (location = 'f/', pattern = 'nothing')", /there is no file to take the columns from/);
    await rejects("create external table t with (location = '../f/')", /outside the configured copy root/);
    await db.sql("create external table t (host string, v int) with (location = 'f/', format = 'csv')");
    await rejects("select * from t", /cannot read 'f\/a.csv': line 3, column v: .*2.5/);
    await db.sql(
      "drop table t; create external table t (host string, v int) with (location = 'f/', format = 'csv', skip_bad_records = true)",
    );
    expect((await db.query.both("select host from t order by host")).rows).toEqual([["a"], ["c"]]);
  });
});
