/** The limits of PromQL hold at every door: query, query_range, rows of /v1/promql, TQL in SQL. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { LocalDb } from "../local-db.ts";
import type { Session } from "../session.ts";
import type { PromqlLimits } from "./promql-query.ts";
import { eachOf } from "../../../test/support/each-of.ts";

const { engine } = await Machine.start();
await engineSql(engine, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, v DOUBLE)");
await engineSql(engine, "INSERT INTO t VALUES (0, 'a', 1), (1000, 'a', 2), (0, 'b', 3)");
await engineSql(engine, "CREATE TABLE w (ts TIMESTAMP TIME INDEX, u DOUBLE, v DOUBLE)");
await engineSql(engine, "INSERT INTO w VALUES (0, 1, 1), (1000, 2, 2)");
const LIMITS: PromqlLimits = { samplesMax: 0, seriesMax: 0, pointsMax: 0, timeoutMillis: 0, lookbackMillis: 300_000 };
const session: Session = {
  database: "public",
  timeZone: "UTC",
  user: { name: "someone", mode: "rw" },
  signal: new AbortController().signal,
};

/** How many points each door gives at 1 s and 2 s (that of one moment: at 2 s), or its failure. */
async function doors(query: string, changes: Partial<PromqlLimits>): Promise<Readonly<Record<string, unknown>>> {
  const promql = { ...LIMITS, ...changes };
  const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, promql });
  const asked = async (isInstant: boolean): Promise<number> => {
    const times = { startMillis: isInstant ? 2000 : 1000, endMillis: 2000, stepMillis: 1000 };
    const answer = await db.promql.query({ ...times, query, isInstant, lookbackMillis: undefined, timeoutMillis: undefined }, session);
    const { result } = answer;
    try {
      let points = 0;
      if (result.kind === "vector") {
        for await (const { values, present } of eachOf(result.series)) points += values.filter((_, step) => present?.[step] !== 0).length;
      }
      return points;
    } finally {
      answer.done();
    }
  };
  const counted = async (results: AsyncIterable<StatementResult>): Promise<number> => {
    let rows = 0;
    for await (const result of results) {
      if (result.kind === "rows") for await (const { rowCount } of result.batches) rows += rowCount;
    }
    return rows;
  };
  const times = { startMillis: 1000, endMillis: 2000, stepMillis: 1000, lookbackMillis: undefined };
  const outcomes = {
    query: () => asked(true),
    query_range: () => asked(false),
    rows: () => counted(db.promql.rows({ ...times, promql: query, span: { line: 1, column: 1 }, alias: undefined }, session)),
    TQL: () => counted(db.sql(`TQL EVAL (1, 2, 1) ${query}`, session)),
  };
  const found: Record<string, unknown> = {};
  for (const [door, outcome] of Object.entries(outcomes)) {
    found[door] = await outcome().catch((error: unknown) => error);
  }
  return found;
}

async function check(query: string, limits: Partial<PromqlLimits>, [query1, ...others]: readonly number[]): Promise<void> {
  const [range, rows = range, tql = rows] = others;
  expect([query, await doors(query, limits)]).toEqual([query, { query: query1, query_range: range, rows, TQL: tql }]);
}

async function refused(query: string, limits: Partial<PromqlLimits>, code: number, text: string): Promise<void> {
  const failure = { code, message: expect.stringContaining(text) };
  expect([query, await doors(query, limits)]).toMatchObject([query, { query: failure, query_range: failure, rows: failure, TQL: failure }]);
}

test("samples of all selectors together", async () => {
  await check("t", { samplesMax: 3 }, [2, 4]);
  const text = "query processing would load too many samples into memory in query execution";
  await refused("t", { samplesMax: 1 }, StatusCode.RuntimeResourcesExhausted, text);
  await refused('t{h="a"} + on () t{h="b"}', { samplesMax: 1 }, StatusCode.RuntimeResourcesExhausted, "query.promql.samples");
});

test("samples of all fields together", async () => {
  // Rows have both fields, Prometheus' answers the first one.
  await check("w", { samplesMax: 4 }, [1, 2, 2]);
  expect(await doors("w", { samplesMax: 3 })).toMatchObject({
    query_range: 2,
    rows: { code: StatusCode.RuntimeResourcesExhausted },
    TQL: { code: StatusCode.RuntimeResourcesExhausted },
  });
});

test("series, time and look-back", async () => {
  await refused("t", { seriesMax: 1 }, StatusCode.RuntimeResourcesExhausted, "query.promql.series");
  await refused("sum(sum_over_time(vector(1)[40m:1ms]))", { timeoutMillis: 1 }, StatusCode.DeadlineExceeded, "query.promql.timeout");
  await check("t", { lookbackMillis: 1000 }, [0, 1]);
});

test("points are those of query_range alone", async () => {
  await check("t", { pointsMax: 1 }, [2, 4]);
  expect(await doors("t", { pointsMax: 0.5 })).toMatchObject({ query: 2, query_range: { code: StatusCode.PlanQuery }, rows: 4, TQL: 4 });
});
