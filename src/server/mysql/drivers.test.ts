/** Real drivers against the server: mysql2, MariaDB's and Bun's own; the command line where there is one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { type Connection as MariadbConnection, createConnection as connectMariadb } from "mariadb";
import mysql from "mysql2/promise";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";

let server: MysqlFixture;

const TYPES = `CREATE TABLE every (
  host STRING PRIMARY KEY, ts TIMESTAMP(6) TIME INDEX, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT,
  u8 TINYINT UNSIGNED, u16 SMALLINT UNSIGNED, u32 INT UNSIGNED, u64 BIGINT UNSIGNED, f32 FLOAT, f64 DOUBLE,
  s STRING, bin VARBINARY, d DATE, t9 TIMESTAMP(9), t3 TIMESTAMP(3), t0 TIMESTAMP(0), n DECIMAL(20, 4), small DECIMAL(8, 2),
  wide DECIMAL(38, 2))`;
const MOST = `('most', '2024-02-29 23:59:59.123456', true, 127, 32767, 2147483647, 9223372036854775807,
  255, 65535, 4294967295, 18446744073709551615, 1.5, 0.1, 'käse', X'00ff5c', '9999-12-31', '2024-02-29 23:59:59.123456789',
  '2024-02-29 23:59:59.123', '2024-02-29 23:59:59', 1234567890123456.7891, 123456.78, 123456789012345678901234567890.12)`;
const LEAST = `('least', '1969-12-31 23:59:59.999999', false, -128, -32768, -2147483648, -9223372036854775808,
  0, 0, 0, 0, -1.5, 1024, '', X'', '1000-01-01', '1677-09-22 00:00:00', '1000-01-01 00:00:00', '1000-01-01 00:00:00',
  -0.0001, -0.01, -0.01)`;
const NOTHING =
  "('nothing', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";

beforeAll(async () => {
  server = await startMysql();
  const client = await connect();
  await client.query(TYPES);
  await client.query(`INSERT INTO every VALUES ${MOST}, ${LEAST}, ${NOTHING}`);
  await client.end();
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

function connect(options: mysql.ConnectionOptions = {}): Promise<mysql.Connection> {
  return mysql.createConnection({ host: "127.0.0.1", port: server.port, user: "someone", database: "public", ...options });
}

async function withClient(work: (client: mysql.Connection) => Promise<void>, options: mysql.ConnectionOptions = {}): Promise<void> {
  const client = await connect(options);
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

test("what drivers look at: whether a transaction runs, bytes behind _binary, names as MySQL quotes them", () =>
  withClient(async (client) => {
    const status = async (text: string): Promise<number> => (await client.query<mysql.ResultSetHeader>(text))[0].serverStatus & 1;
    const wanted = {
      BEGIN: 1,
      "ROLLBACK TO SAVEPOINT a": 1,
      "SET NAMES utf8mb4": 1,
      COMMIT: 0,
      "START TRANSACTION READ ONLY": 1,
      ROLLBACK: 0,
    };
    for (const [text, bit] of Object.entries(wanted)) expect([text, await status(text)]).toEqual([text, bit]);
    expect((await client.query("SELECT _binary'\\0ä\\\\' = X'00c3a45c' AS x"))[0]).toEqual([{ x: 1 }] as never);
    const [created] = await client.query("SHOW CREATE TABLE every");
    expect((created as Record<string, string>[])[0]?.["Create Table"]).toContain("CREATE TABLE IF NOT EXISTS `every` (\n  `host` STRING");
  }));

test("an interval of a parameter, and a pattern", () =>
  withClient(async (client) => {
    const text = "SELECT CAST(DATE_ADD(TIMESTAMP '2024-01-31 00:00:00', INTERVAL ? HOUR) AS STRING) AS t, 'h1' REGEXP ? AS m";
    const want = [{ t: "2024-01-31T01:30:00", m: 1 }];
    for (const hours of [1.5, "1.5"]) expect((await client.execute(text, [hours, "^h\\d$"]))[0]).toEqual(want as never);
    expect((await client.query(text, [1.5, "^h[0-9]$"]))[0]).toEqual(want as never);
  }));

test("a value stays within its quotes, however the driver writes it", () =>
  withClient(async (client) => {
    const value = `it's \\ "ok" \\' OR 1 = 1 -- \n\t%_`;
    const [written] = await client.query("SELECT ? AS x, ? AS y", [value, "' OR 1 = 1 -- "]);
    expect(written).toEqual([{ x: value, y: "' OR 1 = 1 -- " }] as never);
    const [sent] = await client.execute("SELECT CAST(? AS STRING) AS x", [value]);
    expect(sent).toEqual([{ x: value }] as never);
  }));

/** What text has for the columns of the rows above, in the order of hosts. */
const AS_TEXT: Readonly<Record<string, readonly (string | null)[]>> = {
  host: ["least", "most", "nothing"],
  ts: ["1969-12-31 23:59:59.999999", "2024-02-29 23:59:59.123456", "1970-01-01 00:00:00"],
  b: ["0", "1", null],
  i8: ["-128", "127", null],
  i16: ["-32768", "32767", null],
  i32: ["-2147483648", "2147483647", null],
  i64: ["-9223372036854775808", "9223372036854775807", null],
  u8: ["0", "255", null],
  u16: ["0", "65535", null],
  u32: ["0", "4294967295", null],
  u64: ["0", "18446744073709551615", null],
  f32: ["-1.5", "1.5", null],
  f64: ["1024", "0.1", null],
  s: ["", "käse", null],
  bin: ["", "\0ÿ\\", null],
  d: ["1000-01-01", "9999-12-31", null],
  t9: ["1677-09-22 00:00:00", "2024-02-29 23:59:59.123456789", null],
  t3: ["1000-01-01 00:00:00", "2024-02-29 23:59:59.123", null],
  t0: ["1000-01-01 00:00:00", "2024-02-29 23:59:59", null],
  n: ["-0.0001", "1234567890123456.7891", null],
  small: ["-0.01", "123456.78", null],
  wide: ["-0.01", "123456789012345678901234567890.12", null],
};

