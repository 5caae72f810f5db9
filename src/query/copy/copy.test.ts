import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { parseSql } from "../sql/parse.ts";
import { printStatement } from "../sql/print/print-statement.ts";
import { FakeS3 } from "../../../test/support/fake-s3.ts";
import { CopyFixture } from "../../../test/support/copy-fixture.ts";
import { runSql } from "../../../test/support/query-fixture.ts";

let db: CopyFixture;

beforeEach(async () => {
  db = await CopyFixture.start();
});
afterEach(() => db.close());

const CPU = `
  create table cpu (host string primary key, usage double, n bigint, note string, ts timestamp(3) time index);
  insert into cpu values ('a', 1.5, 9007199254740993, 'x,"y"', 1000), ('a', 2, -1, '', 2000), ('b', null, null, null, 3000)`;
const CPU_ROWS = [
  ["a", 1.5, 9_007_199_254_740_993n, 'x,"y"', 1000n],
  ["a", 2, -1, "", 2000n],
  ["b", undefined, undefined, undefined, 3000n],
];

/** The rows as CSV, packed by the programs themselves. */
const PACKED_CPU = {
  bzip2:
    "QlpoOTFBWSZTWSWl610AADtbgEAQEAd+sAQAMsGOYCAAahpqmmTIaA9J6h6DJT9SHomgA9QINOmbzkCCTF4wC1XIHi3p/kmiUrh0qWZGA8CEThiUxoenQCex" +
    "lnSsjbO9CoEiWMCG703TjxYu9DIMLi7kinChIEtL1ro=",
  xz:
    "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4ACCAFhdADQbys4dc9qNR5tkGF92Sh5iowj+4BZutC6103ZfsKVrqE8AjcHA1w7foodxgizP/h40jpu8lRdRQyWT" +
    "qfh2Vq2fQ7kwH5wlwoPCvRQRUqWI7WCrkJZ0AAAAyDyd1YRWTNIAAXSDAQAAAC02HB2xxGf7AgAAAAAEWVo=",
};

/** An empty table like `cpu`. */
const COPY_OF_CPU = "create table back (host string primary key, usage double, n bigint, note string, ts timestamp(3) time index)";

async function rejects(text: string, why: string | RegExp): Promise<void> {
  let thrown: unknown;
  await db.sql(text).catch((error: unknown) => (thrown = error));
  expect(thrown instanceof Error ? thrown.message : "it was taken").toMatch(why);
}

async function rowsOf(text: string): Promise<readonly (readonly unknown[])[]> {
  return (await db.sql(text)).rows;
}

