/** Clients that promise much and send little, or nothing, or never end: nobody else waits for them. */
import { afterAll, expect, test } from "bun:test";
import net from "node:net";
import { affectedResult, rowsResult } from "../../../../test/support/fake-db.ts";
import { type HttpFixture, rawExchange, startFixture, startThreadFixture } from "../../../../test/support/http-fixture.ts";
import { ServerMemory } from "../../../base/memory/server-memory.ts";
import { STRING } from "../../../column/data-type.ts";
import type { HttpServerOptions } from "../options.ts";

const MIB = 1024 * 1024;
const LINE = "cpu v=1\n";
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

async function start(changes: Partial<HttpServerOptions> = {}): Promise<HttpFixture & { readonly memory: ServerMemory }> {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  const fixture = await startFixture({ memory, bodyBytesMax: 64 * MIB, inFlightBytesMax: 4 * MIB, inFlightWaitMs: 200, ...changes });
  stops.push(() => fixture.server.stop(50));
  return { ...fixture, memory };
}

/** Connections that send this, and then nothing. */
async function hold(port: number, count: number, text: string): Promise<() => void> {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => undefined); // It is cut at the end.
      await new Promise<void>((resolve) => socket.once("connect", () => socket.write(text, () => resolve())));
      return socket;
    }),
  );
  await Bun.sleep(20); // The server reads them.
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

