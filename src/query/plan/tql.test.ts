import { expect, test } from "bun:test";
import { failureOf } from "../../../test/support/failure-of.ts";
import { QueryFixture, runSql } from "../../../test/support/query-fixture.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FLOAT64, STRING } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { PromqlEngine, PromqlRequest } from "../promql-engine.ts";

/** An engine that answers with what it was asked: the query and how many moments it has. */
class EchoEngine implements PromqlEngine {
  readonly requests: PromqlRequest[] = [];

  plan(request: PromqlRequest): ReturnType<PromqlEngine["plan"]> {
    this.requests.push(request);
    const columns = [
      { name: "query", type: STRING },
      { name: request.alias ?? "value", type: FLOAT64 },
    ];
    const moments = Math.floor((request.endMillis - request.startMillis) / request.stepMillis) + 1;
    return {
      columns,
      summary: "Echo",
      async *run({ reserve, release }) {
        reserve(10);
        yield { rowCount: 1, vectors: [vectorOf(STRING, [request.promql]), vectorOf(FLOAT64, [moments])] };
        release(10);
      },
    };
  }
}

function fixture(timeZone = "UTC"): { readonly engine: EchoEngine; readonly sql: (text: string) => ReturnType<typeof runSql> } {
  const engine = new EchoEngine();
  const { context } = new QueryFixture();
  return { engine, sql: (text) => runSql(text, { ...context, promql: engine, variables: { database: "public", timeZone } }) };
}

/** What the engine is asked for the moments of a TQL, in seconds: start, end, step and lookback. */
async function check(range: string, want: readonly (number | undefined)[], timeZone = "UTC"): Promise<void> {
  const { engine, sql } = fixture(timeZone);
  await sql(`TQL EVAL ${range} a`);
  const [request] = engine.requests;
  const millis = [request?.startMillis, request?.endMillis, request?.stepMillis, request?.lookbackMillis];
  expect([range, millis.map((each) => (each === undefined ? undefined : each / 1000))]).toEqual([range, [...want]]);
}

async function checkFails(range: string, code: StatusCode, why: string): Promise<void> {
  const failure = await failureOf(fixture().sql(`TQL EVAL ${range} a`));
  expect([range, failure]).toEqual([range, expect.objectContaining({ code, message: expect.stringContaining(why) })]);
}

const NOW = 1_704_067_200;

test("moments are seconds, times, or what can be computed", async () => {
  await check("(0, 10, 5)", [0, 10, 5, undefined]);
  await check("('1.5', '1743465600.5', '0.5', '300')", [1.5, 1_743_465_600.5, 0.5, 300]);
  await check("('2024-01-01T00:00:00Z', '2024-01-01 00:01:00', '1m30s', '1h')", [NOW, NOW + 60, 90, 3600]);
  await check("('2024-01-01 08:00:00', '2024-01-01T00:00:00Z', '1s')", [NOW, NOW, 1, undefined], "+08:00");
  await check("('2024-01-01'::timestamp, '2024-01-02'::date, INTERVAL '1 hour')", [NOW, NOW + 86_400, 3600, undefined], "+08:00");
  await check("(now() - INTERVAL '5 minutes', now(), '5ms')", [NOW - 300, NOW, 0.005, undefined]);
  await check("(date_trunc('day', now() - '1 hour'::interval), now() - now(), 1)", [NOW - 86_400, 0, 1, undefined]);
  await check("", [0, 0, 300, undefined]);
});

test("what is no moment and no duration is refused", async () => {
  await checkFails("('soon', 1, 1)", StatusCode.InvalidSyntax, "Invalid TQL syntax: Failed to evaluate TQL expression");
  await checkFails("(INTERVAL '1 hour', 1, 1)", StatusCode.InvalidSyntax, "Failed to extract a timestamp value");
  await checkFails("(NULL, 1, 1)", StatusCode.InvalidSyntax, "for start");
  await checkFails("(0, true, 1)", StatusCode.InvalidSyntax, "for end");
  await checkFails("(0, 1, 'fast')", StatusCode.InvalidSyntax, "not a valid duration string: 'fast'");
  await checkFails("(0, 1, -15)", StatusCode.EngineExecuteQuery, "Failed to convert float seconds to duration, raw: -15");
  await checkFails("(0, 1, 0)", StatusCode.InvalidArguments, "at least a millisecond");
  await checkFails("(0, 1, INTERVAL '1 month')", StatusCode.InvalidSyntax, "no fixed length");
  await checkFails("(0, 1e30, 1)", StatusCode.InvalidSyntax, "too large");
  await checkFails("(0, nosuch, 1)", StatusCode.PlanQuery, "No field named nosuch");
});

test("TQL gives the engine's rows, alone and in WITH", async () => {
  const { engine, sql } = fixture();
  expect(await sql("TQL EVAL (0, 10, '5s') sum by (a) (b{c=\"d\"}) AS total")).toMatchObject({
    columns: ["query", "total"],
    rows: [['sum by (a) (b{c="d"})', 3]],
  });
  const text = "WITH x (q, v) AS (TQL EVAL (0, 10, 1) up), y AS (SELECT v * 2 AS w FROM x) SELECT q, v, w FROM x, y WHERE v > 1";
  expect((await sql(text)).rows).toEqual([["up", 11, 22]]);
  // A plan that comes from elsewhere is planned by its engine once more.
  const asked = new Map(engine.requests.map(({ promql, span }) => [promql, [promql, span]]));
  expect([...asked.values()]).toEqual([
    ['sum by (a) (b{c="d"})', { line: 1, column: 24 }],
    ["up", { line: 1, column: 39 }],
  ]);
});

test("EXPLAIN and ANALYZE name the engine's plan", async () => {
  const { sql } = fixture();
  expect((await sql("TQL EXPLAIN (0, 10, 1) up")).rows[1]).toEqual(["physical_plan", "BuiltInTableExec: Echo"]);
  expect((await sql("EXPLAIN TQL EVAL (0, 10, 1) up")).rows[1]).toEqual(["physical_plan", "BuiltInTableExec: Echo"]);
  expect((await sql("TQL ANALYZE FORMAT JSON (0, 10, 1) up")).columns).toEqual(["stage", "node", "plan"]);
});

test("without an engine TQL is refused, after its moments were looked at", async () => {
  const { context } = new QueryFixture();
  const refused = await failureOf(runSql("TQL EVAL (0, 1, 1) a", context));
  expect(refused).toMatchObject({
    code: StatusCode.Unsupported,
    message: expect.stringContaining("keyword: TQL; this server has no PromQL engine"),
  });
  expect(await failureOf(runSql("TQL EVAL (0, 1, 'x') a", context))).toMatchObject({ code: StatusCode.InvalidSyntax });
  expect(refused).toBeInstanceOf(DbError);
});
