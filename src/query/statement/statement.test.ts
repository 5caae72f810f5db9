import { beforeEach, describe, expect, test } from "bun:test";
import { checkFails } from "../../../test/support/query-check.ts";
import { FIXTURE_NOW, QueryFixture } from "../../../test/support/query-fixture.ts";

const FULLTEXT = "analyzer = 'English', backend = 'bloom', case_sensitive = 'false', false_positive_rate = '0.01', granularity = '10240'";

let fixture: QueryFixture;
beforeEach(() => {
  fixture = new QueryFixture();
});

const fails = (sql: string, code: number, message: string): Promise<void> => checkFails(fixture, sql, message, code);

async function check(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  expect([sql, (await fixture.sql(sql)).rows]).toEqual([sql, rows as never]);
}

describe("CREATE TABLE", () => {
  test("prints back what it made", async () => {
    await fixture.sql(`CREATE TABLE "T" (host STRING INVERTED INDEX, msg STRING COMMENT 'it''s' FULLTEXT INDEX, n INT DEFAULT -3,
      s STRING NOT NULL DEFAULT 'a''b', ts TIMESTAMP(6) DEFAULT now(), TIME INDEX (ts), PRIMARY KEY (host))
      WITH (ttl = '7d', append_mode = true, "compaction.type" = 'twcs')`);
    await check('SHOW CREATE TABLE "T"', [
      [
        "T",
        `CREATE TABLE IF NOT EXISTS "T" (
  "host" STRING NULL INVERTED INDEX,
  "msg" STRING NULL COMMENT 'it''s' FULLTEXT INDEX WITH(${FULLTEXT}),
  "n" INT NULL DEFAULT -3,
  "s" STRING NOT NULL DEFAULT 'a''b',
  "ts" TIMESTAMP(6) NOT NULL DEFAULT now(),
  TIME INDEX ("ts"),
  PRIMARY KEY ("host")
)

ENGINE=mito
WITH(
  append_mode = 'true',
  'compaction.override' = 'true',
  'compaction.type' = 'twcs',
  ttl = '7days'
)`,
      ],
    ]);
    await check('DESC TABLE "T"', [
      ["host", "String", "PRI", "YES", "", "TAG"],
      ["msg", "String", "", "YES", "", "FIELD"],
      ["n", "Int32", "", "YES", "-3", "FIELD"],
      ["s", "String", "", "NO", "a'b", "FIELD"],
      ["ts", "TimestampMicrosecond", "PRI", "NO", "now()", "TIMESTAMP"],
    ]);
  });

  test("leaves empty lines where there are no options", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX)");
    await check("SHOW CREATE TABLE t", [
      ["t", 'CREATE TABLE IF NOT EXISTS "t" (\n  "ts" TIMESTAMP(3) NOT NULL,\n  TIME INDEX ("ts")\n)\n\nENGINE=mito\n'],
    ]);
  });

  test("refuses what no table can be", async () => {
    await fails("CREATE TABLE t (a INT)", 2000, "Missing time index constraint");
    await fails("CREATE TABLE t (a TIMESTAMP TIME INDEX, b TIMESTAMP TIME INDEX)", 2000, "only one time index constraint but actual 2");
    await fails("CREATE TABLE t (a TIMESTAMP, b TIMESTAMP, TIME INDEX (a, b))", 2000, "it should contain only one column in time index");
    await fails("CREATE TABLE t (a INT TIME INDEX)", 1004, "column name: a, error: time index column data type should be timestamp");
    await fails("CREATE TABLE t (a TIMESTAMP NULL TIME INDEX)", 1004, "time index column can't be null");
    await fails("CREATE TABLE t (a INT, a INT, ts TIMESTAMP TIME INDEX)", 1004, "column name `a` is duplicated at index 0 and 1");
    await fails("CREATE TABLE t (a INT PRIMARY KEY, b INT PRIMARY KEY, ts TIMESTAMP TIME INDEX)", 1004, "not allowed to inline multiple");
    await fails("CREATE TABLE t (a INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, PRIMARY KEY (a))", 1004, "in multiple places");
    await fails("CREATE TABLE t (ts TIMESTAMP TIME INDEX PRIMARY KEY)", 1004, "both a primary key and the time index");
    await fails("CREATE TABLE t (a INT NOT NULL DEFAULT NULL, ts TIMESTAMP TIME INDEX)", 1004, "NOT NULL column cannot have NULL");
    await fails("CREATE TABLE t (a INTERVAL, ts TIMESTAMP TIME INDEX)", 1004, "column name `a` is interval type");
    await fails("CREATE TABLE t (a JSON DEFAULT '{}', ts TIMESTAMP TIME INDEX)", 1004, "a JSON column cannot have a default");
    await fails("CREATE TABLE t (a JSON PRIMARY KEY, ts TIMESTAMP TIME INDEX)", 1004, "a primary key column cannot be json");
    await fails("CREATE TABLE t (a VECTOR(2) PRIMARY KEY, ts TIMESTAMP TIME INDEX)", 1004, "a primary key column cannot be vector");
    await fails("CREATE TABLE t (a INT FULLTEXT INDEX, ts TIMESTAMP TIME INDEX)", 1004, "FULLTEXT index only supports string type");
    await fails("CREATE TABLE `N\n` (ts TIMESTAMP TIME INDEX)", 1004, "Invalid table name: N ");
    await fails(
      "CREATE TABLE t (ts TIMESTAMP TIME INDEX, a STRING FULLTEXT)",
      1004,
      "column name: a, error: expect INDEX after FULLTEXT keyword",
    );
    await fails(
      "CREATE TABLE t (ts TIMESTAMP TIME INDEX, a INT INVERTED INDEX WITH (x = 1))",
      1004,
      "error: INVERTED INDEX takes no options",
    );
    await fails(
      "CREATE TABLE t (ts TIMESTAMP TIME INDEX, a INT SKIPPING INDEX SKIPPING INDEX)",
      1004,
      "error: duplicated SKIPPING INDEX option",
    );
    await fails("CREATE TABLE t (ts TIMESTAMP TIME INDEX, a INT, PRIMARY KEY (a), PRIMARY KEY (a))", 1004, "in multiple places");
  });

  test("refuses bad options", async () => {
    const make = (options: string): string => `CREATE TABLE t (ts TIMESTAMP TIME INDEX) WITH (${options})`;
    await fails(make("foo = 1"), 1004, "Unrecognized table option key: foo");
    await fails(make("storage = 'S3'"), 1004, "Object store not found: S3");
    await fails(make("ttl = '7 parsecs'"), 1004, "key: ttl, value: 7 parsecs");
    await fails(make("append_mode = 'true', merge_mode = 'last_non_null'"), 1004, "only last_row merge_mode is allowed");
  });

  test("of a table that exists needs IF NOT EXISTS", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX)");
    await fails("CREATE TABLE t (ts TIMESTAMP TIME INDEX)", 4000, "Table already exists: `greptime.public.t`");
    expect((await fixture.sql("CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX)")).affected).toBe(0);
    await fails("DROP TABLE nope", 4001, "Table not found: greptime.public.nope");
    expect((await fixture.sql("DROP TABLE IF EXISTS nope, t")).affected).toBe(0);
  });

  test("and DROP of several drops all or none", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX)");
    await fails("DROP TABLE t, nope", 4001, "Table not found: greptime.public.nope");
    await check("SHOW TABLES LIKE 't'", [["t"]]);
    await fixture.sql("CREATE VIEW v AS SELECT 1");
    await fails("DROP VIEW v, nope", 4001, "Table not found: greptime.public.nope");
    await check("SHOW VIEWS", [["v"]]);
    expect((await fixture.sql("DROP VIEW v, v")).affected).toBe(0);
    expect((await fixture.sql("DROP TABLE t, t")).affected).toBe(0);
    await check("SHOW TABLES LIKE 't'", []);
  });
});

