/** `/v1/sql/parse`, `/v1/sql/format` and `/v1/sql/analyze/stream`: SQL texts for people who work on them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, "m,host=a v=1 1\nm,host=b v=2 2");
});
afterAll(async () => {
  await server.end();
});

type Form = Readonly<Record<string, string>>;
const headers = { "content-type": "application/x-www-form-urlencoded" };
const post = (path: string, form: Form): Promise<Response> =>
  fetch(`${server.url}/v1/sql/${path}`, { method: "POST", body: new URLSearchParams(form).toString(), headers });
const settled = (text: string): string => text.replace(/"execution_time_ms":\d+/, '"execution_time_ms":0');

async function check(path: string, sql: string | undefined, status: number, want: string): Promise<void> {
  const form: Form = sql === undefined ? {} : { sql };
  for (const response of [await fetch(`${server.url}/v1/sql/${path}?${new URLSearchParams(form).toString()}`), await post(path, form)])
    expect([response.status, settled(await response.text())]).toEqual([status, want]);
}

test("trees and errors have the shapes of the contract", async () => {
  const place = '{"start":{"line":0,"column":0},"end":{"line":0,"column":0}}';
  const tree = `[{"DescribeTable":{"name":[{"Identifier":{"value":"t","quote_style":null,"span":${place}}}]}}]`;
  await check("parse", "desc table t", 200, tree);
  await check("parse", "", 200, "[]");
  await check("parse", undefined, 400, '{"error":"Invalid query: sql parameter is required."}');
  const bad = await post("parse", { sql: "SELECT FROM WHERE" });
  expect([bad.status, await bad.text()]).toEqual([400, expect.stringMatching(/^\{"error":"Invalid SQL syntax: /)]);
});

test("texts are printed anew", async () => {
  await check("format", "select 1 as x", 200, '{"formatted":"SELECT 1 AS x;"}');
  await check("format", "select 'é' ; show tables", 200, '{"formatted":"SELECT \'é\';\\nSHOW TABLES;"}');
  await check("format", undefined, 400, '{"code":1004,"error":"sql parameter is required.","execution_time_ms":0}');
  const bad = await post("format", { sql: "SELECT FROM WHERE" });
  expect([bad.status, await bad.json()]).toMatchObject([400, { code: 2000 }]);
  const long = await post("format", { sql: `SELECT '${"x".repeat(70_000)}'` });
  expect([long.status, await long.json()]).toMatchObject([400, { code: 1004, error: expect.stringContaining("65536 are the most") }]);
  const deep = await post("parse", { sql: `SELECT ${"(".repeat(30_000)}1${")".repeat(30_000)}` });
  expect(deep.status).toBe(400);
});

interface Event {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of an answer, as they come. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = "";
  for await (const piece of (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) };
    }
  }
}

const SLOW = "EXPLAIN ANALYZE VERBOSE SELECT count(*) FROM generate_series(1, 100000) a (x) JOIN generate_series(1, 100000) b (y) ON x < y";
const running = async (): Promise<readonly string[]> =>
  (await queryRows(server.url, "SELECT id FROM information_schema.process_list WHERE query LIKE '%generate_series(1, 100000)%'")).rows
    .map(([id]) => String(id))
    .slice(0, -1);

describe("figures while a query runs", () => {
  test("end with what EXPLAIN ANALYZE answers", async () => {
    for (const format of ["", "FORMAT JSON "]) {
      const sql = `EXPLAIN ANALYZE VERBOSE ${format}SELECT host, max(v) FROM m GROUP BY host`;
      const response = await post("analyze/stream", { sql });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
      const events = await Array.fromAsync(eventsOf(response));
      expect(events.map(({ name, data }) => [name, data["seq"], data["state"], data["partial"]])).toEqual([
        ["metrics", 0, "metrics", true],
        ["final", 1, "final", false],
      ]);
      const last = events[1]?.data;
      expect(Object.keys(last ?? {})).toEqual(["seq", "state", "partial", "elapsed_ms", "metrics", "output"]);
      expect(last?.["metrics"]).toMatchObject([{ output_rows: 2, children: [{}] }]);
      expect(JSON.stringify(last?.["output"])).toContain("Total rows: 2");
    }
  });

  test("come again and again, until it is killed", async () => {
    const response = await post("analyze/stream", { sql: SLOW, snapshot_interval_ms: "1" });
    const names: string[] = [];
    let last: Event | undefined;
    for await (const event of eventsOf(response)) {
      names.push(event.name);
      last = event;
      if (names.length === 3) for (const id of await running()) await queryRows(server.url, `KILL '${id}'`).catch(() => []);
    }
    expect(names).toEqual(["metrics", "metrics", "metrics", "canceled"]);
    expect(last?.data).toMatchObject({
      seq: 3,
      state: "canceled",
      partial: true,
      code: 1005,
      reason: expect.stringMatching(/^Query has been cancelled: statement (?:\w+\/)?\d+ was killed$/),
    });
  }, 20_000);

  test("end the query when nobody reads them any more", async () => {
    const leaving = new AbortController();
    const body = new URLSearchParams({ sql: SLOW });
    const response = await fetch(`${server.url}/v1/sql/analyze/stream`, { method: "POST", body, signal: leaving.signal });
    expect(response.status).toBe(200);
    expect((await running()).length).toBe(1);
    leaving.abort();
    const until = Date.now() + 10_000;
    while ((await running()).length > 0 && Date.now() < until) await Bun.sleep(20);
    expect(await running()).toEqual([]);
  }, 20_000);

  test("are of one EXPLAIN ANALYZE VERBOSE alone", async () => {
    const refused = async (sql: string, code: number, error: string): Promise<void> => {
      const response = await post("analyze/stream", { sql });
      expect([sql, response.status, await response.json()]).toMatchObject([sql, 400, { code, error: expect.stringContaining(error) }]);
    };
    await refused("SELECT 1", 1004, "exactly one EXPLAIN ANALYZE VERBOSE");
    await refused("EXPLAIN ANALYZE SELECT 1", 1004, "exactly one EXPLAIN ANALYZE VERBOSE");
    await refused("EXPLAIN ANALYZE VERBOSE SELECT 1; SELECT 2", 1004, "exactly one EXPLAIN ANALYZE VERBOSE");
    await refused("EXPLAIN ANALYZE VERBOSE SELECT v FROM nowhere", 4001, "Table not found");
    await refused("EXPLAIN ANALYZE VERBOSE SHOW TABLES", 1001, "EXPLAIN of show-tables");
    const path = `${server.url}/v1/sql/analyze/stream?${new URLSearchParams({ sql: "EXPLAIN ANALYZE VERBOSE SELECT 1" }).toString()}`;
    const events = await Array.fromAsync(eventsOf(await fetch(path, { method: "POST" })));
    expect(events.at(-1)?.name).toBe("final");
    expect((await fetch(`${path}&snapshot_interval_ms=x`, { method: "POST" })).status).toBe(400);
    expect((await fetch(path)).status).toBe(405);
  });
});
