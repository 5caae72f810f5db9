import { Scheduler } from "../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { put } from "../../test/engine/lines.ts";
import { Machine } from "../../test/engine/machine.ts";
import { type LogEntry, recordingLogger } from "../../test/support/recording-logger.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { MetricRegistry } from "../base/metrics.ts";
import { MemoryPool, ServerMemory } from "../base/memory/server-memory.ts";
import { StatusCode } from "../base/status-code.ts";
import { LocalDb } from "./local-db.ts";
import type { Session } from "./session.ts";
import { type SlowStatements, StatementWatch } from "./statement-watch.ts";

/** Each look at it is a second after the one before. */
function tickingClock(): Clock {
  let seconds = 0;
  return {
    nowNanos: () => systemClock.nowNanos(),
    nowMillis: () => systemClock.nowMillis(),
    monotonicMillis: () => seconds++ * 1000,
  };
}

interface Watched {
  /** Runs a text and reads all its rows. */
  readonly run: (text: string) => Promise<void>;
  /** The lines of a metric, less its name. */
  readonly metric: (name: string) => Promise<readonly string[]>;
  readonly entries: readonly LogEntry[];
}

async function watched(slow: Partial<SlowStatements> = {}, signal: AbortSignal = new AbortController().signal): Promise<Watched> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 2");
  const metrics = new MetricRegistry();
  const { logger, entries } = recordingLogger();
  const watch = new StatementWatch(metrics, logger, { thresholdMillis: 0, sampleRatio: 1, ...slow });
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
  const db = new LocalDb(machine.engine, new Scheduler(tickingClock()), { timeoutMillis: 0, memoryBytesMax: 1e9, pool, watch });
  db.showRunning(metrics);
  const session: Session = { database: "public", timeZone: "UTC", user: { name: "me", mode: "rw" }, signal, client: "1.2.3.4" };
  return {
    entries,
    async run(text) {
      for await (const result of db.sql(text, session)) if (result.kind === "rows") for await (const _ of result.batches);
    },
    async metric(name) {
      const lines = (await metrics.registry.getSingleMetricAsString(name)).split("\n");
      return lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
    },
  };
}

test("a slow statement is one line: text, client, times, rows, memory", async () => {
  const { run, entries } = await watched();
  await run("SELECT v FROM cpu ORDER BY v DESC");
  expect(entries).toEqual([
    {
      level: "warn",
      message: "a statement was slow",
      fields: {
        millis: expect.any(Number),
        waitedForReaderMillis: expect.any(Number),
        code: "Success",
        kind: "select",
        database: "public",
        client: "1.2.3.4",
        query: "SELECT v FROM cpu ORDER BY v DESC",
        rows: 2,
        memoryBytes: expect.any(Number),
        spilledBytes: 0,
      },
    },
  ]);
  expect(Number(entries[0]?.fields["memoryBytes"])).toBeGreaterThan(0);
  expect(Number(entries[0]?.fields["millis"])).toBeGreaterThan(0);
});

test("secrets are not in the line, and a long text is cut", async () => {
  const { run, entries } = await watched();
  await run(`SELECT 'x' AS "password" /* secret='hush' */, '${"y".repeat(5000)}'`);
  const query = String(entries[0]?.fields["query"]);
  expect(query).toContain("secret='***'");
  expect(query).not.toContain("hush");
  expect(query.length).toBeLessThan(4200);
});

test("a statement below the threshold is no line; without a threshold none is", async () => {
  for (const thresholdMillis of [1e9, Number.POSITIVE_INFINITY]) {
    const { run, entries, metric } = await watched({ thresholdMillis });
    await run("SELECT v FROM cpu");
    expect(entries).toEqual([]);
    expect(await metric("varve_slow_statements_total")).toEqual([" 0"]);
  }
});

test("a part of the slow statements is logged, all are counted", async () => {
  const { run, entries, metric } = await watched({ sampleRatio: 0.25 });
  await run("SELECT 1; SELECT 2; SELECT 3; SELECT 4; SELECT 5");
  expect(entries.length).toBe(1);
  expect(await metric("varve_slow_statements_total")).toEqual([" 5"]);
});

test("statements are counted by what they were and how they ended", async () => {
  const { run, metric } = await watched();
  const fails = async (text: string, code: StatusCode): Promise<void> => {
    const thrown = await run(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown, text).toMatchObject({ code });
  };
  await run("SELECT v FROM cpu; INSERT INTO cpu (host, v, greptime_timestamp) VALUES ('c', 3, 3), ('d', 4, 4)");
  await fails("SELECT FROM WHERE", StatusCode.InvalidSyntax);
  await fails("SELECT w FROM cpu", StatusCode.PlanQuery);
  await fails("SELECT v / (v - 1) FROM cpu", StatusCode.EngineExecuteQuery); // While its rows are read.
  expect([...(await metric("varve_statements_total"))].sort()).toEqual([
    '{kind="insert",code="Success"} 1',
    '{kind="select",code="EngineExecuteQuery"} 1',
    '{kind="select",code="PlanQuery"} 1',
    '{kind="select",code="Success"} 1',
    '{kind="unparsed",code="InvalidSyntax"} 1',
  ]);
  expect(await metric("varve_statement_rows_total")).toEqual([" 4"]);
  expect((await metric("varve_statement_seconds")).filter((line) => line.startsWith("_count"))).toEqual([
    '_count{kind="select"} 3',
    '_count{kind="insert"} 1',
  ]);
});

test("a statement whose client left counts as cancelled; one that KILL ended is counted", async () => {
  const leaving = new AbortController();
  const { run, metric } = await watched({}, leaving.signal);
  await run("KILL 99; KILL 2"); // The second ends itself.
  expect(await metric("greptime_process_kill_count")).toEqual(['{catalog="greptime"} 1']);
  leaving.abort();
  expect(await run("SELECT v FROM cpu").then(() => "rows", String)).toMatch(/cancelled/);
  expect(await metric("varve_statements_total")).toContain('{kind="select",code="Cancelled"} 1');
  expect(await metric("greptime_process_list_count")).toEqual(['{catalog="greptime"} 0']);
});