/** What drivers make of binary values, where it is not what text has. */
const AS_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  b: [0, 1, null],
  i8: [-128, 127, null],
  i16: [-32768, 32767, null],
  i32: [-2147483648, 2147483647, null],
  u8: [0, 255, null],
  u16: [0, 65535, null],
  u32: [0, 4294967295, null],
  f32: [-1.5, 1.5, null],
  f64: [1024, 0.1, null],
  bin: [Buffer.alloc(0), Buffer.from([0, 255, 92]), null],
  i64: ["-9223372036854775808", "9223372036854775807", null],
  u64: ["0", "18446744073709551615", null],
};

const BIG = { supportBigNumbers: true, bigNumberStrings: true, dateStrings: true } as const;

function columnsOf(rows: unknown, names: readonly string[]): Readonly<Record<string, unknown[]>> {
  const all = rows as readonly Record<string, unknown>[];
  return Object.fromEntries(names.map((name) => [name, all.map((row) => row[name])]));
}

describe("mysql2", () => {
  test("every type as text", () =>
    withClient(async (client) => {
      const typeCast = (field: { string(): string | null }): string | null => field.string();
      const [rows] = await client.query({ sql: "SELECT * FROM every ORDER BY host", typeCast });
      expect(columnsOf(rows, Object.keys(AS_TEXT))).toEqual(AS_TEXT as Record<string, unknown[]>);
    }));

  test("every type in binary", () =>
    withClient(async (client) => {
      const [rows] = await client.execute("SELECT * FROM every ORDER BY host");
      const want: Record<string, unknown> = { ...AS_TEXT, ...AS_VALUES };
      const got = columnsOf(rows, Object.keys(AS_TEXT));
      // Times of this driver have six digits where there is a fraction.
      want["t9"] = ["1677-09-22 00:00:00", "2024-02-29 23:59:59.123456", null];
      const trimmed = (values: unknown[] | undefined): unknown[] | undefined =>
        values?.map((value) => (typeof value === "string" ? value.replace(/\.0+$/, "").replace(/(\.\d{3})000$/, "$1") : value));
      for (const name of ["ts", "t9", "t3", "t0"]) want[name] = trimmed(want[name] as unknown[]);
      for (const [name, values] of Object.entries(got)) {
        const shown = ["ts", "t9", "t3", "t0"].includes(name) ? trimmed(values) : values;
        expect({ [name]: shown }).toEqual({ [name]: want[name] } as never);
      }
    }, BIG));

  test("values of parameters", () =>
    withClient(async (client) => {
      const text = "SELECT host FROM every WHERE i32 = ? AND f64 = ? AND s = ? AND ts = ? AND b = ? AND n = ?";
      const values = [2147483647, 0.1, "käse", "2024-02-29 23:59:59.123456", true, "1234567890123456.7891"];
      for (let i = 0; i < 2; i++) expect((await client.execute(text, values))[0]).toEqual([{ host: "most" }] as never);
      expect((await client.execute("SELECT host FROM every WHERE s = ?", [null]))[0]).toEqual([] as never);
      const [rows] = await client.execute("SELECT host FROM every ORDER BY host LIMIT ? OFFSET ?", [1, 1]);
      expect(rows).toEqual([{ host: "most" }] as never);
      const [binary] = await client.execute("SELECT host FROM every WHERE bin = ?", [Buffer.from([0, 255, 92])]);
      expect(binary).toEqual([{ host: "most" }] as never);
    }));

  test("counts what statements changed", () =>
    withClient(async (client) => {
      await client.query("CREATE TABLE counted (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)");
      const [inserted] = await client.query<mysql.ResultSetHeader>("INSERT INTO counted VALUES ('a', 1, 1), ('b', 2, 2)");
      expect(inserted.affectedRows).toBe(2);
      const [removed] = await client.execute<mysql.ResultSetHeader>("DELETE FROM counted WHERE h = ?", ["a"]);
      expect(removed.affectedRows).toBe(1);
      await client.query("DROP TABLE counted");
    }));

  test("several statements where the client asked for that, up to the first that fails", async () => {
    await withClient(
      async (client) => {
        const [results] = await client.query("SELECT 1 AS a; BEGIN; SELECT 2 AS b; SET time_zone = '+01:00'; SELECT @@time_zone");
        const [first, begun, second, set, zone] = results as unknown as unknown[];
        expect([first, second, zone]).toEqual([[{ a: 1 }], [{ b: 2 }], [{ "@@time_zone": "+01:00" }]]);
        expect([begun, set]).toMatchObject([{ affectedRows: 0 }, { affectedRows: 0 }]);
        expect(client.query("SELECT 1; SELECT 1/0; SELECT 2")).rejects.toThrow("Divide by zero error");
        const [warned] = await client.query("SET no_such = 1; SHOW WARNINGS");
        expect((warned as unknown[])[1]).toEqual([{ Level: "Warning", Code: 1000, Message: "Unsupported set variable NO_SUCH" }]);
      },
      { multipleStatements: true },
    );
    await withClient(async (client) => {
      expect(client.query("SELECT 1; SELECT 2")).rejects.toThrow("several statements");
    });
  });

  test("errors carry a number and a SQLSTATE", () =>
    withClient(async (client) => {
      const failure = async (text: string, values?: string[]): Promise<unknown> => {
        try {
          await (values === undefined ? client.query(text) : client.execute(text, values));
        } catch (error) {
          const { errno, sqlState, message } = error as { errno: number; sqlState: string; message: string };
          return [errno, sqlState, message.slice(0, message.indexOf(":"))];
        }
        throw new Error(`done: ${text}`);
      };
      expect(await failure("SELECT 1 FROM nowhere")).toEqual([1146, "42S02", "(TableNotFound)"]);
      expect(await failure("SELECT 1 +")).toEqual([1149, "42000", "(InvalidSyntax)"]);
      expect(await failure("SELECT ?")).toEqual([1815, "HY000", "(EngineExecuteQuery)"]);
      expect(await failure("SELECT ?::INT", ["a"])).toEqual([1210, "HY000", "(InvalidArguments)"]);
      expect(await failure("SELECT CAST('0999-12-31' AS TIMESTAMP)")).toEqual([1210, "HY000", "(InvalidArguments)"]);
      expect(await failure(";")).toEqual([1210, "HY000", "(InvalidArguments)"]);
      expect(await failure("USE nowhere")).toEqual([1102, "42000", "Unknown database 'nowhere"]);
      expect((await client.query("SELECT 1 AS a"))[0]).toEqual([{ a: 1 }] as never);
    }));

  test("times are those of the session's zone", () =>
    withClient(async (client) => {
      await client.query("SET time_zone = 'Asia/Shanghai'");
      const text = "SELECT CAST('2024-01-01T00:00:00Z' AS TIMESTAMP(3)) AS t";
      for (const [rows] of [await client.query(text), await client.execute(text)])
        expect(columnsOf(rows, ["t"])["t"]?.map((each) => String(each).slice(0, 19))).toEqual(["2024-01-01 08:00:00"]);
    }, BIG));

  test("KILL ends another connection's statement, and its connection", async () => {
    const victim = await connect();
    victim.on("error", () => undefined);
    const id = victim.threadId;
    const told = { c: id + 1, v: "8.4.2-GreptimeDB-1.3.0" };
    expect((await victim.query("SELECT connection_id() + 1 AS c, version() AS v"))[0]).toEqual([told] as never);
    expect((await victim.execute("SELECT connection_id() + 1 AS c, version() AS v"))[0]).toEqual([told] as never);
    expect((await victim.query("SELECT CONNECTION_ID()"))[0]).toEqual([{ "CONNECTION_ID()": id }] as never);
    await withClient(async (client) => {
      const slow = victim.query("SELECT count(*) FROM generate_series(1, 3000000) a JOIN generate_series(1, 3000) b ON a.value <> b.value");
      const ended = slow.then(() => 0).catch(({ errno }: { errno: number }) => errno);
      await Bun.sleep(50);
      const [{ affectedRows }] = await client.query<mysql.ResultSetHeader>(`KILL QUERY ${id}`);
      expect([affectedRows, await ended]).toEqual([1, 1317]);
      expect((await victim.query("SELECT 1 AS a"))[0]).toEqual([{ a: 1 }] as never);
      await client.query(`KILL ${id}`);
      expect(victim.query("SELECT 1")).rejects.toThrow();
      expect(client.query("KILL 123456")).rejects.toThrow("Unknown thread id");
    });
  });

  test("attributes of statements", () =>
    withClient(async (client) => {
      const sql = "SELECT mysql_query_attribute_string('who') AS w, mysql_query_attribute_string('n') AS n";
      const options = { sql, attributes: { who: "it's", n: 5, none: null } } as mysql.QueryOptions;
      for (let i = 0; i < 2; i++) {
        expect((await client.query(options))[0]).toEqual([{ w: "it's", n: "5" }] as never);
        expect((await client.execute(options))[0]).toEqual([{ w: "it's", n: "5" }] as never);
      }
      expect((await client.query(sql))[0]).toEqual([{ w: null, n: null }] as never);
      const withValues = { ...options, sql: "SELECT ? AS a, mysql_query_attribute_string('who') AS w" };
      expect((await client.execute(withValues, ["x"]))[0]).toEqual([{ a: "x", w: "it's" }] as never);
    }));

  test("another user, and a connection as at its start", () =>
    withClient(async (client) => {
      await client.query("SET time_zone = '+02:00'");
      await client.changeUser({ user: "other", database: "information_schema" });
      const [rows] = await client.query("SELECT database() AS d, @@time_zone AS z");
      expect(rows).toEqual([{ d: "information_schema", z: "UTC" }] as never);
      await client.query("USE public");
      await client.reset();
      expect((await client.query("SELECT database() AS d"))[0]).toEqual([{ d: "information_schema" }] as never);
    }));

  test("values and rows of more than 16 MiB, both ways", () =>
    withClient(async (client) => {
      await client.query("CREATE TABLE long (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, s STRING)");
      const text = "abcdefghij".repeat(1_800_000);
      await client.execute("INSERT INTO long VALUES ('a', 1, ?)", [text]);
      const [rows] = await client.query("SELECT s, ts FROM long");
      expect((rows as { s: string }[])[0]?.s === text).toBe(true);
      const [binary] = await client.execute("SELECT 1 AS one, s FROM long");
      expect((binary as { s: string }[])[0]?.s === text).toBe(true);
      await client.query("DROP TABLE long");
    }));
});

