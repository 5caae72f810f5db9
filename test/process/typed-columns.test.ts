/** Tags of every type, and times far apart in fields: the same answers from memory, from files and after a restart, and from DuckDB. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Cell, execute, postLines, postSql, queryRows, send } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const [INT64_MIN, INT64_MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

/** Runs the tests of a table, which `fill` makes, over rows in memory, after the log was replayed, in files, and after a restart. */
function everywhere(name: string, table: string, fill: () => Promise<void>, tests: () => void): void {
  describe.each(["in memory", "replayed", "in files", "in files after a restart"])(`${name}, rows %s`, (place) => {
    beforeAll(async () => {
      if (place === "in memory") await fill();
      if (place === "in files") await execute(server.url, `ADMIN flush_table('${table}')`);
      if (place === "replayed") await server.kill();
      if (place === "in files after a restart") await server.stop();
      if (place === "replayed" || place === "in files after a restart") await server.restart();
    });
    tests();
  });
}

/** What DuckDB reads from all files of tables that have these columns. */
async function duckRows(select: string, where: string): Promise<readonly (readonly unknown[])[]> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  try {
    await connection.run("SET timezone = 'UTC'");
    const files = join(server.dataFiles, "**", "*.parquet");
    const found = await connection.runAndReadAll(`SELECT DISTINCT file_name FROM parquet_schema('${files}') WHERE name = '${where}'`);
    const names = found.getRows().map(([file]) => `'${String(file)}'`);
    return (await connection.runAndReadAll(`SELECT ${select.replace("FILES", `read_parquet([${names.join(", ")}])`)}`)).getRows();
  } finally {
    connection.closeSync();
  }
}

everywhere(
  "an INT tag",
  "by_id",
  async () => {
    await execute(server.url, "CREATE TABLE by_id (id INT PRIMARY KEY, v DOUBLE, ts TIMESTAMP(3) TIME INDEX)");
    const rows = "(10, 1, 1000), (9, 2, 1000), (-5, 3, 1000), (NULL, 4, 1000), (100, 5, 1000), (9, 6, 2000), (2147483647, 7, 1000)";
    await execute(server.url, `INSERT INTO by_id VALUES ${rows}`);
  },
  () => {
    test("prints as an integer, in the order of the numbers", async () => {
      const { types } = await queryRows(server.url, "SELECT * FROM by_id");
      expect(types).toEqual(["Int32", "Float64", "TimestampMillisecond"]);
      await check("SELECT id, v FROM by_id", [
        [null, 4],
        [-5, 3],
        [9, 2],
        [9, 6],
        [10, 1],
        [100, 5],
        [2_147_483_647, 7],
      ]);
    });

    test("is compared as a number", async () => {
      await check("SELECT v FROM by_id WHERE id = 9 ORDER BY v", [[2], [6]]);
      await check("SELECT v FROM by_id WHERE id > 9 ORDER BY v", [[1], [5], [7]]);
      await check("SELECT v FROM by_id WHERE id IN (100, -5, 77) ORDER BY v", [[3], [5]]);
      await check("SELECT v FROM by_id WHERE id = 10 OR id IS NULL ORDER BY v", [[1], [4]]);
      await check("SELECT v FROM by_id WHERE id NOT IN (9, 10, 100, 2147483647)", [[3]]);
      await check("SELECT v FROM by_id WHERE id = 9.5", []);
      await check("SELECT v FROM by_id WHERE id = 99999999999", []);
      await check("SELECT v FROM by_id WHERE id BETWEEN -5 AND 9 AND ts < 2000 ORDER BY v", [[2], [3]]);
    });

    test("groups and sorts as a number", async () => {
      await check("SELECT id, count(*), max(v) FROM by_id WHERE id < 100 GROUP BY id ORDER BY id DESC", [
        [10, 1, 1],
        [9, 2, 6],
        [-5, 1, 3],
      ]);
      await check("SELECT id + 1 FROM by_id WHERE id IS NOT NULL ORDER BY id LIMIT 3", [[-4], [10], [10]]);
      await check("SELECT sum(id), min(id) FROM by_id WHERE v < 6", [[114, -5]]);
    });

    test("has a newest row of each series", async () => {
      await check("SELECT id, last_value(v ORDER BY ts) FROM by_id WHERE id < 100 GROUP BY id ORDER BY id", [
        [-5, 3],
        [9, 6],
        [10, 1],
      ]);
    });

    test("is one series for a number, however it was written", async () => {
      await execute(server.url, "INSERT INTO by_id VALUES ('+0009', 60, 2000)");
      await check("SELECT v FROM by_id WHERE id = 9 ORDER BY ts", [[2], [60]]);
      await execute(server.url, "INSERT INTO by_id SELECT id, 6, ts FROM by_id WHERE v = 60");
      await check("SELECT v FROM by_id WHERE id = 9 ORDER BY ts", [[2], [6]]);
    });

    test("refuses what is no such number, and the server goes on", async () => {
      for (const id of ["'abc'", "1.5e300", "2147483648", "-2147483649", "'0x1f'"]) {
        expect((await postSql(server.url, `INSERT INTO by_id VALUES (${id}, 1, 1)`)).status).toBe(400);
      }
      const { status, text } = await postLines(server.url, "by_id,id=9 v=1 1");
      expect(status).toBe(400);
      expect(text).toContain("column id: expected INT, got STRING");
      await check("SELECT count(*) FROM by_id", [[7]]);
    });
  },
);

