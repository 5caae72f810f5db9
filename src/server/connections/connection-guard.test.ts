import { afterAll, expect, test } from "bun:test";
import net from "node:net";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import { silentLogger } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { type ClientSocket, kernelClientSockets } from "./client-sockets.ts";
import { ConnectionGuard } from "./connection-guard.ts";
import { ConnectionMarks } from "./marks.ts";

const clock = new MovingClock(1_700_000_000_000_000_000n);
const marks = new ConnectionMarks();

/** Ports that a guard drops, with so many descriptors of 400 in use and 50 kept free, of which half is made more room. */
function droppedOf(inUse: number | undefined, listed: readonly ClientSocket[]): readonly number[] {
  const dropped: number[] = [];
  const sockets = { list: () => listed, drop: (socket: ClientSocket) => void dropped.push(socket.port) };
  const count = { limit: 400, inUse: () => inUse };
  const parts = { ports: new Set([4000]), marks, clock, logger: silentLogger, metrics: new MetricRegistry(), count, sockets };
  expect(new ConnectionGuard(parts).look()).toBe(dropped.length);
  return dropped;
}

function socket(
  port: number,
  kind: "silent" | "idle" | "half",
  restingMs: number,
  answeredBytes: number = kind === "idle" ? 100 : 0,
): ClientSocket {
  return { descriptor: port, port, hasSpoken: kind !== "silent", isAnswered: kind === "idle", answeredBytes, restingMs };
}

test("below what is kept free nothing is dropped, and marks are asked for from the half on", () => {
  const listed = [socket(1, "silent", 1000)];
  expect([droppedOf(100, listed), marks.isWanted]).toEqual([[], false]);
  expect([droppedOf(350, listed), marks.isWanted]).toEqual([[], true]);
  expect([droppedOf(undefined, listed), marks.isWanted]).toEqual([[], false]);
});

test("silent ones go first, then idle ones, half requests by how long they stand still, those at work; requests under way stay", () => {
  const listed = [
    socket(1, "half", 9000),
    socket(2, "idle", 10),
    socket(3, "half", 9500),
    socket(4, "silent", 1),
    socket(5, "idle", 5000),
    socket(6, "silent", 2000),
    socket(7, "half", 1),
  ];
  marks.mark(3, clock.nowMillis());
  marks.mark(5, clock.nowMillis() - 10_000);
  expect(droppedOf(400, listed)).toEqual([6, 4, 5, 1, 7, 2]);
  const many = Array.from({ length: 100 }, (_, i) => socket(100 + i, "idle", i));
  expect(droppedOf(351, many)).toEqual(Array.from({ length: 26 }, (_, i) => 199 - i));
});

test("a writer at work outlasts a crowd that comes at once, whether it is between two requests or waits for an answer", () => {
  const crowds: readonly (readonly ["idle" | "half", number])[] = [
    ["half", 0],
    ["idle", 150],
  ];
  for (const [kind, answeredBytes] of crowds) {
    const crowd = Array.from({ length: 300 }, (_, i) => socket(1000 + i, kind, 1 + (i % 20), answeredBytes));
    for (const writer of [socket(1, "idle", 5, 1500), socket(1, "half", 5, 1500)]) {
      expect(droppedOf(400, [...crowd, writer, ...crowd.map((each) => ({ ...each, port: each.port + 1000 }))])).not.toContain(1);
    }
  }
  // The server was slow for seconds, and so were the marks: those in the middle of their first request go first.
  expect(
    droppedOf(351, [socket(1, "half", 6000, 1500), ...Array.from({ length: 26 }, (_, i) => socket(9 + i, "half", 4000))]),
  ).not.toContain(1);
});

test("marks count for a few seconds, on every thread, and for real ports only", () => {
  const other = new ConnectionMarks(marks.memory);
  other.mark(65_535, 50_000);
  expect([marks.isMarked(65_535, 52_999), marks.isMarked(65_535, 54_000), marks.isMarked(65_535, 49_000)]).toEqual([true, false, true]);
  other.isWanted = false;
  for (const port of [0, -1, 65_536, 1.5, Number.NaN]) other.mark(port, 50_000); // Port 65,536 would be the flag.
  expect(marks.isWanted).toBe(false);
});

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("x") });
const stranger = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("x") });
afterAll(async () => {
  await Promise.all([server.stop(true), stranger.stop(true)]);
});

test.if(process.platform === "linux")("the kernel tells of clients' connections, and ends the one that is named", async () => {
  const sockets = kernelClientSockets();
  const { port } = server;
  if (sockets === undefined || port === undefined) throw new Error("there is a C library and a port");
  const clients = [net.connect(port, "127.0.0.1"), net.connect(stranger.port ?? 0, "127.0.0.1"), net.connect(port, "127.0.0.1")];
  const closed = clients.map((client) => new Promise<void>((resolve) => client.on("close", () => resolve())));
  for (const client of clients) {
    client.resume();
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  expect(sockets.list(new Set([port])).filter(({ hasSpoken, answeredBytes }) => !hasSpoken && answeredBytes > 0)).toEqual([]);
  const ports = (): readonly number[] => sockets.list(new Set([port])).map((each) => each.port);
  while (ports().length < 2 || sockets.list(new Set([port])).some(({ isAnswered, answeredBytes }) => !isAnswered || answeredBytes < 50))
    await Bun.sleep(5);
  const [first, , last] = clients;
  expect(new Set(ports())).toEqual(new Set([first?.localPort ?? 0, last?.localPort ?? 0]));
  const named = sockets.list(new Set([port])).find((each) => each.port === first?.localPort);
  if (named === undefined) throw new Error("it is listed");
  sockets.drop(named);
  await closed[0];
  while (ports().length > 1) await Bun.sleep(5);
  expect(ports()).toEqual([last?.localPort ?? 0]);
  for (const client of clients) client.destroy();
});