describe("databases", () => {
  test("are listed, shown and used", async () => {
    expect((await fixture.sql("CREATE DATABASE mydb WITH (ttl = '1h')")).affected).toBe(1);
    await check(
      "SHOW DATABASES LIKE '%y%'",
      [["greptime_private"], ["mydb"]].filter(([name]) => name?.includes("y")),
    );
    await check("SHOW FULL DATABASES WHERE Database = 'mydb'", [["mydb", "'ttl'='1h'\n"]]);
    await check("SHOW CREATE DATABASE mydb", [["mydb", "CREATE DATABASE IF NOT EXISTS mydb\nWITH(\n  ttl = '1h'\n)"]]);
    await fixture.sql("CREATE DATABASE `my-db`");
    await check('SHOW CREATE DATABASE "my-db"', [["my-db", 'CREATE DATABASE IF NOT EXISTS "my-db"']]);
    await fixture.sql("USE mydb");
    await check("SELECT database()", [["mydb"]]);
    await fails("DROP DATABASE mydb", 1004, "Schema `mydb` is in use");
  });

  test("refuses bad names and options", async () => {
    await fails("CREATE DATABASE information_schema", 1004, "Schema information_schema already exists");
    await fails("CREATE DATABASE `a\tb`", 1004, "Invalid database name: a b");
    await fails("CREATE DATABASE d WITH (ttl = 'instant')", 1004, "Invalid set database option, key: ttl, value: instant");
    await fails("USE nope", 4004, "Database not found: nope");
    await fails("CREATE TABLE information_schema.t (ts TIMESTAMP TIME INDEX)", 1001, "Schema `information_schema` is read-only");
  });
});

