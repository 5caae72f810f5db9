/**
 * What Grafana's Prometheus data source sends (10.x and 11.x), request by request, and what of the answers it reads. Its backend posts
 * forms with times as seconds with a fraction; its pages ask for labels, values, series and metadata, by GET or by POST as it is set up.
 */
import { afterAll, expect, test } from "bun:test";
import { Scheduler } from "../../../../../base/scheduler/scheduler.ts";
import { LocalDb } from "../../../../../db/local-db.ts";
import { Machine } from "../../../../../../test/engine/machine.ts";
import { startFixture } from "../../../../../../test/support/http-fixture.ts";
import { metricBatch, type Sample } from "../../../../../../test/support/metric-batch.ts";

const { engine } = await Machine.start();
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const { server, url, bugs } = await startFixture({ db });
afterAll(() => server.stop(50));

const START = 1_700_000_000;
const END = START + 300;

/** Six samples a minute apart. */
function sixOf(metric: string, labels: Readonly<Record<string, string>>, valueOf: (minute: number) => number): readonly Sample[] {
  return Array.from({ length: 6 }, (_, minute) => ({ metric, labels, time: (START + 60 * minute) * 1000, value: valueOf(minute) }));
}

const counter = { autoCreate: true, tableOptions: { "greptime.semantic.metric.type": "counter" }, physicalTable: "p" };
await engine.write(
  "public",
  metricBatch([...sixOf("http_requests_total", { job: "api", "service.name": "shop", code: "200" }, (minute) => 60 * minute)], "p"),
  counter,
);
const buckets = ["0.1", "1", "+Inf"].flatMap((le, i) =>
  sixOf("http_seconds_bucket", { job: "api", le }, (minute) => (i + 1) * 60 * minute),
);
const rest = [
  ...sixOf("up", { job: "api", instance: "a:1" }, () => 1),
  ...sixOf("up", { job: "db", instance: "b:1" }, () => 0),
  ...buckets,
];
await engine.write("public", metricBatch([...rest, ...sixOf("températures", { "salle é": "1", job: "api" }, (minute) => minute)], "p"), {
  ...counter,
  tableOptions: { "greptime.semantic.metric.type": "gauge" },
});

type Pairs = readonly (readonly [name: string, value: string])[];
const RANGE: Pairs = [
  ["start", String(START)],
  ["end", String(END)],
];
const HEADERS = { "user-agent": "Grafana/11.3.0", "accept-encoding": "gzip", "x-datasource-uid": "varve" };

