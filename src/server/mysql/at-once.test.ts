/** Answers within one turn are, byte by byte, those that a connection gets for a statement whose plan is not known. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { countAtOnce } from "../../../test/support/at-once-count.ts";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { command, long, MysqlWire, query, type ServerPacket } from "../../../test/support/mysql-wire.ts";

const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;
const VAR_STRING = 0xfd;

let server: MysqlFixture;
let answered: () => number;
let client: MysqlWire;

beforeAll(async () => {
  server = await startMysql();
  client = await MysqlWire.start(server.port);
  await answer("CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, v DOUBLE, b VARBINARY, n BIGINT, old TIMESTAMP(3))");
  await answer("INSERT INTO t VALUES ('a', 1000, 0.5, X'00ff', 9007199254740993, 5), ('a', 2000, NULL, NULL, NULL, NULL)");
  await answer("INSERT INTO t VALUES ('far', 1000, 1, X'', 1, -99999999999999)");
  answered = countAtOnce(server.db);
});

afterAll(async () => {
  client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

const END = 0xfe;
const ERROR = 0xff;

/** Packets of an answer: up to the end of its rows, an error, or the OK that is all of it. */
async function packets(): Promise<string> {
  const found: ServerPacket[] = [];
  for (let packet = await client.next(); packet !== undefined; packet = await client.next()) {
    found.push(packet);
    const [first] = packet.body;
    if (first === ERROR || (first === END && packet.body.length < 9) || (first === 0 && found.length === 1)) break;
  }
  return found.map(({ sequence, body }) => `${sequence} ${body.toString("hex")}`).join("\n");
}

async function answer(text: string): Promise<string> {
  client.send(query(text));
  return await packets();
}

const POINT = (alias: string): string => `SELECT host AS ${alias}, ts, v, b, n, old FROM t WHERE host = 'a' AND ts >= 1000`;

test("text: definitions, numbers of packets, rows, NULLs; in another time zone too", async () => {
  const first = await answer(POINT("x"));
  const before = answered();
  expect(await answer(POINT("x"))).toBe(first);
  expect(answered()).toBe(before + 1);
  await answer("SET time_zone = '+02:00'");
  const moved = await answer(POINT("x"));
  expect(moved).not.toBe(first);
  expect(await answer(`${POINT("x")} `)).toBe(moved); // The blank makes it another text to look for.
  await answer("SET time_zone = 'UTC'");
  expect(await answer(POINT("x"))).toBe(first);
});

test("a value that the protocol has no form of fails as it does otherwise, and the connection goes on", async () => {
  const text = "SELECT old FROM t WHERE host = 'far'";
  const first = await answer(text);
  expect(await answer(text)).toBe(first);
  expect(first).toMatch(/^\d+ ff/m);
  expect(await answer(POINT("x"))).toBe(await answer(`${POINT("x")} `));
});

async function prepared(text: string): Promise<number> {
  client.send(command(COM_STMT_PREPARE, Buffer.from(text)));
  const body = (await client.next())?.body ?? Buffer.alloc(9);
  for (let left = body.readUInt16LE(5) + body.readUInt16LE(7); left > 0; left--) await client.next();
  return body.readUInt32LE(1);
}

async function executed(id: number, host: string): Promise<string> {
  const value = Buffer.from(host);
  const types = Buffer.from([0, 1, VAR_STRING, 0, value.length]);
  client.send(command(COM_STMT_EXECUTE, long(id), Buffer.from([0]), long(1), types, value));
  return await packets();
}

test("prepared: binary rows, the same as the first time of a statement", async () => {
  const text = "SELECT host, ts, v, b, n, old FROM t WHERE host = ?";
  const id = await prepared(text);
  await executed(id, "a");
  const before = answered();
  const later = await executed(id, "a");
  expect(answered()).toBe(before + 1);
  expect(await executed(await prepared(`${text} OR FALSE`), "a")).toBe(later);
  expect((await executed(id, "nobody")).split("\n")).toHaveLength(1 + 6 + 1);
  expect(await executed(id, "a")).toBe(later);
});