describe("INSERT", () => {
  beforeEach(async () => {
    await fixture.sql(
      `CREATE TABLE t (host STRING, id INT, v INT DEFAULT 7, s STRING, b BOOLEAN, d DATE,
        ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host, id))`,
    );
  });

  test("converts literals to the columns", async () => {
    expect(
      (
        await fixture.sql(
          `INSERT INTO t VALUES ("h", 1, 2, X'6162', 1, '2024-01-02', '1970-01-01 00:00:01'), (NULL, -5, DEFAULT, NULL, 'true', NULL, 5)`,
        )
      ).affected,
    ).toBe(2);
    await check("SELECT * FROM t ORDER BY ts", [
      [undefined, -5, 7, undefined, true, undefined, 5n],
      ["h", 1, 2, "ab", true, 19724, 1000n],
    ]);
  });

  test("fills what is left out", async () => {
    await fixture.sql("INSERT INTO t (ts, host) VALUES (now(), 'a')");
    await check("SELECT host, id, v, ts FROM t", [["a", undefined, 7, FIXTURE_NOW / 1_000_000n]]);
  });

  test("reads times in the zone of the session", async () => {
    await fixture.sql(
      "SET time_zone = 'Asia/Shanghai'; INSERT INTO t (ts) VALUES ('1970-01-01 08:00:01'), ('1970-01-01T00:00:02Z'), ('3000')",
    );
    await check("SELECT ts FROM t ORDER BY ts", [[1000n], [2000n], [3000n]]);
  });

  test("takes rows of a query", async () => {
    await fixture.sql("INSERT INTO t (host, id, v, ts) SELECT 'n', number, number * 2, number FROM numbers WHERE number < 4");
    await check("SELECT host, id, v, ts FROM t WHERE id >= 2 ORDER BY id", [
      ["n", 2, 4, 2n],
      ["n", 3, 6, 3n],
    ]);
  });

  test("refuses what does not fit", async () => {
    await fails("INSERT INTO t (host, ts) VALUES ('a')", 1004, "column count mismatch, columns: 2, values: 1");
    await fails("INSERT INTO t (nope) VALUES (1)", 4002, "Column nope not exists in table t");
    await fails("INSERT INTO t (host) VALUES ('a')", 1004, "missing required time index column ts");
    await fails("INSERT INTO t (ts) VALUES (NULL)", 1004, "column ts is not null but input has null");
    await fails("INSERT INTO t (ts) VALUES (DEFAULT)", 1004, "No valid default value can be built automatically, column: ts");
    await fails("INSERT INTO t (ts) VALUES ('blabla')", 2000, "Failed to parse blabla to Timestamp value");
    await fails("INSERT INTO t (ts, s) VALUES (1, 3)", 2000, "Fail to parse number 3, invalid column type");
    await fails("INSERT INTO t (ts, v) VALUES (1, 3000000000)", 2000, "Can't cast value 3000000000 to type Int32");
    await fails("INSERT INTO t (ts, v) SELECT 1", 3000, "Column count doesn't match insert query!");
    await fails("INSERT INTO nope VALUES (1)", 4001, "Table not found: greptime.public.nope");
  });

  test("takes times far apart in one statement", async () => {
    await fixture.sql("CREATE TABLE far (v INT, ts TIMESTAMP(9) TIME INDEX)");
    await fixture.sql("INSERT INTO far VALUES (1, '1970-01-01'), (2, '2200-01-01'), (3, '1700-01-01')");
    await check("SELECT v FROM far ORDER BY ts", [[3], [1], [2]]);
    await check("SELECT max(ts) > min(ts) FROM far", [[true]]);
  });
});

