/** Two processes over one catalogue: what one was told to be made the other has when it is asked. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { CatalogMirror } from "./catalog-mirror.ts";
import { DEFAULT_USER } from "../../db/auth/user.ts";
import { DashboardTable } from "../../db/dashboards/dashboard-table.ts";
import { FreshDb } from "../../db/fresh-db.ts";
import { LocalDb } from "../../db/local-db.ts";
import { PipelineStore } from "../../db/pipelines/pipeline-store.ts";
import type { Session } from "../../db/session.ts";

const { signal } = new AbortController();
const SESSION: Session = { database: "public", timeZone: "UTC", user: DEFAULT_USER, signal };

interface Process {
  readonly mirror: CatalogMirror;
  readonly machine: Machine;
  readonly db: FreshDb;
}

async function started(cluster: MemoryCluster, name: string): Promise<Process> {
  const { time: clock } = cluster;
  const sleep = (millis: number): Promise<void> => cluster.sleep(name, millis);
  const onLost = (why: Error): void => {
    throw why;
  };
  const mirror = await CatalogMirror.open(memoryPort(cluster, name), { shards: 1, clock, sleep, logger: silentLogger, onLost });
  const machine = await Machine.start({ catalogue: () => mirror.catalogue(), shards: 1, limits: { stallMillis: 5000 } });
  const local = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
  return { mirror, machine, db: new FreshDb(local, (until) => mirror.refresh(until)) };
}

let a: Process;
let b: Process;
beforeEach(async () => {
  const cluster = new MemoryCluster({ seed: 3 });
  [a, b] = [await started(cluster, "a"), await started(cluster, "b")];
});
afterEach(async () => {
  for (const { machine, mirror } of [a, b]) {
    await machine.engine.close();
    await mirror.close();
  }
});

async function sql({ db }: Process, text: string, session = SESSION): Promise<number> {
  let rows = 0;
  for await (const result of db.sql(text, session)) {
    if (result.kind === "rows") for await (const { rowCount } of result.batches) rows += rowCount;
  }
  return rows;
}

test("tables, columns, views and databases that one process makes and drops are so in the other's next statement", async () => {
  for (let round = 0; round < 5; round++) {
    const [one, other] = round % 2 === 0 ? [a, b] : [b, a];
    await sql(one, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE)");
    expect(await sql(other, "SELECT v FROM t")).toBe(0);
    await sql(one, "ALTER TABLE t ADD COLUMN w DOUBLE");
    const query = await other.db.prepare("SELECT w FROM t", SESSION);
    for await (const result of other.db.execute(query, [], SESSION)) expect(result.kind).toBe("rows");
    await sql(one, "CREATE VIEW s AS SELECT w FROM t");
    expect(await sql(other, "SELECT * FROM s")).toBe(0);
    await sql(one, "CREATE DATABASE d");
    expect(await sql(other, "SELECT 1", { ...SESSION, database: "d" })).toBe(1);
    await sql(one, "DROP DATABASE d; DROP VIEW s; DROP TABLE t");
    expect(await sql(other, "SHOW TABLES LIKE 't'")).toBe(0);
  }
});

test("labels of a metric table are those of the table that is there", async () => {
  await sql(a, "CREATE TABLE up (greptime_timestamp TIMESTAMP TIME INDEX, greptime_value DOUBLE, job STRING, PRIMARY KEY (job))");
  const ask = { match: [], firstMillis: 0, lastMillis: 1 };
  expect(await b.db.promql.labelNames(ask, SESSION)).toContain("job");
  expect(await b.db.promql.labelValues("__name__", ask, SESSION)).toEqual(["up"]);
});

test("the table of the first pipeline, and of the first dashboard, is looked for before they are said not to be there", async () => {
  // Rows are each process's own in this test: what is asked is only whether the table is known.
  await new PipelineStore(a.db, systemClock).add("p", "processors:\n  - date:\n      fields: [time]\n      formats: ['%Y-%m-%d']\n");
  await new PipelineStore(b.db, systemClock).find("p", undefined);
  expect(b.db.schemas.columnOf("greptime_private", "pipelines", "pipeline")).toBeDefined();
  await new DashboardTable(a.db, systemClock).save({ name: "d", definition: "x" }, signal);
  await Array.fromAsync(new DashboardTable(b.db, systemClock).list(signal));
  expect(b.db.schemas.columnOf("greptime_private", "dashboard", "definition")).toBeDefined();
});
