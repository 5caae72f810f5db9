import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { INT64, STRING, TIMESTAMP_MILLISECOND, UINT32 } from "../../column/data-type.ts";
import { parseSql } from "./parse.ts";
import { printStatement } from "./print/print-statement.ts";
import { treeRows } from "./syntax/row-trees.ts";
import type { Statement } from "./syntax/statement-ast.ts";

/** The statement as it prints, which names every part of the tree; that text must parse to the same again. */
function check(input: string, want: string): void {
  const statements = parseSql(input);
  expect(statements.map(printStatement), input).toEqual([want]);
  expect(parseSql(want).map(printStatement), want).toEqual([want]);
}

function checkRejects(input: string, why: string | RegExp): void {
  expect(() => parseSql(input), input).toThrow(why);
  expect(() => parseSql(input), input).toThrow(DbError);
}

/** The one statement of a text, which must be of this kind. */
function parseOne<Kind extends Statement["kind"]>(kind: Kind, text: string): Extract<Statement, { kind: Kind }> {
  const [statement, ...others] = parseSql(text);
  expect(others).toEqual([]);
  if (statement?.kind !== kind) throw new Error(`got ${statement?.kind}; want ${kind}`);
  return statement as Extract<Statement, { kind: Kind }>;
}

test("UPDATE has a table, assignments and a condition", () => {
  check("update t set a = 1", "UPDATE t SET a = 1");
  check("update d.t as x set x.a = b + 1, c = default where not d", "UPDATE d.t AS x SET x.a = b + 1, c = DEFAULT WHERE NOT d");
  check("SELECT update FROM t", "SELECT update FROM t");
  checkRejects("UPDATE t", "expected SET");
  checkRejects("UPDATE t SET", "expected column = value");
  checkRejects("UPDATE t SET a", "expected '='");
  checkRejects("UPDATE t SET a = 1 ORDER BY a", "keyword: 'ORDER'");
  checkRejects("UPDATE t SET a = 1 FROM u", "keyword: 'FROM'");
});

test("DELETE has a table and a condition", () => {
  check("delete from t", "DELETE FROM t");
  check("DELETE FROM d.t WHERE host = 'a' AND ts < now()", "DELETE FROM d.t WHERE host = 'a' AND ts < now()");
  check('DELETE FROM "T" WHERE "V" > 1.5', 'DELETE FROM "T" WHERE "V" > 1.5');
  check("SELECT delete FROM t", "SELECT delete FROM t");
  checkRejects("DELETE t", "expected FROM");
  checkRejects("DELETE FROM", "expected");
  checkRejects("DELETE FROM t WHERE", "expected");
  checkRejects("DELETE FROM t ORDER BY ts", "keyword: 'ORDER'");
  checkRejects("DELETE FROM t, u", "keyword: ','");
});

describe("a text", () => {
  test("holds statements apart by semicolons, empty ones skipped", () => {
    const kinds = (text: string): string[] => parseSql(text).map((statement) => statement.kind);
    expect(kinds("")).toEqual([]);
    expect(kinds(" ;; \n; ")).toEqual([]);
    expect(kinds("-- nothing")).toEqual([]);
    expect(kinds("/* nothing; at all */")).toEqual([]);
    expect(kinds("SELECT 1; ; USE a;SHOW TABLES")).toEqual(["select", "use", "show-tables"]);
    expect(kinds("/* a **/ SELECT /*/ b; */ 1 -- c ; d\r\n; -- e")).toEqual(["select"]);
  });
  test("needs a semicolon between statements", () => {
    checkRejects("SELECT 1 SELECT 2", "keyword: 'SELECT', expected the end of the statement");
    checkRejects("USE a USE b", "keyword: 'USE'");
    checkRejects("SELECT 1; FROM", "keyword: 'FROM', expected a statement");
  });
});

