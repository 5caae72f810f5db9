/** Limits of the configuration hold in a real server, and their refusals say which limit it was. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { execute, postLines, postSql, queryRows, writeLines } from "../support/http-client.ts";
import { bytesField, textField, varint } from "../support/prometheus/messages.ts";
import { openRequest } from "../support/raw-request.ts";
import { TestServer } from "../support/server-process.ts";

/** Each of a cluster's three shards has a memtable for itself. */
const ROWS = IN_CLUSTER ? 60_000 : 20_000;
/** A flush of so few rows takes milliseconds. */
const FLUSH_MS_MAX = 10_000;
const CONFIG = `
auto_create_table = false
[http]
body_limit = "1MiB"
timeout = "20s"
[query]
memory_limit = "1MiB"
[storage]
memtable_size = "64KiB"
`;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config: CONFIG });
  await execute(server.url, "CREATE TABLE m (host STRING PRIMARY KEY, v BIGINT, greptime_timestamp TIMESTAMP(9) TIME INDEX)");
  for (let start = 0; start < ROWS; start += ROWS / 4) {
    const lines = Array.from({ length: ROWS / 4 }, (_, i) => `m,host=h${start + i} v=${start + i}i ${start + i}`).join("\n");
    await writeLines(server.url, lines);
  }
});
afterAll(async () => {
  await server.end();
});

test("a body over http.body_limit is refused, as sent and as decoded", async () => {
  const body = "#".repeat(1024 * 1024 + 1);
  for (const [bytes, headers] of [
    [body, {}],
    [Bun.gzipSync(Buffer.from(body)), { "content-encoding": "gzip" }],
  ] as const) {
    expect((await postLines(server.url, bytes, { headers })).status).toBe(413);
  }
  expect((await postLines(server.url, body.slice(1))).status).toBe(204);
});

test("a query over query.memory_limit goes over the disk; what cannot is refused; one that holds less is answered", async () => {
  const { rows } = await queryRows(server.url, "SELECT host, sum(v) AS s FROM m GROUP BY host ORDER BY s");
  expect([rows.length, rows[0]?.[1], rows.at(-1)?.[1]]).toEqual([ROWS, 0, ROWS - 1]);
  const running = await queryRows(server.url, "SELECT max(s) FROM (SELECT sum(v) OVER (ORDER BY v) AS s FROM m) AS w");
  expect(running.rows).toEqual([[(ROWS * (ROWS - 1)) / 2]]);
  const { status, text } = await postSql(server.url, "SELECT array_agg(host) FROM m");
  expect(JSON.parse(text)).toMatchObject({ code: 6000, error: expect.stringContaining("1 MiB of memory") });
  expect(status).toBe(500);
  expect((await queryRows(server.url, "SELECT count(*), sum(v) FROM m")).rows).toEqual([[ROWS, (ROWS * (ROWS - 1)) / 2]]);
});

test("a remote read over query.memory_limit is refused; one that holds less is answered", async () => {
  await execute(server.url, "CREATE TABLE r (host STRING PRIMARY KEY, greptime_value DOUBLE, greptime_timestamp TIMESTAMP(3) TIME INDEX)");
  await writeLines(server.url, Array.from({ length: 5000 }, (_, i) => `r,host=h${i} greptime_value=${i} ${i}000000`).join("\n"));
  const read = async (expression: string, accepted: readonly number[]): Promise<Response> => {
    const matchers = [...bytesField(3, [...textField(2, "__name__"), ...textField(3, "r")])];
    matchers.push(...bytesField(3, [0x08, 2, ...textField(2, "host"), ...textField(3, expression)]));
    const message = Uint8Array.from([...bytesField(1, [0x10, ...varint(10_000_000), ...matchers]), ...bytesField(2, accepted)]);
    return await fetch(`${server.url}/v1/prometheus/read`, { method: "POST", body: compress(message) });
  };
  for (const accepted of [[0], [1]]) {
    const refused = await read(".", accepted);
    expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining("1 MiB of memory")]);
    const answered = await read("^h12.$", accepted);
    expect(answered.status).toBe(200);
    const { length } = await answered.bytes();
    expect(length).toBeGreaterThan(100);
  }
});

test("a request over its x-greptime-timeout is answered with 408", async () => {
  const headers = { "content-length": "100", "x-greptime-timeout": "50ms" };
  const request = await openRequest(server.url, "POST /v1/influxdb/write", headers);
  request.write("m,host=late v=1i 1\n");
  expect(await request.answer()).toMatch(/^HTTP\/1\.1 408 /);
  request.close();
});

test("a table that auto_create_table = false forbids is not made, whatever the hint", async () => {
  for (const headers of [{}, { "x-greptime-hints": "auto_create_table=true" }]) {
    expect((await postLines(server.url, "fresh v=1i 1", { headers: { ...headers } })).status).toBe(400);
    expect((await postLines(server.url, "m,host=a,rack=1 v=1i 1", { headers: { ...headers } })).status).toBe(400);
  }
  expect((await queryRows(server.url, "SELECT * FROM m LIMIT 1")).columns).toEqual(["host", "v", "greptime_timestamp"]);
});

test("a memtable over storage.memtable_size goes to files by itself, and nothing is lost by a kill", async () => {
  const files = new Bun.Glob("**/*.parquet");
  const deadline = performance.now() + FLUSH_MS_MAX;
  while ([...files.scanSync(server.dataFiles)].length === 0) {
    if (performance.now() > deadline) throw new Error(`no data file after ${FLUSH_MS_MAX} ms`);
    await Bun.sleep(10);
  }
  // The log of flushed rows is gone; these rows are only in the log.
  expect((await postLines(server.url, "m,host=late v=-1i 1\nm,host=late v=-2i 2")).status).toBe(204);
  await server.kill();
  await server.restart();
  if (!IN_CLUSTER) expect((await server.running.logged("replayed the log"))["lostBytes"]).toBe(0);
  expect((await queryRows(server.url, "SELECT count(*), max(v), min(v) FROM m")).rows).toEqual([[ROWS + 2, ROWS - 1, -2]]);
});

test("a query over query.timeout ends with 504", async () => {
  await server.stop();
  await server.restart({ config: '[query]\ntimeout = "1ms"\n' });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => postSql(server.url, "SELECT host, v FROM m ORDER BY v DESC, host LIMIT 5")),
  );
  const late = answers.filter(({ status }) => status !== 200);
  expect(late.length).toBeGreaterThan(0);
  for (const { status, text } of late) {
    expect({ status, answer: JSON.parse(text) }).toMatchObject({ status: 504, answer: { code: 1008 } });
    expect(text).toContain("query.timeout");
  }
});
