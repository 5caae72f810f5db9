/** A real server whose large scans run on query workers: right answers, and nothing stays of statements that are given up. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { postSql, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { metricOf, runningStatements, until } from "./statement-watch.ts";

const CONFIG = '[http]\ntimeout = "60s"\n[query]\nworkers = 2\nmemory_limit = "16MiB"\n[ingest]\nthreads = 1\n';
const HOSTS = 50;
const REQUESTS = 6;
const ROWS_PER_REQUEST = 100_000;
const ROWS = REQUESTS * ROWS_PER_REQUEST;
const SECOND_NANOS = "000000000";
const SETUP_MS_MAX = 60_000;
/** Until data nodes have a statement's work. */
const DISTANT_MS = 150;
/** Work for seconds on the workers. */
const LONG = "SELECT host, count(*) FROM big WHERE md5(md5(md5(md5(md5(md5(concat(host, v))))))) LIKE 'zz%' GROUP BY host";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: CONFIG });
  await fill("big");
}, SETUP_MS_MAX);
afterAll(() => server.end());

/** Rows of which some are in files and some in memory. */
async function fill(table: string): Promise<void> {
  for (let request = 0; request < REQUESTS; request++) {
    const lines = Array.from({ length: ROWS_PER_REQUEST }, (_, i) => {
      const v = request * ROWS_PER_REQUEST + i;
      return `${table},host=h${v % HOSTS} v=${v}i,x=${v % 100} ${1_700_000_000 + v}${SECOND_NANOS}`;
    });
    await writeLines(server.url, lines.join("\n"));
    if (request === 3) await postSql(server.url, `ADMIN flush_table('${table}')`);
  }
}

const metric = (name: string): Promise<number> => metricOf(server, name);

function start(sql: string, signal?: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const init = { method: "POST", body: new URLSearchParams({ sql, format: "csv" }), headers };
  return fetch(`${server.url}/v1/sql`, signal === undefined ? init : { ...init, signal });
}

/** Data nodes do the work of a cluster, and tell nobody here: a moment after it began they have it. */
async function atWork(): Promise<void> {
  if (IN_CLUSTER) await until(async () => (await runningStatements(server)).length > 0, "a statement runs");
  if (IN_CLUSTER) return Bun.sleep(DISTANT_MS);
  await until(async () => (await metric("varve_query_worker_running")) > 0, "workers work");
}

async function checkNothingStays(): Promise<void> {
  await until(async () => (await runningStatements(server)).length === 0, "no statement runs");
  expect(await metric('varve_memory_bytes{part="queries"}')).toBe(0);
  if (IN_CLUSTER) return;
  await until(async () => (await metric("varve_query_worker_running")) === 0, "no worker works");
  expect(await metric("varve_query_worker_queue")).toBe(0);
  expect(await metric("varve_query_worker_deaths_total")).toBe(0);
}

test("answers are right, and from the workers", async () => {
  const before = await metric("varve_query_worker_tasks_total");
  const { rows } = await queryRows(server.url, "SELECT host, count(v), sum(v), max(v) FROM big WHERE x >= 0 GROUP BY host ORDER BY max(v)");
  const each = ROWS / HOSTS;
  expect(rows).toEqual(
    Array.from({ length: HOSTS }, (_, h) => [`h${h}`, each, each * h + (HOSTS * each * (each - 1)) / 2, h + HOSTS * (each - 1)]),
  );
  if (!IN_CLUSTER) expect(await metric("varve_query_worker_tasks_total")).toBeGreaterThan(before);
  await checkNothingStays();
});

test("a statement whose parts hold more than it may is answered over the disk, and writers notice nothing", async () => {
  const before = await metric("varve_query_spilled_bytes_total");
  const answer = queryRows(server.url, "SELECT count(*), sum(c), sum(v) FROM (SELECT v, x, count(*) AS c FROM big GROUP BY v, x) AS g");
  for (let i = 0; i < 20; i++) await writeLines(server.url, `beside,host=h${i} v=${i}i ${i}`);
  expect((await answer).rows).toEqual([[ROWS, ROWS, (ROWS * (ROWS - 1)) / 2]]);
  if (!IN_CLUSTER) expect(await metric("varve_query_spilled_bytes_total")).toBeGreaterThan(before);
  expect((await queryRows(server.url, "SELECT count(*) FROM beside")).rows).toEqual([[20]]);
  await checkNothingStays();
});

test("KILL ends a statement on the workers, which says so", async () => {
  const answer = start(LONG);
  await atWork();
  const [id = ""] = await runningStatements(server);
  expect((await postSql(server.url, `KILL '${id}'`)).status).toBe(200);
  const { status } = await answer;
  expect([status, await (await answer).text()]).toEqual([504, expect.stringContaining("Query has been cancelled")]);
  await checkNothingStays();
});

test("a client that leaves ends its statement, also in the middle of an answer", async () => {
  const client = new AbortController();
  const answer = start(LONG, client.signal).then(
    () => "it was answered",
    () => "it left",
  );
  await atWork();
  client.abort();
  expect(await answer).toBe("it left");
  await checkNothingStays();
  const { body } = await start("SELECT * FROM big WHERE x >= 1");
  const reader = body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  await reader?.cancel();
  await checkNothingStays();
});

test("x-greptime-timeout ends a statement on the workers", async () => {
  expect((await start(LONG, undefined, { "x-greptime-timeout": "300ms" })).status).toBe(408);
  await checkNothingStays();
});

test(
  "a table that is dropped while workers read it is gone, and the statement ends with its rows",
  async () => {
    await fill("other");
    const answer = start("SELECT host, v FROM other WHERE x >= 0");
    await atWork();
    expect((await postSql(server.url, "DROP TABLE other")).status).toBe(200);
    const text = await (await answer).text();
    expect(text.trimEnd().split("\n").length).toBe(ROWS);
    expect((await postSql(server.url, "SELECT count(*) FROM other")).text).toContain("not found");
    await checkNothingStays();
  },
  SETUP_MS_MAX,
);

test("SIGTERM ends a server whose workers are at work", async () => {
  const client = new AbortController();
  const answer = start(LONG, client.signal).then(
    ({ status }) => String(status),
    () => "cut",
  );
  await atWork();
  setTimeout(() => client.abort(), 1000); // Requests under way are waited for.
  const { status } = await server.stop();
  expect(status).toBe(0);
  expect(await answer).toMatch(/cut|200|5../);
  await server.restart();
  const { rows } = await queryRows(server.url, "SELECT count(*), sum(v) FROM big WHERE x >= 0");
  expect(rows).toEqual([[ROWS, (ROWS * (ROWS - 1)) / 2]]);
});
