import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  CommandStatementIngestSchema,
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as Exists,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExist,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient, type SentColumns } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf, thrownBy } from "../../../../test/support/failure-of.ts";
import { BINARY, BOOLEAN, FLOAT64, INT32, INT64, STRING, TIMESTAMP_MICROSECOND } from "../../../column/data-type.ts";
import { tableText } from "./ingest.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
});

beforeEach(() => client.sql("DROP TABLE IF EXISTS t"));

afterAll(async () => {
  client.close();
  await server.stop();
});

const CREATE = { ifNotExist: NotExist.CREATE, ifExists: Exists.FAIL };
const APPEND = { ifNotExist: NotExist.FAIL, ifExists: Exists.APPEND };
const REPLACE = { ifNotExist: NotExist.CREATE, ifExists: Exists.REPLACE };
const EITHER = { ifNotExist: NotExist.CREATE, ifExists: Exists.APPEND };

const ROWS: SentColumns = [
  ["ts", TIMESTAMP_MICROSECOND, [1n, 2n, 2n]],
  ["host", STRING, ["a", "b", "b"]],
  ["v", FLOAT64, [1.5, undefined, 2.5]],
];

const send = (
  tableDefinitionOptions: { readonly ifNotExist: NotExist; readonly ifExists: Exists },
  columns: SentColumns = ROWS,
  more: {
    readonly options?: Record<string, string>;
    readonly schema?: string;
    readonly temporary?: boolean;
    readonly catalog?: string;
  } = {},
  batches = 1,
): Promise<number> => client.update(CommandStatementIngestSchema, { table: "t", tableDefinitionOptions, ...more }, columns, batches);

test("makes a table that keeps every row, with the first timestamp as its time", async () => {
  expect(await send(CREATE, ROWS, {}, 3)).toBe(9);
  expect(await client.sql("SELECT host, count(*), sum(v) FROM t GROUP BY host ORDER BY host")).toEqual([
    ["a", 3, 4.5],
    ["b", 6, 7.5],
  ]);
  const [[, text] = []] = await client.sql("SHOW CREATE TABLE t");
  expect(text).toContain("TIME INDEX (");
  expect(text).toContain("append_mode = 'true'");
});

test("does what the command says about a table that is there or is not", async () => {
  expect((await errorOf(send(APPEND))).message).toContain("[not_found]");
  expect(await send(EITHER)).toBe(3);
  expect((await errorOf(send(CREATE))).message).toContain("[already_exists]");
  expect(await send(APPEND)).toBe(3);
  expect(await client.sql("SELECT count(*) FROM t")).toEqual([[6]]);
  expect(await send(REPLACE)).toBe(3);
  expect(await client.sql("SELECT count(*) FROM t")).toEqual([[3]]);
  const unsaid = { ifNotExist: NotExist.UNSPECIFIED, ifExists: Exists.UNSPECIFIED };
  expect((await errorOf(send(unsaid))).message).toContain("does not say what to do");
  expect((await errorOf(send({ ...CREATE, ifExists: 77 as Exists }))).message).toContain("does not say what to do");
});

test("rows without a time get that of their arrival", async () => {
  expect(await send(CREATE, [["n", INT64, [1, 1, 1]]])).toBe(3);
  const rows = await client.sql("SELECT n, greptime_timestamp FROM t");
  expect(rows.map(([n]) => n)).toEqual([1, 1, 1]);
  expect(rows.every(([, time]) => Number(time) > 1_700_000_000_000)).toBe(true);
});

test("values are cast to the columns of a table that is there", async () => {
  await client.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v BIGINT DEFAULT 7)");
  const columns: SentColumns = [
    ["host", STRING, ["a"]],
    ["ts", TIMESTAMP_MICROSECOND, [5_000n]],
  ];
  expect(await send(APPEND, columns)).toBe(1);
  expect(await client.sql("SELECT ts, host, v FROM t")).toEqual([[5n, "a", 7]]);
  expect((await errorOf(send(APPEND, [...columns, ["other", STRING, ["x"]]]))).message).toContain("other");
});

test("options name tags, time and what the table is", async () => {
  const columns: SentColumns = [...ROWS, ["at", TIMESTAMP_MICROSECOND, [10n, 20n, 20n]]];
  expect(await send(CREATE, columns, { options: { tags: "host", time_index: "at", append_mode: "false", ttl: "forever" } })).toBe(3);
  expect(await client.sql("SELECT host, at FROM t ORDER BY host")).toEqual([
    ["a", 10n],
    ["b", 20n],
  ]);
});

test("goes into the database that the command names", async () => {
  await client.sql("CREATE DATABASE IF NOT EXISTS other");
  await send(CREATE, ROWS, { schema: "other", catalog: "greptime" });
  expect(await client.sql("SELECT count(*) FROM other.t")).toEqual([[3]]);
  await client.sql("DROP TABLE other.t");
  expect((await errorOf(send(CREATE, ROWS, { schema: "nowhere" }))).message).toContain("nowhere");
});

test("refuses what it cannot do, and makes no table then", async () => {
  expect((await errorOf(send(CREATE, ROWS, { temporary: true }))).message).toContain("no temporary tables");
  expect((await errorOf(send(CREATE, ROWS, { catalog: "elsewhere" }))).message).toContain("one catalog");
  expect((await errorOf(send(CREATE, ROWS, { options: { time_index: "host" } }))).message).toContain("no timestamp column");
  expect((await errorOf(send(CREATE, ROWS, { options: { tags: "host,nobody" } }))).message).toContain('"nobody"');
  const nothing = client.put(
    client.messages(anyOf(CommandStatementIngestSchema, { table: "t", tableDefinitionOptions: CREATE }), undefined),
  );
  expect((await errorOf(nothing)).message).toContain("no schema");
  const nameless = client.update(CommandStatementIngestSchema, { tableDefinitionOptions: CREATE }, ROWS);
  expect((await errorOf(nameless)).message).toContain("names no table");
  expect(await client.sql("SHOW TABLES LIKE 't'")).toEqual([]);
});

describe("the text of CREATE TABLE", () => {
  test("quotes names and options, and takes dictionaries for tags", () => {
    const columns = [
      { name: 'odd "name"', type: STRING, isDictionary: true },
      { name: "at", type: TIMESTAMP_MICROSECOND },
      { name: "blob", type: BINARY },
      { name: "flag", type: BOOLEAN },
      { name: "small", type: INT32 },
      { name: "empty", type: { kind: "null" } as const },
    ];
    expect(tableText('"d"."t"', columns, { ttl: "it's" })).toBe(
      'CREATE TABLE "d"."t" ("odd ""name""" STRING, "at" TIMESTAMP(6) NOT NULL TIME INDEX, "blob" VARBINARY, "flag" BOOLEAN, ' +
        `"small" INT, "empty" STRING, PRIMARY KEY ("odd ""name""")) WITH ('append_mode' = 'true', 'ttl' = 'it''s')`,
    );
  });

  test("has no column for lists and times of day", () => {
    const list = { name: "l", type: { kind: "list", element: STRING } } as const;
    expect(thrownBy(() => tableText("t", [list], {})).message).toContain("List<String>, which tables cannot hold");
  });
});
