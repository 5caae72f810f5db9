import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import type { FlightData } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import {
  CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdateSchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient, headersOf, type SentColumns } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import type { Batch } from "../../../column/batch.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { PART_ROWS_MAX, PREPARED_IDLE_MS } from "./limits.ts";
import { parameterRows } from "./parameters.ts";

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

/** Columns of rows for a table of time, host and value. */
const manyRows = (count: number, host: (i: number) => string | undefined = (i) => `m${i % 7}`): SentColumns => {
  const each = Array.from({ length: count }, (_, i) => i);
  return [
    ["t", INT64, each.map((i) => 1_000_000 + i)],
    ["h", STRING, each.map(host)],
    ["v", FLOAT64, each],
  ];
};

test("rows of an INSERT are written many at a time, in order", async () => {
  await client.sql("CREATE TABLE many (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  const writes = spyOn(server.machine.engine, "write");
  await withPrepared("INSERT INTO many (host, ts, v) VALUES ($2, $1, $3)", async (preparedStatementHandle) => {
    const put = (count: number, batches: number): Promise<number> =>
      client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }, manyRows(count), batches);
    expect(await put(10_000, 1)).toBe(10_000);
    expect(await put(9000, 3)).toBe(27_000); // The same rows three times, in parts that end amid a batch.
    expect(await put(0, 2)).toBe(0);
  });
  expect(await client.sql("SELECT count(*), count(DISTINCT host), min(v), max(v), min(ts)::BIGINT FROM many")).toEqual([
    [10_000, 7, 0, 9999, 1_000_000],
  ]);
  const counts = writes.mock.calls.map(([, { tables }]) => tables[0]?.rowCount);
  writes.mockRestore();
  expect(counts).toEqual([10_000, PART_ROWS_MAX, 27_000 - PART_ROWS_MAX]);
  await client.sql("DROP TABLE many");
});

test("a part of an INSERT that fails is not there, and those before it are", async () => {
  await client.sql("CREATE TABLE parts (ts TIMESTAMP(3) TIME INDEX, host STRING NOT NULL, v DOUBLE)");
  await withPrepared("INSERT INTO parts VALUES (?, ?, ?)", async (preparedStatementHandle) => {
    const columns = manyRows(PART_ROWS_MAX + 100, (i) => (i === PART_ROWS_MAX + 50 ? undefined : "h"));
    const failure = await errorOf(client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }, columns));
    expect(failure.message).toContain("column host is not null but input has null");
  });
  expect(await client.sql("SELECT count(*) FROM parts")).toEqual([[PART_ROWS_MAX]]);
  await client.sql("DROP TABLE parts");
});

test("rows of other statements run one by one, until the client leaves", async () => {
  await client.sql("CREATE TABLE others (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  await withPrepared("INSERT INTO others VALUES (?, ?, ?)", (preparedStatementHandle) =>
    client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }, manyRows(2000)),
  );
  await withPrepared("DELETE FROM others WHERE ts = ? AND host = ?", async (preparedStatementHandle) => {
    const some = manyRows(40).slice(0, 2);
    expect(await client.update(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }, some)).toBe(40);
    const leave = new AbortController();
    const all = client.messages(anyOf(CommandPreparedStatementUpdateSchema, { preparedStatementHandle }), manyRows(2000).slice(0, 2));
    async function* sent(): AsyncIterable<FlightData> {
      yield* all;
      leave.abort();
    }
    const put = async (): Promise<void> => {
      for await (const _ of client.flight.doPut(sent(), { ...client.options, signal: leave.signal })) return;
    };
    expect((await errorOf(put())).message).toContain("abort");
  });
  // Long before all of them have run.
  const [[left] = []] = await client.sql("SELECT count(*) FROM others");
  expect(Number(left)).toBeGreaterThan(500);
  await client.sql("DROP TABLE others");
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

test("a batch without columns that says it has many rows takes no memory for them", async () => {
  async function* batches(): AsyncIterable<Batch> {
    yield { rowCount: 2 ** 40, vectors: [] };
  }
  for await (const some of parameterRows({ columns: [], batches: batches() }, 0)) return expect(some.length).toBeLessThan(10_000);
});