describe("SELECT", () => {
  test("has all its clauses", () => {
    check("select 1", "SELECT 1");
    check(
      "select *, t.*, a as b, c d, 'x' as 'Long Name' from public.t as u",
      `SELECT *, t.*, a AS b, c AS d, 'x' AS "Long Name" FROM public.t AS u`,
    );
    check("select all a from t", "SELECT a FROM t");
    check('select "all", count(all a) from t', 'SELECT "all", count(a) FROM t');
    check(
      "select distinct a, max(b) from t where c = 'x' group by a, 2 having max(b) > 1 order by 2 desc nulls last, a asc limit 10 offset 5",
      "SELECT DISTINCT a, max(b) FROM t WHERE c = 'x' GROUP BY a, 2 HAVING max(b) > 1 ORDER BY 2 DESC NULLS LAST, a LIMIT 10 OFFSET 5",
    );
    check("select a, b, from t", "SELECT a, b FROM t");
    check("select 1 as select", 'SELECT 1 AS "select"');
    check('select count(*) "Count" from t', 'SELECT count(*) AS "Count" FROM t');
  });
  test("limits rows in every spelling", () => {
    check("select a from t offset 2 limit 1", "SELECT a FROM t LIMIT 1 OFFSET 2");
    check("select a from t limit 2, 1", "SELECT a FROM t LIMIT 1 OFFSET 2");
    check("select a from t limit all offset 3 rows", "SELECT a FROM t OFFSET 3");
    check("select a from t limit all", "SELECT a FROM t");
    check("select a from t limit null", "SELECT a FROM t LIMIT NULL");
    checkRejects("select a from t limit", "expected a number of rows");
    checkRejects("select a from t limit 1 limit 2", "LIMIT is written twice");
    checkRejects("select a from t limit 1 offset 2 limit 3", "LIMIT is written twice");
  });
  test("refuses clauses out of order", () => {
    checkRejects("select a where b from t", "keyword: 'from', expected the end of the statement");
    checkRejects("select a from t order by a where b", "keyword: 'where'");
    checkRejects("select from t", "found 'from', expected a column or expression");
    checkRejects("select a,, b", "found ','");
    checkRejects("select a from", "the text ends too early, expected a name");
    checkRejects("select a from t group a", "expected BY");
    checkRejects("select a from where b", "cannot use keyword 'where' as a name");
    checkRejects("select a from a.b.c.d", "more than three parts");
  });
});

describe("INSERT", () => {
  test("takes rows or a query", () => {
    check("insert into t values (1, 'a'), (DEFAULT, NULL)", "INSERT INTO t VALUES (1, 'a'), (DEFAULT, NULL)");
    check(
      "replace into table a.t (x, \"Y\") values (-1, now() + interval '1 day')",
      `INSERT INTO a.t (x, "Y") VALUES (-1, now() + INTERVAL '1 day')`,
    );
    check("insert into t (a) select b from u where c", "INSERT INTO t (a) SELECT b FROM u WHERE c");
    check('insert into t values ("host1", 1,),', 'INSERT INTO t VALUES ("host1", 1)');
    check("insert into values values (1)", "INSERT INTO values VALUES (1)");
  });
  test("tells a quoted name from a plain one, since it is a string there", () => {
    const insert = parseOne("insert", 'INSERT INTO t VALUES ("a", b)');
    const [row] = insert.source.kind === "values" ? treeRows(insert.source.rows) : [];
    expect(row?.map((value) => value.kind === "column" && value.quoted)).toEqual([true, false]);
  });
  test("refuses what is neither", () => {
    checkRejects("insert into t", "expected VALUES or SELECT");
    checkRejects("insert t values (1)", "expected INTO");
    checkRejects("insert into t () values (1)", "expected a name");
    checkRejects("insert into t values ()", "expected an expression");
    checkRejects("insert into t values 1", "expected '('");
    checkRejects("insert into t values (1) (2)", "keyword: '('");
    checkRejects("insert into t values (1,,2)", "found ','");
    checkRejects("insert into t values (1) on conflict do nothing", "not supported: INSERT … ON");
  });
});