describe("mariadb", () => {
  async function withMariadb(work: (client: MariadbConnection) => Promise<void>): Promise<void> {
    const config = { host: "127.0.0.1", port: server.port, user: "u", database: "public", multipleStatements: true, dateStrings: true };
    const client = await connectMariadb({ ...config, bigIntAsNumber: true, connectTimeout: 30_000 }); // It waits for one second else.
    try {
      await work(client);
    } finally {
      await client.end();
    }
  }
  const plain = (rows: unknown): unknown => JSON.parse(JSON.stringify(rows));

  test("values with quotes and backslashes, put into texts and sent as parameters", () =>
    withMariadb(async (client) => {
      const value = `it's \\ "ok" \\' OR 1 = 1 -- `;
      expect(plain(await client.query("SELECT ? AS x, ? AS y", [value, 5]))).toEqual([{ x: value, y: 5 }]);
      expect(plain(await client.execute("SELECT CAST(? AS STRING) AS x, CAST(? AS INT) AS y", [value, 5]))).toEqual([{ x: value, y: 5 }]);
    }));

  test("batches, several results, errors", () =>
    withMariadb(async (client) => {
      await client.query("CREATE TABLE b (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)");
      const counts: { affectedRows: number }[] = await client.batch("INSERT INTO b VALUES (?, ?, ?)", [
        ["a", 1, 1.5],
        ["b", 2, null],
        ["it's", 3, -2],
      ]);
      expect(counts.map(({ affectedRows }) => affectedRows)).toEqual([1, 1, 1]);
      const rows = [
        { h: "a", ts: "1970-01-01 00:00:00.001", v: 1.5 },
        { h: "b", ts: "1970-01-01 00:00:00.002", v: null },
        { h: "it's", ts: "1970-01-01 00:00:00.003", v: -2 },
      ];
      expect(plain(await client.query("SELECT * FROM b ORDER BY h"))).toEqual(rows);
      expect(plain(await client.execute("SELECT * FROM b ORDER BY h"))).toEqual(rows);
      await client.query("DROP TABLE b");
      expect(plain(await client.query("SELECT 1 AS a; SELECT 2 AS b"))).toEqual([[{ a: 1 }], [{ b: 2 }]]);
      expect(client.query("SELECT * FROM nowhere")).rejects.toMatchObject({ errno: 1146, sqlState: "42S02" });
      await client.ping();
    }));
});