describe("a table goes to a file and comes back", () => {
  for (const options of [
    "format = 'parquet'",
    "format = 'csv'",
    "format = 'json'",
    "format = 'csv', delimiter = '9'",
    "format = 'csv', delimiter = ';', has_header = 'false'",
    "format = 'csv', compression_type = 'gzip'",
    "format = 'json', compression_type = 'zstd'",
    "format = 'csv', timestamp_format = '%d.%m.%Y %H:%M:%S%.3f'",
  ]) {
    test(options, async () => {
      await db.sql(`${CPU}; ${COPY_OF_CPU}`);
      expect(await db.count(`copy cpu to 'out/cpu' with (${options})`)).toBe(3);
      expect(await db.names()).toEqual(["out", "out/cpu"]);
      expect(await db.count(`copy table back from 'out/cpu' with (${options})`)).toBe(3);
      expect(await rowsOf("select * from back order by ts")).toEqual(CPU_ROWS);
    });
  }

  for (const how of ["bzip2", "xz"] as const) {
    test(`but ${how} is only read`, async () => {
      await db.sql(`${CPU}; ${COPY_OF_CPU}`);
      const why = `cannot write a file compressed by ${how}: ${how} is read only; use gzip, zstd or none`;
      await rejects(`copy cpu to 'c' with (format = 'csv', compression_type = '${how}')`, why);
      await rejects(`copy database public to 'all/' with (format = 'json', compression_type = '${how}')`, why);
      expect(await db.names()).toEqual([]);
      await db.write("c", Uint8Array.fromBase64(PACKED_CPU[how]));
      expect(await db.count("copy back from 'c' with (format = 'csv')")).toBe(3);
      expect(await db.count(`copy back from 'c' with (format = 'csv', compression_type = '${how}')`)).toBe(3);
      expect(await rowsOf("select * from back order by ts")).toEqual(CPU_ROWS);
    });
  }

  test("two xz files are read side by side", async () => {
    for (const name of ["one", "two"]) {
      await db.write(name, Uint8Array.fromBase64(PACKED_CPU.xz));
      await db.sql(`create external table ${name} (host string, ts timestamp(3) time index) with (location = '${name}', format = 'csv')`);
    }
    expect(await rowsOf("select count(*) from one a join two b on a.ts = b.ts")).toEqual([[3]]);
  });

  for (const format of ["parquet", "csv", "json"]) {
    test(`with every type, as ${format}`, async () => {
      const columns = `b boolean, i8 tinyint, u8 tinyint unsigned, i64 bigint, u64 bigint unsigned, f32 float, f64 double, s string,
        bin varbinary, d date, ts0 timestamp(0), ts9 timestamp(9), dec decimal(38, 10), small decimal(9, 2), j json, v vector(2),
        ts timestamp(6) time index`;
      await db.sql(`create table a (${columns}); create table z (${columns})`);
      await db.sql(`insert into a values
        (true, -128, 255, -9223372036854775808, 18446744073709551615, 1.1, 'NaN', 'ü "q" \n', X'00ff', '2024-02-29', '1969-12-31 23:59:59',
         '2024-01-01 00:00:00.123456789', 1234567890123456789012345678.0123456789, -1.25, '{"a":[1,2]}', '[1.5,2]', 1),
        (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 2)`);
      expect(await db.count(`copy a to 'a' with (format = '${format}')`)).toBe(2);
      expect(await db.count(`copy z from 'a' with (format = '${format}')`)).toBe(2);
      expect(await rowsOf("select * from z order by ts")).toEqual(await rowsOf("select * from a order by ts"));
    });
  }

  test("as people read it", async () => {
    await db.sql(CPU);
    await db.sql("copy cpu to 'cpu.csv' with (format = 'csv')");
    expect(await db.text("cpu.csv")).toBe(
      'host,usage,n,note,ts\na,1.5,9007199254740993,"x,""y""",1970-01-01T00:00:01\n' +
        'a,2.0,-1,"",1970-01-01T00:00:02\nb,,,,1970-01-01T00:00:03\n',
    );
    await db.sql("copy (select host, usage, note, ts from cpu where n > 0) to 'cpu.json' with (format = 'json', timestamp_format = '%Y')");
    expect(await db.text("cpu.json")).toBe('{"host":"a","usage":1.5,"note":"x,\\"y\\"","ts":"1970"}\n');
  });

  test("in a range of time, and up to a limit", async () => {
    await db.sql(`${CPU}; ${COPY_OF_CPU}`);
    const range = "start_time = '1970-01-01 00:00:01.5', end_time = '1970-01-01T00:00:03Z'";
    expect(await db.count(`copy cpu to 'part' with (${range})`)).toBe(1);
    expect(await db.count("copy cpu to 'all'")).toBe(3);
    expect(await db.count(`copy back from 'all' with (${range})`)).toBe(1);
    expect(await db.count("copy back from 'all' limit 2")).toBe(2);
    expect(await db.count("copy back from 'all' limit 0")).toBe(0);
    expect(await db.count("copy cpu to 'two' limit 2")).toBe(2);
    expect(await db.count("copy back from 'two'")).toBe(2);
  });
});

