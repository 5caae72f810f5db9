/** Real drivers against the server: node-postgres, postgres.js and Bun's own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import pg from "pg";
import postgres from "postgres";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";

let server: PostgresFixture;

const TYPES = `CREATE TABLE every (
  host STRING PRIMARY KEY, ts TIMESTAMP(6) TIME INDEX, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT,
  u8 TINYINT UNSIGNED, u16 SMALLINT UNSIGNED, u32 INT UNSIGNED, u64 BIGINT UNSIGNED, f32 FLOAT, f64 DOUBLE,
  s STRING, bin VARBINARY, d DATE, t9 TIMESTAMP(9), t3 TIMESTAMP(3), t0 TIMESTAMP(0), n DECIMAL(20, 4), small DECIMAL(8, 2))`;
const MOST = `('most', '2024-02-29 23:59:59.123456', true, 127, 32767, 2147483647, 9223372036854775807,
  255, 65535, 4294967295, 18446744073709551615, 1.5, 0.1, 'käse', X'00ff5c', '9999-12-31', '2024-02-29 23:59:59.123456789',
  '2024-02-29 23:59:59.123', '2024-02-29 23:59:59', 1234567890123456.7891, 123456.78)`;
const LEAST = `('least', '1969-12-31 23:59:59.999999', false, -128, -32768, -2147483648, -9223372036854775808,
  0, 0, 0, 0, -1.5, -1e300, '', X'', '0001-01-01', '1677-09-22 00:00:00', '0001-01-01 00:00:00', '0001-01-01 00:00:00',
  -0.0001, -0.01)`;
const NOTHING =
  "('nothing', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";

beforeAll(async () => {
  server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(TYPES);
  await client.query(`INSERT INTO every VALUES ${MOST}, ${LEAST}, ${NOTHING}`);
  await client.end();
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

/** What text has for the columns of the rows above, in the order of hosts. */
const AS_TEXT: Readonly<Record<string, readonly (string | null)[]>> = {
  host: ["least", "most", "nothing"],
  ts: ["1969-12-31 23:59:59.999999", "2024-02-29 23:59:59.123456", "1970-01-01 00:00:00.000000"],
  b: ["f", "t", null],
  i8: ["-128", "127", null],
  i16: ["-32768", "32767", null],
  i32: ["-2147483648", "2147483647", null],
  i64: ["-9223372036854775808", "9223372036854775807", null],
  u8: ["0", "255", null],
  u16: ["0", "65535", null],
  u32: ["0", "4294967295", null],
  u64: ["0", "18446744073709551615", null],
  f32: ["-1.5", "1.5", null],
  f64: ["-1e300", "0.1", null],
  s: ["", "käse", null],
  bin: ["\\x", "\\x00ff5c", null],
  d: ["0001-01-01", "9999-12-31", null],
  t9: ["1677-09-22 00:00:00.000000", "2024-02-29 23:59:59.123456", null],
  t3: ["0001-01-01 00:00:00.000000", "2024-02-29 23:59:59.123000", null],
  t0: ["0001-01-01 00:00:00.000000", "2024-02-29 23:59:59.000000", null],
  n: ["-0.0001", "1234567890123456.7891", null],
  small: ["-0.01", "123456.78", null],
};