everywhere(
  "tags of other types",
  "typed",
  async () => {
    const columns =
      "b BOOLEAN, big BIGINT UNSIGNED, d DOUBLE, f FLOAT, day DATE, at TIMESTAMP(6), n INT64, v INT32, ts TIMESTAMP(9) TIME INDEX";
    await execute(server.url, `CREATE TABLE typed (${columns}, PRIMARY KEY (b, big, d, f, day, at, n))`);
    const rows = [
      `(true, 18446744073709551615, 1.5, 0.1, '2024-02-29', '2024-01-31T12:00:00.000001Z', ${INT64_MAX}, 1, 1)`,
      `(true, 9, 1.5, 0.1, '2024-02-29', ${INT64_MIN}, ${INT64_MIN}, 2, 1)`,
      "(true, 9, 1.5, 0.1, '2024-02-29', 10, 0, 3, 1)",
      "(true, 9, -20.0, 0.1, '1969-12-31', 9, 0, 4, 1)",
      "(false, 10, 1e300, 3.25, '0001-01-01', -1, 5, 5, 1)",
      "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 6, 1)",
    ];
    await execute(server.url, `INSERT INTO typed VALUES ${rows.join(", ")}`);
  },
  () => {
    test("come back as they were written, in their order", async () => {
      const { types, rows } = await queryRows(server.url, "SELECT b, big, d, f, day, at, n, v FROM typed");
      expect(types.join(" ")).toBe("Boolean UInt64 Float64 Float32 Date TimestampMicrosecond Int64 Int32");
      const leap = 19_782;
      expect(rows).toEqual(
        [
          [null, null, null, null, null, null, null, 6],
          [false, 10, 1e300, 3.25, -719_162, -1, 5, 5],
          [true, 9, -20, 0.1, -1, 9, 0, 4],
          [true, 9, 1.5, 0.1, leap, INT64_MIN, INT64_MIN, 2],
          [true, 9, 1.5, 0.1, leap, 10, 0, 3],
          [true, 18_446_744_073_709_551_615n, 1.5, 0.1, leap, 1_706_702_400_000_001n, INT64_MAX, 1],
        ].map((row) => [...row.slice(0, 3), row[3] === 0.1 ? expect.closeTo(0.1, 6) : row[3], ...row.slice(4)]) as never,
      );
    });

    test("are compared as what they are", async () => {
      await check("SELECT v FROM typed WHERE b ORDER BY v", [[1], [2], [3], [4]]);
      await check("SELECT v FROM typed WHERE NOT b", [[5]]);
      await check("SELECT v FROM typed WHERE b IS NULL", [[6]]);
      await check("SELECT v FROM typed WHERE big = 18446744073709551615", [[1]]);
      await check("SELECT v FROM typed WHERE big > 9 ORDER BY v", [[1], [5]]);
      await check("SELECT v FROM typed WHERE d = 1.5 ORDER BY v", [[1], [2], [3]]);
      await check("SELECT v FROM typed WHERE d < 0", [[4]]);
      await check("SELECT v FROM typed WHERE f = 3.25", [[5]]);
      await check("SELECT v FROM typed WHERE day = '2024-02-29' ORDER BY v", [[1], [2], [3]]);
      await check("SELECT v FROM typed WHERE day < '1970-01-01'::DATE ORDER BY v", [[4], [5]]);
      await check("SELECT v FROM typed WHERE at = '2024-01-31T12:00:00.000001Z'", [[1]]);
      await check("SELECT v FROM typed WHERE at < 0 ORDER BY v", [[2], [5]]);
      await check(`SELECT v FROM typed WHERE n = ${INT64_MAX}`, [[1]]);
      await check("SELECT v FROM typed WHERE n IN (5, 0) ORDER BY v", [[3], [4], [5]]);
    });

    test("group and sort", async () => {
      await check("SELECT b, count(*) FROM typed GROUP BY b ORDER BY b", [
        [false, 1],
        [true, 4],
        [null, 1],
      ]);
      await check("SELECT at FROM typed WHERE at IS NOT NULL ORDER BY at", [[INT64_MIN], [-1], [9], [10], [1_706_702_400_000_001n]]);
      await check("SELECT day, max(v) FROM typed WHERE d > 0 GROUP BY day ORDER BY day DESC", [
        [19_782, 3],
        [-719_162, 5],
      ]);
      await check("SELECT date_trunc('day', at), count(*) FROM typed WHERE at >= 0 GROUP BY 1 ORDER BY 1", [
        [0, 2],
        [1_706_659_200_000_000n, 1],
      ]);
    });
  },
);