describe("CREATE TABLE", () => {
  test("has columns with options, keys, engine and table options", () => {
    const table = parseOne(
      "create-table",
      `CREATE TABLE IF NOT EXISTS public.Cpu (
         host STRING NOT NULL COMMENT 'the "host"' SKIPPING INDEX WITH (granularity = 1024, type = 'BLOOM') PRIMARY KEY,
         n INT UNSIGNED NULL DEFAULT -1 INVERTED INDEX,
         ts TIMESTAMP DEFAULT current_timestamp NOT NULL TIME INDEX,
         "Value" BIGINT DEFAULT 1 NOT NULL UNIQUE CHARACTER SET utf8,
         PRIMARY KEY (host, n,),
         TIME INDEX (ts),
       ) ENGINE = Mito WITH (ttl = '7d', 'append_mode' = true, compaction.type = twcs, "n" = -1,)`,
    );
    expect(table).toMatchObject({
      name: ["public", "cpu"],
      ifNotExists: true,
      primaryKey: ["host", "n"],
      timeIndexes: [["ts"]],
      engine: "mito",
      options: { ttl: "7d", append_mode: "true", "compaction.type": "twcs", n: "-1" },
      span: { line: 1, column: 1 },
    });
    expect(table.columns).toMatchObject([
      {
        name: "host",
        type: STRING,
        nullable: false,
        comment: 'the "host"',
        primaryKey: true,
        timeIndex: false,
        indexes: [{ kind: "skipping", options: { granularity: "1024", type: "BLOOM" } }],
        span: { line: 2, column: 10 },
      },
      { name: "n", type: UINT32, nullable: true, default: { kind: "unary", operator: "-" }, indexes: [{ kind: "inverted", options: {} }] },
      { name: "ts", type: TIMESTAMP_MILLISECOND, nullable: false, default: { kind: "call", name: "current_timestamp" }, timeIndex: true },
      { name: "Value", type: INT64, nullable: false, comment: undefined },
    ]);
  });
  test("prints and parses again", () => {
    check(
      "create table t (a string fulltext index with(analyzer='English') , time timestamp(9) time index, key int default (1 + 2) null)",
      "CREATE TABLE t (a STRING FULLTEXT INDEX WITH ('analyzer' = 'English'), time TIMESTAMP(9) TIME INDEX, key INT NULL DEFAULT (1 + 2))",
    );
    check("create table t (primary double, time date)", "CREATE TABLE t (primary DOUBLE, time DATE)");
    check("create table if ()", "CREATE TABLE if ()");
    check("create table t (ts timestamp, time index (ts))", "CREATE TABLE t (ts TIMESTAMP(3), TIME INDEX (ts))");
  });
  test("keeps options whose names are those of objects", () => {
    expect(Object.keys(parseOne("create-database", "CREATE DATABASE d WITH ('__proto__' = 'x', constructor = 'y')").options)).toEqual([
      "__proto__",
      "constructor",
    ]);
  });
  test("refuses what is misspelt", () => {
    checkRejects("create table t", "expected '('");
    checkRejects("create table t (a)", "expected a type");
    checkRejects("create table t (a int,, b int)", "found ','");
    checkRejects("create table t (a int b int)", "found 'b', expected ')'");
    checkRejects("create table t (a wibble)", "unknown type 'wibble'");
    checkRejects("create table t (select int)", "Cannot use keyword 'select' as column name. Hint: add quotes to the name.");
    checkRejects("create table t (a int, order int)", "Cannot use keyword 'order' as column name.");
    checkRejects("create table t (a string fulltext)", "column name: a, error: expect INDEX after FULLTEXT keyword");
    checkRejects("alter table t drop column if exists a", "SQL construct is not supported: IF EXISTS in this place");
    checkRejects("alter table t modify column a set skipping", "column name: a, error: expect INDEX after SKIPPING keyword");
    checkRejects("create table t (a int, b int, primary key(a), primary key(b))", "found definitions of primary keys in multiple places");
    checkRejects("create table t (a int default 1 default 2)", "found a second DEFAULT of one column, expected one");
    checkRejects("create table t (a int null not null)", "found a second NULL or NOT NULL of one column");
    checkRejects("create table t (a int not null comment 'x' comment 'y')", "found a second COMMENT of one column");
    checkRejects("create table t (a int not)", "expected NULL");
    checkRejects("create table t (primary key (a), primary key (b))", "found definitions of primary keys in multiple places");
    checkRejects("create table if not exist t ()", "found 'exist', expected EXISTS");
    checkRejects("create table t (a int) with (x)", "expected '='");
    checkRejects("create table t (a int) with (x = )", "expected an option value");
    checkRejects("create table t (a int) engine", "expected an engine name");
  });
  test("names the clauses that are not served", () => {
    check("create table if not exists t like db.u", "CREATE TABLE IF NOT EXISTS t LIKE db.u");
    checkRejects("create table t like", "expected a name");
    check("create table t as select 1", "CREATE TABLE t AS SELECT 1");
    check(
      "create table if not exists t (primary key (a), time index (b)) engine=mito with (ttl='1d') as select a, b from c",
      "CREATE TABLE IF NOT EXISTS t (TIME INDEX (b), PRIMARY KEY (a)) ENGINE = mito WITH ('ttl' = '1d') AS SELECT a, b FROM c",
    );
    check("create table t with (ttl='1d') as values (1)", "CREATE TABLE t WITH ('ttl' = '1d') AS VALUES (1)");
    checkRejects("create table t as", "expected");
    checkRejects("alter table t split partition (a < 1) into (a < 0, a >= 0)", "not supported: partitions of a table that exists");
    checkRejects("create table t (a uuid)", "not supported: type UUID");
    checkRejects("create table t (a int[])", "not supported: array type");
  });
});