describe("the rest", () => {
  test("SHOW TABLES", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX)");
    const { columns, rows } = await fixture.sql("SHOW FULL TABLES");
    expect([columns, rows]).toEqual([
      ["Tables_in_public", "Table_type"],
      [
        ["numbers", "LOCAL TEMPORARY"],
        ["t", "BASE TABLE"],
      ],
    ]);
    await check("SHOW TABLES LIKE 'n%'", [["numbers"]]);
    await fails("SHOW TABLES FROM nope", 4004, "Database not found: nope");
    await fails("SHOW CREATE TABLE numbers", 1001, "Show create table only for base table. greptime.public.numbers is TEMPORARY");
  });

  test("SET and SHOW VARIABLES", async () => {
    await fixture.sql("SET time_zone = '+8:00'");
    const { columns, rows } = await fixture.sql("SHOW VARIABLES time_zone");
    expect([columns, rows]).toEqual([["TIME_ZONE"], [["+08:00"]]]);
    await fails("SET time_zone = 'Mars/Olympus'", 1004, "Invalid timezone string Mars/Olympus");
    await fails("SET nope = 1", 1001, "Unsupported set variable NOPE");
  });

  test("a table takes options of its database: most when it is made, ttl as it is now", async () => {
    await fixture.sql("CREATE DATABASE d WITH (ttl = '1h', merge_mode = 'last_non_null', 'compaction.twcs.time_window' = '1h')");
    await fixture.sql("CREATE TABLE d.t (ts TIMESTAMP(3) TIME INDEX)");
    const shown = async (): Promise<string> => String((await fixture.sql("SHOW CREATE TABLE d.t")).rows[0]?.[1]).split("WITH")[1] ?? "";
    expect(await shown()).toBe("(\n  merge_mode = 'last_non_null',\n  ttl = '1h'\n)");
    await fixture.sql("ALTER DATABASE d SET ttl = '2d'; ALTER DATABASE d SET merge_mode = 'last_row'");
    expect(await shown()).toBe("(\n  merge_mode = 'last_non_null',\n  ttl = '2days'\n)");
    await fixture.sql("ALTER TABLE d.t SET ttl = 'forever'");
    expect(await shown()).toContain("ttl = 'forever'");
    await fixture.sql("ALTER TABLE d.t UNSET 'ttl'; ALTER DATABASE d UNSET 'ttl'");
    expect(await shown()).toBe("(\n  merge_mode = 'last_non_null'\n)");
    await fails(
      "CREATE TABLE d.u (ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true', merge_mode = 'last_non_null')",
      1004,
      "only last_row",
    );
    await fixture.sql("CREATE TABLE d.u (ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true', merge_mode = '')");
  });

  test("an empty merge_mode says that the database's does not count", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX) WITH (append_mode = 'true', merge_mode = '')");
    expect(fixture.catalog.table("public", "t")?.schema.options).toEqual({ append_mode: "true", merge_mode: "" });
    await fails("CREATE TABLE u (ts TIMESTAMP(3) TIME INDEX) WITH (merge_mode = 'first_row')", 1004, "merge_mode");
  });

  test("INSERT into a table of ttl instant counts no row", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, v INT) WITH (ttl = 'instant')");
    expect((await fixture.sql("INSERT INTO t VALUES (1, 1), (2, 2)")).affected).toBe(0);
    expect((await fixture.sql("INSERT INTO t SELECT * FROM t")).affected).toBe(0);
    await fails("INSERT INTO t VALUES (1, 'x')", 2000, "");
  });

  test("ADMIN compact_table, with the kinds that clients may name", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX)");
    const { columns, rows } = await fixture.sql("ADMIN compact_table('t')");
    expect([columns, rows, fixture.flushed.splice(0)]).toEqual([["ADMIN compact_table('t')"], [[0]], ["compact public.t"]]);
    await fixture.sql("ADMIN compact_table('t', 'swcs', '3600')");
    expect(fixture.flushed.splice(0)).toEqual(["compact public.t"]);
    await fails("ADMIN compact_table()", 1004, "Expected 1 args, but actual 0");
    await fails("ADMIN compact_table('t', 'hourly')", 1004, "no kind hourly");
    await fixture.sql("ADMIN compact_table('t', 'strict_window', 'window=3600, parallelism=2')");
    await fixture.sql("ADMIN compact_table('t', 'regular', 'start_time=2024-01-01 00:00:00,end_time=2024-01-02')");
    expect(fixture.flushed.splice(0)).toEqual(["compact public.t", "compact public.t 1704067200000..1704153600000"]);
    await fails("ADMIN compact_table('t', 'regular', 'window=0')", 1004, "window is a whole number above 0; got '0'");
    await fails("ADMIN compact_table('t', 'regular', 'size=3')", 1004, "no parameter size");
    await fails("ADMIN compact_table('t', 'regular', 'start_time=9,end_time=8')", 1004, "start_time 9 is after end_time 8");
    await fails("ADMIN compact_table('t', 'regular', 'start_time=soon')", 2000, "soon");
    await fails("ADMIN compact_table('gone')", 4001, "Table not found: greptime.public.gone");
  });

  test("ADMIN of regions, by the id of their table", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX)");
    const id = BigInt(fixture.catalog.table("public", "t")?.schema.id ?? 0) << 32n;
    await fixture.sql(`ADMIN flush_region(${id})`);
    const { columns } = await fixture.sql(`ADMIN compact_region(${id})`);
    expect([columns, fixture.flushed.splice(0)]).toEqual([[`ADMIN compact_region(${id})`], ["public.t", "compact public.t"]]);
    await fails(`ADMIN flush_region(${id + 1n})`, 4005, "region 1");
    await fails("ADMIN flush_region('t')", 1004, "failed to cast");
    await fails("ADMIN flush_region(1.5)", 1004, "failed to cast 1.5");
    await fails("ADMIN flush_table(1)", 1004, "failed to cast 1");
  });

  test("ADMIN build_index", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX)");
    const { columns, rows } = await fixture.sql("ADMIN build_index('t')");
    expect([columns, rows, fixture.flushed]).toEqual([["ADMIN build_index('t')"], [[0]], ["index public.t"]]);
    await fails("ADMIN build_index('nope')", 4001, "Table not found: greptime.public.nope");
    await fails("ADMIN build_index(1)", 1004, "failed to cast 1");
  });

  test("ADMIN of clusters is refused with the reason", async () => {
    await fails("ADMIN migrate_region(1, 2, 3)", 1001, "nowhere to move one");
    await fails("ADMIN discard_unflushed('t')", 1001, "use TRUNCATE TABLE");
    await fails("ADMIN flush_flow('f')", 1001, "no flows");
  });

  test("ADMIN flush_table", async () => {
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX)");
    const { columns, rows } = await fixture.sql("ADMIN flush_table('t')");
    expect([columns, rows, fixture.flushed]).toEqual([["ADMIN flush_table('t')"], [[0]], ["public.t"]]);
    expect((await fixture.sql(`admin flush_table("t")`)).columns).toEqual([`ADMIN flush_table("t")`]);
    await fails("ADMIN flush_table()", 1004, "Expected 1 args, but actual 0");
    await fails("ADMIN flush_tabel('t')", 1004, "Did you mean 'flush_table'?");
  });

  test("information_schema tells of tables and columns", async () => {
    await fixture.sql("CREATE TABLE t (host STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX)");
    await check("SELECT table_schema, table_type, engine FROM information_schema.tables WHERE table_name = 't'", [
      ["public", "BASE TABLE", "mito"],
    ]);
    await check(
      "SELECT column_name, data_type, semantic_type FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
      [
        ["host", "string", "TAG"],
        ["v", "int", "FIELD"],
        ["ts", "timestamp(3)", "TIMESTAMP"],
      ],
    );
  });

  test("information_schema and SHOW COLUMNS tell defaults as DESCRIBE does", async () => {
    await fixture.sql(
      `CREATE TABLE t (ts TIMESTAMP TIME INDEX, d DATE DEFAULT '2024-01-01', n TIMESTAMP(9) DEFAULT '2024-01-01', f DOUBLE DEFAULT 2,
        s STRING DEFAULT 'x')`,
    );
    const want = [[undefined], ["2024-01-01"], ["2024-01-01 00:00:00+0000"], ["2.0"], ["x"]];
    await check("SELECT column_default FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position", want);
    const described = (await fixture.sql("DESC t")).rows.map((row) => [row[4]]);
    expect(described as unknown).toEqual([[""], ...want.slice(1)]);
    await check("SHOW COLUMNS FROM t WHERE Field = 'd'", [["d", "date", "YES", "", "2024-01-01", "", "Date"]]);
  });
});

