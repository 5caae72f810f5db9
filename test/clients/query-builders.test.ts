/** drizzle and kysely over pg, postgres.js and mysql2: statements that they build, prepared ones, transactions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq, gt, inArray, sql as raw } from "drizzle-orm";
import {
  bigint as myBigint,
  boolean as myBoolean,
  datetime,
  double as myDouble,
  mysqlTable,
  varchar as myVarchar,
} from "drizzle-orm/mysql-core";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { bigint, boolean, doublePrecision, pgTable, timestamp, varchar } from "drizzle-orm/pg-core";
import { drizzle as drizzleJs } from "drizzle-orm/postgres-js";
import { Kysely, MysqlDialect, PostgresDialect, sql } from "kysely";
import mysqlPools from "mysql2";
import mysql from "mysql2/promise";
import pg from "pg";
import postgres from "postgres";
import { type MysqlFixture, startMysql } from "../support/mysql-fixture.ts";
import { type PostgresFixture, startPostgres } from "../support/postgres-fixture.ts";

const TABLE = "host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, cpu DOUBLE NOT NULL DEFAULT 0.5, n BIGINT, ok BOOLEAN";
const AT = new Date("2024-01-01T00:00:00Z");

/** A row of the tables below. */
interface Row {
  readonly host: string;
  readonly ts: Date;
  readonly cpu: number;
  readonly n: number | null;
  readonly ok: boolean | null;
}

const ROWS: readonly Row[] = Array.from({ length: 100 }, (_, i) => ({
  host: `it's "${i}"`,
  ts: AT,
  cpu: i / 2,
  n: i % 10 === 0 ? null : i,
  ok: i % 2 === 0,
}));

let pgServer: PostgresFixture;
let myServer: MysqlFixture;

beforeAll(async () => {
  pgServer = await startPostgres();
  myServer = await startMysql();
  const pgClient = new pg.Client(pgServer.url);
  await pgClient.connect();
  const myClient = await mysql.createConnection(myServer.url);
  for (const name of ["drizzle", "drizzle_js", "kysely"]) {
    await pgClient.query(`CREATE TABLE ${name} (${TABLE})`);
    await myClient.query(`CREATE TABLE ${name} (${TABLE})`);
  }
  await pgClient.end();
  await myClient.end();
});

afterAll(async () => {
  expect([...pgServer.bugs, ...myServer.bugs]).toEqual([]);
  await pgServer.stop();
  await myServer.stop();
});

describe("drizzle", () => {
  const tableOf = (name: string) =>
    pgTable(name, {
      host: varchar("host").primaryKey(),
      ts: timestamp("ts", { precision: 3 }).notNull(),
      cpu: doublePrecision("cpu").notNull(),
      n: bigint("n", { mode: "number" }),
      ok: boolean("ok"),
    });
  const myTable = mysqlTable("drizzle", {
    host: myVarchar("host", { length: 100 }).primaryKey(),
    ts: datetime("ts", { fsp: 3 }).notNull(),
    cpu: myDouble("cpu").notNull(),
    n: myBigint("n", { mode: "number" }),
    ok: myBoolean("ok"),
  });

  async function throughPostgres(db: ReturnType<typeof drizzlePg>, name: string): Promise<void> {
    const table = tableOf(name);
    await db.insert(table).values([...ROWS]);
    const where = and(gt(table.cpu, 1), inArray(table.n, [7, 8, 9]), eq(table.ok, false));
    expect(await db.select().from(table).where(where).orderBy(table.n)).toEqual(ROWS.filter(({ n }) => n === 7 || n === 9));
    const prepared = db
      .select({ n: table.n })
      .from(table)
      .where(eq(table.host, raw.placeholder("host")))
      .prepare("by_host");
    for (const { host, n } of ROWS.slice(3, 6)) expect(await prepared.execute({ host })).toEqual([{ n }]);
    await db
      .update(table)
      .set({ n: 1000 })
      .where(eq(table.host, ROWS[1]?.host ?? ""));
    await db.delete(table).where(eq(table.host, ROWS[2]?.host ?? ""));
    const counted = { count: raw<number>`count(*)`.mapWith(Number), most: raw<number>`max(${table.n})`.mapWith(Number) };
    expect(await db.transaction((inner) => inner.select(counted).from(table))).toEqual([{ count: 99, most: 1000 }]);
    expect(await db.$count(table, eq(table.ok, true))).toBe(49);
  }

  test("over pg", async () => {
    const pool = new pg.Pool({ connectionString: pgServer.url, max: 2 });
    await throughPostgres(drizzlePg(pool), "drizzle");
    await pool.end();
  });

  test("over postgres.js", async () => {
    const client = postgres(pgServer.url, { max: 2, onnotice: () => undefined });
    await throughPostgres(drizzleJs(client) as unknown as ReturnType<typeof drizzlePg>, "drizzle_js");
    await client.end();
  });

  test("over mysql2", async () => {
    const pool = mysql.createPool({ uri: myServer.url, connectionLimit: 2 });
    const db = drizzleMysql(pool);
    await db.insert(myTable).values([...ROWS]);
    const where = and(gt(myTable.cpu, 1), inArray(myTable.n, [7, 8, 9]), eq(myTable.ok, false));
    expect(await db.select().from(myTable).where(where).orderBy(myTable.n)).toEqual(ROWS.filter(({ n }) => n === 7 || n === 9));
    const prepared = db
      .select({ n: myTable.n })
      .from(myTable)
      .where(eq(myTable.host, raw.placeholder("host")))
      .prepare();
    for (const { host, n } of ROWS.slice(3, 6)) expect(await prepared.execute({ host })).toEqual([{ n }]);
    const [changed] = await db
      .update(myTable)
      .set({ n: 1000 })
      .where(eq(myTable.host, ROWS[1]?.host ?? ""));
    const [removed] = await db.delete(myTable).where(eq(myTable.host, ROWS[2]?.host ?? ""));
    expect([changed.affectedRows, removed.affectedRows]).toEqual([1, 1]);
    const counted = { count: raw<number>`count(*)`.mapWith(Number), most: raw<number>`max(${myTable.n})`.mapWith(Number) };
    expect(await db.transaction((inner) => inner.select(counted).from(myTable))).toEqual([{ count: 99, most: 1000 }]);
    await pool.end();
  });
});

