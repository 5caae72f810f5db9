/** Cursors of prepared statements: what EXECUTE and FETCH answer, and what ends a cursor. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { command, errorOf, long, MysqlWire, query, type ServerPacket } from "../../../test/support/mysql-wire.ts";

let server: MysqlFixture;

beforeAll(async () => {
  server = await startMysql();
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

const CURSOR = 1;
const EXISTS = 0x40;
const LAST_ROW = 0x80;

const prepare = (text: string): Buffer => command(0x16, Buffer.from(text));
const execute = (id: number, flags: number): Buffer => command(0x17, long(id), flags, long(1));
const fetch = (id: number, count: number): Buffer => command(0x1c, long(id), long(count));

/** Status bits of what ends rows; undefined for another packet. */
function statusOf({ body }: ServerPacket): number | undefined {
  return body[0] === 0xfe && body.length < 9 ? body.readUInt16LE(3) & (EXISTS | LAST_ROW) : undefined;
}

/** A client that has prepared a statement, whose id is 1. */
async function prepared(text: string): Promise<MysqlWire> {
  const client = await MysqlWire.start(server.port);
  client.send(prepare(text));
  const { body } = (await client.next())!;
  expect(body[0]).toBe(0);
  for (let i = body.readUInt16LE(5); i > 0; i--) await client.next();
  return client;
}

/** Packets of an answer up to what ends it: how many, and the status, or the number of the error. */
async function answered(client: MysqlWire, ...packets: readonly Uint8Array[]): Promise<readonly [packets: number, end: number]> {
  client.send(...packets);
  for (let count = 0; ; count++) {
    const found = (await client.next())!;
    const end = statusOf(found) ?? (errorOf(found) === 0 ? undefined : errorOf(found));
    if (end !== undefined) return [count, end];
  }
}

const SERIES = "SELECT value, 'x' AS x FROM generate_series(1, 10)";

test("columns by EXECUTE, rows by FETCH, the last of them said", async () => {
  const client = await prepared(SERIES);
  expect(await answered(client, execute(1, CURSOR))).toEqual([3, EXISTS]); // a count and two columns
  expect(await answered(client, fetch(1, 4))).toEqual([4, EXISTS]);
  expect(await answered(client, fetch(1, 0))).toEqual([0, EXISTS]);
  expect(await answered(client, fetch(1, 6))).toEqual([6, EXISTS]);
  expect(await answered(client, fetch(1, 1))).toEqual([0, LAST_ROW]);
  expect(await answered(client, fetch(1, 1))).toEqual([0, 1421]);
  client.end();
});

test("more rows than there are end it at once; all come without a cursor", async () => {
  const client = await prepared(SERIES);
  await answered(client, execute(1, CURSOR));
  expect(await answered(client, fetch(1, 2 ** 32 - 1))).toEqual([10, LAST_ROW]);
  expect(await answered(client, execute(1, 0))).toEqual([13, 0]);
  expect(await answered(client, fetch(1, 1))).toEqual([0, 1421]);
  client.end();
});

test("RESET, another EXECUTE and CLOSE end it; another statement runs beside it", async () => {
  const client = await prepared(SERIES);
  await answered(client, execute(1, CURSOR));
  client.send(query("SELECT 1"));
  for (let i = 0; i < 4; i++) await client.next();
  expect(await answered(client, fetch(1, 2))).toEqual([2, EXISTS]);
  client.send(command(0x1a, long(1)));
  expect((await client.next())?.body[0]).toBe(0);
  expect(await answered(client, fetch(1, 1))).toEqual([0, 1421]);
  await answered(client, execute(1, CURSOR));
  await answered(client, fetch(1, 9));
  await answered(client, execute(1, CURSOR));
  expect(await answered(client, fetch(1, 9))).toEqual([9, EXISTS]);
  client.send(command(0x19, long(1)));
  expect(await answered(client, fetch(1, 1))).toEqual([0, 1243]);
  client.end();
});

test("a statement without rows is done by EXECUTE", async () => {
  const client = await prepared("CREATE TABLE made (ts TIMESTAMP TIME INDEX)");
  client.send(execute(1, CURSOR));
  expect((await client.next())?.body[0]).toBe(0);
  expect(await answered(client, fetch(1, 1))).toEqual([0, 1421]);
  client.end();
});

test("a failure of FETCH ends it", async () => {
  const client = await prepared("SELECT 1 / (70000 - value) FROM generate_series(1, 100000)");
  await answered(client, execute(1, CURSOR));
  const ends: number[] = [];
  for (let i = 0; i < 3; i++) ends.push((await answered(client, fetch(1, 100_000)))[1]);
  expect(ends).toEqual([1815, 1421, 1421]);
  client.end();
});

test("a connection has so many, and no more", async () => {
  const client = await prepared(SERIES);
  for (let id = 2; id <= 65; id++) {
    client.send(prepare("SELECT 1"));
    for (let i = 0; i < 2; i++) await client.next();
    expect(await answered(client, execute(id, CURSOR))).toEqual([2, EXISTS]);
  }
  expect(await answered(client, execute(1, CURSOR))).toEqual([0, 1461]);
  client.send(command(0x1f));
  expect((await client.next())?.body[0]).toBe(0);
  expect(await answered(client, fetch(2, 1))).toEqual([0, 1243]);
  client.end();
});