describe("CREATE TABLE … LIKE", () => {
  test("makes an empty table of the same columns, keys and options", async () => {
    await fixture.sql(`CREATE TABLE a (host STRING INVERTED INDEX, v INT DEFAULT 5 COMMENT 'c', ts TIMESTAMP TIME INDEX, PRIMARY KEY (host))
      PARTITION ON COLUMNS (v) (v < 5, v >= 5) WITH (ttl = '7d');
      ALTER TABLE a ADD COLUMN w INT; ALTER TABLE a MODIFY COLUMN w BIGINT; INSERT INTO a (host, ts) VALUES ('x', 1);
      CREATE DATABASE other; CREATE TABLE other.b LIKE a`);
    const [row] = (await fixture.sql("SHOW CREATE TABLE a")).rows;
    await check("SHOW CREATE TABLE other.b", [["b", String(row?.[1]).replace('"a"', '"b"')]]);
    await check("SELECT count(*) FROM other.b", [[0]]);
    await check("CREATE TABLE IF NOT EXISTS other.b LIKE a", []);
    expect(fixture.catalog.table("other", "b")?.schema.columns.some((column) => column.former !== undefined)).toBe(false);
  });

  test("needs a table to be like, and a name that is free", async () => {
    await fixture.sql("CREATE TABLE a (ts TIMESTAMP TIME INDEX); CREATE VIEW v AS SELECT 1");
    await fails("CREATE TABLE b LIKE missing", 4001, "Table not found: greptime.public.missing");
    await fails("CREATE TABLE b LIKE v", 1004, "it is a view");
    await fails("CREATE TABLE a LIKE a", 4000, "Table already exists: `greptime.public.a`");
    await fails("CREATE TABLE v LIKE a", 4000, "View already exists: `greptime.public.v`");
    await fails("CREATE TABLE missing.b LIKE a", 4004, "Database not found: missing");
    await fails('CREATE TABLE "N\0" LIKE a', 1004, "Invalid table name");
    await fails("CREATE TABLE information_schema.b LIKE a", 1001, "read-only");
  });
});

