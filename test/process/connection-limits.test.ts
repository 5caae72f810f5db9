/**
 * More clients than the process may have descriptors: it lives, clients that are at work go on, files are written, and newcomers get in as
 * soon as idle ones have gone. And what the runtime does with heads that do not end.
 */
import { afterAll, describe, expect, test } from "bun:test";
import net from "node:net";
import { postSql } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const TEST_MS_MAX = 60_000;
const DESCRIPTORS = 256;
const CONNECTIONS = 600;

const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.end();
});

async function start(threads: number): Promise<TestServer> {
  const config = `[ingest]\nthreads = ${threads}\n[storage]\nmemtable_size = "256KiB"\n[wal]\nsegment_size = "64KiB"\n`;
  const server = await TestServer.start({ config, wrapper: ["sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh"] });
  servers.push(server);
  return server;
}

/** Connections that only send this. */
class Crowd {
  closed = 0;
  private readonly sockets: net.Socket[] = [];

  constructor(port: number, count: number, text = "") {
    for (let i = 0; i < count; i++) {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => undefined); // It is dropped.
      socket.resume(); // Who does not read what came never hears of the end.
      socket.on("close", () => this.closed++);
      socket.on("connect", () => {
        if (text !== "") socket.write(text);
      });
      this.sockets.push(socket);
    }
  }

  leave(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

/** One connection that writes again and again, and never opens another. */
class Writer {
  acknowledged = 0;
  failure: string | undefined;
  private readonly socket: net.Socket;
  private readonly ended = Promise.withResolvers<void>();
  private received = "";
  private isStopping = false;

  constructor(port: number, table: string) {
    this.socket = net.connect(port, "127.0.0.1");
    const send = (): void => {
      const body = `${table},host=h${this.acknowledged % 50} v=${this.acknowledged},text="${"x".repeat(2000)}"\n`;
      this.socket.write(`POST /v1/influxdb/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    };
    this.socket.on("connect", send);
    this.socket.on("error", () => undefined); // "close" follows.
    this.socket.on("close", () => {
      if (!this.isStopping) this.failure ??= `closed; got ${JSON.stringify(this.received)}`;
      this.ended.resolve();
    });
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      const end = this.received.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!this.received.startsWith("HTTP/1.1 204")) this.failure ??= this.received;
      this.received = "";
      this.acknowledged++;
      if (this.isStopping || this.failure !== undefined) this.socket.end();
      else send();
    });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.ended.promise;
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
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
  return await fetch(`${url}/v1/sql?sql=${encodeURIComponent(sql)}`, { keepalive: false }).then(
    async (response) => (await response.text()) !== "" && response.ok,
    () => false,
  );
}

describe.each([1, 2])("with ingest.threads = %i", (threads) => {
  test.each([
    ["silent", ""],
    ["in the middle of a head", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"],
    ["idle after an answer", "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["in the middle of a body", "POST /v1/influxdb/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\ncpu"],
  ])(
    "clients that are %s make room: a writer goes on, files are flushed, newcomers are answered",
    async (_name, text) => {
      const server = await start(threads);
      const port = Number(new URL(server.url).port);
      const writer = new Writer(port, "held");
      await until(() => writer.acknowledged > 10);
      const crowd = new Crowd(port, CONNECTIONS, text);
      const before = writer.acknowledged;
      await until(() => writer.failure !== undefined || writer.acknowledged > before + 300);
      // Segments of the log were begun, and these are files of the table.
      await until(() => asked(server.url, "ADMIN flush_table('held')"));
      await until(() => isAnswered(server.url));
      await until(() => crowd.closed > CONNECTIONS - DESCRIPTORS);
      await writer.stop();
      expect(writer.failure).toBeUndefined();
      crowd.leave();
      await until(() => isAnswered(server.url));
      expect((await postSql(server.url, "SELECT count(*) FROM held")).text).toContain(`[[${writer.acknowledged}]]`);
      expect(server.log()).not.toContain("broken invariant");
      expect(server.log()).toContain("too many connections");
    },
    TEST_MS_MAX,
  );
});

test(
  "heads that do not end are cut off, however steadily they trickle",
  async () => {
    const server = await start(1);
    const port = Number(new URL(server.url).port);
    const crowd = new Crowd(port, 3, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    const trickling = net.connect(port, "127.0.0.1");
    trickling.on("error", () => undefined); // It is cut.
    const timer = setInterval(() => trickling.write("X-A: b\r\n"), 500);
    await new Promise<void>((resolve) => trickling.once("close", () => resolve()));
    clearInterval(timer);
    await until(() => crowd.closed === 3);
    expect(await isAnswered(server.url)).toBe(true);
  },
  TEST_MS_MAX,
);