test("COPY and external tables", () => {
  check("copy t to 'a.parquet'", "COPY TABLE t TO 'a.parquet'");
  check(
    "Copy table d.t FROM 'a/' with (format=\"csv\", parallelism = 2,) limit 3",
    "COPY TABLE d.t FROM 'a/' WITH ('format' = 'csv', 'parallelism' = '2') LIMIT 3",
  );
  check("copy (select 1) to 'x' with (format = json)", "COPY (SELECT 1) TO 'x' WITH ('format' = 'json')");
  check("copy database 'my-db' from 'a/' connection (region = 'r')", "COPY DATABASE \"my-db\" FROM 'a/' CONNECTION ('region' = 'r')");
  check("copy database to 'a'", "COPY TABLE database TO 'a'");
  check(
    "create external table if not exists t (a int, time index (a),) engine = file with (location = 'x')",
    "CREATE EXTERNAL TABLE IF NOT EXISTS t (a INT, TIME INDEX (a)) WITH ('location' = 'x')",
  );
  check("create external table t with (location = 'x')", "CREATE EXTERNAL TABLE t WITH ('location' = 'x')");
  checkRejects("copy t to", "the text ends too early, expected a string");
  checkRejects("copy t into 'a'", "found 'into', expected TO or FROM");
  checkRejects("copy t to 'a' limit many", "found 'many', expected the number of maximum rows");
  checkRejects("copy database d to 'a/' limit 1", "limit is not supported");
  checkRejects("copy (select 1) from 'a'", "a query takes no rows");
  checkRejects("create external table t", "the text ends too early, expected WITH");
});

test("databases come and go", () => {
  check("create database if not exists db", "CREATE DATABASE IF NOT EXISTS db");
  check("create schema \"My-DB\" with (ttl = '1h')", `CREATE DATABASE "My-DB" WITH ('ttl' = '1h')`);
  check("create database 'my-db'", 'CREATE DATABASE "my-db"');
  check("drop schema if exists db", "DROP DATABASE IF EXISTS db");
  check("drop database db", "DROP DATABASE db");
  check("drop table if exists a, b.c", "DROP TABLE IF EXISTS a, b.c");
  checkRejects("create database", "expected a database name");
  checkRejects("create databases x", "expected TABLE, VIEW or DATABASE");
  checkRejects("drop table", "the text ends too early, expected a table name");
});

test("views come and go", () => {
  check("create view v as select a from t", "CREATE VIEW v AS SELECT a FROM t");
  check('create or replace view db.v ("A", b) as (values (1, 2))', 'CREATE OR REPLACE VIEW db.v ("A", b) AS VALUES (1, 2)');
  check(
    "create view if not exists view as with x as (select 1) select * from x",
    "CREATE VIEW IF NOT EXISTS view AS WITH x AS (SELECT 1) SELECT * FROM x",
  );
  check("drop view if exists a, b.c", "DROP VIEW IF EXISTS a, b.c");
  checkRejects("create or view v as select 1", "found 'view', expected REPLACE");
  checkRejects("create view v", "the text ends too early, expected AS");
  checkRejects("create view v () as select 1", "expected a name");
  checkRejects("create view v as delete from t", "found 'delete'");
  checkRejects("create or replace table t (a int)", "not supported, keyword: CREATE OR REPLACE TABLE");
  checkRejects("drop view", "expected a view name");
});

