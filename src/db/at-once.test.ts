/** What is answered within one turn is what the same statement gives otherwise, whatever happened to the table before. */
import { expect, test } from "bun:test";
import { Machine } from "../../test/engine/machine.ts";
import { silentLogger } from "../base/log.ts";
import { MetricRegistry } from "../base/metrics.ts";
import { Scheduler } from "../base/scheduler/scheduler.ts";
import type { Batch, ColumnHeader } from "../column/batch.ts";
import { displayName } from "../column/data-type.ts";
import { scalarAt } from "../column/scalar.ts";
import { newConnection } from "../query/connection.ts";
import { KnownPlans } from "../query/known-plans/known-plans.ts";
import type { ParameterValue } from "../query/prepared-query.ts";
import type { User } from "./auth/user.ts";
import { LocalDb } from "./local-db.ts";
import type { Session } from "./session.ts";
import { StatementWatch } from "./statement-watch.ts";

const { signal } = new AbortController();
const SOMEONE: User = { name: "someone", mode: "rw" };
const HOSTS = 24;

function session(user: User = SOMEONE, database = "public"): Session {
  return { database, timeZone: "UTC", user, signal, connection: newConnection("postgres", signal) };
}

interface Opened {
  readonly db: LocalDb;
  readonly lines: Record<string, unknown>[];
  readonly metrics: MetricRegistry;
}

/** @param slowMillis statements that take as long are logged */
async function open(slowMillis = Number.POSITIVE_INFINITY): Promise<Opened> {
  const { engine } = await Machine.start();
  const metrics = new MetricRegistry();
  const lines: Record<string, unknown>[] = [];
  const logger = { ...silentLogger, warn: (fields: Record<string, unknown>) => void lines.push(fields) };
  const watch = new StatementWatch(metrics, logger, { thresholdMillis: slowMillis, sampleRatio: 1 });
  const limits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, plans: new KnownPlans(1e6), watch };
  const db = new LocalDb(engine, new Scheduler(), limits);
  await run(db, "CREATE TABLE t (host STRING PRIMARY KEY, v DOUBLE, s STRING, n BIGINT, ts TIMESTAMP(3) TIME INDEX)");
  await insert(db, 0, 4 * HOSTS);
  return { db, lines, metrics };
}

async function insert(db: LocalDb, from: number, to: number, v = "0.5"): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, i) => {
    const row = from + i;
    return `('h${row % HOSTS}', ${row} + ${v}, 'text ${row}', ${row % 7 === 0 ? "NULL" : row}, ${Math.floor(row / HOSTS) * 1000})`;
  });
  await run(db, `INSERT INTO t (host, v, s, n, ts) VALUES ${rows.join(", ")}`);
}

async function run(db: LocalDb, text: string): Promise<string> {
  let told = "";
  for await (const result of db.sql(text, session())) {
    if (result.kind === "affected") continue;
    for await (const batch of result.batches) told += rowsText(result.headers, batch);
  }
  return told;
}

function rowsText(headers: readonly ColumnHeader[], { rowCount, vectors }: Batch): string {
  let told = "";
  for (let row = 0; row < rowCount; row++) {
    const cells = vectors.map((vector, c) => String(scalarAt(vector, headers[c]?.type ?? { kind: "null" }, row)));
    told += `${headers.map(({ name, type }) => `${name} ${displayName(type)}`).join(", ")}: ${cells.join(",")}\n`;
  }
  return told;
}

const point = (host: number, second: number): string => `SELECT * FROM t WHERE host = 'h${host}' AND ts = ${second * 1000}`;
const TEXTS: readonly ((host: number, second: number) => string)[] = [
  point,
  (host, second) => `SELECT v, n FROM t WHERE host IN ('h${host}', 'h${second}', 'nobody') AND ts >= ${second * 1000}`,
  (host, second) => `SELECT ts, s FROM t WHERE host = 'h${host}' AND ts < ${second * 1000} ORDER BY ts`,
  (host) => `SELECT n, s, host FROM t WHERE host = 'h${host}'`,
];

/** Compares statements of all kinds, and returns how many were answered at once. */
async function compared(db: LocalDb): Promise<number> {
  let answered = 0;
  for (const text of TEXTS) {
    for (const [host, second] of [3, 0, 17, 1, 5, 2, 23, 3, 9, 4, 11, 99].map((host, i) => [host, i % 5] as const)) {
      const want = await run(db, text(host, second));
      const found = db.sqlAtOnce(text(host, second), session());
      if (found === undefined) continue;
      answered++;
      expect(rowsText(found.headers, found.batch)).toBe(want);
    }
  }
  return answered;
}

