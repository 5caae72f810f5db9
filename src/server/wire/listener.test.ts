import { afterEach, expect, test } from "bun:test";
import net from "node:net";
import tls from "node:tls";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { certificate } from "../../../test/support/certificate.ts";
import { ampleWireMemory } from "../../../test/support/wire-memory.ts";
import type { Framing } from "./incoming.ts";
import { type ListenerOptions, startWireListener, type WireListener, type WireLimits } from "./listener.ts";
import type { TlsFiles } from "./tls-files.ts";
import type { EndReason, WireConnection, WireProtocol } from "./wire-connection.ts";

/** One byte of length, which counts itself. `i`: signs in, `w`: works for 50 ms, `t`: TLS, `l`, `m`: long answers, `x`: throws. */
const framing: Framing = { headerBytes: 1, lengthOf: (bytes, at) => bytes[at]! };

class Letters implements WireProtocol {
  readonly framing = framing;
  isSignedIn = false;
  private readonly connection: WireConnection;
  private readonly tls: TlsFiles | undefined;
  private isClosed = false;

  constructor(connection: WireConnection, files: TlsFiles | undefined) {
    this.connection = connection;
    this.tls = files;
  }

  opened(): void {
    this.connection.outgoing.text("hello ");
  }

  message(bytes: Uint8Array): Promise<void> | undefined {
    const { outgoing } = this.connection;
    const letter = String.fromCharCode(bytes[1] ?? 0);
    outgoing.text(letter);
    if (letter === "i") this.isSignedIn = true;
    if (letter === "t" && this.tls !== undefined) this.connection.startTls(this.tls.context, this.connection.incoming.rest());
    if (letter === "w") return Bun.sleep(50).then(() => outgoing.text("worked "));
    if (letter === "m") {
      outgoing.raw(new Uint8Array(16 * 1024 * 1024).fill(0x2e));
      outgoing.send();
      outgoing.text("m's end ");
    }
    if (letter === "x") throw new Error("a bug");
    if (letter === "q") this.connection.bye();
    return letter === "l" ? this.long() : undefined;
  }

  lastWords(reason: EndReason): void {
    this.connection.outgoing.text(`[${reason}]`);
  }

  closed(): void {
    this.isClosed = true;
  }

  private async long(): Promise<void> {
    const { outgoing } = this.connection;
    for (let i = 0; i < 256 && !this.isClosed; i++) {
      outgoing.raw(new Uint8Array(64 * 1024).fill(65 + (i % 26)));
      await outgoing.flush();
    }
  }
}

const running: WireListener[] = [];
const clients: net.Socket[] = [];
const failures: unknown[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const listener of running.splice(0)) await listener.stop(100);
  failures.length = 0;
});

async function start(limits: Partial<WireLimits> = {}, more: Partial<ListenerOptions> = {}): Promise<WireListener> {
  const listener = await startWireListener(
    {
      hostname: "127.0.0.1",
      port: 0,
      keepAliveMs: 1000,
      clock: systemClock,
      scheduler: new Scheduler(),
      memory: ampleWireMemory(),
      logger: silentLogger,
      metrics: new MetricRegistry(),
      limits: { lookMs: 5, ...limits },
      ...more,
    },
    {
      name: "postgres",
      title: "Letters",
      open: (connection, server) => new Letters(connection, server.tls),
      failed: (thrown) => failures.push(thrown),
    },
  );
  running.push(listener);
  return listener;
}

interface Client {
  readonly socket: net.Socket;
  text(): string;
  /** Waits for a text. */
  until(text: string): Promise<void>;
  closed: Promise<void>;
}

function follow(socket: net.Socket): Client {
  clients.push(socket);
  let text = "";
  let wake = (): void => undefined;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    wake();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return {
    socket,
    text: () => text,
    until: async (part) => {
      while (!text.includes(part)) await new Promise<void>((resolve) => (wake = resolve));
    },
    closed,
  };
}

const connect = ({ port }: WireListener): Client => follow(net.connect(port, "127.0.0.1"));
const letters = (text: string): Uint8Array => Uint8Array.from([...text].flatMap((letter) => [2, letter.charCodeAt(0)]));

test("handles messages one after the other, and says goodbye when it stops", async () => {
  const listener = await start();
  const client = connect(listener);
  client.socket.write(letters("awbi"));
  await client.until("i");
  expect(client.text()).toBe("hello awworked bi");
  await listener.stop(1000);
  await client.closed;
  expect(client.text()).toEndWith("[shutdown]");
});

test("lets a message at work end before it stops, and drops it after the grace", async () => {
  const listener = await start();
  const client = connect(listener);
  client.socket.write(letters("w"));
  await client.until("w");
  await listener.stop(1000);
  await client.closed;
  expect(client.text()).toBe("hello wworked [shutdown]");
});

test("what a client sends together waits for one turn among queries, which it gives back", async () => {
  const rounds: (() => void)[] = [];
  const standing = { ...systemClock, monotonicMillis: () => 0 }; // A round never ends by time.
  const { queries } = new Scheduler(standing, (round) => void rounds.push(round));
  const scheduler = Object.assign(new Scheduler(), { queries });
  const listener = await start({}, { scheduler });
  expect(queries.take()).toBeUndefined(); // A query of another door.
  const client = connect(listener);
  client.socket.write(letters("i"));
  await client.until("i");
  client.socket.write(letters("abc"));
  const stranger = connect(listener);
  stranger.socket.write(letters("d")); // Who has not signed in asks no queries.
  await stranger.until("d");
  expect(client.text()).toBe("hello i");
  queries.done();
  await client.until("c");
  expect(client.text()).toBe("hello iabc");
  expect(queries.take()).toBeUndefined();
  expect(rounds).toHaveLength(1);
});

