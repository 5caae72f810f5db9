/** What lasts as long as a connection: prepared statements, cursors, settings; and the interface that wire servers prepare by. */
import { Scheduler } from "../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { put, refusal } from "../../test/engine/lines.ts";
import { Machine } from "../../test/engine/machine.ts";
import { errorText } from "../base/error.ts";
import { MemoryPool, ServerMemory } from "../base/memory/server-memory.ts";
import { displayName, INT64, STRING, TIMESTAMP_MILLISECOND } from "../column/data-type.ts";
import { scalarAt } from "../column/scalar.ts";
import { type Connection, endConnection, newConnection } from "../query/connection.ts";
import type { ParameterValue } from "../query/prepared-query.ts";
import type { StatementResult } from "../query/statement-result.ts";
import type { AccessMode } from "./auth/user.ts";
import { LocalDb } from "./local-db.ts";
import type { Session } from "./session.ts";

interface Fixture {
  readonly db: LocalDb;
  readonly session: Session;
  readonly pool: MemoryPool;
  readonly end: AbortController;
}

async function fixture(protocol: Connection["protocol"] | "http" = "mysql", mode: AccessMode = "rw"): Promise<Fixture> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i,w=1.5 1000000\ncpu,host=b v=2i,w=2.5 2000000\ncpu,host=c v=3i,w=3.5 3000000");
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", 1024 * 1024 * 1024);
  const db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, pool });
  const end = new AbortController();
  const connection = protocol === "http" ? {} : { connection: newConnection(protocol, end.signal) };
  const session: Session = { database: "public", timeZone: "UTC", user: { name: "someone", mode }, signal: end.signal, ...connection };
  return { db, session, pool, end };
}

async function read(results: AsyncIterable<StatementResult>): Promise<string[]> {
  const texts: string[] = [];
  for await (const result of results) {
    if (result.kind === "affected") {
      texts.push(`affected ${result.rowCount}`);
      continue;
    }
    for await (const { rowCount, vectors } of result.batches) {
      for (let row = 0; row < rowCount; row++)
        texts.push(vectors.map((vector, c) => String(scalarAt(vector, result.headers[c]!.type, row) ?? "NULL")).join(","));
    }
  }
  return texts;
}

async function check({ db, session }: Fixture, text: string, want: readonly string[]): Promise<void> {
  expect([text, await read(db.sql(text, session))]).toEqual([text, [...want]]);
}

async function checkFails({ db, session }: Fixture, text: string, code: string, message: string): Promise<void> {
  const failure = await refusal(read(db.sql(text, session)));
  expect([text, failure]).toMatchObject([text, { code, message: expect.stringContaining(message) }]);
}

/** Types of the parameters and names of the columns. */
async function describes(
  { db, session }: Fixture,
  text: string,
  parameters: readonly string[],
  columns: readonly string[] | undefined,
): Promise<void> {
  const prepared = await db.prepare(text, session);
  const types = prepared.parameters.map((type) => (type === undefined ? "?" : displayName(type)));
  expect([text, types, prepared.columns?.map(({ name }) => name)]).toEqual([
    text,
    [...parameters],
    columns === undefined ? undefined : [...columns],
  ]);
}

const int = (value: number): ParameterValue => ({ type: INT64, value });
const text = (value: string): ParameterValue => ({ type: STRING, value });

test("places tell the types of their values", async () => {
  const f = await fixture();
  await describes(
    f,
    "SELECT v FROM cpu WHERE host = ? AND v > ? AND greptime_timestamp < ?",
    ["String", "Int64", "TimestampNanosecond"],
    ["v"],
  );
  await describes(f, "SELECT $2::INT, CAST($1 AS STRING)", ["String", "Int32"], ["cast($2 as int)", "cast($1 as string)"]);
  await describes(f, "SELECT v FROM cpu ORDER BY v LIMIT ? OFFSET ?", ["Int64", "Int64"], ["v"]);
  await describes(
    f,
    "SELECT v + ? AS a, w * ? AS b FROM cpu WHERE host IN (?, ?) AND v BETWEEN ? AND ?",
    ["Int64", "Float64", "String", "String", "Int64", "Int64"],
    ["a", "b"],
  );
  await describes(
    f,
    "INSERT INTO cpu (host, v, greptime_timestamp) VALUES (?, ?, ?), ('x', ?, 1)",
    ["String", "Int64", "TimestampNanosecond", "Int64"],
    undefined,
  );
  await describes(f, "DELETE FROM cpu WHERE host = ?", ["String"], undefined);
  await describes(f, "EXPLAIN SELECT v FROM cpu WHERE v = ?", ["Int64"], undefined);
  await describes(f, "SELECT ?", ["?"], ["$1"]);
  await describes(f, "SELECT date_trunc(?, greptime_timestamp) FROM cpu", ["String"], ["date_trunc($1, greptime_timestamp)"]);
  await describes(f, "SHOW TABLES", [], undefined);
});