describe("COPY FROM", () => {
  const T = "create table t (host string primary key, v double, extra string default 'd', ts timestamp(3) time index)";

  test("matches columns by name: others are left out, missing ones take their default", async () => {
    await db.sql(T);
    await db.write("a.csv", "ts,unknown,host\r\n1970-01-01 00:00:01,7,h\r\n20000,8,i\r\n");
    expect(await db.count("copy t from 'a.csv' with (format = 'csv')")).toBe(2);
    expect(await rowsOf("select * from t order by ts")).toEqual([
      ["h", undefined, "d", 1000n],
      ["i", undefined, "d", 20_000n],
    ]);
  });

  test("tells what a JSON object leaves out from what is NULL", async () => {
    await db.sql(T);
    await db.write("a.json", '{"ts":1}\n{"extra":null,"ts":2}\n{"extra":"e","ts":3}\n');
    expect(await db.count("copy t from 'a.json' with (format = 'json')")).toBe(3);
    expect(await rowsOf("select extra from t order by ts")).toEqual([["d"], [undefined], ["e"]]);
  });

  test("reads the files of a folder that match a pattern, in order of their names", async () => {
    await db.sql(T);
    for (const name of ["f/b.json", "f/a.json", "f/other.txt", "f/.hidden.json"]) await db.write(name, `{"host":"${name}","ts":1}\n`);
    expect(await db.count(`copy t from 'f/' with (format = 'json', pattern = '.*\\.json$') limit 1`)).toBe(1);
    expect(await rowsOf("select host from t")).toEqual([["f/a.json"]]);
    expect(await db.count("copy t from 'f/' with (format = 'json', pattern = 'no such')")).toBe(0);
  });

  test("says which file, line and column is wrong", async () => {
    await db.sql(T);
    await db.write("bad.csv", "host,v,ts\na,1,1970-01-01\nb,one,1970-01-02\nc,3\n");
    await rejects("copy t from 'bad.csv' with (format = 'csv')", /'bad.csv': line 4 has 2 fields, 3 are expected/);
    await db.write("bad.csv", "host,v,ts\na,1,1970-01-01\nb,one,1970-01-02\n");
    await rejects("copy t from 'bad.csv' with (format = 'csv')", /'bad.csv': line 3, column v: .*one/);
    await db.write("bad.json", '{"host":"a","ts":1}\n[1]\n');
    await rejects("copy t from 'bad.json' with (format = 'json')", /'bad.json': line 2: it holds no object/);
    await db.write("open.csv", 'host,ts\n"a,1\n');
    await rejects("copy t from 'open.csv' with (format = 'csv')", /line 2: a quote is not closed/);
    await db.write("latin.csv", new Uint8Array([0x68, 0x0a, 0xff, 0x0a]));
    await rejects("copy t from 'latin.csv' with (format = 'csv')", /not UTF-8/);
    await rejects("copy t from 'latin.csv'", /no Parquet file/);
    await rejects("copy t from 'nothing.csv'", /no such file/);
    await rejects("copy t from 'nothing/'", /none of that name/);
    await db.write("no-time.csv", "host\na\n");
    await rejects("copy t from 'no-time.csv' with (format = 'csv')", /missing required time index column ts/);
  });

  test("leaves bad records out when it may", async () => {
    await db.sql(T);
    await db.write("bad.csv", "host,v,ts\na,1,1970-01-01\nb,one,1970-01-02\nc,3\nd,4,1970-01-04\n");
    expect(await db.count("copy t from 'bad.csv' with (format = 'csv', skip_bad_records = 'true')")).toBe(2);
    expect(await rowsOf("select host from t order by ts")).toEqual([["a"], ["d"]]);
  });

  test("refuses fractions in whole numbers, and headers that are not the table's when they must be", async () => {
    await db.sql("create table w (n int, ts timestamp(3) time index)");
    await db.write("w.json", '{"n":1.5,"ts":1}\n');
    await rejects("copy w from 'w.json' with (format = 'json')", /line 1, column n: '1.5' is no value of type Int32/);
    await db.write("w.csv", "ts,n,other\n10000,1,2\n");
    await rejects("copy w from 'w.csv' with (format = 'csv', strict_headers = 'true')", /names 'other', which the table lacks/);
    expect(await db.count("copy w from 'w.csv' with (format = 'csv')")).toBe(1);
  });

  test("refuses cut and damaged compressed files", async () => {
    await db.sql(`${CPU}; ${COPY_OF_CPU}`);
    for (const how of ["gzip", "zstd", "bzip2", "xz"] as const) {
      if (how === "bzip2" || how === "xz") await db.write("c", Uint8Array.fromBase64(PACKED_CPU[how]));
      else await db.sql(`copy cpu to 'c' with (format = 'csv', compression_type = '${how}')`);
      const whole = new Uint8Array(await Bun.file(db.path("c")).arrayBuffer());
      await db.write("c", whole.subarray(0, whole.length - 9));
      await rejects("copy back from 'c' with (format = 'csv')", new RegExp(`no whole ${how} file`));
    }
  });
});