test("there are no flows to drop", async () => {
  await check("DROP FLOW IF EXISTS f", []);
  await fails("DROP FLOW f", 8001, "Flow not found: greptime.f; this server runs no flows");
});

test("names of the semantic graph are kept free", async () => {
  await fixture.sql("CREATE TABLE greptime_private.probe (ts TIMESTAMP TIME INDEX)");
  const readOnly = "Table `semantic_entities` is read-only; this server does not serve the semantic graph";
  await fails("SELECT * FROM greptime_private.semantic_entities", 1001, readOnly);
  await fails("INSERT INTO greptime_private.semantic_entities VALUES (1)", 1001, readOnly);
  await fails("CREATE TABLE greptime_private.semantic_entities (ts TIMESTAMP TIME INDEX)", 1001, readOnly);
  await fails("CREATE TABLE greptime_private.semantic_entities LIKE greptime_private.probe", 1001, readOnly);
  await fails("ALTER TABLE greptime_private.semantic_entities ADD COLUMN a INT", 1001, readOnly);
  await fails("ALTER TABLE greptime_private.probe RENAME semantic_entities", 1001, readOnly);
  await fails("TRUNCATE TABLE greptime_private.semantic_relationships", 1001, "Table `semantic_relationships` is read-only");
  await fails("DROP TABLE greptime_private.semantic_entities", 1001, readOnly);
  await fails(
    "CREATE TABLE greptime_private.semantic_relationships_declared (ts TIMESTAMP TIME INDEX)",
    1001,
    "definition of table `semantic_relationships_declared` is managed",
  );
  await fixture.sql(
    "CREATE TABLE semantic_entities (ts TIMESTAMP TIME INDEX); DROP TABLE semantic_entities; DROP TABLE greptime_private.probe",
  );
});

