import { afterAll, expect, test } from "bun:test";
import { Machine } from "../../../../../../test/engine/machine.ts";
import { engineSql } from "../../../../../../test/support/engine-sql.ts";
import { startFixture } from "../../../../../../test/support/http-fixture.ts";
import { metricBatch } from "../../../../../../test/support/metric-batch.ts";
import { Scheduler } from "../../../../../base/scheduler/scheduler.ts";
import { LocalDb } from "../../../../../db/local-db.ts";

const { engine } = await Machine.start();
const promql = { samplesMax: 100_000, seriesMax: 0, pointsMax: 11_000, timeoutMillis: 60_000, lookbackMillis: 300_000 };
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, promql });
const { server, url, bugs } = await startFixture({ db });
afterAll(() => server.stop(50));

await engine.write(
  "public",
  metricBatch(
    [0, 60, 120, 180].flatMap((second) => ["a", "b"].map((job) => ({ metric: "up", labels: { job }, time: second * 1000, value: second }))),
    "p",
  ),
  { autoCreate: true, tableOptions: {}, physicalTable: "p" },
);
await engineSql(engine, "CREATE TABLE odd (ts TIMESTAMP TIME INDEX, h STRING PRIMARY KEY, v DOUBLE, w INT)");
await engineSql(
  engine,
  "INSERT INTO odd VALUES (500, '\"1\"', 'NaN', 7), (500, '2', 'Infinity', 8), (500, '3', -0.0, 9), (500, '4', 1e21, 10)",
);

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Status and text of an answer. */
async function answer(path: string, parameters: Readonly<Record<string, string>>, method = "GET"): Promise<readonly [number, string]> {
  const form = new URLSearchParams(parameters).toString();
  const base = `${url}/v1/prometheus/api/v1/${path}`;
  const response = await (method === "GET" ? fetch(`${base}?${form}`) : fetch(base, { method, headers: FORM, body: form }));
  return [response.status, await response.text()];
}

/** The data of an answer as text, by GET and by POST. */
async function check(path: string, parameters: Readonly<Record<string, string>>, data: string, behind = ""): Promise<void> {
  const want = [200, `{"status":"success","data":${data}${behind}}`] as const;
  expect([parameters, await answer(path, parameters)]).toEqual([parameters, want]);
  expect(await answer(path, parameters, "POST")).toEqual(want);
}

async function refused(
  path: string,
  parameters: Readonly<Record<string, string>>,
  status: number,
  type: string,
  text: string,
): Promise<void> {
  const [got, body] = await answer(path, parameters);
  expect([parameters, got, JSON.parse(body)]).toEqual([
    parameters,
    status,
    { status: "error", errorType: type, error: expect.stringContaining(text) },
  ]);
}

test("query: scalars, strings, vectors and ranges at one moment", async () => {
  await check("query", { query: "1 + 1", time: "1.5" }, '{"resultType":"scalar","result":[1.500,"2"]}');
  await check("query", { query: '"x\\n"', time: "1" }, '{"resultType":"string","result":[1,"x\\n"]}');
  await check(
    "query",
    { query: "up", time: "180" },
    '{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"a"},"value":[180,"180"]},' +
      '{"metric":{"__name__":"up","job":"b"},"value":[180,"180"]}]}',
  );
  await check(
    "query",
    { query: 'up{job="a"}[61s]', time: "180" },
    '{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a"},"values":[[120,"120"],[180,"180"]]}]}',
  );
  await check(
    "query",
    { query: "sum(up) by (nosuch)", time: "60", timeout: "5s" },
    '{"resultType":"vector","result":[{"metric":{},"value":[60,"120"]}]}',
  );
  await check("query", { query: "nosuch", time: "60" }, '{"resultType":"vector","result":[]}');
  await check("query", { query: "up", time: "300", lookback_delta: "1m" }, '{"resultType":"vector","result":[]}');
});

test("numbers and times are printed as Prometheus does", async () => {
  const values = async (query: string): Promise<readonly string[]> => {
    const [, body] = await answer("query", { query, time: "1" });
    const { data } = JSON.parse(body) as { readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] } };
    return data.result.map(({ value }) => value[1]).sort();
  };
  expect(await values("odd")).toEqual(["+Inf", "-0", "1e+21", "NaN"]);
  expect(await values('odd{__field__="w"}')).toEqual(["10", "7", "8", "9"]);
  expect(await values('-odd{h="2"}')).toEqual(["-Inf"]);
  const small = ["0.000001", "9.99e-07", "1e-07", "-1.5e-09", "9.9e-10", "1e-10"];
  for (const text of small) expect(await values(`vector(${text})`)).toEqual([text]);
});

test("query_range: matrices in the order of their labels", async () => {
  await check(
    "query_range",
    { query: "-up", start: "0", end: "120", step: "1m" },
    '{"resultType":"matrix","result":[{"metric":{"job":"a"},"values":[[0,"-0"],[60,"-60"],[120,"-120"]]},' +
      '{"metric":{"job":"b"},"values":[[0,"-0"],[60,"-60"],[120,"-120"]]}]}',
  );
  await check(
    "query_range",
    { query: "2", start: "0", end: "1", step: "0.5" },
    '{"resultType":"matrix","result":[{"metric":{},"values":[[0,"2"],[0.500,"2"],[1,"2"]]}]}',
  );
  await check(
    "query_range",
    { query: "up", start: "0", end: "0", step: "1", limit: "1" },
    '{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a"},"values":[[0,"0"]]}]}',
    ',"warnings":["results truncated due to limit"]',
  );
  await check("query_range", { query: "up", start: "1e6", end: "1e6", step: "1" }, '{"resultType":"matrix","result":[]}');
});