describe("node-postgres", () => {
  const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

  async function withClient(work: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client(server.url);
    client.on("error", () => undefined);
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  }

  test("every type as text, by both protocols", () =>
    withClient(async (client) => {
      for (const name of [undefined, "extended"]) {
        const text = "SELECT * FROM every ORDER BY host";
        const { rows, fields } = await client.query({ text, types: asText, ...(name === undefined ? {} : { name }) });
        for (const field of fields)
          expect([field.name, rows.map((row) => row[field.name])]).toEqual([field.name, [...AS_TEXT[field.name]!]]);
        expect(fields).toHaveLength(Object.keys(AS_TEXT).length);
      }
    }));

  test("intervals, in expressions alone", () =>
    withClient(async (client) => {
      const text = "SELECT INTERVAL '1 year 2 months 3 days 4 hours' AS i";
      expect((await client.query({ text, types: asText })).rows).toEqual([{ i: "P1Y2M3DT4H" }]);
    }));

  test("counts what statements changed, and says what they were", () =>
    withClient(async (client) => {
      await client.query("CREATE TABLE counted (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)");
      const insert = await client.query("INSERT INTO counted VALUES ('a', 1, 1), ('b', 2, 2)");
      expect([insert.command, insert.rowCount]).toEqual(["INSERT", 2]);
      const { command, rowCount } = await client.query("UPDATE counted SET v = 3 WHERE h = $1", ["a"]);
      expect([command, rowCount]).toEqual(["UPDATE", 1]);
      const removed = await client.query("DELETE FROM counted WHERE h = $1", ["a"]);
      expect([removed.command, removed.rowCount]).toEqual(["DELETE", 1]);
      expect((await client.query("SELECT * FROM counted")).rows).toEqual([{ h: "b", ts: expect.any(Date), v: 2 }]);
      await client.query("DROP TABLE counted");
    }));

  test("values of parameters", () =>
    withClient(async (client) => {
      const text = "SELECT host FROM every WHERE i32 = $1 AND f64 = $2 AND s = $3 AND ts = $4 AND b = $5 AND n = $6";
      const values = [2147483647, 0.1, "käse", "2024-02-29 23:59:59.123456", true, "1234567890123456.7891"];
      expect((await client.query({ text, values, name: "by all" })).rows).toEqual([{ host: "most" }]);
      expect((await client.query({ text, values, name: "by all" })).rows).toEqual([{ host: "most" }]);
      expect((await client.query("SELECT $1::INT + 1 AS x", [41])).rows).toEqual([{ x: "42" }]);
      expect((await client.query("SELECT host FROM every WHERE s = $1", [null])).rows).toEqual([]);
      expect((await client.query("SELECT host FROM every ORDER BY host LIMIT $1 OFFSET $2", [1, 1])).rows).toEqual([{ host: "most" }]);
    }));

  test("several statements, results in turn, up to the first that fails", () =>
    withClient(async (client) => {
      const results = (await client.query(
        "SELECT 1 AS a; SET TIME ZONE 'UTC'; BEGIN; SELECT 2 AS b; COMMIT",
      )) as unknown as pg.QueryResult[];
      expect(results.map(({ command }) => command)).toEqual(["SELECT", "SET", "BEGIN", "SELECT", "COMMIT"]);
      expect(client.query("SELECT 1; SELECT 1/0; SELECT 2")).rejects.toThrow("Divide by zero error");
      expect((await client.query("SELECT 3 AS c")).rows).toEqual([{ c: expect.anything() }]);
    }));

  test("errors carry a SQLSTATE and where they are", () =>
    withClient(async (client) => {
      const failure = async (text: string, values?: unknown[]): Promise<pg.DatabaseError> => {
        try {
          await client.query(text, values);
        } catch (error) {
          return error as pg.DatabaseError;
        }
        throw new Error(`done: ${text}`);
      };
      expect(await failure("SELECT 1 FROM nowhere")).toMatchObject({ code: "42P01", severity: "ERROR" });
      expect(await failure("SELECT 'ä',\n  1 +")).toMatchObject({ code: "42601", position: "18" });
      expect(await failure("SELECT $1 +", [1])).toMatchObject({ code: "42601", position: "12" });
      expect(await failure("SELECT 1; SELECT 2 2")).toMatchObject({ code: expect.stringMatching(/^42601|0A000$/), position: "20" });
      expect(await failure("LISTEN news")).toMatchObject({ code: "0A000" });
      expect(await failure("SELECT $1::INT", ["x"])).toMatchObject({ code: "22023" });
      expect(await failure("SELECT 1; SELECT $1::INT", [1])).toMatchObject({ code: "42P14" });
      expect((await client.query("SELECT 1 AS a")).rowCount).toBe(1);
    }));

  test("a transaction that has failed takes nothing but its end", () =>
    withClient(async (client) => {
      await client.query("BEGIN");
      expect(client.query("SELECT 1/0")).rejects.toThrow();
      expect(client.query("SELECT 1")).rejects.toThrow("current transaction is aborted");
      expect((await client.query("COMMIT")).command).toBe("ROLLBACK");
      expect((await client.query("SELECT 1 AS a")).rowCount).toBe(1);
    }));

  test("settings: SET, SHOW, RESET, and what is told of them", () =>
    withClient(async (client) => {
      const show = async (name: string): Promise<unknown> => Object.values((await client.query(`SHOW ${name}`)).rows[0] as object)[0];
      await client.query("SET TIME ZONE 'Asia/Tokyo'; SET application_name = 'tests'; SET statement_timeout = '5s'");
      expect([await show("timezone"), await show("application_name"), await show("statement_timeout")]).toEqual([
        "Asia/Tokyo",
        "tests",
        "5000ms",
      ]);
      expect(await show("transaction isolation level")).toBe("read committed");
      expect(await show("standard_conforming_strings")).toBe("on");
      await client.query("RESET ALL");
      expect(await show("timezone")).toBe("UTC");
      expect(client.query("SHOW nonsense.here")).rejects.toThrow("unrecognized configuration parameter");
      expect(client.query("SET server_version = '17'")).rejects.toThrow("cannot be changed");
    }));

  test("pg_backend_pid() is the number that a cancel request names", async () => {
    const pidOf = (): Promise<void> =>
      withClient(async (client) => {
        const { processID } = client as unknown as { processID: number };
        const { rows } = await client.query("SELECT pg_backend_pid() + 0 AS pid");
        expect(rows).toEqual([{ pid: String(processID) }]);
      });
    await pidOf();
    await pidOf();
  });

  test("cancels a query of its own", async () => {
    const client = new pg.Client(server.url);
    await client.connect();
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const long = client.query("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b");
    const failed = long.then(
      () => undefined,
      (error: pg.DatabaseError) => error,
    );
    await Bun.sleep(50);
    const cancel = async (secret: number): Promise<void> => {
      const message = Buffer.alloc(16);
      for (const [i, value] of [16, 80877102, processID, secret].entries()) message.writeInt32BE(value, i * 4);
      const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data: () => undefined } });
      socket.write(message);
      await Bun.sleep(50);
      socket.end();
    };
    await cancel(secretKey ^ 1);
    expect(await Promise.race([failed, Bun.sleep(50).then(() => "still runs")])).toBe("still runs");
    await cancel(secretKey);
    expect((await failed)?.code).toBe("57000");
    expect((await client.query("SELECT 1 AS a")).rowCount).toBe(1);
    await client.end();
  });

  test("cursors", () =>
    withClient(async (client) => {
      await client.query("BEGIN");
      await client.query('DECLARE "c" NO SCROLL CURSOR WITHOUT HOLD FOR SELECT number FROM numbers ORDER BY number');
      const part = await client.query("FETCH FORWARD 3 FROM c");
      expect([part.command, part.rowCount, part.rows.map((row) => Number(row.number))]).toEqual(["FETCH", 3, [0, 1, 2]]);
      expect((await client.query("FETCH ALL FROM c")).rowCount).toBe(97);
      expect((await client.query("CLOSE c")).command).toBe("CLOSE");
      await client.query("COMMIT");
    }));

  test("many connections of a pool at once", async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 16 });
    const answers = await Promise.all(
      Array.from(
        { length: 200 },
        async (_, i) => (await pool.query("SELECT $1::INT AS i, host FROM every WHERE host = $2", [i, "most"])).rows[0],
      ),
    );
    expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => ({ i, host: "most" })));
    await pool.end();
  });
});

