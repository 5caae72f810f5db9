import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdateSchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient, headersOf } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { PREPARED_IDLE_MS } from "./limits.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
  await client.sql("CREATE TABLE cpu (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  await client.sql("INSERT INTO cpu VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'c', 3.5)");
});

afterAll(async () => {
  client.close();
  await server.stop();
});

/** A prepared statement for the length of some work. */
async function withPrepared<T>(query: string, work: (handle: Uint8Array) => Promise<T>): Promise<T> {
  const { preparedStatementHandle } = await client.prepare(query);
  try {
    return await work(preparedStatementHandle);
  } finally {
    await client.closePrepared(preparedStatementHandle);
  }
}

test("tells columns and parameters", async () => {
  const { datasetSchema, parameterSchema, preparedStatementHandle } = await client.prepare(
    "SELECT host FROM cpu WHERE v > ? AND ts < ? AND ? = 1",
  );
  expect(headersOf(datasetSchema)).toEqual([{ name: "host", type: STRING }]);
  expect(headersOf(parameterSchema)).toEqual([
    { name: "$1", type: FLOAT64 },
    { name: "$2", type: TIMESTAMP_MILLISECOND },
    { name: "$3", type: INT64 },
  ]);
  await client.closePrepared(preparedStatementHandle);
  const insert = await client.prepare("INSERT INTO cpu VALUES (?, ?, ?)");
  expect(insert.datasetSchema.length).toBe(0);
  expect(headersOf(insert.parameterSchema).map(({ type }) => type)).toEqual([TIMESTAMP_MILLISECOND, STRING, FLOAT64]);
  await client.closePrepared(insert.preparedStatementHandle);
});

test("runs with bound values, and with others after that", async () => {
  await withPrepared("SELECT host FROM cpu WHERE v > ? ORDER BY host", async (handle) => {
    await client.bind(handle, [["x", FLOAT64, [2]]]);
    expect(await client.run(handle)).toEqual([["b"], ["c"]]);
    expect(await client.run(handle)).toEqual([["b"], ["c"]]);
    await client.bind(handle, [["x", FLOAT64, [3]]]);
    expect(await client.run(handle)).toEqual([["c"]]);
  });
});

test("runs once for each row of values", async () => {
  await withPrepared("SELECT host, v FROM cpu WHERE host = ?", async (handle) => {
    await client.bind(handle, [["x", STRING, ["c", "nobody", "a"]]]);
    expect(await client.run(handle)).toEqual([
      ["c", 3.5],
      ["a", 1.5],
    ]);
    await client.bind(handle, [["x", STRING, []]]);
    expect(await client.run(handle)).toEqual([]);
  });
});

test("updates run once for each row that comes", async () => {
  await withPrepared("INSERT INTO cpu VALUES (?, ?, ?)", async (preparedStatementHandle) => {
    const columns = [
      ["t", INT64, [100, 101]],
      ["h", STRING, ["p", "p"]],
      ["v", FLOAT64, [1, undefined]],
    ] as const;
    expect(await client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }, columns, 1)).toBe(2);
  });
  expect(await client.sql("SELECT v FROM cpu WHERE host = 'p' ORDER BY ts")).toEqual([[1], [undefined]]);
  const deleted = await withPrepared("DELETE FROM cpu WHERE host = 'p'", (preparedStatementHandle) =>
    client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }),
  );
  expect(deleted).toBe(2);
});

test("a ticket is for the values that it was made for", async () => {
  await withPrepared("SELECT ?::BIGINT", async (preparedStatementHandle) => {
    await client.bind(preparedStatementHandle, [["x", INT64, [1]]]);
    const { endpoint } = await client.info(anyOf(CommandPreparedStatementQuerySchema, { preparedStatementHandle }));
    const { ticket } = endpoint[0]!.ticket!;
    expect((await client.fetch(ticket)).rows).toEqual([[1]]);
    await client.bind(preparedStatementHandle, [["x", INT64, [2]]]);
    expect((await errorOf(client.fetch(ticket))).message).toContain("other parameters were bound since");
  });
});

test("values of the wrong number or kind are refused", async () => {
  await withPrepared("SELECT host FROM cpu WHERE v > ?", async (handle) => {
    expect((await errorOf(client.run(handle))).message).toContain("has 1 parameters, but no values were given");
    const two = client.bind(handle, [
      ["x", FLOAT64, [2]],
      ["y", FLOAT64, [2]],
    ]);
    expect((await errorOf(two)).message).toContain("has 1 parameters, but 2 values were given");
    await client.bind(handle, [["x", STRING, ["no number"]]]);
    expect((await errorOf(client.run(handle))).message).toContain("Unable to convert no number to datatype Float64");
  });
});

test("a handle is its user's, until it is closed or forgotten", async () => {
  const other = new FlightSqlClient(server.url, { "x-user": "other" });
  try {
    const { preparedStatementHandle: handle } = await client.prepare("SELECT 7");
    const gone = "there is no prepared statement of this handle";
    expect((await errorOf(other.run(handle))).message).toContain(gone);
    await other.closePrepared(handle);
    expect(await client.run(handle)).toEqual([[7]]);
    await client.closePrepared(handle);
    expect((await errorOf(client.run(handle))).message).toContain(gone);
    await client.closePrepared(handle);
    expect((await errorOf(client.run(new Uint8Array(16)))).message).toContain(gone);
    expect((await errorOf(client.run(new Uint8Array(3)))).message).toContain(gone);
    const { preparedStatementHandle: idle } = await client.prepare("SELECT 8");
    server.later(PREPARED_IDLE_MS + 1);
    expect((await errorOf(client.run(idle))).message).toContain(gone);
  } finally {
    other.close();
  }
});

test("memory of statements and values is given back", async () => {
  expect([server.flightSql.preparedCount, server.keptBytes()]).toEqual([0, 0]);
  await withPrepared("SELECT ?::STRING", async (handle) => {
    const before = server.keptBytes();
    expect(before).toBeGreaterThan(0);
    await client.bind(handle, [["x", STRING, ["y".repeat(10_000)]]]);
    expect(server.keptBytes()).toBeGreaterThan(before + 10_000);
    await client.bind(handle, [["x", STRING, ["y"]]]);
    expect(server.keptBytes()).toBeLessThan(before + 1000);
    const tooMuch = client.bind(handle, [["x", STRING, Array.from({ length: 40 }, () => "z".repeat(1024 * 1024))]]);
    expect((await errorOf(tooMuch)).message).toContain("out of memory");
    expect(server.keptBytes()).toBeLessThan(before + 1000);
  });
  expect(server.keptBytes()).toBe(0);
});