test("a cancelled copy leaves no file, and writes no row", async () => {
  await db.sql(`${CPU}; ${COPY_OF_CPU}; copy cpu to 'cpu.parquet'`);
  const context = { ...db.query.context, signal: AbortSignal.abort() };
  for (const sql of ["copy cpu to 'other.parquet'", "copy cpu to 'other.json' with (format = 'json')", "copy back from 'cpu.parquet'"]) {
    let thrown: unknown;
    await runSql(sql, context).catch((error: unknown) => (thrown = error));
    expect(String(thrown)).toContain("Query has been cancelled");
  }
  expect(await db.names()).toEqual(["cpu.parquet"]);
  expect(await rowsOf("select count(*) from back")).toEqual([[0]]);
});

describe("COPY DATABASE", () => {
  test("writes a file a table and reads them again, several at a time", async () => {
    await db.sql(`${CPU}; create table two (v int, ts timestamp(3) time index); insert into two values (1, 1), (2, 2)`);
    expect(await db.count("copy database public to 'all/' with (format = 'csv', parallelism = 3)")).toBe(5);
    expect(await db.names()).toEqual(["all", "all/cpu.csv", "all/two.csv"]);
    await db.sql("delete from cpu; delete from two");
    expect(await db.count("copy database public from 'all/' with (format = 'csv', parallelism = 3)")).toBe(5);
    expect(await rowsOf("select * from cpu order by ts")).toEqual(CPU_ROWS);
  });

  test("goes on past failures only when told, and takes no limit", async () => {
    await db.sql(CPU);
    await db.sql("copy database public to 'all/'");
    await db.write("all/absent.parquet", "not parquet");
    await rejects("copy database public from 'all/'", /Table not found: greptime.public.absent/);
    expect(await db.count("copy database public from 'all/' with (continue_on_error = true)")).toBe(3);
    await rejects("copy database public from 'all/' limit 1", /limit is not supported/);
    await rejects("copy database public to 'all'", /must be a folder/);
    await rejects("copy database nowhere to 'all/'", /Database not found/);
  });
});

test("no store is reached that the configuration does not list", async () => {
  const store = new FakeS3();
  try {
    const connection = `connection (endpoint = '${store.endpoint}', access_key_id = 'key', secret_access_key = 'hush')`;
    await db.sql(CPU);
    const why = /cannot reach http:\/\/127.0.0.1:\d+: it is not in storage.copy_endpoints/;
    await rejects(`copy cpu to 's3://bucket/x' ${connection}`, why);
    await rejects(`copy cpu from 's3://bucket/x' ${connection}`, why);
    const options = `location = 's3://b/x', endpoint = '${store.endpoint}', access_key_id = 'key', secret_access_key = 's'`;
    await rejects(`create external table e with (${options})`, why);
    await rejects("copy cpu to 's3://bucket/x'", /cannot reach https:\/\/s3.us-east-1.amazonaws.com: it is not in storage/);
    await rejects("copy cpu to 'gcs://bucket/x'", /cannot reach https:\/\/storage.googleapis.com: it is not in/);
    expect(store.requests).toEqual([]);
  } finally {
    await store.close();
  }
});