test("rows in memory, in files, in both, overwritten, deleted, of other columns: the same as otherwise", async () => {
  const { db } = await open();
  expect(await compared(db)).toBeGreaterThan(20);
  await run(db, "ADMIN flush_table('t')");
  expect(await compared(db)).toBeGreaterThan(20);
  await insert(db, 4 * HOSTS, 6 * HOSTS);
  expect(await compared(db)).toBeGreaterThan(10);
  await insert(db, 2 * HOSTS, 3 * HOSTS, "0.25"); // The same keys: files and memory have to be merged.
  await compared(db);
  await run(db, "ADMIN flush_table('t')");
  await compared(db);
  await run(db, "DELETE FROM t WHERE host = 'h3' AND ts = 1000");
  await compared(db);
  await run(db, "ADMIN flush_table('t')");
  await compared(db);
  await run(db, "ALTER TABLE t ADD COLUMN w DOUBLE DEFAULT 5.0");
  await compared(db);
  await run(db, "ALTER TABLE t MODIFY COLUMN n STRING");
  await compared(db);
  await run(db, "ALTER TABLE t DROP COLUMN v");
  await run(db, "ALTER TABLE t ADD COLUMN v STRING DEFAULT 'new'");
  await compared(db);
  await run(db, "ADMIN compact_table('t')");
  await compared(db);
  await run(db, "TRUNCATE TABLE t");
  await compared(db);
  await run(db, "DROP TABLE t");
  expect(db.sqlAtOnce(point(3, 1), session())).toBeUndefined();
});

test("a row is seen as soon as it is written, over one that was just read", async () => {
  const { db } = await open();
  for (let i = 0; i < 5; i++) {
    await run(db, `INSERT INTO t (host, v, ts) VALUES ('h1', ${i}, 1000)`);
    await run(db, point(1, 1));
    const found = db.sqlAtOnce("SELECT v FROM t WHERE host = 'h1' AND ts = 1000", session());
    if (found !== undefined) expect(rowsText(found.headers, found.batch)).toContain(`: ${i}\n`);
    expect(await run(db, "SELECT v FROM t WHERE host = 'h1' AND ts = 1000")).toContain(`: ${i}\n`);
  }
});

test("a prepared statement gives what it gives otherwise, for each of its values", async () => {
  const { db } = await open();
  const query = await db.prepare("SELECT host, v, n FROM t WHERE host = $1 AND ts >= $2", session());
  let answered = 0;
  for (let i = 0; i < 20; i++) {
    const values: ParameterValue[] = [
      { type: { kind: "string" }, value: `h${i}` },
      { type: { kind: "string" }, value: `1970-01-01 00:00:0${i % 6}` },
    ];
    let want = "";
    for await (const result of db.execute(query, values, session()))
      if (result.kind === "rows") for await (const batch of result.batches) want += rowsText(result.headers, batch);
    const found = db.executeAtOnce(query, values, session());
    if (found === undefined) continue;
    answered++;
    expect(rowsText(found.headers, found.batch)).toBe(want);
  }
  expect(answered).toBeGreaterThan(10);
  const bad: ParameterValue[] = [{ type: { kind: "string" }, value: "h1" }];
  expect(db.executeAtOnce(query, bad, session())).toBeUndefined(); // `execute` says what is wrong.
});

test("who may not read, asks of no database, or has left, is answered elsewhere", async () => {
  const { db } = await open();
  await run(db, point(1, 1));
  expect(db.sqlAtOnce(point(2, 1), session())?.batch.rowCount).toBe(1);
  expect(db.sqlAtOnce(point(2, 1), session({ name: "writer", mode: "wo" }))).toBeUndefined();
  expect(db.sqlAtOnce(point(2, 1), session(SOMEONE, "nowhere"))).toBeUndefined();
  expect(db.sqlAtOnce(point(2, 1), { ...session(), signal: AbortSignal.abort() })).toBeUndefined();
});

test("it is counted, and logged where it was slow", async () => {
  const { db, lines, metrics } = await open(0);
  await run(db, point(1, 1));
  const before = lines.length;
  expect(db.sqlAtOnce(point(2, 1), { ...session(), client: "10.0.0.1:5" })?.batch.rowCount).toBe(1);
  expect(lines.slice(before)).toMatchObject([{ kind: "select", query: point(2, 1), client: "10.0.0.1:5", rows: 1, code: "Success" }]);
  expect(await metrics.registry.metrics()).toContain('varve_statements_total{kind="select",code="Success"} 2');
});

test("many rows, conditions on values and what is computed are answered elsewhere", async () => {
  const { db } = await open();
  const others = [
    "SELECT v FROM t WHERE ts >= 0",
    "SELECT v FROM t WHERE host = 'h1' AND v > 1",
    "SELECT v + 1 FROM t WHERE host = 'h1'",
    "SELECT count(*) FROM t WHERE host = 'h1'",
    "SELECT v FROM t WHERE host = 'h1' ORDER BY v",
    "SELECT v FROM t WHERE host <> 'h1'",
  ];
  for (const text of others) {
    await run(db, text);
    expect(db.sqlAtOnce(text, session())).toBeUndefined();
  }
  expect(db.sqlAtOnce(point(7, 7), session())).toBeUndefined(); // Its plan is not known.
});
