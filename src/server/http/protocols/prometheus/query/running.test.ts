/** PromQL queries while they run: listed, killed, left by their clients, counted. */
import { afterAll, expect, test } from "bun:test";
import net from "node:net";
import { Machine } from "../../../../../../test/engine/machine.ts";
import { startFixture } from "../../../../../../test/support/http-fixture.ts";
import { metricBatch } from "../../../../../../test/support/metric-batch.ts";
import { failureOf } from "../../../../../../test/support/failure-of.ts";
import { recordingLogger } from "../../../../../../test/support/recording-logger.ts";
import { MemoryPool, ServerMemory } from "../../../../../base/memory/server-memory.ts";
import { MetricRegistry } from "../../../../../base/metrics.ts";
import { Scheduler } from "../../../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../../../base/status-code.ts";
import { LocalDb } from "../../../../../db/local-db.ts";
import { StatementWatch } from "../../../../../db/statement-watch.ts";

const JOBS = 2000;
const { engine } = await Machine.start();
await engine.write(
  "public",
  metricBatch(
    Array.from({ length: 3 * JOBS }, (_, i) => ({
      metric: "up",
      labels: { job: `j${i % JOBS}` },
      time: Math.floor(i / JOBS) * 60_000,
      value: i,
    })),
    "p",
  ),
  { autoCreate: true, tableOptions: {}, physicalTable: "p" },
);
const metrics = new MetricRegistry();
const { logger, entries } = recordingLogger();
const watch = new StatementWatch(metrics, logger, { thresholdMillis: 0, sampleRatio: 1 });
const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, pool, watch });
const { server, url, bugs } = await startFixture({ db });
afterAll(() => server.stop(50));

/** Runs for minutes unless it is ended: a million steps of each series, one after the other. */
const LONG = "max_over_time(sum(rate(up[2m]))[1000s:1ms])";
const ONE = 'up{job="j7"}';
const API = "/v1/prometheus/api/v1";
const RANGE = "start=0&end=1000&step=1";
const PATHS = [
  `${API}/query?query=${encodeURIComponent(LONG)}&time=120`,
  `${API}/query_range?query=${encodeURIComponent(LONG)}&${RANGE}`,
  `/v1/promql?query=${encodeURIComponent(LONG)}&${RANGE}`,
];

interface SqlAnswer {
  readonly output: readonly { readonly affectedrows?: number; readonly records?: { readonly rows: readonly (readonly string[])[] } }[];
}

async function sql(text: string): Promise<SqlAnswer["output"][number] | undefined> {
  const response = await fetch(`${url}/v1/sql`, { method: "POST", body: new URLSearchParams({ sql: text }) });
  return ((await response.json()) as SqlAnswer).output[0];
}

/** Id and text of what runs, this question left out. */
async function running(): Promise<readonly (readonly string[])[]> {
  const answer = await sql("SELECT id, query FROM information_schema.process_list WHERE query NOT LIKE '%process_list%'");
  return answer?.records?.rows ?? [];
}

/** Waits for it: the test ends by its own time when it never comes. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(1);
}

async function metric(name: string): Promise<readonly string[]> {
  const lines = (await metrics.registry.getSingleMetricAsString(name)).split("\n");
  return lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
}

test("a query is on the list of statements, and KILL ends it", async () => {
  for (const path of PATHS) {
    const answer = fetch(url + path);
    await until(async () => (await running()).length === 1);
    const [[id, query] = []] = await running();
    expect(query).toBe(LONG);
    expect(await sql(`KILL ${id}`)).toMatchObject({ affectedrows: 1 });
    const response = await answer;
    const why = `Query has been cancelled: statement ${id} was killed`;
    if (path.startsWith(API)) {
      expect(response.status).toBe(503);
      expect(await response.json()).toEqual({ status: "error", errorType: "canceled", error: why });
    } else expect(await response.json()).toMatchObject({ code: 1005, error: why });
    expect([await running(), pool.used]).toEqual([[], 0]);
  }
});

test("a query whose client goes away ends, and gives its memory back", async () => {
  for (const path of PATHS) {
    const socket = net.connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await until(async () => (await running()).length === 1);
    expect(pool.used).toBeGreaterThan(0);
    socket.destroy();
    await until(async () => (await running()).length === 0);
    expect(pool.used).toBe(0);
  }
  expect(bugs).toEqual([]);
});

test("questions count as statements, and the line of a slow one has its text and moments", async () => {
  const told = entries.length;
  const before = new Set(await metric("varve_statements_total"));
  const asked = [
    [`${API}/query?query=${ONE}&time=120`, 200],
    [`${API}/query?query=up(&time=120`, 400],
    [`${API}/query_range?query=${ONE}&start=0&end=120&step=60`, 200],
    [`/v1/promql?query=${ONE}&start=0&end=120&step=60`, 200],
    [`${API}/series?match[]=${ONE}&match[]=down`, 200],
    [`${API}/labels`, 200],
    [`${API}/label/job/values?match[]=up`, 200],
  ] as const;
  for (const [path, status] of asked) expect([path, (await fetch(url + path)).status]).toEqual([path, status]);
  expect(
    entries
      .slice(told)
      .map(({ fields: { kind, query, code, rows, startMillis, endMillis, stepMillis } }) =>
        [kind, query, code, rows, startMillis, endMillis, stepMillis].join(" ").trimEnd(),
      ),
  ).toEqual([
    `promql ${ONE} Success 1 120000 120000 1`,
    "promql up( InvalidSyntax 0 120000 120000 1",
    `promql ${ONE} Success 3 0 120000 60000`,
    `promql ${ONE} Success 3 0 120000 60000`,
    `promql_series series: ${ONE}, down Success 1`,
    "promql_labels labels Success 2",
    "promql_labels values of job: up Success 2000",
  ]);
  const counted = (await metric("varve_statements_total")).filter((line) => !before.has(line));
  expect(counted).toContain('{kind="promql",code="InvalidSyntax"} 1');
  expect(counted).toContain('{kind="promql_labels",code="Success"} 2');
});

test("an account that may not read is told so, and its question counts", async () => {
  const session = { database: "public", timeZone: "UTC", user: { name: "w", mode: "wo" }, signal: new AbortController().signal } as const;
  const ask = {
    query: "up",
    startMillis: 0,
    endMillis: 0,
    stepMillis: 1,
    isInstant: true,
    lookbackMillis: undefined,
    timeoutMillis: undefined,
  };
  expect(await failureOf(db.promql.query(ask, session))).toMatchObject({ code: StatusCode.PermissionDenied });
  expect(await metric("varve_statements_total")).toContain('{kind="promql",code="PermissionDenied"} 1');
  expect(await running()).toEqual([]);
});