test("PARTITION ON COLUMNS", () => {
  check(
    "create table t (a int) partition on columns (a, b,) (a < 5 and b > 'x', a >= 5,) engine = mito with (k = 1)",
    "CREATE TABLE t (a INT) PARTITION ON COLUMNS (a, b) (a < 5 AND b > 'x', a >= 5) ENGINE = mito WITH ('k' = '1')",
  );
  check("create table t (a int) partition on columns (a) ()", "CREATE TABLE t (a INT) PARTITION ON COLUMNS (a) ()");
  checkRejects("create table t (a int) partition on columns () ()", "expected a name");
  checkRejects("create table t (a int) partition on columns (a)", "the text ends too early");
  checkRejects("create table t (a int) partition by (a)", "found 'by', expected ON");
});

test("SHOW of lists", () => {
  check("show columns from t", "SHOW COLUMNS FROM t");
  check("show full fields in a.t from db like 'x%'", "SHOW FULL COLUMNS FROM a.t FROM db LIKE 'x%'");
  check("show keys from t where Key_name = 'x'", "SHOW INDEX FROM t WHERE key_name = 'x'");
  check("show indexes in t in db", "SHOW INDEX FROM t FROM db");
  check("show regions from t", "SHOW REGION FROM t");
  check("show views in db like 'v%'", "SHOW VIEWS FROM db LIKE 'v%'");
  check("show table status from db", "SHOW TABLE STATUS FROM db");
  check("show flow status", "SHOW FLOW STATUS");
  check("show character set like 'u%'", "SHOW CHARSET LIKE 'u%'");
  check("show full processlist", "SHOW FULL PROCESSLIST");
  check("show search_path", "SHOW SEARCH_PATH");
  check("show create table t for postgres_foreign_table", "SHOW CREATE TABLE t FOR POSTGRES_FOREIGN_TABLE");
  check("show create flow f", "SHOW CREATE FLOW f");
  check("drop flow if exists f", "DROP FLOW IF EXISTS f");
  check("kill query 5", "KILL '5'");
  check("kill 'a/5'", "KILL 'a/5'");
  checkRejects("show columns", "expected '{FROM | IN} table'");
  checkRejects("show index;", "expected '{FROM | IN} table'");
  checkRejects("show index from t like 'x'", "not supported, keyword: like");
  checkRejects("show full engines", "FULL goes with DATABASES, TABLES, COLUMNS and PROCESSLIST");
  checkRejects("show table", "expected STATUS");
  checkRejects("show binlog", "not supported, keyword: SHOW BINLOG");
  checkRejects("kill", "expected the id of a statement");
});

test("SHOW and DESCRIBE", () => {
  check("show databases", "SHOW DATABASES");
  check("show full schemas like 'a%'", "SHOW FULL DATABASES LIKE 'a%'");
  check("show tables", "SHOW TABLES");
  check("show full tables in db where Table_type = 'x'", "SHOW FULL TABLES FROM db WHERE table_type = 'x'");
  check("show create table a.b", "SHOW CREATE TABLE a.b");
  check("show create schema a", "SHOW CREATE DATABASE a");
  check("show variables TIME_ZONE", "SHOW VARIABLES time_zone");
  check("show variables like 'Time_Zone'", "SHOW VARIABLES time_zone");
  check("desc t", "DESCRIBE TABLE t");
  check("describe table a.b.t", "DESCRIBE TABLE a.b.t");
  checkRejects("show", "expected DATABASES, TABLES, CREATE or VARIABLES");
  checkRejects("show tables like", "expected a string");
  check("show create view v", "SHOW CREATE VIEW v");
  checkRejects("desc", "expected a name");
});

test("USE, SET and ADMIN", () => {
  check("use `My DB`", 'USE "My DB"');
  check("set time_zone = 'UTC'", "SET time_zone = 'UTC'");
  check("set @@SESSION.Time_Zone = '+08:00'", "SET time_zone = '+08:00'");
  check("set session time_zone to 'UTC'", "SET time_zone = 'UTC'");
  check("set time zone 'UTC'", "SET time_zone = 'UTC'");
  check("set names utf8mb4", "SET names = utf8mb4");
  check("set datestyle = iso, 'MDY'", "SET datestyle = 'iso, MDY'");
  check("set autocommit = on", "SET autocommit = 'on'");
  check("set max_execution_time = -1", "SET max_execution_time = -1");
  check("set x = default", "SET x = DEFAULT");
  check("admin flush_table('t')", "ADMIN flush_table('t')");
  check("ADMIN now()", "ADMIN now()");
  checkRejects("use", "expected a database name");
  checkRejects("set x", "expected '=' or TO");
  checkRejects("set x =", "expected a value");
  checkRejects("admin flush_table", "expected '('");
});