test("annotations and statistics", async () => {
  const [, body] = await answer("query", { query: "rate(up[2m])", time: "180", stats: "all" });
  expect(JSON.parse(body)).toMatchObject({
    data: { stats: { samples: { totalQueryableSamples: expect.any(Number) }, timings: { execTotalTime: expect.any(Number) } } },
    infos: [expect.stringContaining("metric might not be a counter")],
  });
});

test("what cannot be parsed is bad data, what cannot be run an execution error", async () => {
  await refused("query", { query: "up up" }, 400, "bad_data", 'invalid parameter "query": 1:4: parse error');
  await refused("query", {}, 400, "bad_data", "no expression found in input");
  await refused("query", { query: "up", time: "x" }, 400, "bad_data", 'invalid parameter "time"');
  await refused("query", { query: "up", timeout: "0" }, 400, "bad_data", 'invalid parameter "timeout"');
  await refused("query", { query: "up", limit: "x" }, 400, "bad_data", 'invalid parameter "limit"');
  await refused("query", { query: "up * on() up", time: "60" }, 422, "execution", "many-to-many");
  await refused("query", { query: 'up{__schema__=~"x"}' }, 422, "execution", "by =");
  const range = { query: "up", start: "0", end: "10", step: "1" };
  await refused("query_range", { ...range, step: "0" }, 400, "bad_data", "zero or negative query resolution step");
  await refused("query_range", { ...range, step: "-1" }, 400, "bad_data", "zero or negative");
  await refused("query_range", { ...range, end: "-1" }, 400, "bad_data", "end timestamp must not be before start time");
  await refused("query_range", { ...range, end: "11001" }, 400, "bad_data", "exceeded maximum resolution of 11,000 points");
  await refused("query_range", { ...range, query: "up[5m]" }, 400, "bad_data", 'invalid expression type "range vector" for range query');
  await refused("query_range", { ...range, query: '"x"' }, 400, "bad_data", 'invalid expression type "string"');
  await refused("query_range", { query: "up" }, 400, "bad_data", 'invalid parameter "start"');
});

test("huge times, ranges and expressions are answered or refused", async () => {
  for (const time of ["9e12", "-9e12", "292277025-08-18T07:12:54.999999999Z"])
    expect((await answer("query", { query: "up", time }))[0]).toBe(200);
  const odd = ["up[100y]", "up offset 100y", "up offset -100y", "up @ 9e12", "count_over_time(up[100y:1d])", "sum_over_time(up[1y:1s])"];
  for (const query of odd) expect([200, 422]).toContain((await answer("query", { query, time: "180" }))[0]);
  const wide = await answer("query_range", { query: "up", start: "-9e12", end: "9e12", step: "292y" });
  expect([200, 400, 422]).toContain(wide[0]);
  const slow = `up{job=~"${"(a+)+".repeat(50)}$"}`;
  expect((await answer("query", { query: slow, time: "180" }))[0]).toBe(200);
  expect(bugs).toEqual([]);
});

test("a query over too many samples is refused", async () => {
  const few = new LocalDb(engine, new Scheduler(), {
    timeoutMillis: 0,
    memoryBytesMax: Number.POSITIVE_INFINITY,
    promql: { ...promql, samplesMax: 3 },
  });
  const fixture = await startFixture({ db: few });
  const asked = async (query: string): Promise<unknown> => {
    const response = await fetch(`${fixture.url}/v1/prometheus/api/v1/query?time=180&query=${encodeURIComponent(query)}`);
    return [response.status, await response.json()];
  };
  const tooMany = [422, { errorType: "execution", error: expect.stringContaining("query.promql.samples") }];
  expect(await asked("up[1h]")).toMatchObject(tooMany);
  await fixture.server.stop(50);
});

test("/v1/promql gives rows in the formats of SQL", async () => {
  const asked = async (query: string, method = "GET"): Promise<readonly [number, string]> => {
    const response = await fetch(`${url}/v1/promql?${query}`, { method, ...(method === "POST" ? { body: "{}" } : {}) });
    return [response.status, await response.text()];
  };
  const csv = "query=1&start=0&end=10&step=5s&format=csv";
  expect(await asked(csv)).toEqual([200, "0,1.0\r\n5000,1.0\r\n10000,1.0\r\n"]);
  expect(await asked(csv, "POST")).toEqual(await asked(csv));
  const [status, json] = await asked("query=up&start=60&end=60&step=1&lookback=1s");
  expect([status, JSON.parse(json)]).toMatchObject([200, { code: 0, output: [{ records: { rows: expect.any(Array), total_rows: 2 } }] }]);
  expect(await asked("query=1&end=1&step=1")).toEqual([400, "Failed to deserialize query string: missing field `start`"]);
  for (const query of ["query=up(&start=0&end=1&step=1", "query=1&start=x&end=1&step=1", "query=1&start=0&end=1&step=0"]) {
    const [refusal, body] = await asked(query);
    expect([query, refusal, JSON.parse(body)]).toMatchObject([query, 400, { code: 2000 }]);
  }
  const [unknown, body] = await asked("query=1&start=0&end=1&step=1&db=nosuch");
  expect([unknown, JSON.parse(body)]).toMatchObject([400, { code: 4004 }]);
  expect((await asked("query=1&start=0&end=9e12&step=1ms"))[0]).toBe(400);
});

test("a timeout ends a query of one long series", async () => {
  const long = [
    "sum(sum_over_time(vector(1)[40m:1ms]))",
    "sum_over_time(vector(1)[40m:1ms])",
    "max_over_time(vector(time())[40m:1ms])",
    "scalar(vector(1)) + sum(quantile_over_time(0.5, vector(1)[4m:1ms]))",
  ];
  for (const query of long) await refused("query", { query, time: "1000", timeout: "1ms" }, 503, "timeout", "");
});
