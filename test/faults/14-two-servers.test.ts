/**
 * Fault 14: two servers on one directory, be it the data or the log of the first. The second one names the first one's pid and ends before
 * it touches anything. The same data directory: `test/process/life.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { queryRows, writeLines } from "../support/http-client.ts";
import { runVarve, TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, "cpu,host=a v=1i 1");
});
afterAll(async () => {
  await server.end();
});

standalone("its log").test("a server on another data directory with the log of the first ends, names it, and changes nothing", async () => {
  const log = join(server.dataHome, "wal");
  const before = readdirSync(log).sort();
  const other = join(server.folder, "other");
  const args = ["--http-addr", "127.0.0.1:0", "--data-home", other];
  const { status, stderr } = await runVarve(args, { VARVE__WAL__DIR: log });
  expect(stderr).toMatch(/^varve: [^\n]+\n$/);
  expect(stderr).toContain(`cannot use log directory ${log}: the server with pid ${server.running.pid} uses it`);
  expect(stderr).toContain("wal.dir");
  expect(status).toBe(1);
  expect(readdirSync(log).sort()).toEqual(before);
  expect((await queryRows(server.url, "SELECT v FROM cpu")).rows).toEqual([[1]]);
});

test("the locks end with the server, killed or stopped", async () => {
  await server.kill();
  await server.restart();
  await server.stop();
  await server.restart();
  expect((await queryRows(server.url, "SELECT v FROM cpu")).rows).toEqual([[1]]);
});