const refused = (prepared: Promise<unknown>): Promise<string> => prepared.then(() => "accepted", errorText);

test("what cannot be prepared says why", async () => {
  const { db, session } = await fixture();
  expect(await refused(db.prepare("SELECT nosuch FROM cpu", session))).toContain("No field named nosuch");
  expect(await refused(db.prepare("SELECT * FROM nosuch WHERE a = ?", session))).toContain("Table not found");
  expect(await refused(db.prepare("INSERT INTO nosuch VALUES (?)", session))).toContain("Table not found");
  expect(await refused(db.prepare("SELECT 1; SELECT 2", session))).toContain("one statement, found 2");
  expect(await refused(db.prepare("SELEC ?", session))).toContain("not supported, keyword: 'SELEC'");
  const reader = await fixture("mysql", "ro");
  expect(await refused(reader.db.prepare("INSERT INTO cpu VALUES (?)", reader.session))).toContain("not authorized");
});

test("describing a long statement gives way", async () => {
  const { db, session } = await fixture();
  const sums = Array.from({ length: 3000 }, (_, i) => `abs(v) = ${i}`).join(" OR ");
  for (const text of [`SELECT v FROM cpu WHERE v = ? OR ${sums}`, `DELETE FROM cpu WHERE v = ? OR ${sums}`]) {
    let isDone = false;
    let rounds = 0;
    const prepared = db.prepare(text, session).finally(() => (isDone = true));
    for (; !isDone; rounds++) await new Promise((resolve) => setImmediate(resolve));
    expect((await prepared).parameters).toEqual([INT64]);
    expect(rounds).toBeGreaterThan(1);
  }
});

test("values take the types of their places", async () => {
  const { db, session } = await fixture();
  const run = async (statement: string, values: readonly ParameterValue[]): Promise<string[]> =>
    read(db.execute(await db.prepare(statement, session), values, session));
  expect(await run("SELECT host FROM cpu WHERE v >= ? ORDER BY v DESC LIMIT ?", [text("2"), int(1)])).toEqual(["c"]);
  expect(await run("SELECT host FROM cpu WHERE v = ?", [{ type: { kind: "float", bits: 64 }, value: 1.5 }])).toEqual([]);
  expect(await run("SELECT v FROM cpu WHERE host = ?", [int(5)])).toEqual([]);
  expect(await run("SELECT v FROM cpu WHERE greptime_timestamp = ?", [int(1_000_000)])).toEqual(["1"]);
  expect(await run("SELECT v FROM cpu WHERE greptime_timestamp > ? ORDER BY v", [text("1970-01-01 00:00:00.001")])).toEqual(["2", "3"]);
  expect(await run("SELECT v FROM cpu WHERE greptime_timestamp = ?", [{ type: TIMESTAMP_MILLISECOND, value: 1n }])).toEqual(["1"]);
  expect(await run("SELECT ? IS NULL", [{ type: { kind: "null" }, value: undefined }])).toEqual(["true"]);
  expect(await run("INSERT INTO cpu (host, v, greptime_timestamp) VALUES (?, ?, ?)", [text("d"), text("4"), int(4_000_000)])).toEqual([
    "affected 1",
  ]);
  expect(await run("DELETE FROM cpu WHERE host = ?", [text("d")])).toEqual(["affected 1"]);
});

