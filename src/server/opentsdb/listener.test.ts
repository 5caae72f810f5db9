import { afterAll, expect, test } from "bun:test";
import net from "node:net";
import { FakeDb } from "../../../test/support/fake-db.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import { LINE_BYTES_MAX } from "./limits.ts";
import { startTelnetListener, type TelnetLimits, type TelnetListener } from "./listener.ts";

const db = new FakeDb();

function start(limits?: TelnetLimits): TelnetListener {
  return startTelnetListener({
    ...(limits === undefined ? {} : { limits }),
    hostname: "127.0.0.1",
    port: 0,
    db,
    clock: systemClock,
    logger: silentLogger,
    metrics: new MetricRegistry(),
    memory: new ServerMemory(Number.POSITIVE_INFINITY),
    version: "1.2.3",
    autoCreateTable: true,
  });
}

const listener = start();
afterAll(() => listener.stop(50));

/** Sends pieces, one after the other, and returns all that came back until the connection closed. */
async function talk(pieces: readonly (string | Uint8Array)[], port = listener.port): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = "";
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.setNoDelay(true);
      const next = (i: number): void => {
        const piece = pieces[i];
        if (piece !== undefined) socket.write(piece, () => setTimeout(next, 2, i + 1));
      };
      next(0);
    });
    socket.on("data", (chunk) => {
      out += chunk.toString();
    });
    socket.on("close", () => resolve(out));
    socket.on("error", reject);
  });
}

test("good puts are written and answered by nothing", async () => {
  expect(await talk(["put m 1 2 a=1\nput m 2 3 a=1\r\n\nexit\n"])).toBe("");
  expect(db.writes.at(-1)).toMatchObject({ database: "public", rowCount: 2, options: { autoCreate: true } });
});

test("a request of HTTP, as browsers can be made to send, ends the connection and none of its lines is taken", async () => {
  const before = db.writes.length;
  const put = "put evil 1 2 a=1\n";
  for (const first of [
    "POST / HTTP/1.1\r\n",
    "GET /x HTTP/1.1\r\n",
    `POST /${"x".repeat(4000)} HTTP/1.1\r\n`,
    "Host: a\r\n",
    "OPTIONS * HTTP/1.1\n",
  ]) {
    expect(await talk([`${first}Host: a\r\n\r\n${put}`])).toBe("");
    expect(await talk([first, put, "exit\n"]).catch(() => "")).toBe("");
  }
  expect(db.writes.length).toBe(before);
});

test("lines cut anywhere are put together", async () => {
  const text = "put m 1 2 a=1\nversion\nput m 2 3 a=1\nexit\n";
  for (const cut of [1, 5, 13, 14, 18, 25, 40]) {
    const before = db.writes.reduce((sum, { rowCount }) => sum + rowCount, 0);
    expect(await talk([text.slice(0, cut), text.slice(cut)])).toBe("varve 1.2.3\n");
    expect(db.writes.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(before + 2);
  }
});

test("commands, and what is none", async () => {
  expect(await talk(["version\nhelp\nputs 1\nstats\u001b\n  \nexit\nversion\n"])).toBe(
    "varve 1.2.3\navailable commands: exit help put version\nunknown command: puts.  Try `help'.\nunknown command: stats?.  Try `help'.\n",
  );
});

test("bad puts are answered one by one, the good ones are kept", async () => {
  const before = db.writes.length;
  expect(await talk(["put\nput m 1 2 a=1\nput m x 2 a=1\nput m 1 y a=1\nput m 1 2 a\nexit\n"])).toBe(
    "put: illegal argument: not enough arguments (need least 4, got 0)\n" +
      "put: illegal argument: Invalid timestamp: x\n" +
      'put: invalid value: For input string: "y"\n' +
      "put: illegal argument: invalid tag: a\n",
  );
  expect(db.writes.slice(before).map(({ rowCount }) => rowCount)).toEqual([1]);
});

test("a failed write is answered, and the connection goes on", async () => {
  db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "cannot write the log: EIO"));
  db.onAdmit = () => Promise.resolve();
  const talked = talk(["put m 1 2 a=1\nversion\n", "exit\n"]);
  expect(await talked).toBe("varve 1.2.3\nput: storage error: cannot write the log: EIO\n");
  db.onWrite = () => Promise.resolve();
  db.onAdmit = () => Promise.reject(new DbError(StatusCode.RateLimited, "the memory limit is reached"));
  expect(await talk(["put m 1 2 a=1\nexit\n"])).toBe("put: Please throttle writes: the memory limit is reached\n");
  db.onAdmit = () => Promise.resolve();
});

