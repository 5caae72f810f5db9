/**
 * More clients than the process may have descriptors: it lives, clients that are at work go on, files are written, and newcomers get in as
 * soon as idle ones have gone. And what the runtime does with heads that do not end.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import net from "node:net";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { postSql } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { Crowd, HeldWriter, UNFINISHED, withDescriptors } from "./crowd.ts";

const TEST_MS_MAX = 60_000;
const WAIT_MS_MAX = 40_000;
const DESCRIPTORS = 256;
/** Of them, those that the server keeps free. */
const KEPT_FREE = 32;
const CONNECTIONS = 600;

/** Eight clusters at once are too many processes for two cores. */
const concurrent = IN_CLUSTER ? test : test.concurrent;

const servers: TestServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end()));
}, TEST_MS_MAX);

async function start(threads: number): Promise<TestServer> {
  const config = `[ingest]\nthreads = ${threads}\n[storage]\nmemtable_size = "256KiB"\n[wal]\nsegment_size = "64KiB"\n`;
  const server = await TestServer.start({ config, wrapper: withDescriptors(DESCRIPTORS) });
  servers.push(server);
  return server;
}

/** Waits. @throws Error with `what` when it takes too long */
async function until(isSo: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  for (const end = performance.now() + WAIT_MS_MAX; !(await isSo()); await Bun.sleep(20)) {
    if (performance.now() > end) throw new Error(`not so after ${WAIT_MS_MAX} ms: ${what()}`);
  }
}

/** Descriptors that a server has in use. */
function descriptorsOf(server: TestServer): number {
  return readdirSync(`/proc/${server.running.pid}/fd`).length;
}

/** Whether a new connection is answered. */
async function isAnswered(url: string): Promise<boolean> {
  return await fetch(`${url}/health`, { keepalive: false, signal: AbortSignal.timeout(1000) }).then(
    async (response) => (await response.text()) !== "" && response.ok,
    () => false,
  );
}

/** Whether a statement was executed on a new connection. */
async function asked(url: string, sql: string): Promise<boolean> {
  return await fetch(`${url}/v1/sql?sql=${encodeURIComponent(sql)}`, { keepalive: false, signal: AbortSignal.timeout(10_000) }).then(
    async (response) => (await response.text()) !== "" && response.ok,
    () => false,
  );
}

// Servers of one thread beside each other, since they mostly wait: a server looks after its connections now and then. Others one by one:
// eight crowds in this process hold up its writers, too, and one that does nothing for a while may be dropped.
describe.each([1, 2])("with ingest.threads = %i", (threads) => {
  const inTurn = threads === 1 ? concurrent : test;
  inTurn.each(Object.entries(UNFINISHED))(
    "clients that are %s make room: a writer goes on, files are flushed, newcomers are answered",
    async (_name, text) => {
      const server = await start(threads);
      const port = Number(new URL(server.processUrl).port);
      const writer = new HeldWriter(port, "held");
      await until(
        () => writer.acknowledged > 10,
        () => "the writer began",
      );
      const crowd = new Crowd(port, CONNECTIONS, text);
      const before = writer.acknowledged;
      await until(
        () => writer.failure !== undefined || writer.acknowledged > before + 300,
        () => `the writer went on; ${writer.acknowledged - before} rows so far`,
      );
      // Segments of the log were begun, and these are files of the table.
      await until(
        () => asked(server.processUrl, "ADMIN flush_table('held')"),
        () => `a flush on a new connection; the writer: ${writer.failure ?? "goes on"}; the log: ${server.log().slice(-500)}`,
      );
      await until(
        () => isAnswered(server.processUrl),
        () => "a newcomer was answered",
      );
      // Those that the kernel gave up before the server took them never hear of it, so they are not counted among the clients.
      await until(
        () => crowd.closed > 0 && descriptorsOf(server) <= DESCRIPTORS - KEPT_FREE,
        () => `descriptors were made free; ${descriptorsOf(server)} are in use, ${crowd.closed} connections were closed`,
      );
      await writer.stop();
      expect(writer.failure).toBeUndefined();
      crowd.leave();
      // Before the server has let go of those that left, there is no room yet, and a newcomer may be dropped for it.
      await until(
        () => descriptorsOf(server) <= DESCRIPTORS / 2,
        () => `the crowd left; ${descriptorsOf(server)} descriptors are in use`,
      );
      await until(
        () => isAnswered(server.processUrl),
        () => "a newcomer was answered once the crowd had left",
      );
      expect((await postSql(server.processUrl, "SELECT count(*) FROM held")).text).toContain(`[[${writer.acknowledged}]]`);
      expect(server.log()).not.toContain("broken invariant");
      expect(server.log()).toContain("too many connections");
    },
    TEST_MS_MAX,
  );
});

concurrent(
  "heads that do not end are cut off, however steadily they trickle",
  async () => {
    const server = await start(1);
    const port = Number(new URL(server.processUrl).port);
    const crowd = new Crowd(port, 3, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    const trickling = net.connect(port, "127.0.0.1");
    trickling.on("error", () => undefined); // It is cut.
    const timer = setInterval(() => trickling.write("X-A: b\r\n"), 500);
    await new Promise<void>((resolve) => trickling.once("close", () => resolve()));
    clearInterval(timer);
    await until(
      () => crowd.closed === 3,
      () => "every head was cut off",
    );
    expect(await isAnswered(server.processUrl)).toBe(true);
  },
  TEST_MS_MAX,
);