test("values that a place cannot take, and too many or few, are refused", async () => {
  const { db, session } = await fixture();
  const fails = async (statement: string, ...values: readonly ParameterValue[]): ReturnType<typeof refusal> =>
    refusal(read(db.execute(await db.prepare(statement, session), values, session)));
  const invalid = (message: string): object => ({ code: "InvalidArguments", message: expect.stringContaining(message) });
  expect(await fails("SELECT ?::INT", text("a"))).toEqual(
    invalid("Invalid request parameter: Unable to convert a to datatype Int32(Int32Type)") as never,
  );
  expect(await fails("SELECT ?::TINYINT", int(300))).toMatchObject(invalid("Unable to convert 300 to datatype Int8(Int8Type)"));
  expect(await fails("SELECT v FROM cpu WHERE greptime_timestamp = ?", text("soon"))).toMatchObject(invalid("Unable to convert soon"));
  expect(await fails("SELECT v FROM cpu WHERE v = ?")).toMatchObject(invalid("has 1 parameters, but 0 values were given"));
  expect(await fails("SELECT 1", int(1))).toMatchObject(invalid("has 0 parameters, but 1 values were given"));
});

test("prepared statements have names on a connection", async () => {
  const f = await fixture();
  await check(f, "PREPARE s FROM 'SELECT ?::int;'", ["affected 0"]);
  await check(f, "EXECUTE s USING 1", ["1"]);
  await checkFails(f, "EXECUTE s USING 'a'", "InvalidArguments", "Unable to convert a to datatype Int32(Int32Type)");
  await check(f, "PREPARE s FROM 'SELECT host FROM cpu WHERE v > ? ORDER BY host LIMIT ?'; EXECUTE s USING 1, 5; DEALLOCATE s", [
    "affected 0",
    "b",
    "c",
    "affected 0",
  ]);
  await checkFails(f, "EXECUTE s USING 1", "InvalidArguments", "Prepared statement s is not found");
  await checkFails(f, "DEALLOCATE s", "InvalidArguments", "Prepared statement s is not found");
  await checkFails(f, "PREPARE s FROM 'PREPARE t FROM ''SELECT 1'''", "InvalidArguments", "prepares, runs or deallocates");
  await check(f, "PREPARE s FROM 'USE greptime_private'; EXECUTE s; DEALLOCATE ALL", ["affected 0", "affected 0"]);
  expect(f.session.database).toBe("greptime_private");
});

test("a placeholder without a value, and a statement without a connection, are refused", async () => {
  const f = await fixture("http");
  await checkFails(f, "SELECT ?", "EngineExecuteQuery", "Execution error: Placeholder '$1' was not provided a value for execution.");
  await checkFails(f, "INSERT INTO cpu (host, greptime_timestamp) VALUES ($1, 1)", "EngineExecuteQuery", "Placeholder '$1'");
  for (const [statement, keyword] of [
    ["PREPARE s FROM 'SELECT 1'", "PREPARE"],
    ["EXECUTE s", "EXECUTE"],
    ["DEALLOCATE ALL", "DEALLOCATE"],
    ["DECLARE c CURSOR FOR SELECT 1", "DECLARE"],
    ["FETCH 1 FROM c", "FETCH"],
    ["CLOSE c", "CLOSE"],
  ] as const) {
    await checkFails(f, statement, "Unsupported", `SQL statement is not supported, keyword: ${keyword}; it needs a connection`);
  }
});

test("who may not write may not by a prepared statement either", async () => {
  const f = await fixture("mysql", "ro");
  await check(f, "PREPARE s FROM 'SELECT v FROM cpu WHERE v = ?'; EXECUTE s USING 2", ["affected 0", "2"]);
  await checkFails(f, "PREPARE s FROM 'DELETE FROM cpu'", "PermissionDenied", "not authorized");
  await checkFails(f, "DECLARE c CURSOR FOR SELECT 1", "PermissionDenied", "not authorized");
});

test("a cursor gives its rows little by little", async () => {
  const f = await fixture("postgres");
  await check(f, "DECLARE c CURSOR FOR SELECT host FROM cpu ORDER BY host", ["affected 0"]);
  await check(f, "FETCH 2 FROM c", ["a", "b"]);
  await check(f, "FETCH 0 FROM c", []);
  await check(f, "FETCH 2 IN c", ["c"]);
  await check(f, "FETCH 2 IN c", []);
  await checkFails(f, "DECLARE c CURSOR FOR SELECT 1", "InvalidArguments", "A cursor named c already exists");
  await check(f, "CLOSE c", ["affected 0"]);
  await checkFails(f, "FETCH 1 FROM c", "InvalidArguments", "Cursor c is not found");
  await checkFails(f, "CLOSE c", "InvalidArguments", "Cursor c is not found");
  await checkFails(f, "DECLARE c CURSOR FOR SELECT * FROM nosuch", "TableNotFound", "nosuch");
});

