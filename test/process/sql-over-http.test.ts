/** `/v1/sql` over real rows, in memory and in files: every way to ask, every format of the answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Answer, execute, postSql, queryRows, send, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

/** Every type that line protocol has, with the largest values, absent ones and texts that formats have to quote. */
const LINES = [
  'm,host=a i=-1i,u=18446744073709551615u,f=1024,b=t,s="x,\\"y\\"" 1700000000000000001',
  "m,host=b i=9223372036854775807i,f=0.1 1700000000500000000",
  'm,host=b,dc=ü s="" 1700000001000000000',
].join("\n");
const SELECT = "SELECT host, i, u, f, b, s, dc, greptime_timestamp FROM m ORDER BY greptime_timestamp";
const SCHEMA =
  '{"column_schemas":[{"name":"host","data_type":"String"},{"name":"i","data_type":"Int64"},{"name":"u","data_type":"UInt64"},' +
  '{"name":"f","data_type":"Float64"},{"name":"b","data_type":"Boolean"},{"name":"s","data_type":"String"},' +
  '{"name":"dc","data_type":"String"},{"name":"greptime_timestamp","data_type":"TimestampNanosecond"}]}';
const JSON_ROWS =
  '[["a",-1,18446744073709551615,1024.0,true,"x,\\"y\\"",null,1700000000000000001],' +
  '["b",9223372036854775807,null,0.1,null,null,null,1700000000500000000],' +
  '["b",null,null,null,null,"","ü",1700000001000000000]]';
const CSV_ROWS =
  'a,-1,18446744073709551615,1024.0,true,"x,""y""",,1700000000000000001\r\n' +
  "b,9223372036854775807,,0.1,,,,1700000000500000000\r\nb,,,,,,ü,1700000001000000000\r\n";
const CSV_NAMES = "host,i,u,f,b,s,dc,greptime_timestamp\r\n";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, LINES);
});
afterAll(async () => {
  await server.end();
});

async function get(parameters: Readonly<Record<string, string>>): Promise<Answer> {
  return await send(`${server.url}/v1/sql?${new URLSearchParams(parameters).toString()}`);
}

/** The answer, with the time that it took made 0. */
function settled({ text }: Answer): string {
  return text.replace(/"execution_time_ms":\d+/, '"execution_time_ms":0').replace(/Elapsed: \d+\.\d{3} sec/, "Elapsed: 0.000 sec");
}

describe.each(["in memory", "in files"])("formats, rows %s", (place) => {
  beforeAll(async () => {
    if (place === "in files") await execute(server.url, "ADMIN flush_table('m')");
  });

  async function check(format: string, type: string, label: string, want: string): Promise<void> {
    const answer = await get({ sql: SELECT, format });
    expect(settled(answer)).toBe(want);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("x-greptime-format")).toBe(label);
    expect(answer.headers.get("x-greptime-execution-time")).toMatch(/^\d+$/);
  }

  test("greptimedb_v1, also for names that are not known", async () => {
    const want = `{"code":0,"output":[{"records":{"schema":${SCHEMA},"rows":${JSON_ROWS},"total_rows":3}}],"execution_time_ms":0}`;
    for (const format of ["", "greptimedb_v1", "GreptimeDB_v1", "no-such-format"]) {
      await check(format, "application/json", "greptimedb_v1", want);
    }
  });

  test("influxdb_v1", async () => {
    const columns = '["host","i","u","f","b","s","dc","greptime_timestamp"]';
    const series = `{"name":"","columns":${columns},"values":${JSON_ROWS}}`;
    const want = `{"results":[{"statement_id":0,"series":[${series}]}],"execution_time_ms":0}`;
    await check("influxdb_v1", "application/json", "influxdb_v1", want);
    const { text } = await get({ sql: SELECT, format: "influxdb_v1", epoch: "ms" });
    expect(text).toContain('"ü",1700000001000]');
  });

  test("csv without a head, with names, with names and types", async () => {
    const types = "String,Int64,UInt64,Float64,Boolean,String,String,TimestampNanosecond\r\n";
    await check("csv", "text/csv; charset=utf-8", "csv", CSV_ROWS);
    await check("csvWithNames", "text/csv; charset=utf-8", "csv", CSV_NAMES + CSV_ROWS);
    await check("csvWithNamesAndTypes", "text/csv; charset=utf-8", "csv", CSV_NAMES + types + CSV_ROWS);
  });

  test("json, keys in alphabetical order", async () => {
    const data =
      '{"b":true,"dc":null,"f":1024.0,"greptime_timestamp":1700000000000000001,"host":"a","i":-1,' +
      '"s":"x,\\"y\\"","u":18446744073709551615},' +
      '{"b":null,"dc":null,"f":0.1,"greptime_timestamp":1700000000500000000,"host":"b","i":9223372036854775807,"s":null,"u":null},' +
      '{"b":null,"dc":"ü","f":null,"greptime_timestamp":1700000001000000000,"host":"b","i":null,"s":"","u":null}';
    await check("json", "application/json", "json", `{"data":[${data}],"execution_time_ms":0}`);
  });

  test("table and null", async () => {
    const { text, headers } = await get({ sql: "SELECT host, f FROM m ORDER BY greptime_timestamp", format: "table" });
    expect(headers.get("x-greptime-format")).toBe("table");
    expect(text).toBe('┌─host─┬─f──────┐\n│ "a"  │ 1024.0 │\n│ "b"  │ 0.1    │\n│ "b"  │ null   │\n└──────┴────────┘\n');
    await check("null", "text/plain; charset=utf-8", "null", "3 rows in set.\nElapsed: 0.000 sec.\n");
  });

  test("arrow: a whole stream, plain and compressed", async () => {
    for (const compression of ["", "zstd"]) {
      const query = new URLSearchParams({ sql: SELECT, format: "arrow", compression }).toString();
      const response = await fetch(`${server.url}/v1/sql?${query}`);
      expect(response.headers.get("content-type")).toBe("application/arrow");
      const bytes = Buffer.from(await response.bytes());
      expect(bytes.readUInt32LE(0)).toBe(0xffff_ffff); // the first message follows
      expect(bytes.subarray(-8).toString("hex")).toBe("ffffffff00000000"); // the end of the stream
      for (const name of ["host", "greptime_timestamp"]) expect(bytes.includes(name)).toBe(true);
    }
  });
});

