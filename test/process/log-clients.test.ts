/** A logger of npm pushes its lines through authentication; SQL reads them back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { pino } from "pino";
import { pinoLoki } from "pino-loki";
import { queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const HEADERS = { authorization: `Basic ${btoa("client:s3cret")}` };

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:client=s3cret"] });
});
afterAll(async () => {
  await server.end();
});

test("pino-loki: lines, labels, structured metadata", async () => {
  const transport = pinoLoki({
    host: server.url,
    endpoint: "v1/loki/api/v1/push",
    basicAuth: { username: "client", password: "s3cret" },
    headers: { "x-greptime-log-table-name": "pino_logs" },
    labels: { app: "shop", env: 'a "quoted" one' },
    batching: { interval: 60, maxBufferSize: 1000 },
    structuredMetaKey: "meta",
  });
  const logger = pino({ base: { host: "web01" } }, transport);
  logger.info({ meta: { trace_id: "4bf92f35" } }, "first\nwith two lines");
  logger.error("second, ü");
  const closed = once(transport, "close");
  transport.end();
  await closed;
  const sql = "SELECT app, env, level, line, structured_metadata FROM pino_logs ORDER BY greptime_timestamp, level DESC";
  const { rows } = await queryRows(server.url, sql, { headers: HEADERS });
  expect(rows.map(([app, env, level]) => [app, env, level])).toEqual([
    ["shop", 'a "quoted" one', "info"],
    ["shop", 'a "quoted" one', "error"],
  ]);
  expect(JSON.parse(String(rows[0]?.[3]))).toMatchObject({ msg: "first\nwith two lines", host: "web01" });
  expect(rows[0]?.[4]).toEqual(expect.objectContaining({ trace_id: "4bf92f35" }));
  expect(JSON.parse(String(rows[1]?.[3]))).toMatchObject({ msg: "second, ü" });
});