const CLIENT = Bun.which("mariadb") ?? Bun.which("mysql");

test.skipIf(CLIENT === null)("the command line: statements in turn, tables, errors", async () => {
  const run = async (text: string): Promise<readonly string[]> => {
    const process = Bun.spawn([CLIENT ?? "", "-h127.0.0.1", `-P${server.port}`, "-uu", "--skip-ssl", "public", "-e", text], {
      stdout: "pipe",
      stderr: "pipe",
    });
    return [await new Response(process.stdout).text(), await new Response(process.stderr).text()];
  };
  const [rows] = await run("SELECT 1 AS a, NULL AS b; SELECT host, f64 FROM every ORDER BY host");
  expect(rows).toBe("a\tb\n1\tNULL\nhost\tf64\nleast\t1024\nmost\t0.1\nnothing\tNULL\n");
  const [, error] = await run("SELECT * FROM nowhere");
  expect(error).toContain("ERROR 1146 (42S02)");
});

test("Bun: pools, values, errors", async () => {
  const sql = new SQL(server.url, { max: 4 });
  const hosts = await Promise.all(
    ["most", "least", "most"].map((host) => sql`SELECT host, i32, f64, s FROM every WHERE host = ${host}`.then((rows) => rows[0])),
  );
  const most = { host: "most", i32: 2147483647, f64: 0.1, s: "käse" };
  expect(hosts).toEqual([most, { host: "least", i32: -2147483648, f64: 1024, s: "" }, most]);
  expect(sql`SELECT * FROM nowhere`.then((rows: unknown) => rows)).rejects.toThrow("TableNotFound");
  await sql.close();
});
