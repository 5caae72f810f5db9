/** Memory of connections: messages that wait for room, and statements that sessions keep, of both servers. */
import { afterEach, expect, test } from "bun:test";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";
import { fieldsOf, message, WireClient } from "../../../test/support/postgres-wire.ts";
import mysql from "mysql2/promise";
import pg from "pg";
import { type Framing, Incoming } from "./incoming.ts";
import { WireMemory } from "./wire-memory.ts";

const MIB = 1024 * 1024;
const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

/** Four bytes of length, which count themselves. */
const framing: Framing = { headerBytes: 4, lengthOf: (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at) };

function small(bytesMax: number, waitMs = 20): { readonly server: ServerMemory; readonly memory: WireMemory } {
  const server = new ServerMemory(Number.POSITIVE_INFINITY);
  return { server, memory: new WireMemory(server, bytesMax, waitMs) };
}

async function postgres(memory: WireMemory): Promise<PostgresFixture> {
  const server = await startPostgres(undefined, { memory });
  open.push(server);
  return server;
}

async function mariadb(memory: WireMemory): Promise<MysqlFixture> {
  const server = await startMysql(undefined, { memory });
  open.push(server);
  return server;
}

test("a message takes room as it comes in, waits where there is none, and gives it back when the next one is asked for", () => {
  const { server, memory } = small(MIB);
  const [one, other] = [memory.connection(), memory.connection()];
  expect(other.take(900 * 1024)).toBe(true);
  const incoming = new Incoming(framing, MIB, one);
  const length = 300 * 1024;
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, length);
  for (let at = 0; at < length; at += 10_000) {
    incoming.push(bytes.subarray(at, at + 10_000));
    expect(incoming.next()).toBeUndefined();
  }
  expect(incoming.wanted).toBeGreaterThan(0);
  expect(server.bytesOf("connections")).toBeLessThanOrEqual(MIB);
  other.give(900 * 1024);
  expect(incoming.next()?.length).toBe(length);
  expect(server.bytesOf("connections")).toBe(length);
  expect(incoming.next()).toBeUndefined();
  expect([incoming.wanted, server.bytesOf("connections")]).toEqual([0, 0]);
});

test("messages of a few KiB need no room", () => {
  const incoming = new Incoming(framing, MIB, small(0).memory.connection());
  const bytes = new Uint8Array(40_000);
  new DataView(bytes.buffer).setUint32(0, bytes.length);
  incoming.push(bytes.subarray(0, 7));
  incoming.push(bytes.subarray(7));
  expect(incoming.next()?.length).toBe(bytes.length);
});

test("a connection that is closed holds nothing, and takes nothing any more", () => {
  const { server, memory } = small(MIB);
  const one = memory.connection();
  one.watch(1000);
  expect([one.take(2000), one.keep(3000)]).toEqual([true, true]);
  expect(one.keep(MIB / 4)).toBe(false); // A part of the pool alone.
  expect(server.bytesOf("connections")).toBe(6000);
  one.close();
  one.watch(10);
  one.give(2000);
  one.release(3000);
  expect([one.take(1), one.keep(1), server.bytesOf("connections")]).toEqual([false, false, 0]);
});

test("PostgreSQL: a message that finds no room in time ends its connection by name; others go on", async () => {
  const { server, memory } = small(MIB);
  const { port } = await postgres(memory);
  const [hog, other] = [await WireClient.start(port), await WireClient.start(port)];
  hog.send(message("Q", `SELECT '${"x".repeat(2 * MIB)}'`));
  const said = (await hog.until("E")).at(-1);
  expect(said && fieldsOf(said)).toMatchObject({ S: "FATAL", C: "53200", M: "out of memory" });
  hog.end();
  other.send(message("Q", `SELECT length('${"x".repeat(200_000)}')`));
  expect(await other.letters()).toBe("TDCZ");
  other.end();
  await other.closed;
  while (server.bytesOf("connections") > 0) await Bun.sleep(1);
});

test("PostgreSQL: prepared statements and portals are counted, refused beyond, and given back", async () => {
  const { server, memory } = small(8 * MIB);
  const { url } = await postgres(memory);
  const client = new pg.Client(url);
  await client.connect();
  const text = `SELECT $1::text, '${"x".repeat(10_000)}'`;
  const prepare = (name: string) => client.query({ name, text, values: ["a"] });
  let refused: unknown;
  for (let i = 0; refused === undefined; i++)
    refused = await prepare(`s${i}`).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(refused).toMatchObject({ code: "53200" });
  expect(server.bytesOf("connections")).toBeGreaterThan(MIB);
  await client.query("DEALLOCATE ALL");
  expect((await client.query({ name: "again", text: "SELECT 1" })).rowCount).toBe(1);
  await client.end();
  while (server.bytesOf("connections") > 0) await Bun.sleep(1);
});

test("MySQL: prepared statements and values in pieces are counted, refused beyond, and given back", async () => {
  const { server, memory } = small(8 * MIB);
  const { port } = await mariadb(memory);
  const client = await mysql.createConnection({ host: "127.0.0.1", port, user: "root", database: "public", maxPreparedStatements: 1000 });
  const text = (i: number): string => `SELECT ?, ${i}, '${"x".repeat(10_000)}'`;
  let refused: unknown;
  for (let i = 0; refused === undefined; i++)
    refused = await client.execute(text(i), ["a"]).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(refused).toMatchObject({ errno: 1041 });
  expect(server.bytesOf("connections")).toBeGreaterThan(MIB);
  expect((await client.query("SELECT 1"))[0]).toHaveLength(1);
  await client.end();
  while (server.bytesOf("connections") > 0) await Bun.sleep(1);
});
