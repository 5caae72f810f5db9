/** Hostile statements, in short forms, end with an answer or a clear error, and the server goes on; `hostile.ts` measures long forms. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postSql } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { doubling, HOSTILE_SETUP, hostileStatements } from "./hostile-statements.ts";
import { runningStatements, until } from "./statement-watch.ts";

/** Part of the size at which they were seen to stop a server. */
const SCALE = 0.002;
/** Statements that are as large at any scale; `hostile.ts` runs them. */
const UNSCALED = /^JOIN of 400|grouping sets|generate_series\(TIMESTAMP|levenshtein|over rows/;
/** Each ends by this at the latest; the header has no effect where the server has no timeout of its own. */
const TIMEOUT_MS = 1000;
const TIMEOUT = { headers: { "x-greptime-timeout": `${TIMEOUT_MS}ms` } };
const CONFIG = `[http]\ntimeout = "300s"\n`;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: CONFIG });
  for (const sql of HOSTILE_SETUP) await postSql(server.url, sql);
});
afterAll(async () => {
  await server.end();
});

/** Answers that the server cut in the middle because their time was up, as its log tells. */
function answersCutInTime(): number {
  const lines = server.log().split("\n");
  return lines.filter((line) => line.includes("an answer was cut in the middle") && line.includes("DeadlineExceeded")).length;
}

test("hostile statements end, each with an answer, a clear error or by its timeout", async () => {
  const wrong: string[] = [];
  const cut: string[] = [];
  const waiting = hostileStatements(SCALE).filter(({ name }) => !UNSCALED.test(name));
  const client = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const begun = performance.now();
      const answer = await postSql(server.url, next.sql, TIMEOUT).catch((error: unknown) => String(error));
      if (typeof answer === "string") {
        // A streamed answer whose time is up is reset: nothing else tells a client that it is not whole.
        if (performance.now() - begun >= TIMEOUT_MS) cut.push(next.name);
        else wrong.push(`${next.name}: ${answer} before its time was up`);
        continue;
      }
      const { status, text } = answer;
      const isClear = status === 200 || status === 408 || text.includes('"error":"');
      if (!isClear || text.includes("Internal error")) wrong.push(`${next.name}: ${status} ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  expect(wrong).toEqual([]);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await until(async () => answersCutInTime() === cut.length, `the log tells of what was cut: ${cut.join(", ")}`);
}, 120_000);

test("doubling is refused at its full size, from a text of some hundred bytes", async () => {
  const refused: string[] = [];
  for (const { name, sql } of doubling(1).filter(({ name: each }) => each.startsWith("CTE doubled"))) {
    const { text } = await postSql(server.url, sql);
    if (text.includes("the plan has more than")) refused.push(name);
  }
  expect(refused.length).toBe(6);
}, 120_000);

test("a long call ends with its statement, by KILL and when its client leaves", async () => {
  const call = "SELECT length(replace(repeat('a', 16000000), 'a', 'b')), array_length(array_sort(range(3000000), 'DESC'))";
  const killed = postSql(server.url, call);
  await until(async () => (await runningStatements(server)).length === 1, "the call runs");
  const [id] = await runningStatements(server);
  await postSql(server.url, `KILL '${id}'`);
  expect((await killed).text).toContain("cancelled");
  const controller = new AbortController();
  const left = fetch(`${server.url}/v1/sql`, { method: "POST", body: new URLSearchParams({ sql: call }), signal: controller.signal }).catch(
    () => "left",
  );
  await until(async () => (await runningStatements(server)).length === 1, "the call runs");
  controller.abort();
  expect(await left).toBe("left");
  await until(async () => (await runningStatements(server)).length === 0, "no statement runs");
}, 60_000);

test("SIGTERM ends a server that plans and computes", async () => {
  const chain = Array.from({ length: 3000 }, (_, i) => `abs(usage) = ${i}`).join(" OR ");
  const running = [
    postSql(server.url, `SELECT count(*) FROM hostile WHERE ${chain}`).catch(String),
    postSql(server.url, "SELECT length(replace(repeat('a', 16000000), 'a', 'b'))").catch(String),
  ];
  await until(async () => (await runningStatements(server)).length > 0, "a statement runs");
  expect((await server.stop()).status).toBe(0);
  await Promise.all(running);
}, 60_000);