describe("ways to ask", () => {
  const ONE = '{"records":{"schema":{"column_schemas":[{"name":"1","data_type":"Int64"}]},"rows":[[1]],"total_rows":1}}';

  test("GET, POST with a form, POST with the query string; the query string wins", async () => {
    expect(settled(await get({ sql: "SELECT 1" }))).toBe(`{"code":0,"output":[${ONE}],"execution_time_ms":0}`);
    expect(settled(await postSql(server.url, "SELECT 1"))).toContain(ONE);
    expect(settled(await postSql(server.url, "SELECT 2", { query: { sql: "SELECT 1" } }))).toContain(ONE);
  });

  test("several statements, in order", async () => {
    const two = ONE.replace('"name":"1"', '"name":"2"').replace("[[1]]", "[[2]]");
    expect(settled(await postSql(server.url, "SELECT 1; SELECT 2;"))).toBe(`{"code":0,"output":[${ONE},${two}],"execution_time_ms":0}`);
    const create = "CREATE TABLE several (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)";
    const insert = "INSERT INTO several VALUES (1, 'a', 1.5), (2, 'b', NULL)";
    const text = settled(await postSql(server.url, `${create}; ${insert}; SELECT v FROM several ORDER BY ts`));
    expect(text).toStartWith('{"code":0,"output":[{"affectedrows":0},{"affectedrows":2},{"records":');
    expect(text).toContain('"rows":[[1.5],[null]],"total_rows":2');
  });

  test("several statements in a format of one are refused", async () => {
    for (const format of ["csv", "table", "json", "null", "arrow"]) {
      const { status, text } = await postSql(server.url, "SELECT 1; SELECT 2", { query: { format } });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ code: 1004, error: `cannot output multi-statements result in ${format} format` });
    }
  });

  test("a statement that fails hides the results before it, and keeps what they did", async () => {
    const create = "CREATE TABLE half (ts TIMESTAMP TIME INDEX)";
    const { status, text } = await postSql(server.url, `${create}; SELECT 1 FROM nowhere`);
    expect({ status, answer: JSON.parse(text) }).toMatchObject({ status: 400, answer: { code: 4001 } });
    expect(text).not.toContain("output");
    expect((await queryRows(server.url, "SELECT count(*) FROM half")).rows).toEqual([[0]]);
  });

  test("limit, and parameters that are wrong", async () => {
    expect((await get({ sql: SELECT, limit: "1", format: "csv" })).text.split("\r\n")).toHaveLength(2);
    expect((await get({ sql: SELECT, limit: "2" })).text).toContain('"total_rows":2');
    expect(await get({ sql: SELECT, limit: "few" })).toMatchObject({
      status: 400,
      text: "Failed to deserialize query string: limit: invalid digit found in string",
    });
    const { status, text } = await send(`${server.url}/v1/sql`);
    expect({ status, answer: JSON.parse(text) }).toMatchObject({
      status: 400,
      answer: { code: 1004, error: "sql parameter is required." },
    });
    expect((await send(`${server.url}/v1/sql?sql=SELECT+1`, { method: "PUT" })).status).toBe(405);
  });

  test("databases by parameter and header", async () => {
    await execute(server.url, "CREATE DATABASE other");
    await writeLines(server.url, "only_here v=1i 1", { query: { db: "other" } });
    const want = [[1]];
    const sql = "SELECT v FROM only_here";
    expect((await queryRows(server.url, sql, { query: { db: "other" } })).rows).toEqual(want);
    expect((await queryRows(server.url, sql, { headers: { "x-greptime-db-name": "other" } })).rows).toEqual(want);
    expect((await queryRows(server.url, "SELECT v FROM other.only_here")).rows).toEqual(want);
    expect(JSON.parse((await postSql(server.url, sql)).text)).toMatchObject({ code: 4001 });
    const { text } = await postSql(server.url, "SELECT 1", { query: { db: "nowhere" } });
    expect(JSON.parse(text)).toMatchObject({ code: 4004, error: "Database not found: nowhere" });
  });
});

describe("plans", () => {
  test("EXPLAIN shows the scan with what it pushes down; ANALYZE what it did", async () => {
    const sql = "SELECT max(i) FROM m WHERE host = 'a'";
    const plan = await queryRows(server.url, `EXPLAIN ${sql}`);
    expect(plan.columns).toEqual(["plan_type", "plan"]);
    const physical = String(plan.rows.find(([type]) => type === "physical_plan")?.[1]);
    expect(physical).toContain("public.m");
    expect(physical).toContain("host in ('a')");
    const analyzed = await queryRows(server.url, `EXPLAIN ANALYZE ${sql}`);
    expect(JSON.stringify(analyzed.rows)).toContain("rows_scanned: 1");
  });
});
