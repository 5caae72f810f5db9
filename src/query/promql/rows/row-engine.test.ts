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
await engineSql(engine, "CREATE TABLE w (h STRING PRIMARY KEY, u INT, ts TIMESTAMP TIME INDEX, n STRING, v DOUBLE)");
await engineSql(engine, "INSERT INTO w VALUES ('a', 1, 0, 'x', 10), ('b', NULL, 0, 'y', 20), ('a', 2, 10000, NULL, NULL)");
await engineSql(engine, "CREATE TABLE x (ts TIMESTAMP TIME INDEX, a INT, b INT, c INT)");
const AT_ZERO = {
  promql: "",
  span: { line: 1, column: 1 },
  startMillis: 0,
  endMillis: 0,
  stepMillis: 1,
  lookbackMillis: undefined,
  alias: undefined,
};
const UNLIMITED = { signal: new AbortController().signal, reserve: (): void => undefined, release: (): void => undefined };
const LIMITS = { samplesMax: 0, seriesMax: 0, lookbackMillis: 5000, timeoutMillis: 0 };
const rowEngine = new RowEngine(new Scheduler(), LIMITS);

/** Names of the columns, then the rows, cells joined by `|`, sorted. */
async function check(promql: string, names: string, rows: readonly string[], alias?: string): Promise<void> {
  const request = { ...AT_ZERO, promql, endMillis: 10_000, stepMillis: 10_000, alias };
  const environment = { database: "public", timeZone: "UTC", now: 0n } as never;
  const plan = rowEngine.plan(request, { catalog: engine, environment });
  const got: string[] = [];
  for await (const { rowCount, vectors } of plan.run(UNLIMITED)) {
    for (let row = 0; row < rowCount; row++) {
      const cells = plan.columns.map(({ type }, c) => (vectors[c] === undefined ? "" : String(scalarAt(vectors[c], type, row) ?? "")));
      got.push(cells.join("|"));
    }
  }
  const shown = /^(?:sort|topk|bottomk|count_values)/.test(promql) ? got : got.sort();
  expect([promql, plan.columns.map(({ name }) => name).join(), shown]).toEqual([promql, names, [...rows]]);
  expect(parsePromql(promql).ok).toBe(true);
}

test("columns and rows of a query", async () => {
  await check("t", "val,ts,b,a", ["1|0|x|y", "2|10000|x|y", "5|0|z|"]);
  await check('t{__field__="val"}', "val,b,a,ts", ["1|x|y|0", "2|x|y|10000", "5|z||0"]);
  await check("t", "n,b,a,ts", ["1|x|y|0", "2|x|y|10000", "5|z||0"], "n");
  await check("sum by (b) (t)", "b,ts,sum by (b) (t)", ["x|0|1", "x|10000|2", "z|0|5"]);
  await check("abs(t)", "ts,abs(t),b,a", ["0|1|x|y", "0|5|z|", "10000|2|x|y"]);
  await check("topk(1, t)", "topk(1, t),b,a,ts", ["5|z||0", "2|x|y|10000"]);
  await check("t * 2", "b,a,ts,t * 2", ["x|y|0|2", "x|y|10000|4", "z||0|10"]);
  await check("1", "time,value", ["0|1", "10000|1"]);
  await check("nosuch", "time,value", []);
  await check("absent(nosuch)", "time,absent(nosuch)", ["0|1", "10000|1"]);
  await check("scalar(sum(t))", "ts,scalar(sum(t))", ["0|6", "10000|2"]);
});