describe("kysely", () => {
  /** A row as it is written; drivers read booleans and 64-bit integers as they please. */
  type Tables = { kysely: { host: string; ts: Date | string; cpu: number; n: number | string | null; ok: boolean | number | null } };

  async function statements(db: Kysely<Tables>): Promise<void> {
    await db
      .insertInto("kysely")
      .values([...ROWS])
      .execute();
    const found = await db
      .selectFrom("kysely")
      .select(["host", "n"])
      .where("n", "in", [7, 8, 9])
      .where("ok", "=", false)
      .orderBy("n")
      .execute();
    expect(found.map(({ host, n }) => [host, Number(n)])).toEqual([7, 9].map((n) => [`it's "${n}"`, n]));
    const { numUpdatedRows } = await db.updateTable("kysely").set({ n: 1000 }).where("host", "=", `it's "1"`).executeTakeFirstOrThrow();
    const { numDeletedRows } = await db.deleteFrom("kysely").where("host", "=", `it's "2"`).executeTakeFirstOrThrow();
    expect([numUpdatedRows, numDeletedRows]).toEqual([1n, 1n]);
    const done = await db.transaction().execute((inner) =>
      inner
        .selectFrom("kysely")
        .select((each) => [each.fn.countAll().as("count"), each.fn.max("n").as("most")])
        .executeTakeFirstOrThrow(),
    );
    expect([Number(done.count), Number(done.most)]).toEqual([99, 1000]);
    const by = db
      .selectFrom("kysely")
      .select(["ok", sql<number>`sum(cpu)`.as("sum")])
      .groupBy("ok")
      .orderBy("sum");
    expect((await by.execute()).map(({ sum }) => sum)).toEqual([1224, 1250]);
    expect(
      db
        .selectFrom("nowhere" as "kysely")
        .selectAll()
        .execute(),
    ).rejects.toThrow("nowhere");
  }

  /** Columns of the table as the dialect finds them. */
  async function columnsFound(db: Kysely<Tables>): Promise<readonly string[]> {
    const tables = await db.introspection.getTables();
    expect(tables.map(({ name, isView }) => [name, isView])).toContainEqual(["kysely", false]);
    const { columns = [] } = tables.find(({ name }) => name === "kysely") ?? {};
    return columns.map(({ name, dataType, isNullable }) => `${name} ${dataType}${isNullable ? " null" : ""}`);
  }

  test("PostgreSQL's dialect: statements, and the tables that it looks up", async () => {
    const pool = new pg.Pool({ connectionString: pgServer.url, max: 2 });
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    await statements(db);
    expect((await db.introspection.getSchemas()).map(({ name }) => name)).toContain("public");
    expect(await columnsFound(db)).toEqual(["host text null", "ts timestamp", "cpu float8", "n int8 null", "ok bool null"]);
    await db.destroy();
  });

  test("MySQL's dialect: statements, and the tables that it looks up", async () => {
    const db = new Kysely<Tables>({
      dialect: new MysqlDialect({ pool: mysqlPools.createPool({ uri: myServer.url, connectionLimit: 2 }) }),
    });
    await statements(db);
    // Its getSchemas reads MySQL 8's SCHEMA_NAME, which it asks for as schema_name: here columns are called as they are asked for.
    expect(await columnsFound(db)).toEqual(["host varchar null", "ts timestamp", "cpu double", "n bigint null", "ok tinyint null"]);
    await db.destroy();
  });
});