describe("postgres.js", () => {
  test("types, values, transactions, cursors", async () => {
    const sql = postgres(server.url, { max: 2, onnotice: () => undefined });
    try {
      const [most] = await sql`SELECT host, ts, i64, f64, b, bin, n FROM every WHERE host = ${"most"}`;
      expect(most).toEqual({
        host: "most",
        ts: expect.any(Date),
        i64: "9223372036854775807",
        f64: 0.1,
        b: true,
        bin: Buffer.from([0, 255, 0x5c]),
        n: "1234567890123456.7891",
      });
      await sql`CREATE TABLE js (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE, n INT)`;
      const rows = Array.from({ length: 500 }, (_, i) => ({ h: `host-${i}`, ts: i * 1000, v: i / 2, n: i }));
      const insert = await sql`INSERT INTO js ${sql(rows)}`;
      expect(insert.count).toBe(500);
      const done = await sql.begin(async (inner) => {
        await inner`INSERT INTO js VALUES ('in', 1, 1, 1)`;
        return inner`SELECT count(*) AS n FROM js`;
      });
      expect(Number(done[0]?.["n"])).toBe(501);
      const seen: number[] = [];
      await sql`SELECT n FROM js ORDER BY n`.cursor(100, (part) => void seen.push(part.length));
      expect(seen.reduce((sum, count) => sum + count, 0)).toBe(501);
      expect(seen.length).toBeGreaterThan(5);
      const found = await sql`SELECT h FROM js WHERE n = ANY(${[1, 2, 3]}) AND h <> 'in' ORDER BY n`;
      expect(found.map(({ h }) => h as unknown)).toEqual(["host-1", "host-2", "host-3"]);
      expect(sql`SELECT nothing FROM js`.execute()).rejects.toThrow();
      await sql`DROP TABLE js`;
    } finally {
      await sql.end();
    }
  });

  test("copies a table to the client", async () => {
    const sql = postgres(server.url, { max: 1 });
    const stream = await sql`COPY (SELECT host, i32 FROM every ORDER BY host) TO STDOUT WITH (FORMAT csv)`.readable();
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    expect(text).toBe("least,-2147483648\nmost,2147483647\nnothing,\n");
    await sql.end();
  });
});

describe("Bun.SQL", () => {
  test("types and values, binary", async () => {
    const sql = new SQL(server.url);
    try {
      const [most] = await sql`SELECT host, i16, i32, f64, b, ts, s, bin FROM every WHERE host = ${"most"}`;
      expect(most).toEqual({
        host: "most",
        i16: 32767,
        i32: 2147483647,
        f64: 0.1,
        b: true,
        ts: expect.any(Date),
        s: "käse",
        bin: expect.anything(),
      });
      const [sum] = await sql`SELECT ${1}::INT + ${2}::INT AS three`;
      expect(sum).toEqual({ three: 3 });
      const [nothing] = await sql`SELECT * FROM every WHERE host = 'nothing'`;
      expect(Object.values(nothing as object).filter((value) => value !== null)).toHaveLength(2);
      expect(sql`SELECT * FROM nowhere`.execute()).rejects.toThrow();
    } finally {
      await sql.end();
    }
  });
});
