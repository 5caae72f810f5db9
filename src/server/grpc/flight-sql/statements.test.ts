import { afterAll, beforeAll, expect, test } from "bun:test";
import { CommandStatementQuerySchema, CommandStatementUpdateSchema } from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient, headersOf } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { FLOAT64, INT64, STRING } from "../../../column/data-type.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
  await client.sql("CREATE TABLE cpu (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  await client.sql("INSERT INTO cpu VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'c', NULL)");
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const info = (query: string) => client.info(anyOf(CommandStatementQuerySchema, { query }));

test("a query is planned by GetFlightInfo and run by DoGet", async () => {
  const { schema, endpoint, totalRecords } = await info("SELECT host, v, count(*) AS n FROM cpu GROUP BY host, v ORDER BY host");
  expect(headersOf(schema)).toEqual([
    { name: "host", type: STRING },
    { name: "v", type: FLOAT64 },
    { name: "n", type: INT64 },
  ]);
  expect([endpoint.length, totalRecords]).toEqual([1, -1n]);
  const { headers, rows } = await client.fetch(endpoint[0]!.ticket!.ticket);
  expect(headers.map(({ name }) => name)).toEqual(["host", "v", "n"]);
  expect(rows).toEqual([
    ["a", 1.5, 1],
    ["b", 2.5, 1],
    ["c", undefined, 1],
  ]);
});

test("the schema of GetSchema is that of GetFlightInfo", async () => {
  const cmd = anyOf(CommandStatementQuerySchema, { query: "SELECT v FROM cpu" });
  const { schema } = await client.flight.getSchema({ type: 2, cmd });
  expect(schema).toEqual((await client.info(cmd)).schema);
});

test("a statement that changes something is run by GetFlightInfo, once, and has nothing to fetch", async () => {
  const answer = await info("INSERT INTO cpu VALUES (10, 'once', 1)");
  expect([answer.endpoint.length, answer.totalRecords, headersOf(answer.schema)]).toEqual([0, 1n, []]);
  expect(await client.sql("SELECT count(*) FROM cpu WHERE host = 'once'")).toEqual([[1]]);
  await client.sql("DELETE FROM cpu WHERE host = 'once'");
});

test("statements whose columns only running tells have them all the same", async () => {
  const { schema } = await info("SHOW TABLES");
  expect(headersOf(schema).map(({ name }) => name)).toEqual(["Tables_in_public"]);
  expect(await client.sql("SHOW TABLES")).toContainEqual(["cpu"]);
  expect((await client.sql("DESCRIBE TABLE cpu")).map(([name]) => name)).toEqual(["ts", "host", "v"]);
});

test("what must not run twice has no schema before it is fetched", async () => {
  const { schema, endpoint } = await info("EXPLAIN ANALYZE SELECT * FROM cpu");
  expect(schema.length).toBe(0);
  expect((await client.fetch(endpoint[0]!.ticket!.ticket)).rows.length).toBeGreaterThan(0);
});

test("an update tells how many rows it changed", async () => {
  const update = (query: string) => client.update(CommandStatementUpdateSchema, { query });
  expect(await update("INSERT INTO cpu VALUES (20, 'u', 1), (21, 'u', 2)")).toBe(2);
  expect(await update("DELETE FROM cpu WHERE host = 'u'")).toBe(2);
  expect(await update("SELECT 1")).toBe(-1);
});

test("an empty result has its columns", async () => {
  const answer = await client.read(CommandStatementQuerySchema, { query: "SELECT v FROM cpu WHERE v > 99" });
  expect(answer).toMatchObject({ headers: [{ name: "v", type: FLOAT64 }], rows: [] });
});

async function refused(query: string, code: string, message: string): Promise<void> {
  const error = await errorOf(info(query));
  expect([query, error.message]).toEqual([query, expect.stringContaining(message)]);
  expect([query, error.message]).toEqual([query, expect.stringContaining(`[${code}]`)]);
}

test("what is wrong is refused with its reason", async () => {
  await refused("SELEC 1", "unimplemented", "SELEC");
  await refused("SELECT 1 +", "invalid_argument", "Line: 1");
  await refused("SELECT * FROM nowhere", "not_found", "nowhere");
  await refused("SELECT 1; SELECT 2", "invalid_argument", "");
  await refused("", "invalid_argument", "");
  const inTransaction = anyOf(CommandStatementQuerySchema, { query: "SELECT 1", transactionId: new Uint8Array(1) });
  expect((await errorOf(client.info(inTransaction))).message).toContain("there are no transactions");
});

test("users do what they may", async () => {
  const reader = new FlightSqlClient(server.url, { "x-mode": "ro" });
  try {
    expect(await reader.sql("SELECT count(*) FROM cpu")).toEqual([[3]]);
    expect((await errorOf(reader.sql("INSERT INTO cpu VALUES (1, 'x', 1)"))).message).toContain("not authorized");
    expect((await errorOf(reader.update(CommandStatementUpdateSchema, { query: "DROP TABLE cpu" }))).message).toContain("not authorized");
  } finally {
    reader.close();
  }
});