test("a cursor gives back what it holds when the connection ends", async () => {
  const f = await fixture("postgres");
  await check(f, "DECLARE c CURSOR FOR SELECT host, count(*) FROM cpu GROUP BY host ORDER BY host; FETCH 1 FROM c", ["affected 0", "a,1"]);
  await check(f, "DECLARE d CURSOR FOR SELECT number FROM numbers; FETCH 1 FROM d", ["affected 0", "0"]);
  expect(f.session.connection?.cursors.size).toBe(2);
  expect(f.pool.used).toBeGreaterThan(0);
  await endConnection(f.session.connection!);
  expect(f.session.connection?.cursors.size).toBe(0);
  expect(f.pool.used).toBe(0);
});

test("a statement that runs too long ends the cursor that it fetches from", async () => {
  const f = await fixture("postgres");
  await check(f, "SET statement_timeout = '20ms'; SHOW VARIABLES statement_timeout", ["affected 0", "20ms"]);
  const endless = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";
  await checkFails(f, `DECLARE c CURSOR FOR ${endless}; FETCH 1 FROM c`, "DeadlineExceeded", "ran longer than 0.02 s");
  await checkFails(f, endless, "DeadlineExceeded", "ran longer");
});

test("variables of each protocol", async () => {
  const mysql = await fixture("mysql");
  await check(mysql, "SET max_execution_time = 1000; SHOW VARIABLES max_execution_time", ["affected 0", "1000"]);
  await check(mysql, "SET max_execution_time = 18446744073709551615; SHOW VARIABLES max_execution_time", [
    "affected 0",
    "18446744073709551615",
  ]);
  await checkFails(mysql, "SET max_execution_time = -1", "Unsupported", "Unsupported timeout expr -1 in set variable statement");
  await checkFails(mysql, "SET max_execution_time = 18446744073709551616", "Unsupported", "Invalid timeout expr 18446744073709551616");
  await check(mysql, "SET wibble = 1", ["affected 0"]);
  expect(mysql.session.connection?.warnings).toEqual(["Unsupported set variable WIBBLE"]);
  await check(mysql, "SELECT 1", ["1"]);
  expect(mysql.session.connection?.warnings).toEqual([]);

  const postgres = await fixture("postgres");
  await check(postgres, "SET search_path TO greptime_private, public; SHOW SEARCH_PATH", ["affected 0", "greptime_private"]);
  await check(postgres, "SET DateStyle TO SQL, DMY; SHOW VARIABLES datestyle", ["affected 0", "SQL, DMY"]);
  await check(postgres, "SET intervalstyle = 'postgres'; SHOW VARIABLES intervalstyle", ["affected 0", "postgres"]);
  await check(postgres, "SET bytea_output = 'escape'; SET bytea_output TO DEFAULT; SHOW VARIABLES bytea_output", [
    "affected 0",
    "affected 0",
    "hex",
  ]);
  await checkFails(postgres, "SET search_path = nosuch", "DatabaseNotFound", "nosuch");
  await checkFails(postgres, "SET datestyle = 'ISO, SQL'", "Unsupported", "names two that differ");
  await checkFails(postgres, "SET client_encoding = 'LATIN1'", "Unsupported", "Unsupported client encoding LATIN1");

  const request = await fixture("http");
  await check(request, "SET intervalstyle = 'sql_standard'; SHOW VARIABLES intervalstyle", ["affected 0", "sql_standard"]);
  await checkFails(request, "SET wibble = 1", "Unsupported", "Not supported: Unsupported set variable WIBBLE");
  await checkFails(request, "SET max_execution_time = 5", "Unsupported", "Unsupported set variable MAX_EXECUTION_TIME");
  await checkFails(request, "SHOW VARIABLES wibble", "Unsupported", "Unsupported show variable WIBBLE");
});
