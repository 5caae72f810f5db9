import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  CommandGetCatalogsSchema,
  CommandGetCrossReferenceSchema,
  CommandGetDbSchemasSchema,
  CommandGetExportedKeysSchema,
  CommandGetImportedKeysSchema,
  CommandGetPrimaryKeysSchema,
  CommandGetTablesSchema,
  CommandGetTableTypesSchema,
  CommandGetXdbcTypeInfoSchema,
} from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { FlightSqlClient, headersOf } from "../../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../../test/support/flight-sql-server.ts";
import { errorOf } from "../../../../../test/support/failure-of.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../../../column/data-type.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
  await client.sql("CREATE DATABASE shop");
  await client.sql("CREATE TABLE cpu (ts TIMESTAMP(3) TIME INDEX, host STRING, rack STRING, v DOUBLE, PRIMARY KEY (host, rack))");
  await client.sql("CREATE TABLE shop.logs (ts TIMESTAMP(3) TIME INDEX, line STRING) WITH (append_mode = 'true')");
  await client.sql("CREATE TABLE c_u (ts TIMESTAMP(3) TIME INDEX)");
  await client.sql("CREATE VIEW hot AS SELECT host, v FROM cpu WHERE v > 1");
});

afterAll(async () => {
  client.close();
  await server.stop();
});

test("catalogs, databases, kinds of tables", async () => {
  expect((await client.read(CommandGetCatalogsSchema, {})).rows).toEqual([["greptime"]]);
  const databases = async (init: { catalog?: string; dbSchemaFilterPattern?: string }) =>
    (await client.read(CommandGetDbSchemasSchema, init)).rows;
  expect(await databases({})).toEqual(["greptime_private", "information_schema", "public", "shop"].map((name) => ["greptime", name]));
  expect(await databases({ catalog: "greptime", dbSchemaFilterPattern: "%h_p" })).toEqual([["greptime", "shop"]]);
  expect(await databases({ catalog: "" })).toEqual([]);
  expect(await databases({ dbSchemaFilterPattern: "' OR 1=1 --" })).toEqual([]);
  const { rows } = await client.read(CommandGetTableTypesSchema, {});
  expect(rows.flat()).toEqual(["LOCAL TEMPORARY", "SYSTEM TABLE", "TABLE", "VIEW"]);
});

test("tables by pattern and kind", async () => {
  const tables = async (init: Parameters<typeof client.read<typeof CommandGetTablesSchema>>[1]) =>
    (await client.read(CommandGetTablesSchema, init)).rows.map(
      ([, database, name, type]) => `${String(database)}.${String(name)} ${String(type)}`,
    );
  expect(await tables({ dbSchemaFilterPattern: "public" })).toEqual([
    "public.c_u TABLE",
    "public.cpu TABLE",
    "public.hot VIEW",
    "public.numbers LOCAL TEMPORARY",
  ]);
  expect(await tables({ tableNameFilterPattern: "c_u" })).toEqual(["public.c_u TABLE", "public.cpu TABLE"]);
  expect(await tables({ tableNameFilterPattern: "c\\_u" })).toEqual(["public.c_u TABLE"]);
  expect(await tables({ tableTypes: ["VIEW"] })).toEqual(["public.hot VIEW"]);
  expect(await tables({ tableTypes: ["TABLE", "VIEW"], dbSchemaFilterPattern: "shop" })).toEqual(["shop.logs TABLE"]);
  expect((await tables({ tableTypes: ["SYSTEM TABLE"] })).every((each) => each.startsWith("information_schema."))).toBe(true);
  expect(await tables({ catalog: "elsewhere" })).toEqual([]);
});

test("tables with their schemas", async () => {
  const { rows } = await client.read(CommandGetTablesSchema, { dbSchemaFilterPattern: "public", includeSchema: true });
  const schemas = new Map(rows.map(([, , name, , schema]) => [name, headersOf(schema as Uint8Array)]));
  expect(schemas.get("cpu")).toEqual([
    { name: "ts", type: TIMESTAMP_MILLISECOND },
    { name: "host", type: STRING },
    { name: "rack", type: STRING },
    { name: "v", type: FLOAT64 },
  ]);
  expect(schemas.get("hot")?.map(({ name }) => name)).toEqual(["host", "v"]);
  expect(schemas.get("numbers")?.map(({ name }) => name)).toEqual(["number"]);
});

test("a view over a table that is gone hides no others", async () => {
  await client.sql("CREATE TABLE lost (ts TIMESTAMP(3) TIME INDEX)");
  await client.sql("CREATE VIEW over_lost AS SELECT * FROM lost");
  await client.sql("DROP TABLE lost");
  const { rows } = await client.read(CommandGetTablesSchema, { tableTypes: ["VIEW"], includeSchema: true });
  expect(rows.map(([, , name, , schema]) => [name, headersOf(schema as Uint8Array).length])).toEqual([
    ["hot", 2],
    ["over_lost", 0],
  ]);
  await client.sql("DROP VIEW over_lost");
});

test("keys are what rows are told apart by", async () => {
  const keys = async (table: string, dbSchema?: string) =>
    (await client.read(CommandGetPrimaryKeysSchema, { table, ...(dbSchema === undefined ? {} : { dbSchema }) })).rows;
  expect(await keys("cpu")).toEqual(["host", "rack", "ts"].map((column, i) => ["greptime", "public", "cpu", column, "PRIMARY", i + 1]));
  expect(await keys("cpu", "shop")).toEqual([]);
  expect(await keys("logs", "shop")).toEqual([]); // appended to: nothing tells its rows apart
  expect(await keys("nowhere")).toEqual([]);
});

test("there are no foreign keys, in the columns that they would have", async () => {
  const names =
    `pk_catalog_name pk_db_schema_name pk_table_name pk_column_name fk_catalog_name fk_db_schema_name fk_table_name fk_column_name
    key_sequence fk_key_name pk_key_name update_rule delete_rule`.split(/\s+/);
  for (const answer of [
    await client.read(CommandGetExportedKeysSchema, { table: "cpu" }),
    await client.read(CommandGetImportedKeysSchema, { table: "cpu" }),
    await client.read(CommandGetCrossReferenceSchema, { pkTable: "cpu", fkTable: "cpu" }),
  ]) {
    expect(answer.headers.map(({ name }) => name)).toEqual(names);
    expect(answer.rows).toEqual([]);
  }
});

test("types by number and name", async () => {
  const { headers, rows } = await client.read(CommandGetXdbcTypeInfoSchema, {});
  expect(headers.length).toBe(19);
  const numbers = rows.map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length);
  for (const [name] of rows) {
    const type = name === "DECIMAL" ? "DECIMAL(10, 2)" : name === "VECTOR" ? "VECTOR(3)" : String(name);
    await client.sql(`CREATE TABLE one (ts_ TIMESTAMP(3) TIME INDEX, c ${type})`);
    await client.sql("DROP TABLE one");
  }
  const timestamps = (await client.read(CommandGetXdbcTypeInfoSchema, { dataType: 93 })).rows;
  expect(timestamps.map(([name]) => name)).toEqual([0, 3, 6, 9].map((digits) => `TIMESTAMP(${digits})`));
});

test("whoever may not read sees no catalogue", async () => {
  const writer = new FlightSqlClient(server.url, { "x-mode": "wo" });
  try {
    expect((await errorOf(writer.read(CommandGetTablesSchema, {}))).message).toContain("not authorized");
    expect((await errorOf(writer.read(CommandGetPrimaryKeysSchema, { table: "cpu" }))).message).toContain("not authorized");
  } finally {
    writer.close();
  }
});