const head = (headers: string): string => `POST /v1/influxdb/write HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

async function write(url: string, body: string): Promise<number> {
  return (await fetch(`${url}/v1/influxdb/write`, { method: "POST", body })).status;
}

test("two equal Content-Length headers are one, and stop nobody", async () => {
  const { server, url, bodies } = await start();
  const answer = await rawExchange(server.port, `${head("Content-Length: 8\r\nContent-Length: 8")}${LINE}`);
  expect(answer).toStartWith("HTTP/1.1 204");
  expect(bodies).toEqual([LINE]);
  const release = await hold(server.port, 1, head("Content-Length: 8\r\nContent-Length: 8"));
  expect([await write(url, LINE), (await fetch(`${url}/health`)).status]).toEqual([204, 200]);
  release();
});

test.each([
  "Content-Length: 8, 8, 9",
  "Content-Length: 8\r\nContent-Length: 9",
  "Content-Length: +8",
  "Content-Length: -8",
  "Content-Length: 0x8",
  "Content-Length: 8 8",
  "Content-Length: 18446744073709551624",
  "Content-Length: 8\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nContent-Length: 8",
  "Transfer-Encoding: gzip, chunked",
])("%p is refused with 400, the connection is closed and nothing is read as a second request", async (headers) => {
  const { server, bodies } = await start();
  const answer = await rawExchange(server.port, `${head(headers)}8\r\n${LINE}\r\n0\r\n\r\n${head("Content-Length: 8")}${LINE}`);
  expect(answer).toMatch(/^HTTP\/1\.1 400/);
  expect(answer).toEndWith("<closed>");
  expect(bodies).toEqual([]);
});

test.each(["FFFFFFFFFFFFFFFFFF", "7FFFFFFFFFFFFFFF", "-8", "0x8", "6", "9"])(
  "a chunk that says it has %s bytes and has 8 is refused",
  async (size) => {
    const { server, bodies, url } = await start();
    const answer = await rawExchange(server.port, `${head("Transfer-Encoding: chunked")}${size}\r\n${LINE}\r\n0\r\n\r\n`);
    expect(answer).not.toContain("204");
    expect(bodies).toEqual([]);
    expect(await write(url, LINE)).toBe(204);
  },
);

test("bodies that were promised and do not come hold next to nothing, and others are written meanwhile", async () => {
  const { server, url, memory } = await start();
  const release = await hold(server.port, 40, `${head(`Content-Length: ${4 * MIB}`)}${LINE}`);
  expect(memory.bytesOf("request_bodies")).toBeLessThan(MIB);
  for (const bytes of [8, 100_000, MIB, 3 * MIB]) expect(await write(url, LINE.repeat(bytes / 8))).toBe(204);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  release();
});

test("promises are believed for a part of the limit only", async () => {
  const { server, url, memory } = await start();
  const release = await hold(server.port, 40, `${head(`Content-Length: ${MIB / 2}`)}${LINE}`);
  expect(memory.bytesOf("request_bodies")).toBeLessThan(1.5 * MIB);
  expect(await write(url, LINE.repeat((2 * MIB) / 8))).toBe(204);
  release();
});

test("many bodies that fill the limit together all come to their end", async () => {
  const { url, memory } = await start({ inFlightBytesMax: MIB, inFlightWaitMs: 25_000 });
  const body = LINE.repeat((0.75 * MIB) / 8);
  expect(await Promise.all(Array.from({ length: 12 }, () => write(url, body)))).toEqual(Array.from({ length: 12 }, () => 204));
  expect(memory.bytesOf("request_bodies")).toBe(0);
}, 20_000);

test("a probe passes while every body that fits is worked on and as many wait", async () => {
  const fixture = await start({ inFlightWaitMs: 10_000 });
  const gate = Promise.withResolvers<void>();
  fixture.db.onAdmit = () => gate.promise;
  const working = Array.from({ length: 4 }, () => write(fixture.url, LINE.repeat((2 * MIB) / 8)));
  while (fixture.memory.bytesOf("request_bodies") < 2 * MIB) await Bun.sleep(1);
  for (const path of ["/health", "/ready", "/status", "/metrics", "/v1/health", "/v1/influxdb/ping", "/v1/influxdb/health"]) {
    const response = await fetch(fixture.url + path);
    expect([path, Math.floor(response.status / 100)]).toEqual([path, 2]);
    await response.text();
  }
  const posted = await rawExchange(fixture.server.port, "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\nx");
  expect(posted).toStartWith("HTTP/1.1 200");
  gate.resolve();
  expect(await Promise.all(working)).toEqual([204, 204, 204, 204]);
});

test.each(["Content-Length: 100000", "Content-Length: 2000000", "Transfer-Encoding: chunked"])(
  "a body that comes in too slowly is told so and closed: %s",
  async (headers) => {
    const { server, url, memory, bodies } = await start({ pace: { graceMs: 150, bytesPerSecondMin: 1_000_000, msMax: 5000 } });
    let timer: ReturnType<typeof setInterval> | undefined;
    const answer = await rawExchange(server.port, head(headers), 3000, (socket) => {
      timer = setInterval(() => socket.write(headers.startsWith("T") ? "1\r\na\r\n" : "a"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    clearInterval(timer);
    expect(answer).toStartWith("HTTP/1.1 408");
    expect(answer).toContain("cannot read the request body: it comes in too slowly");
    expect(answer).toMatch(/<(?:closed|reset)>$/);
    expect([memory.bytesOf("request_bodies"), bodies]).toEqual([0, []]);
    expect(await write(url, LINE)).toBe(204);
  },
);

test("a body at the least rate is taken, also past the grace", async () => {
  const { server } = await start({ pace: { graceMs: 100, bytesPerSecondMin: 1000, msMax: 5000 } });
  const answer = await rawExchange(server.port, head("Content-Length: 2400000"), 1500, (socket) => {
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(LINE.repeat(30_000));
      if (++sent === 10) clearInterval(timer);
    }, 40);
  });
  expect(answer).toStartWith("HTTP/1.1 204");
});

test("an ingest thread passes probes on while all that wait for the owner wait, and while bodies trickle", async () => {
  const fixture = await startThreadFixture({ inFlightBytesMax: 4 * MIB });
  stops.push(() => fixture.stop(50));
  const gate = Promise.withResolvers<void>();
  fixture.db.onSql = () =>
    (async function* () {
      await gate.promise;
      yield affectedResult(1);
    })();
  const sql = "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
  const releases = [
    await hold(fixture.threadPort, 250, "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    await hold(fixture.threadPort, 100, `${sql}Content-Length: 900000\r\n\r\nsql`),
    await hold(fixture.threadPort, 100, `${sql}Transfer-Encoding: chunked\r\n\r\n3\r\nsql\r\n`),
  ];
  for (const path of ["/health", "/ready", "/status", "/metrics", "/v1/health"]) {
    const answer = await rawExchange(fixture.threadPort, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 2000, (socket) => {
      socket.once("data", () => setTimeout(() => socket.destroy(), 20));
    });
    expect([path, answer.slice(0, 12)]).toEqual([path, "HTTP/1.1 200"]);
  }
  gate.resolve();
  for (const release of releases) release();
});

test.each(["takes nothing of", "takes little by little of"])("a client that %s its answer is cut off, and its query ends", async (how) => {
  const fixture = await start({ pace: { graceMs: 150, bytesPerSecondMin: 50_000_000, msMax: 5000 } });
  const ended = Promise.withResolvers<void>();
  let pieces = 0;
  fixture.db.onSql = () => {
    const result = rowsResult([["t", STRING, Array.from({ length: 1000 }, () => "x".repeat(1000))]]);
    if (result.kind !== "rows") throw new Error("rows expected");
    return [
      {
        ...result,
        batches: (async function* () {
          try {
            for await (const batch of result.batches) for (; ; pieces++) yield batch;
          } finally {
            ended.resolve();
          }
        })(),
      },
    ];
  };
  const socket = net.connect({ port: fixture.server.port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  socket.on("data", () => socket.pause());
  socket.pause();
  socket.write("GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const timer = setInterval(() => how.startsWith("takes little") && socket.resume(), 300);
  await ended.promise;
  clearInterval(timer);
  socket.destroy();
  expect(pieces).toBeLessThan(100); // It waited for its client.
});