test("CREATE FLOW is checked and then refused", async () => {
  await fails("CREATE FLOW f SINK TO t AS SELECT 1", 1001, "keyword: CREATE FLOW; this server runs no flows yet");
  await fails(
    "CREATE FLOW f SINK TO t EXPIRE AFTER '1 month' EVAL INTERVAL '1m' AS TQL EVAL (now() - '1h'::interval, now(), '1m') a",
    1001,
    "runs no flows yet",
  );
  await fails("CREATE OR REPLACE FLOW IF NOT EXISTS f SINK TO t AS SELECT 1", 1001, "both `IF NOT EXISTS` and `OR REPLACE`");
  await fails(
    "CREATE FLOW f SINK TO t WITH (wibble = true) AS SELECT 1",
    1004,
    "unknown flow option 'wibble', supported options: defer_on",
  );
  await fails("CREATE FLOW f SINK TO t WITH (defer_on_missing_source = 1) AS SELECT 1", 1004, "is true or false, found '1'");
  await fails("CREATE FLOW f SINK TO t EXPIRE AFTER 'soon' AS SELECT 1", 1004, "EXPIRE AFTER 'soon' is no interval");
  await fails("CREATE FLOW f SINK TO t EXPIRE AFTER -1 AS SELECT 1", 1004, "is negative");
  await fails("CREATE FLOW f SINK TO t EVAL INTERVAL '10ms' AS SELECT 1", 1004, "shorter than a second");
  await fails("CREATE FLOW a.b SINK TO t AS SELECT 1", 1004, "the name of a flow has one part");
  await fails(
    "CREATE FLOW f SINK TO t AS TQL EVAL (0, now(), '1m') a",
    2000,
    "Expected expression containing `now()` as start, but have 0",
  );
  await fails("CREATE FLOW f SINK TO t AS TQL EXPLAIN (now(), now(), '1m') a", 1004, "only TQL EVAL");
  await fails("COMMENT ON FLOW f IS 'x'", 8001, "Flow not found: greptime.f");
});

test("AT TIME ZONE reads a clock in a zone, and shows a moment as one", async () => {
  await check("SELECT to_unixtime('2024-07-01 12:00:00' AT TIME ZONE 'Asia/Shanghai') - to_unixtime('2024-07-01 12:00:00')", [[-28_800]]);
  await check("SELECT '2024-07-01 12:00:00'::timestamp AT TIME ZONE 'UTC' AT TIME ZONE '+08:00' = '2024-07-01 20:00:00'::timestamp", [
    [true],
  ]);
  await check("SELECT '2024-07-01'::date AT TIME ZONE 'America/New_York' = '2024-07-01 04:00:00'::timestamp", [[true]]);
  await check("SELECT NULL AT TIME ZONE 'UTC' IS NULL", [[true]]);
  await fails("SELECT now() AT TIME ZONE 'Nowhere/Town'", 1004, "Invalid timezone string Nowhere/Town");
  await fails("SELECT 1 AT TIME ZONE 'UTC'", 3000, "No function matches");
});

test("a cast of text to a time is in UTC, a text compared with a time in the session's zone", async () => {
  fixture.context.variables.timeZone = "Asia/Shanghai";
  await fixture.sql(`CREATE TABLE z (s STRING, ts TIMESTAMP TIME INDEX);
    INSERT INTO z VALUES ('1970-01-01 09:00:00', '1970-01-01 09:00:00'), ('', CAST('1970-01-01 09:00:00' AS TIMESTAMP))`);
  await check("SELECT ts::bigint FROM z ORDER BY ts", [[3_600_000], [32_400_000]]);
  await check("SELECT s::timestamp::bigint, ts = '1970-01-01 09:00:00' FROM z WHERE s <> ''", [[32_400_000, true]]);
  await check("SELECT count(*) FROM z WHERE ts IN ('1970-01-01 09:00:00', '1970-01-01 10:00:00')", [[1]]);
});