everywhere(
  "times far apart in fields",
  "far",
  async () => {
    const columns = "host STRING PRIMARY KEY, at TIMESTAMP(9), us TIMESTAMP(6), s TIMESTAMP(0), ts TIMESTAMP(3) TIME INDEX";
    await execute(server.url, `CREATE TABLE far (${columns})`);
    const far = 4_000_000_000_000_000_000n;
    const rows = [
      `('a', ${INT64_MIN}, ${-far}, ${INT64_MIN}, 1)`,
      `('a', ${INT64_MAX}, ${far}, ${INT64_MAX}, 2)`,
      "('a', NULL, NULL, NULL, 3)",
      "('b', 1, 1, 1, 1)",
      "('b', -1, -1, -1, 2)",
    ];
    await execute(server.url, `INSERT INTO far VALUES ${rows.join(", ")}`);
    await execute(server.url, `INSERT INTO far VALUES ('b', ${INT64_MAX - 1n}, 7, ${INT64_MIN + 1n}, 3)`);
  },
  () => {
    const ROWS: readonly (readonly Cell[])[] = [
      ["a", INT64_MIN, -4_000_000_000_000_000_000n, INT64_MIN],
      ["a", INT64_MAX, 4_000_000_000_000_000_000n, INT64_MAX],
      ["a", null, null, null],
      ["b", 1, 1, 1],
      ["b", -1, -1, -1],
      ["b", INT64_MAX - 1n, 7, INT64_MIN + 1n],
    ];

    test("come back exactly", async () => {
      await check("SELECT host, at, us, s FROM far", ROWS);
      await check("SELECT host, at, us, s FROM far ORDER BY host, ts", ROWS);
      const csv = await send(
        `${server.url}/v1/sql?${new URLSearchParams({ sql: "SELECT at FROM far ORDER BY ts, host LIMIT 2", format: "csv" }).toString()}`,
      );
      expect(csv.text).toBe(`${INT64_MIN}\r\n1\r\n`);
      const epoch = new URLSearchParams({ sql: "SELECT at FROM far WHERE host = 'a'", format: "influxdb_v1", epoch: "ms" });
      expect((await send(`${server.url}/v1/sql?${epoch.toString()}`)).text).toContain("[[-9223372036855],[9223372036854],[null]]");
    });

    test("are compared, sorted and aggregated exactly", async () => {
      await check("SELECT at FROM far WHERE at > 1 ORDER BY at", [[INT64_MAX - 1n], [INT64_MAX]]);
      await check(`SELECT host, ts FROM far WHERE at = ${INT64_MAX}`, [["a", 2]]);
      await check("SELECT min(at), max(at), min(s), max(s), count(us) FROM far", [[INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, 5]]);
      await check("SELECT host, max(at) FROM far GROUP BY host ORDER BY host", [
        ["a", INT64_MAX],
        ["b", INT64_MAX - 1n],
      ]);
      await check("SELECT host, last_value(at ORDER BY ts) FROM far WHERE ts < 3 GROUP BY host ORDER BY host", [
        ["a", INT64_MAX],
        ["b", -1],
      ]);
      await check("SELECT at, count(*) FROM far WHERE at IS NOT NULL GROUP BY at ORDER BY at", [
        [INT64_MIN, 1],
        [-1, 1],
        [1, 1],
        [INT64_MAX - 1n, 1],
        [INT64_MAX, 1],
      ]);
    });
  },
);

