import { afterAll, expect, test } from "bun:test";
import { Machine } from "../../../../../../test/engine/machine.ts";
import { engineSql } from "../../../../../../test/support/engine-sql.ts";
import { startFixture } from "../../../../../../test/support/http-fixture.ts";
import { metricBatch } from "../../../../../../test/support/metric-batch.ts";
import { Scheduler } from "../../../../../base/scheduler/scheduler.ts";
import { LocalDb } from "../../../../../db/local-db.ts";

const { engine } = await Machine.start();
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const { server, url, bugs } = await startFixture({ db });
afterAll(() => server.stop(50));

const LOGICAL = { autoCreate: true, tableOptions: { "greptime.semantic.metric.type": "counter" }, physicalTable: "p" };
await engine.write(
  "public",
  metricBatch(
    [
      { metric: "up", labels: { job: "a", instance: "h1" }, time: 1000, value: 1 },
      { metric: "up", labels: { job: "b", instance: "h1" }, time: 2000, value: 0 },
      { metric: "http_requests", labels: { job: "a", "a.b": "é" }, time: 1000, value: 5 },
    ],
    "p",
  ),
  LOGICAL,
);
await engineSql(engine, "CREATE TABLE cpu (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, u DOUBLE, s DOUBLE)");
await engineSql(engine, "INSERT INTO cpu VALUES (1000, 'x', 1, 2), (5000, 'y', 1, 2)");

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Status and body. */
async function answer(path: string, init: RequestInit = {}): Promise<readonly [number, unknown]> {
  const response = await fetch(`${url}/v1/prometheus/api/v1/${path}`, init);
  return [response.status, await response.json()];
}

/** The data of an answer, by GET and by POST. */
async function check(path: string, parameters: readonly (readonly [string, string])[], data: unknown, more: object = {}): Promise<void> {
  const form = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  const want = [200, { status: "success", data, ...more }] as const;
  expect([path, form, await answer(`${path}?${form}`)]).toEqual([path, form, want]);
  expect(await answer(path, { method: "POST", headers: FORM, body: form })).toEqual(want);
}

/** What refuses a request: status 400 and the text. */
async function refused(path: string, text: string): Promise<void> {
  const error = { status: "error", errorType: "bad_data", error: expect.stringContaining(text) };
  expect([path, await answer(path)]).toEqual([path, [400, error]]);
}

test("labels: of all metrics, or of the series that match", async () => {
  await check("labels", [], ["__name__", "a.b", "host", "instance", "job"]);
  await check("labels", [["match[]", "up"]], ["__name__", "instance", "job"]);
  await check(
    "labels",
    [
      ["match[]", 'up{job="a"}'],
      ["match[]", "cpu"],
      ["limit", "2"],
    ],
    ["__name__", "host"],
    {
      warnings: ["results truncated due to limit"],
    },
  );
  await check(
    "labels",
    [
      ["match[]", "up"],
      ["start", "3"],
      ["end", "4"],
    ],
    [],
  );
  await check("labels", [["match[]", "nosuch"]], []);
});

test("label values", async () => {
  await check("label/__name__/values", [], ["cpu", "http_requests", "up"]);
  await check("label/__name__/values", [["match[]", '{job="a"}']], ["http_requests", "up"]);
  await check(
    "label/__name__/values",
    [
      ["match[]", '{job=~".+"}'],
      ["start", "1.5"],
      ["end", "1970-01-01T00:00:02Z"],
    ],
    ["up"],
  );
  await check("label/job/values", [], ["a", "b"]);
  await check(
    "label/job/values",
    [
      ["start", "2"],
      ["end", "2"],
    ],
    ["b"],
  );
  await check("label/job/values", [["match[]", "http_requests"]], ["a"]);
  await check("label/job/values", [["limit", "1"]], ["a"], { warnings: ["results truncated due to limit"] });
  await check("label/a.b/values", [], ["é"]);
  await check("label/U__a_2e_b/values", [], ["é"]);
  await check("label/nosuch/values", [], []);
  await check("label/__field__/values", [["match[]", "cpu"]], ["s", "u"]);
  await check("label/__database__/values", [["match[]", "cpu"]], ["public"]);
});

test("series", async () => {
  await check("series", [["match[]", 'up{job="b"}']], [{ __name__: "up", instance: "h1", job: "b" }]);
  await check(
    "series",
    [
      ["match[]", "up"],
      ["match[]", '{job="b"}'],
      ["start", "2"],
    ],
    [{ __name__: "up", instance: "h1", job: "b" }],
  );
  const [status, body] = await answer("series?match[]=up&match[]=up&limit=1");
  expect([status, body]).toMatchObject([200, { data: [expect.anything()], warnings: ["results truncated due to limit"] }]);
  await check("series", [["match[]", "nosuch"]], []);
  // As in Prometheus: no time is meant.
  for (const path of ["series", "label/job/values"])
    await check(
      `${path}`,
      [
        ["match[]", "up"],
        ["start", "2"],
        ["end", "1"],
      ],
      [],
    );
});