test("EXPLAIN wraps a statement", () => {
  check("explain select 1", "EXPLAIN SELECT 1");
  check("explain analyze verbose format json select a from t", "EXPLAIN ANALYZE VERBOSE FORMAT JSON SELECT a FROM t");
  check("explain format text select 1", "EXPLAIN SELECT 1");
  checkRejects("explain", "expected a statement");
  checkRejects("explain explain select 1", "cannot explain an EXPLAIN");
  check("explain format graphviz select 1", "EXPLAIN FORMAT GRAPHVIZ SELECT 1");
  checkRejects("explain analyze format graphviz select 1", "not supported: EXPLAIN ANALYZE FORMAT GRAPHVIZ");
  checkRejects("explain format yaml select 1", "expected TEXT, JSON or GRAPHVIZ");
});

describe("queries", () => {
  test("print and parse again", () => {
    check("select 1 union all select 2 order by 1", "SELECT 1 UNION ALL SELECT 2 ORDER BY 1");
    check("select 1 union select 2 intersect all select 3", "SELECT 1 UNION (SELECT 2 INTERSECT ALL SELECT 3)");
    check("(select 1 limit 1) except select 2", "(SELECT 1 LIMIT 1) EXCEPT SELECT 2");
    check("values (1, 'a'), (2, 'b') limit 1", "VALUES (1, 'a'), (2, 'b') LIMIT 1");
    check(
      "with a as (select 1), b (x) as (select 2) select * from a, b",
      "WITH a AS (SELECT 1), b (x) AS (SELECT 2) SELECT * FROM a CROSS JOIN b",
    );
    check("select distinct on (a, b) c from t", "SELECT DISTINCT ON (a, b) c FROM t");
  });
  test("have relations of every kind", () => {
    check("select * from a x join b on x.c = b.c", "SELECT * FROM a AS x JOIN b ON x.c = b.c");
    check("select * from a left outer join b using (c, d)", "SELECT * FROM a LEFT JOIN b USING (c, d)");
    check(
      "select * from a natural full join (b right anti join c on true)",
      "SELECT * FROM a NATURAL FULL JOIN (b RIGHT ANTI JOIN c ON TRUE)",
    );
    check(
      "select * from (select 1) as t (x), lateral (select x) u",
      "SELECT * FROM (SELECT 1) AS t (x) CROSS JOIN LATERAL (SELECT x) AS u",
    );
    check("select * from ((select 1) union (select 2)) t", "SELECT * FROM (SELECT 1 UNION SELECT 2) AS t");
    check("select * from ((select 1) as a cross join b)", "SELECT * FROM (SELECT 1) AS a CROSS JOIN b");
    check("select * from generate_series(1, 3) g", "SELECT * FROM generate_series(1, 3) AS g");
  });
  test("stand in expressions", () => {
    check("select (select 1) + 1, exists (select 2)", "SELECT (SELECT 1) + 1, EXISTS (SELECT 2)");
    check(
      "select a where a not in (select 1) and b in ((select 2) union select 3)",
      "SELECT a WHERE a NOT IN (SELECT 1) AND b IN (SELECT 2 UNION SELECT 3)",
    );
    check("select a >= some (select 1), a = all (values (1))", "SELECT a >= ANY (SELECT 1), a = ALL (VALUES (1))");
    check("select a in ((select 1) + 1)", "SELECT a IN ((SELECT 1) + 1)");
  });
  test("nest up to the limit and are refused beyond", () => {
    const nested = (depth: number): string => `${"SELECT * FROM (".repeat(depth)}SELECT 1${")".repeat(depth)}`;
    expect(parseSql(nested(200))).toHaveLength(1);
    expect(() => parseSql(nested(600))).toThrow("nests deeper");
    expect(() => parseSql(`SELECT ${"(SELECT ".repeat(50_000)}`)).toThrow("nests deeper");
  });
});