everywhere(
  "decimals, times of day, JSON and vectors",
  "exact",
  async () => {
    const columns = "k DECIMAL(6, 2) PRIMARY KEY, d DECIMAL(18, 4), e DECIMAL, t TIME(3), j JSON, v VECTOR(2), ts TIMESTAMP(3) TIME INDEX";
    await execute(server.url, `CREATE TABLE exact (${columns})`);
    const rows = [
      `(-0.5, -99999999999999.9999, ${"9".repeat(28)}.0000000001, '23:59:59.999', '{"b":1,"a":[]}', '[1,-2.5]', 1)`,
      "(10, 0.1, 0.1, '00:00', 'null', '[0,0]', 1)",
      "(9.5, 900719925474.0993, -1, '12:30:00.5', '\"x\"', '[0.1,3]', 1)",
      "(NULL, NULL, NULL, NULL, NULL, NULL, 1)",
    ];
    await execute(server.url, `INSERT INTO exact VALUES ${rows.join(", ")}`);
  },
  () => {
    test("come back with every digit", async () => {
      const { types, rows } = await queryRows(server.url, "SELECT k, d, e, t, json_to_string(j), vec_to_string(v) FROM exact");
      expect(types.join(" ")).toBe("Decimal(6, 2) Decimal(18, 4) Decimal(38, 10) TimeMillisecond String String");
      expect(rows).toEqual([
        [null, null, null, null, null, null],
        ["-0.50", "-99999999999999.9999", `${"9".repeat(28)}.0000000001`, 86_399_999, '{"a":[],"b":1}', "[1,-2.5]"],
        ["9.50", "900719925474.0993", "-1.0000000000", 45_000_500, '"x"', "[0.1,3]"],
        ["10.00", "0.1000", "0.1000000000", 0, "null", "[0,0]"],
      ]);
      const csv = new URLSearchParams({ sql: "SELECT k, j, v FROM exact WHERE k < 0", format: "csv" });
      expect((await send(`${server.url}/v1/sql?${csv.toString()}`)).text).toBe('-0.50,"{""a"":[],""b"":1}","[0,0,128,63,0,0,32,192]"\r\n');
      const { text } = await postSql(server.url, "SELECT j FROM exact WHERE k < 0");
      expect(text).toContain('"rows":[[{"a":[],"b":1}]]');
    });

    test("are compared and summed exactly", async () => {
      await check("SELECT k FROM exact WHERE d = 900719925474.0993", [["9.50"]]);
      await check("SELECT k FROM exact WHERE k IN (9.50, 10)", [["9.50"], ["10.00"]]);
      await check("SELECT sum(d), min(e), max(t), count(j) FROM exact", [["-99099280074525.8006", "-1.0000000000", 86_399_999, 3]]);
    });
  },
);

describe("DuckDB reads", () => {
  test("decimals, times of day and JSON as such", async () => {
    const types = "typeof(k), typeof(d), typeof(e), typeof(t), typeof(j), typeof(v)";
    const [row] = await duckRows(`${types}, k::VARCHAR, d::VARCHAR, e::VARCHAR, t::VARCHAR, j->>'b', hex(v) FROM FILES WHERE k < 0`, "e");
    expect(row?.slice(0, 6)).toEqual(["DECIMAL(6,2)", "DECIMAL(18,4)", "DECIMAL(38,10)", "TIME", "JSON", "BLOB"]);
    expect(row?.slice(6)).toEqual([
      "-0.50",
      "-99999999999999.9999",
      `${"9".repeat(28)}.0000000001`,
      "23:59:59.999",
      "1",
      "0000803F000020C0",
    ]);
  });

  test("tags with their types and values", async () => {
    const types = await duckRows("DISTINCT typeof(id), id FROM FILES ORDER BY id NULLS FIRST", "id");
    expect(types).toEqual([null, -5, 9, 10, 100, 2_147_483_647].map((id) => ["INTEGER", id]));
    const names = "b, big, d, f, day, at, n";
    const [row] = await duckRows(
      `${names
        .split(", ")
        .map((name) => `typeof("${name}")`)
        .join(", ")} FROM FILES LIMIT 1`,
      "big",
    );
    expect(row).toEqual(["BOOLEAN", "UBIGINT", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP WITH TIME ZONE", "BIGINT"]);
    const values = await duckRows("v, big::VARCHAR, d, day::VARCHAR, n::VARCHAR FROM FILES WHERE v IN (1, 4) ORDER BY v", "big");
    expect(values).toEqual([
      [1, "18446744073709551615", 1.5, "2024-02-29", String(INT64_MAX)],
      [4, "9", -20, "1969-12-31", "0"],
    ]);
  });

  test("the same far times", async () => {
    const rows = await duckRows("host, epoch_us(us)::VARCHAR, s::VARCHAR FROM FILES ORDER BY host, ts", "us");
    expect(rows).toEqual([
      ["a", "-4000000000000000000", String(INT64_MIN)],
      ["a", "4000000000000000000", String(INT64_MAX)],
      ["a", null, null],
      ["b", "1", "1"],
      ["b", "-1", "-1"],
      ["b", "7", String(INT64_MIN + 1n)],
    ]);
  });
});
