import { expect, test } from "bun:test";
import { Machine } from "../../../../test/engine/machine.ts";
import { failureOf } from "../../../../test/support/failure-of.ts";
import { SqlSession } from "../../../../test/engine/sql-session.ts";
import { engineSql } from "../../../../test/support/engine-sql.ts";
import { parsePromql } from "../syntax/parse.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { RowEngine } from "./row-engine.ts";

const { engine } = await Machine.start();
await engineSql(engine, "CREATE TABLE t (val DOUBLE, ts TIMESTAMP TIME INDEX, b STRING, a STRING, PRIMARY KEY (b, a))");
await engineSql(engine, "INSERT INTO t VALUES (1, 0, 'x', 'y'), (2, 10000, 'x', 'y'), (5, 0, 'z', NULL)");
const LIMITS = { samplesMax: 0, seriesMax: 0, lookbackMillis: 5000, timeoutMillis: 0 };
const rowEngine = new RowEngine(new Scheduler(), LIMITS);

/** Names of the columns, then the rows, cells joined by `|`, sorted. */
async function check(promql: string, names: string, rows: readonly string[], alias?: string): Promise<void> {
  const request = {
    promql,
    span: { line: 1, column: 1 },
    startMillis: 0,
    endMillis: 10_000,
    stepMillis: 10_000,
    lookbackMillis: undefined,
    alias,
  };
  const environment = { database: "public", timeZone: "UTC", now: 0n } as never;
  const plan = rowEngine.plan(request, { catalog: engine, environment });
  const signal = new AbortController().signal;
  const got: string[] = [];
  for await (const { rowCount, vectors } of plan.run({ signal, reserve: () => undefined, release: () => undefined })) {
    for (let row = 0; row < rowCount; row++) {
      const cells = plan.columns.map(({ type }, c) => (vectors[c] === undefined ? "" : String(scalarAt(vectors[c], type, row) ?? "")));
      got.push(cells.join("|"));
    }
  }
  expect([promql, plan.columns.map(({ name }) => name).join(), got.sort()]).toEqual([promql, names, [...rows]]);
  expect(parsePromql(promql).ok).toBe(true);
}

test("columns and rows of a query", async () => {
  await check("t", "val,ts,b,a", ["1|0|x|y", "2|10000|x|y", "5|0|z|"]);
  await check('t{__field__="val"}', "val,a,b,ts", ["1|y|x|0", "2|y|x|10000", "5||z|0"]);
  await check("t", "n,a,b,ts", ["1|y|x|0", "2|y|x|10000", "5||z|0"], "n");
  await check("sum by (b) (t)", "b,ts,sum by (b) (t)", ["x|0|1", "x|10000|2", "z|0|5"]);
  await check("abs(t)", "ts,abs(t),a,b", ["0|1|y|x", "0|5||z", "10000|2|y|x"]);
  await check("topk(1, t)", "topk(1, t),a,b,ts", ["2|y|x|10000", "5||z|0"]);
  await check("t * 2", "a,b,ts,t * 2", ["y|x|0|2", "y|x|10000|4", "|z|0|10"]);
  await check("1", "time,value", ["0|1", "10000|1"]);
  await check("nosuch", "value,time", []);
});

test("what gives no rows is refused", async () => {
  for (const promql of ["t[5m]", '"x"', "t t"]) {
    expect(await failureOf(check(promql, "", []))).toMatchObject({ code: StatusCode.InvalidSyntax });
  }
});

test("rows have the time that a query has", async () => {
  const hurried = new RowEngine(new Scheduler(), { ...LIMITS, timeoutMillis: 1 });
  const request = {
    promql: "sum(sum_over_time(vector(1)[40m:1ms]))",
    span: { line: 1, column: 1 },
    startMillis: 0,
    endMillis: 0,
    stepMillis: 1,
    lookbackMillis: undefined,
    alias: undefined,
  };
  const plan = hurried.plan(request, { catalog: engine, environment: { database: "public" } });
  const run = { signal: new AbortController().signal, reserve: () => undefined, release: () => undefined };
  expect(await failureOf(Array.fromAsync(plan.run(run)))).toMatchObject({
    code: StatusCode.DeadlineExceeded,
    message: expect.stringContaining("query.promql.timeout"),
  });
});

test("TQL through a database: rows, WITH, EXPLAIN", async () => {
  const session = await SqlSession.start();
  await session.rows("CREATE TABLE up (ts TIMESTAMP TIME INDEX, job STRING PRIMARY KEY, v DOUBLE)");
  await session.rows("INSERT INTO up VALUES (0, 'a', 1), (0, 'b', 2)");
  expect(await session.rows("TQL EVAL (0, 0, '5s') sort_desc(up)")).toEqual([
    ["0", "2.0", '"b"'],
    ["0", "1.0", '"a"'],
  ]);
  expect(await session.rows("WITH x AS (TQL EVAL (0, 5, 5) sum(up) AS s) SELECT max(s), count(*) FROM x")).toEqual([["3.0", "2"]]);
  expect((await session.rows("TQL EXPLAIN (0, 5, 5) up"))[1]?.[1]).toContain("PromQL: up, from 0 to 5000 ms by 5000 ms");
  expect(await session.refusal("TQL EVAL (0, 1, 1) up(")).toStartWith("2000 1:");
});