test("labels stand where people look for them", async () => {
  await check('label_replace(t, "n", "$1", "b", "(.*)")', 'ts,label_replace(t, "n", "$1", "b", "(.*)"),n,b,a', [
    "0|1|x|x|y",
    "0|5|z|z|",
    "10000|2|x|x|y",
  ]);
  await check('label_replace(t, "n", "", "b", "x")', 'ts,label_replace(t, "n", "", "b", "x"),b,a', ["0|1|x|y", "0|5|z|", "10000|2|x|y"]);
  await check("t > 1", "ts,t > 1,b,a", ["0|5|z|", "10000|2|x|y"]);
  await check("sum by (b) (t) > 1", "b,ts,sum by (b) (t) > 1", ["x|10000|2", "z|0|5"]);
  await check("sum by (a, nosuch, b) (t)", "a,b,ts,sum by (a, nosuch, b) (t)", ["y|x|0|1", "y|x|10000|2", "|z|0|5"]);
  await check("sum without (a) (t)", "b,ts,sum without (a) (t)", ["x|0|1", "x|10000|2", "z|0|5"]);
  await check("t and on (b) t", "ts,t and on (b) t,b,a", ["0|1|x|y", "0|5|z|", "10000|2|x|y"]);
  await check("sum by (b) (t) or t", "ts,sum by (b) (t) or t,a,b", ["0|1|y|x", "0|1||x", "0|5||z", "10000|2|y|x", "10000|2||x"]);
  await check("t + on (b) t", "b,ts,t + on (b) t", ["x|0|2", "x|10000|4", "z|0|10"]);
  await check("t > on (b) (t - 1)", "ts,t > on (b) (t - 1),b", ["0|1|x", "0|5|z", "10000|2|x"]);
  await check("t * on (b) group_left (a) sum by (b) (t)", "b,a,ts,t * on (b) group_left (a) sum by (b) (t)", [
    "x||0|1",
    "x||10000|4",
    "z||0|25",
  ]);
  await check('absent(t{b="q", a="r", a="s"})', 'ts,absent(t{a="r",a="s",b="q"}),b,a', ["0|1|q|", "10000|1|q|"]);
});

test("rows come in the order that the query asks for", async () => {
  await check("sort_desc(t)", "ts,sort_desc(t),b,a", ["0|5|z|", "10000|2|x|y", "0|1|x|y"]);
  await check("sort(t)", "ts,sort(t),b,a", ["0|1|x|y", "10000|2|x|y", "0|5|z|"]);
  await check('sort_by_label_desc(t, "b")', 'ts,sort_by_label_desc(t, "b"),b,a', ["0|5|z|", "0|1|x|y", "10000|2|x|y"]);
  await check("bottomk(2, t)", "bottomk(2, t),b,a,ts", ["1|x|y|0", "5|z||0", "2|x|y|10000"]);
  await check("topk(2, t)", "topk(2, t),b,a,ts", ["5|z||0", "1|x|y|0", "2|x|y|10000"]);
  await check('count_values by (b) ("n", t)', 'count_values by (b) ("n", t),b,ts,n', ["1|x|0|1", "1|x|10000|2", "1|z|0|5"]);
});

test("each field of a table is a column of values", async () => {
  await check("w", "h,u,ts,v", ["a|1|0|10", "a|2|10000|", "b||0|20"]);
  await check("(w)", "h,u,ts,v", ["a|1|0|10", "a|2|10000|", "b||0|20"]);
  await check('w{__field__!="u"}', "v,h,ts", ["10|a|0", "20|b|0"]);
  await check('w{__field__="v", __field__="u"}', "u,v,h,ts", ["1|10|a|0", "2||a|10000", "|20|b|0"]);
  await check("abs(w)", 'ts,abs(w{__field__="u"}),abs(w{__field__="v"}),h', ["0|1|10|a", "0||20|b", "10000|2||a"]);
  await check("sum(w)", 'ts,sum(w{__field__="u"}),sum(w{__field__="v"})', ["0|1|30", "10000|2|"]);
  await check("w / w", 'h,ts,w{__field__="u"} / w{__field__="u"},w{__field__="v"} / w{__field__="v"}', ["a|0|1|1", "a|10000|1|", "b|0||1"]);
  await check('w * on (h) w{__field__="v"}', 'h,ts,w{__field__="u"} * on (h) w{__field__="v"},w{__field__="v"} * on (h) w{__field__="v"}', [
    "a|0|10|100",
    "b|0||400",
  ]);
  await check("sort_desc(w)", 'ts,sort_desc(w{__field__="u"}),sort_desc(w{__field__="v"}),h', ["10000|2||a", "0|1|10|a", "0||20|b"]);
  await check('{__name__=~"w|t"}', "value,a,b,h,time", ["1|y|x||0", "1|||a|0", "2|y|x||10000", "2|||a|10000", "5||z||0"]);
});