test("a line without an end is refused at the limit and the connection closed", async () => {
  expect(await talk(["x".repeat(LINE_BYTES_MAX + 1)])).toBe(`error: a line has more than ${LINE_BYTES_MAX} bytes\n`);
});

test("bytes that are no text do no harm", async () => {
  const noise = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256);
  expect(await talk([noise, "\nexit\n"])).toContain("unknown command");
});

test("many answers reach a client that reads late", async () => {
  const lines = 40_000;
  const out = await talk([`${"x\n".repeat(lines)}exit\n`]);
  expect(out.length).toBe(lines * "unknown command: x.  Try `help'.\n".length);
});

test("a stop waits for what was taken to be durable", async () => {
  const own = start();
  const disk = Promise.withResolvers<void>();
  db.onWrite = () => disk.promise;
  const before = db.writes.length;
  const talked = talk(["put m 1 2 a=1\n"], own.port);
  await Bun.sleep(30);
  const stopped = own.stop(5000);
  disk.resolve();
  await stopped;
  expect(await talked).toBe("");
  expect(db.writes.length).toBe(before + 1);
  db.onWrite = () => Promise.resolve();
});

const CLOSE: TelnetLimits = { connectionsMax: 2, lineMsMax: 60_000, restingMs: 60_000, lookMs: 20 };

/** A connection that is told when it is closed. */
async function connected(port: number, text = ""): Promise<{ readonly socket: net.Socket; readonly closed: Promise<string> }> {
  const socket = net.connect(port, "127.0.0.1");
  let out = "";
  socket.on("data", (chunk) => {
    out += chunk.toString();
  });
  socket.on("error", () => undefined); // It is cut.
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(out)));
  await new Promise<void>((resolve) => socket.once("connect", () => socket.write(`${text}version\n`, () => resolve())));
  return { socket, closed };
}

test("one connection too many is told and closed while all others work, and takes the place of one that rests", async () => {
  const strict = start(CLOSE);
  const held = [await connected(strict.port), await connected(strict.port)];
  expect(await (await connected(strict.port)).closed).toBe("error: too many connections\n");
  for (const { socket } of held) socket.destroy();
  await strict.stop(50);
  const kind = start({ ...CLOSE, restingMs: 50 });
  const first = await connected(kind.port);
  const second = await connected(kind.port);
  await Bun.sleep(60);
  second.socket.write("version\n");
  await Bun.sleep(20);
  const third = await connected(kind.port);
  expect(await first.closed).toBe("varve 1.2.3\n");
  third.socket.write("exit\n");
  expect(await third.closed).toBe("varve 1.2.3\n");
  second.socket.write("exit\n");
  expect(await second.closed).toBe("varve 1.2.3\nvarve 1.2.3\n");
  await kind.stop(50);
});

test("a line that is never whole ends its connection, however steadily it trickles; one that waits between lines stays", async () => {
  const own = start({ ...CLOSE, lineMsMax: 150 });
  const trickles = await connected(own.port);
  const waits = await connected(own.port);
  const timer = setInterval(() => trickles.socket.write("p"), 20);
  expect(await trickles.closed).toBe("varve 1.2.3\n");
  clearInterval(timer);
  waits.socket.write("exit\n");
  expect(await waits.closed).toBe("varve 1.2.3\n");
  await own.stop(50);
});

test("answers of a round that nobody takes are made only as far as one connection may hold, and end it", async () => {
  const own = start({ ...CLOSE, lineMsMax: 100 });
  const socket = net.connect(own.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write("x\n".repeat(2_000_000));
  await Bun.sleep(600);
  socket.resume();
  await closed;
  await own.stop(50);
});