function formOf(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

/** The data of an answer, with 200. */
async function get(path: string, pairs: Pairs = []): Promise<unknown> {
  const response = await fetch(`${url}/v1/prometheus/api/v1/${path}?${formOf(pairs)}`, { headers: HEADERS });
  return dataOf(path, response);
}

async function post(path: string, pairs: Pairs): Promise<unknown> {
  const headers = { ...HEADERS, "content-type": "application/x-www-form-urlencoded" };
  return dataOf(path, await fetch(`${url}/v1/prometheus/api/v1/${path}`, { method: "POST", headers, body: formOf(pairs) }));
}

async function dataOf(path: string, response: Response): Promise<unknown> {
  const body = (await response.json()) as { readonly data: unknown };
  expect([path, response.status, response.headers.get("content-type"), body]).toEqual([
    path,
    200,
    expect.stringContaining("application/json"),
    expect.objectContaining({ status: "success" }),
  ]);
  return body.data;
}

/** The same by GET and POST. */
async function both(path: string, pairs: Pairs): Promise<unknown> {
  const data = await get(path, pairs);
  expect(await post(path, pairs)).toEqual(data);
  return data;
}

test("Save & test: a query of a number, the build, and whether rules can be written", async () => {
  const asked = post("query", [
    ["query", "1+1"],
    ["time", "1700000300.123"],
  ]);
  expect(await asked).toEqual({ resultType: "scalar", result: [1700000300.123, "2"] });
  const build = await get("status/buildinfo");
  expect(build).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  // With "application" or "features" Grafana takes a server for Mimir, whose rules it may write.
  expect(Object.keys(build as object)).not.toContain("features");
  expect(Object.keys(build as object)).not.toContain("application");
});

test("panels: range queries by form, steps as plain seconds", async () => {
  const panel = post("query_range", [["query", 'sum(rate(http_requests_total{job=~"api|web"}[2m]))'], ...RANGE, ["step", "60"]]);
  expect(await panel).toEqual({
    resultType: "matrix",
    result: [{ metric: {}, values: [60, 120, 180, 240, 300].map((at) => [START + at, at === 60 ? "0.5" : "1"]) }],
  });
  const heat = await both("query_range", [
    ["query", "sum by (le) (increase(http_seconds_bucket[2m]))"],
    ["start", `${END}.000`],
    ["end", `${END}`],
    ["step", "15.5"],
  ]);
  const cells = (heat as { readonly result: readonly { readonly metric: { readonly le: string } }[] }).result;
  expect(cells.map(({ metric }) => metric.le).toSorted()).toEqual(["+Inf", "0.1", "1"]);
});

test("tables and stats: instant queries at the end of the panel's range", async () => {
  const table = await both("query", [
    ["query", "up == 1"],
    ["time", `${END}`],
  ]);
  const metric = { __name__: "up", instance: "a:1", job: "api" };
  expect(table).toEqual({ resultType: "vector", result: [{ metric, value: [END, "1"] }] });
});

test("annotations and exemplars", async () => {
  expect(await both("query_range", [["query", 'ALERTS{alertstate="firing"}'], ...RANGE, ["step", "60"]])).toEqual({
    resultType: "matrix",
    result: [],
  });
  expect(await both("query_exemplars", [["query", "histogram_quantile(0.9, rate(http_seconds_bucket[1m]))"], ...RANGE])).toEqual([]);
});

test("the label browser and variables: names and values, cut by a limit", async () => {
  const names = ["__name__", "code", "instance", "job", "le", "salle é", "service.name"];
  expect(await both("labels", [...RANGE, ["limit", "40000"]])).toEqual(names);
  expect(await both("labels", [...RANGE, ["match[]", '{__name__="up",job="api"}']])).toEqual(["__name__", "instance", "job"]);
  const metrics = ["http_requests_total", "http_seconds_bucket", "températures", "up"];
  expect(await get("label/__name__/values", [...RANGE, ["limit", "40000"]])).toEqual(metrics);
  // label_values(up, instance), label_values(job), metrics(up.*)
  expect(await get("label/instance/values", [...RANGE, ["match[]", "up"]])).toEqual(["a:1", "b:1"]);
  expect(await get("label/job/values", RANGE)).toEqual(["api", "db"]);
  expect(await get("label/__name__/values", [...RANGE, ["match[]", '{__name__=~"(?i:.*HTTP.*)"}']])).toEqual([
    "http_requests_total",
    "http_seconds_bucket",
  ]);
  const cut = await fetch(`${url}/v1/prometheus/api/v1/label/__name__/values?limit=1`, { headers: HEADERS });
  expect(await cut.json()).toEqual({ status: "success", data: ["http_requests_total"], warnings: ["results truncated due to limit"] });
});

test("names in UTF-8: escaped in paths, quoted in selectors", async () => {
  expect(await get("label/U__service_2e_name/values", RANGE)).toEqual(["shop"]);
  expect(await get("label/U__salle_20__e9_/values", [...RANGE, ["match[]", '{"températures"}']])).toEqual(["1"]);
  const labels = await both("labels", [...RANGE, ["match[]", '{"service.name"="shop"}']]);
  expect(labels).toEqual(["__name__", "code", "job", "service.name"]);
  const found = await both("query", [
    ["query", 'sum by ("salle é") ({"températures", "salle é"=~".+"})'],
    ["time", String(END)],
  ]);
  expect(found).toEqual({ resultType: "vector", result: [{ metric: { "salle é": "1" }, value: [END, "5"] }] });
});

test("ad-hoc filters: keys of what is selected, values of each, and series of several selectors", async () => {
  const filtered: Pairs = [...RANGE, ["match[]", '{job!="db",instance=~".+"}']];
  expect(await both("labels", filtered)).toEqual(["__name__", "instance", "job"]);
  expect(await get("label/instance/values", filtered)).toEqual(["a:1"]);
  const series = await both("series", [["match[]", "up"], ["match[]", 'http_requests_total{code="200"}'], ...RANGE, ["limit", "40000"]]);
  expect((series as readonly object[]).map((one) => JSON.stringify(one)).toSorted()).toEqual([
    '{"__name__":"http_requests_total","code":"200","job":"api","service.name":"shop"}',
    '{"__name__":"up","instance":"a:1","job":"api"}',
    '{"__name__":"up","instance":"b:1","job":"db"}',
  ]);
});

test("the metric explorer: types of metrics; rules and alerts, of which there are none", async () => {
  const metadata = await get("metadata", [["limit", "1000"]]);
  expect(metadata).toMatchObject({ http_requests_total: [{ type: "counter", unit: "", help: "" }], up: [{ type: "gauge" }] });
  expect(await get("rules")).toEqual({ groups: [] });
  for (const type of ["alert", "record"]) expect(await get("rules", [["type", type]])).toEqual({ groups: [] });
  expect(await get("alerts")).toEqual({ alerts: [] });
  expect(await both("format_query", [["query", "sum(up)by(job)"]])).toBe("sum by (job) (up)");
});

test("what fails is told as Grafana shows it", async () => {
  const failing = async (pairs: Pairs): Promise<readonly unknown[]> => {
    const response = await fetch(`${url}/v1/prometheus/api/v1/query_range?${formOf(pairs)}`, { headers: HEADERS });
    const { status, errorType, error } = (await response.json()) as Readonly<Record<string, string>>;
    return [response.status, status, errorType, error];
  };
  const step: Pairs = [...RANGE, ["step", "15"]];
  const bad = [400, "error", "bad_data"];
  expect(await failing([["query", "sum(up"], ...step])).toEqual([
    ...bad,
    'invalid parameter "query": 1:7: parse error: unclosed left parenthesis',
  ]);
  expect(await failing([["query", "up[5m]"], ...step])).toEqual([
    ...bad,
    expect.stringContaining('invalid expression type "range vector"'),
  ]);
  expect(
    await failing([
      ["query", "up"],
      ["start", "0"],
      ["end", "1e9"],
      ["step", "1"],
    ]),
  ).toEqual([...bad, expect.stringContaining("exceeded maximum resolution of 11,000 points per timeseries")]);
  expect(await failing([["query", "up + on () group_left up"], ...step])).toEqual([
    422,
    "error",
    "execution",
    expect.stringContaining("many-to-many"),
  ]);
  const nowhere = await fetch(`${url}/v1/prometheus/api/v1/suggestions`, { headers: HEADERS });
  expect([nowhere.status, bugs]).toEqual([404, []]);
});