test("tables go to a store and come back", async () => {
  const store = new FakeS3();
  await db.close();
  db = await CopyFixture.start([store.endpoint]);
  try {
    const connection = `connection (endpoint = '${store.endpoint}', access_key_id = 'key', secret_access_key = 'hush', region = 'r')`;
    await db.sql(`${CPU}; ${COPY_OF_CPU}`);
    expect(await db.count(`copy database public to 's3://bucket/d/' with (format = 'csv') ${connection}`)).toBe(3);
    expect([...store.objects.keys()].sort()).toEqual(["bucket/d/back.csv", "bucket/d/cpu.csv"]);
    expect(await db.count(`copy cpu to 's3://bucket/p/cpu.parquet' ${connection}`)).toBe(3);
    expect(await db.count(`copy back from 's3://bucket/p/' ${connection}`)).toBe(3);
    expect(await rowsOf("select * from back order by ts")).toEqual(CPU_ROWS);
    await rejects(`copy back from 's3://bucket/p/none' ${connection}`, /s3:\/\/bucket\/p\/none/);
  } finally {
    await store.close();
  }
});

describe("files", () => {
  test("outside the copy root are out of reach", async () => {
    await db.sql(CPU);
    const why = /is outside the configured copy root or is unsafe: '\.\.' path components are not allowed; use a path relative/;
    await rejects("copy cpu to '../escape.parquet'", why);
    await rejects("copy cpu from 'a/../../escape.parquet'", why);
    await rejects("copy cpu to '/etc/escape.parquet'", /absolute paths must lie in/);
    await rejects(`copy cpu to '${db.folder}-beside/x'`, /absolute paths must lie in/);
    await symlink("/etc", db.path("link"));
    await rejects("copy cpu from 'link/hosts' with (format = 'csv')", /a symbolic link on the way leads out/);
    await rejects("copy cpu to 'link/new'", /a symbolic link on the way leads out/);
    expect(await db.count(`copy cpu to '${db.path("inside.csv")}' with (format = 'csv')`)).toBe(3);
  });

  test("that fail half way leave what was there", async () => {
    await db.sql(CPU);
    await db.write("cpu.csv", "old");
    await rejects("copy (select cast(note as int) from cpu) to 'cpu.csv' with (format = 'csv')", /./);
    await rejects("copy (select 1 as a, 2 as a) to 'twice.parquet'", /two columns are called a/);
    expect(await db.names()).toEqual(["cpu.csv"]);
    expect(await db.text("cpu.csv")).toBe("old");
  });

  test("options that mean nothing are refused", async () => {
    await db.sql(CPU);
    await rejects("copy cpu to 'x' with (format = 'xml')", /Unsupported format: xml/);
    await rejects("copy cpu to 'x' with (format = 'orc')", /orc/);
    await rejects("copy cpu to 'x' with (colour = 'red')", /Unrecognized copy option key: colour/);
    await rejects("copy cpu to 'x' with (delimiter = ';')", /delimiter for format parquet/);
    await rejects("copy cpu to 'x' with (format = 'csv', delimiter = 'ab')", /one ASCII character/);
    await rejects("copy cpu to 'x' with (format = 'csv', compression_type = 'rar')", /Unsupported compression type: rar/);
    await rejects("copy cpu to 'x' with (format = 'csv', timestamp_format = '%Q')", /there is no item %Q/);
    await rejects("copy cpu to 'x' with (start_time = 'soon')", /key: start_time, value: soon/);
    await rejects("copy cpu from 'x/' with (pattern = '[')", /cannot use pattern/);
    await rejects("copy cpu from 'x/' limit hello", /found 'hello', expected the number of maximum rows/);
    await rejects("copy (select 1) from 'x'", /a query takes no rows/);
    await rejects("copy (select 1) to stdout", /outside the PostgreSQL protocol/);
    await rejects("copy cpu to 'azblob://c/x'", /no client for azblob/);
    await rejects("copy cpu to 's3://b/x' connection (colour = 'red')", /Unrecognized connection option key: colour/);
  });

  test("have secrets that are never printed", () => {
    const [statement] = parseSql("copy t to 's3://b/k' connection (region = 'r', secret_access_key = 'hush', access_key_id = 'hush')");
    const text = statement === undefined ? "" : printStatement(statement);
    expect(text).toContain("'region' = 'r'");
    expect(text).not.toContain("hush");
  });
});