test("a client that leaves is let go", async () => {
  const listener = await start();
  const client = connect(listener);
  client.socket.write(letters("aqb"));
  await client.closed;
  expect(client.text()).toBe("hello aq");
});

test("a newcomer takes the place of one that has not signed in; those that have stay", async () => {
  const listener = await start({ connectionsMax: 2 });
  const first = connect(listener);
  first.socket.write(letters("i"));
  await first.until("i");
  const second = connect(listener);
  await second.until("hello");
  const third = connect(listener);
  await second.closed;
  third.socket.write(letters("i"));
  await third.until("i");
  const fourth = connect(listener);
  await fourth.closed;
  expect(fourth.text()).toBe("hello [too many connections]");
  first.socket.write(letters("a"));
  await first.until("a");
});

test("who does not sign in, or rests too long, is told and dropped", async () => {
  const listener = await start({ signInMsMax: 30, idleMsMax: 60 });
  const silent = connect(listener);
  await silent.closed;
  expect(silent.text()).toBe("hello [sign-in took too long]");
  const idle = connect(listener);
  idle.socket.write(letters("i"));
  await idle.closed;
  expect(idle.text()).toBe("hello i[idle for too long]");
});

test("a client that takes nothing is dropped, and nothing piles up for it", async () => {
  const listener = await start({ writeMsMax: 200 });
  const client = follow(net.connect({ port: listener.port, host: "127.0.0.1" }));
  await client.until("hello");
  client.socket.pause();
  client.socket.write(letters("il"));
  const other = connect(listener);
  await other.until("hello");
  await Bun.sleep(600);
  client.socket.resume();
  await client.closed;
  expect(client.text().length).toBeLessThan(16 * 1024 * 1024);
});

test("a slow client gets all of a long answer, in order", async () => {
  const listener = await start();
  const socket = net.connect(listener.port, "127.0.0.1");
  const client = follow(socket);
  socket.write(letters("il"));
  for (let i = 0; i < 20; i++) {
    socket.pause();
    await Bun.sleep(5);
    socket.resume();
    await Bun.sleep(1);
  }
  socket.write(letters("z"));
  await client.until("z");
  expect(client.text()).toBe(longAnswer);
});

const longAnswer: string = `hello il${Array.from({ length: 256 }, (_, i) => String.fromCharCode(65 + (i % 26)).repeat(65_536)).join("")}z`;

test("goes on encrypted", async () => {
  const files = await certificate("one");
  const listener = await start({}, { tls: { mode: "prefer", ...files, watch: false } });
  const raw = net.connect(listener.port, "127.0.0.1");
  const plain = follow(raw);
  raw.write(letters("t"));
  await plain.until("t");
  const client = follow(tls.connect({ socket: raw, rejectUnauthorized: false }));
  client.socket.write(letters("ilz"));
  await client.until("z");
  expect(client.text()).toBe(longAnswer.replace("hello ", ""));
});

test("watched certificates are read again", async () => {
  const files = await certificate("two");
  const other = await certificate("three");
  const listener = await start({}, { tls: { mode: "prefer", ...files, watch: true } });
  const fingerprint = async (): Promise<string> => {
    const raw = net.connect(listener.port, "127.0.0.1");
    const plain = follow(raw);
    raw.write(letters("t"));
    await plain.until("t");
    const socket = tls.connect({ socket: raw, rejectUnauthorized: false });
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    const { fingerprint: print } = socket.getPeerCertificate();
    socket.destroy();
    return print;
  };
  const before = await fingerprint();
  await Bun.write(files.certPath, Bun.file(other.certPath));
  await Bun.write(files.keyPath, Bun.file(other.keyPath));
  for (let i = 0; i < 100 && (await fingerprint()) === before; i++) await Bun.sleep(50);
  expect(await fingerprint()).not.toBe(before);
});

test("what cannot be ends a connection; a bug is told", async () => {
  const listener = await start();
  const malformed = connect(listener);
  malformed.socket.write(Uint8Array.of(0));
  await malformed.closed;
  expect(malformed.text()).toBe("hello [malformed message]");
  expect(failures).toEqual([]);
  const bug = connect(listener);
  bug.socket.write(letters("x"));
  await bug.closed;
  expect(failures).toHaveLength(1);
});

test("an address that is taken, and files that are no certificate, are named", async () => {
  const { port } = await start();
  expect(start({}, { port })).rejects.toThrow("(postgres.addr)");
  const tlsOptions = { mode: "require", certPath: "/nowhere", keyPath: "/nowhere", watch: false } as const;
  expect(start({}, { tls: tlsOptions })).rejects.toThrow("cannot use TLS with certificate /nowhere");
});

test("a message that comes while the end of an answer waits for a slow client is handled", async () => {
  const client = connect(await start());
  client.socket.write(letters("im"));
  await client.until("....");
  client.socket.pause();
  await Bun.sleep(20);
  client.socket.write(letters("w"));
  await Bun.sleep(20);
  client.socket.resume();
  await client.until("worked");
});
