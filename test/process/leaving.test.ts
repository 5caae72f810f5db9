/** Statements that are given up end in a real server, whoever gives them up, and nothing of them stays: no memory, no files, no entry. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { postSql } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { metricOf, runningStatements, until } from "./statement-watch.ts";

const CONFIG = `
[http]
timeout = "60s"
[query]
memory_limit = "4MiB"
`;
/** Pairs enough for minutes. */
const LONG =
  "SELECT count(*) FROM (SELECT number AS a FROM numbers LIMIT 300000) AS l " +
  "JOIN (SELECT number AS b FROM numbers LIMIT 300000) AS r ON a < b";
/** Rows of 8 MB and more, which are sorted over the disk. */
const SPILLING = "SELECT number, number * 7919 % 1000003 AS r FROM (SELECT number FROM numbers LIMIT 1000000) AS n ORDER BY r, number";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: CONFIG });
});
afterAll(async () => {
  await server.end();
});

const running = (): Promise<readonly string[]> => runningStatements(server);
const metric = (name: string): Promise<number> => metricOf(server, name);

/** Waits until no statement runs, and looks what is left of it. */
async function checkNothingStays(): Promise<void> {
  await until(async () => (await running()).length === 0, "no statement runs");
  await until(async () => (await metric("varve_query_spill_files")) === 0, "spill files are closed");
  expect(await metric("varve_query_spill_bytes")).toBe(0);
  expect(await metric('varve_memory_bytes{part="queries"}')).toBe(0);
  expect(readdirSync(join(server.dataHome, "tmp"))).toEqual([]);
}

function start(sql: string, signal?: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${server.processUrl}/v1/sql`, {
    method: "POST",
    body: new URLSearchParams({ sql, format: "csv" }),
    headers,
    ...(signal === undefined ? {} : { signal }),
  });
}

test.each([LONG, `SELECT count(*) FROM (${SPILLING}) AS s, (SELECT number FROM numbers LIMIT 1000) AS m`])(
  "a client that leaves: %s",
  async (sql) => {
    const client = new AbortController();
    const answer = start(sql, client.signal).then(
      () => "it was answered",
      () => "it left",
    );
    await until(async () => (await running()).length === 1, "the statement runs");
    await Bun.sleep(300); // Somewhere in the middle.
    client.abort();
    expect(await answer).toBe("it left");
    await checkNothingStays();
  },
);

test("a client that leaves in the middle of an answer from the disk", async () => {
  const before = await metric("varve_query_spilled_bytes_total");
  const { body } = await start(SPILLING);
  const reader = body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  expect(await metric("varve_query_spilled_bytes_total")).toBeGreaterThan(before);
  await reader?.cancel();
  await checkNothingStays();
});

test("KILL ends a statement, which says so", async () => {
  const answer = start(LONG);
  await until(async () => (await running()).length === 1, "the statement runs");
  const [id = ""] = await running();
  expect((await postSql(server.url, `KILL '${id}'`)).status).toBe(200);
  const { status } = await answer;
  expect([status, await (await answer).text()]).toEqual([504, expect.stringContaining("Query has been cancelled")]);
  await checkNothingStays();
});

test("x-greptime-timeout ends a statement", async () => {
  const { status } = await start(LONG, undefined, { "x-greptime-timeout": "300ms" });
  expect(status).toBe(408);
  await checkNothingStays();
});

test("an answer that is sorted over the disk is whole", async () => {
  const text = await (await start(SPILLING)).text();
  const rows = text.trimEnd().split("\r\n");
  expect(rows.length).toBe(1_000_000);
  let before = -1;
  expect(
    rows.every((row) => {
      const [number = "", r = ""] = row.split(",");
      const isRight = (Number(number) * 7919) % 1_000_003 === Number(r) && Number(r) >= before;
      before = Number(r);
      return isRight;
    }),
  ).toBe(true);
  await checkNothingStays();
});
