/**
 * Clients that break the protocol: every packet of a session cut and changed at every byte, and random changes by a seed. The server may
 * say what it likes; it must not hold such a client, break an invariant, or stop serving others.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { answer, command, errorOf, long, MysqlWire, query } from "../../../test/support/mysql-wire.ts";

let server: MysqlFixture;

beforeAll(async () => {
  server = await startMysql();
  const client = await MysqlWire.start(server.port);
  client.send(query("CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
  expect((await client.next())?.body[0]).toBe(0);
  client.end();
});

afterAll(async () => {
  await server.stop();
});

const execute = (...fields: readonly (string | number | Uint8Array)[]): Buffer => command(0x17, long(1), 0, long(1), ...fields);
const SESSION: readonly Buffer[] = [
  answer(),
  query("SELECT 1; BEGIN"),
  command(2, Buffer.from("public")),
  command(0x16, Buffer.from("SELECT h FROM t WHERE v = ? AND h <> ? AND ts < ?")),
  command(0x18, long(1), 1, 0, Buffer.from("xyz")),
  execute(0, 1, 5, 0, 0xfd, 0, 12, 0, Buffer.alloc(8), 7, 0xe8, 7, 2, 29, 23, 59, 59),
  execute(0b110, 0, Buffer.alloc(8)),
  command(0x1c, long(1), long(10)),
  command(0x1a, long(1)),
  command(4, "t", Buffer.from("%")),
  command(0x1b, 0, 0),
  command(0x0e),
  command(9),
  command(0x1f),
  command(0x11, "other", 0, "public", 33, 0, "mysql_native_password"),
  query("SHOW WARNINGS"),
  command(0x19, long(1)),
  command(1),
];
const WHOLE: Buffer = Buffer.concat(SESSION);

/** Sends bytes and nothing more; the connection ends by the server or by us. */
async function send(bytes: Uint8Array): Promise<void> {
  const client = await MysqlWire.connect(server.port);
  client.send(bytes);
  // What the server has to say comes at once, where it has something to say.
  await Promise.race([client.closed, Bun.sleep(2)]);
  client.end();
}

async function stillServes(): Promise<void> {
  const client = await MysqlWire.start(server.port);
  client.send(query("SELECT 1"));
  expect((await client.next())?.body).toEqual(Buffer.from([1]));
  client.end();
  expect(server.bugs).toEqual([]);
}

/** Sends many, some at a time. */
async function sendAll(all: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < all.length; at += 16) await Promise.all(all.slice(at, at + 16).map(send));
}

test("the session itself is understood", async () => {
  const client = await MysqlWire.connect(server.port);
  client.send(WHOLE);
  const errors: number[] = [];
  for (let found = await client.next(); found !== undefined; found = await client.next())
    if (errorOf(found) !== 0) errors.push(errorOf(found));
  expect(errors).toEqual([1421]); // There are no cursors.
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
    const [first, ...rest] = SESSION;
    const packets = rest.filter(() => random(4) > 0).map((each) => Buffer.from(each));
    for (const each of packets) {
      for (let changes = random(3); changes > 0; changes--) each[random(each.length)] = random(256);
    }
    if (random(3) === 0) packets.push(Buffer.from(Array.from({ length: random(40) }, () => random(256))));
    return Buffer.concat([first!, ...packets.filter(() => random(5) > 0)]);
  };
  for (let done = 0; done < count; done += 16) await sendAll(Array.from({ length: 16 }, mutated));
  await stillServes();
}, 600_000);