test("what has no meaning for several fields is refused", async () => {
  const refused = async (promql: string, code: StatusCode, text: string, alias?: string): Promise<void> => {
    const failure = await failureOf(check(promql, "", [], alias));
    expect([promql, failure]).toMatchObject([promql, { code, message: expect.stringContaining(text) }]);
  };
  await refused("group(w)", StatusCode.Unsupported, "group on multi-value input");
  await refused("topk(1, w)", StatusCode.InvalidArguments, "topk on multi-value input");
  await refused("limitk(1, w)", StatusCode.InvalidArguments, "limitk on multi-value input");
  await refused('count_values("n", w)', StatusCode.EngineExecuteQuery, "count_values on multi-value input");
  await refused("w > 1", StatusCode.EngineExecuteQuery, "a comparison that filters");
  await refused("histogram_quantile(0.5, w)", StatusCode.EngineExecuteQuery, "histogram_quantile on multi-value input");
  await refused("w + x", StatusCode.InvalidArguments, "2 and 3 fields");
  await refused('w{__field__="nosuch"}', StatusCode.InvalidArguments, "Cannot find column nosuch");
  await refused("abs(w)", StatusCode.InvalidArguments, "AS n names one value", "n");
  await check("w >= bool 2", 'h,ts,w{__field__="u"} >= bool 2,w{__field__="v"} >= bool 2', ["a|0|0|1", "a|10000|1|", "b|0||1"]);
});

test("batches hold the rows of many series", async () => {
  const request = { ...AT_ZERO, promql: "sum by (b) (t) or vector(1) or t", endMillis: 20_000_000, stepMillis: 1000 };
  const plan = rowEngine.plan(request, { catalog: engine, environment: { database: "public" } });
  const batches = (await Array.fromAsync(plan.run(UNLIMITED))).map(({ rowCount }) => rowCount);
  expect(batches).toEqual([8192, 8192, 20_001 + 25 - 2 * 8192]);
});

test("what gives no rows is refused", async () => {
  for (const promql of ["t[5m]", '"x"', "t t"]) {
    expect(await failureOf(check(promql, "", []))).toMatchObject({ code: StatusCode.InvalidSyntax });
  }
});

test("rows have the time that a query has", async () => {
  const hurried = new RowEngine(new Scheduler(), { ...LIMITS, timeoutMillis: 1 });
  const request = { ...AT_ZERO, promql: "sum(sum_over_time(vector(1)[40m:1ms]))" };
  const plan = hurried.plan(request, { catalog: engine, environment: { database: "public" } });
  expect(await failureOf(Array.fromAsync(plan.run(UNLIMITED)))).toMatchObject({
    code: StatusCode.DeadlineExceeded,
    message: expect.stringContaining("query.promql.timeout"),
  });
});

test("TQL through a database: rows, WITH, EXPLAIN", async () => {
  const session = await SqlSession.start();
  await session.rows("CREATE TABLE up (ts TIMESTAMP TIME INDEX, job STRING PRIMARY KEY, v DOUBLE) WITH (spread = 1)");
  await session.rows("INSERT INTO up VALUES (0, 'a', 1), (0, 'b', 2)");
  expect(await session.rows("TQL EVAL (0, 0, '5s') sort_desc(up)")).toEqual([
    ["0", "2.0", '"b"'],
    ["0", "1.0", '"a"'],
  ]);
  expect(await session.rows("WITH x AS (TQL EVAL (0, 5, 5) sum(up) AS s) SELECT max(s), count(*) FROM x")).toEqual([["3.0", "2"]]);
  expect((await session.rows("TQL EXPLAIN (0, 5, 5) up"))[1]?.[1]).toContain("PromQL: up, from 0 to 5000 ms by 5000 ms");
  expect((await session.rows("TQL ANALYZE (0, 5, 5) sum(up)"))[0]?.[2]).toMatch(/output_rows: 2, .*files_read: 0, .*rows_scanned: 2\]/);
  await session.flush("up");
  expect((await session.rows("TQL ANALYZE FORMAT JSON (0, 5, 5) up + up"))[0]?.[2]).toMatch(/rows_returned\\?":2,.*files_read\\?":1,/);
  expect(await session.refusal("TQL ANALYZE FORMAT GRAPHVIZ (0, 5, 5) up")).toStartWith("1001 ");
  expect(await session.refusal("TQL EVAL (0, 1, 1) up(")).toStartWith("2000 1:23: parse error: unclosed");
  expect(await session.refusal("TQL EVAL (0, 1, 1)\n\n  sum(up)\n  by job")).toStartWith("2000 4:6: parse error");
  expect(await session.refusal("SELECT 1;\nTQL EVAL (0, 1, 1) sum(up\n  up)")).toStartWith("2000 3:3: parse error");
});