test("series that only a NULL and an empty tag tell apart are one", async () => {
  await engineSql(engine, "CREATE DATABASE odd");
  await engineSql(engine, "CREATE TABLE odd.t (ts TIMESTAMP TIME INDEX, a STRING, b STRING, v DOUBLE, PRIMARY KEY (a, b))");
  await engineSql(engine, "INSERT INTO odd.t VALUES (1, NULL, 'x', 1), (2, '', 'x', 2)");
  await check("series", [["match[]", 't{__database__="odd"}']], [{ __name__: "t", b: "x" }]);
});

test("metadata", async () => {
  const [, all] = await answer("metadata");
  expect(all).toMatchObject({ data: { up: [{ type: "counter", unit: "", help: "" }], cpu: [{ type: "" }] } });
  expect(await answer("metadata?metric=up")).toMatchObject([200, { data: { up: [{ help: "" }] } }]);
  expect(await answer("metadata?limit=0")).toEqual([200, { status: "success", data: {} }]);
});

test("a database that is not there has nothing; another one is chosen by parameter and header", async () => {
  expect(await answer("labels?db=nosuch")).toEqual([200, { status: "success", data: ["__name__"] }]);
  expect(await answer("series?db=nosuch&match[]=up")).toEqual([200, { status: "success", data: [] }]);
  expect(await answer("label/__name__/values", { headers: { "x-greptime-db-name": "greptime_private" } })).toMatchObject([
    200,
    { data: [] },
  ]);
});

test("what is none of it is refused, and never reaches an assertion", async () => {
  await refused("series", "no match[] parameter provided");
  await refused("series?match[]=up[5m]", "parse error");
  await refused("series?match[]={}", "must contain at least one non-empty matcher");
  await refused("series?match[]=up%20offset%205m", "and nothing else");
  await refused("series?match[]={a=~%22(%22}", "error parsing regexp");
  await refused("labels?start=soon", 'invalid parameter \\"start\\"'.replaceAll("\\", ""));
  await refused("query_exemplars", "no expression found in input");
  await refused("query_exemplars?query=sum(", "parse error");
  await refused("query_exemplars?query=up&start=2&end=1", "end timestamp must not be before start timestamp");
  await refused("labels?limit=-1", "limit must be non-negative");
  await refused("labels?limit=1e9", "limit");
  await refused("label/%FF/values", "invalid label name");
  for (const time of ["1e308", "-1e308", "NaN", "Inf", "9".repeat(400), "2024-13-01T00:00:00Z", "0x10"])
    await refused(`labels?end=${time}`, "end");
  const huge = ["9e12", "-9e12", "253402300799", "-292273086-05-16T16:47:06Z", "292277025-08-18T07:12:54.999999999Z"];
  for (const time of huge) expect((await answer(`series?match[]=up&start=${time}&end=${time}`))[0]).toBe(200);
  const pairs = Array.from({ length: 1001 }, () => "match[]=up").join("&");
  expect((await answer("series", { method: "POST", headers: FORM, body: pairs }))[0]).toBe(400);
  expect(bugs).toEqual([]);
});

test("status tells nothing that is not so", async () => {
  const keys = async (path: string): Promise<readonly string[]> => {
    const [, body] = await answer(path);
    return Object.keys((body as { readonly data: object }).data).sort();
  };
  expect(await keys("status/buildinfo")).toEqual(["branch", "goVersion", "revision", "version"]);
  expect(await keys("status/runtimeinfo")).toEqual(["GOMAXPROCS", "hostname", "lastConfigTime", "serverTime", "startTime"]);
  const [, store] = await answer("status/tsdb?db=nosuch");
  expect(store).toMatchObject({ data: { headStats: expect.any(Object) } });
  expect((store as { readonly data: { readonly headStats: object } }).data.headStats).toEqual({ numSeries: 0, numLabelPairs: 0 });
});

test("status, and what is never there", async () => {
  expect(await answer("status/buildinfo")).toMatchObject([200, { data: { version: "0.1.0", goVersion: "bun" } }]);
  expect(await answer("status/runtimeinfo")).toMatchObject([
    200,
    { data: { hostname: "test", startTime: expect.stringMatching(/^\d.*T.*Z$/) } },
  ]);
  expect(await answer("status/config")).toEqual([200, { status: "success", data: { yaml: "[http]\n" } }]);
  expect(await answer("status/flags")).toMatchObject([200, { data: {} }]);
  expect(await answer("status/tsdb")).toMatchObject([
    200,
    {
      data: {
        headStats: { numSeries: 5, minTime: 1000, maxTime: 5000, numLabelPairs: 6 },
        seriesCountByMetricName: [
          { name: "cpu", value: 2 },
          { name: "up", value: 2 },
          { name: "http_requests", value: 1 },
        ],
        seriesCountByLabelValuePair: expect.arrayContaining([{ name: "job=a", value: 2 }]),
      },
    },
  ]);
  expect(await answer("rules")).toEqual([200, { status: "success", data: { groups: [] } }]);
  expect(await answer("alerts")).toEqual([200, { status: "success", data: { alerts: [] } }]);
  expect(await answer("targets")).toMatchObject([200, { data: { activeTargets: [] } }]);
  await check("query_exemplars", [["query", "up"]], []);
});
