/**
 * Clients that break the protocol: every message of a session cut and changed at every byte, and random changes by a seed. The server may
 * say what it likes; it must not hold such a client, break an invariant, or stop serving others.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";
import { message, short, startup, WireClient } from "../../../test/support/postgres-wire.ts";

let server: PostgresFixture;

beforeAll(async () => {
  server = await startPostgres();
  const client = await WireClient.start(server.port);
  client.send(message("Q", "CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
  await client.until("Z");
  client.end();
});

afterAll(async () => {
  await server.stop();
});

const SESSION: readonly Buffer[] = [
  startup({ user: "u", database: "public" }),
  message("Q", "SELECT 1; BEGIN"),
  message("P", "s", "SELECT h FROM t WHERE v = $1 AND h <> $2", short(1), short(0), short(701)),
  message("D", Buffer.from("S"), "s"),
  message("B", "p", "s", short(2), short(1), short(0), short(2), 8, Buffer.alloc(8), 1, Buffer.from("x"), short(1), short(1)),
  message("D", Buffer.from("P"), "p"),
  message("E", "p", 1),
  message("C", Buffer.from("P"), "p"),
  message("S"),
  message("Q", "COPY t FROM STDIN"),
  message("d", Buffer.from("a\t2024-01-01 00:00:00\t2\n")),
  message("c"),
  message("Q", "COPY t FROM STDIN WITH (FORMAT binary)"),
  message("d", Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), 0, 0, short(3), 1, Buffer.from("a"), 8, Buffer.alloc(8), -1, short(-1)),
  message("c"),
  message("X"),
];
const WHOLE: Buffer = Buffer.concat(SESSION);

/** Sends bytes and nothing more; the connection ends by the server or by us. */
async function send(bytes: Uint8Array): Promise<void> {
  const client = await WireClient.connect(server.port);
  client.send(bytes);
  // What the server has to say comes at once, where it has something to say.
  await Promise.race([client.closed, Bun.sleep(2)]);
  client.end();
}

async function stillServes(): Promise<void> {
  const client = await WireClient.start(server.port);
  client.send(message("Q", "SELECT 1"));
  expect(await client.letters()).toBe("TDCZ");
  client.end();
  expect(server.bugs).toEqual([]);
}

/** Sends many, some at a time. */
async function sendAll(all: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < all.length; at += 16) await Promise.all(all.slice(at, at + 16).map(send));
}

test("the session itself is understood", async () => {
  const client = await WireClient.connect(server.port);
  client.send(WHOLE);
  const letters = (await client.until("nothing")).map(({ letter }) => letter).join("");
  expect(letters.replace(/S+/, "S")).toBe("RSKZTDCNCZ1tT2TC3ZGCZGCZ");
});

test("cut at every byte", async () => {
  await sendAll(Array.from({ length: WHOLE.length }, (_, end) => WHOLE.subarray(0, end)));
  await stillServes();
}, 30_000);

test("changed at every byte", async () => {
  for (const change of [0x00, 0xff, 0x80]) {
    await sendAll(
      Array.from({ length: WHOLE.length }, (_, at) => {
        const changed = Buffer.from(WHOLE);
        changed[at] = change === 0x80 ? (changed[at] ?? 0) ^ 0x80 : change;
        return changed;
      }),
    );
  }
  await stillServes();
}, 60_000);

test("changed at random", async () => {
  const count = Number(process.env["VARVE_MUTATIONS"] ?? 500);
  let seed = Number(process.env["VARVE_SEED"] ?? 7);
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const mutated = (): Uint8Array => {
    const [start, ...rest] = SESSION;
    const messages = rest.filter(() => random(4) > 0).map((each) => Buffer.from(each));
    for (const each of messages) {
      for (let changes = random(3); changes > 0; changes--) each[random(each.length)] = random(256);
    }
    if (random(3) === 0) messages.push(Buffer.from(Array.from({ length: random(40) }, () => random(256))));
    return Buffer.concat([start!, ...messages.filter(() => random(5) > 0)]);
  };
  for (let done = 0; done < count; done += 16) await sendAll(Array.from({ length: 16 }, mutated));
  await stillServes();
}, 600_000);
