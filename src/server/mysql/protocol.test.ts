/** What the server answers to packets, one by one: numbers, states, and clients that do what they should not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { answer, command, errorOf, long, MysqlWire, packet, query, type ServerPacket } from "../../../test/support/mysql-wire.ts";

let server: MysqlFixture;

beforeAll(async () => {
  server = await startMysql(undefined, { preparedMax: 3 });
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

/** Sends packets to a new connection; gives as many answers as asked for. */
async function answers(count: number, ...packets: readonly Uint8Array[]): Promise<readonly ServerPacket[]> {
  const client = await MysqlWire.start(server.port);
  client.send(...packets);
  const found: ServerPacket[] = [];
  while (found.length < count) {
    const next = await client.next();
    if (next === undefined) break;
    found.push(next);
  }
  client.end();
  return found;
}

/** Rows of a text result, whose packets are: count, columns, rows, OK. */
async function textRows(text: string): Promise<readonly (string | null)[][]> {
  const client = await MysqlWire.start(server.port);
  client.send(query(text));
  const [count = 0] = (await client.next())!.body;
  for (let i = 0; i < count; i++) await client.next();
  const rows: (string | null)[][] = [];
  for (let found = (await client.next())!; found.body[0] !== 0xfe; found = (await client.next())!) {
    const row: (string | null)[] = [];
    for (let at = 0; at < found.body.length; ) {
      const length = found.body[at++]!;
      row.push(length === 0xfb ? null : found.body.toString("utf8", at, at + length));
      if (length !== 0xfb) at += length;
    }
    rows.push(row);
  }
  client.end();
  return rows;
}

test("the greeting: version 10, a scramble without NUL and $, the plugin", async () => {
  const client = await MysqlWire.connect(server.port);
  const { sequence, body } = (await client.next())!;
  expect([sequence, body[0], body.toString("latin1", 1, 7)]).toEqual([0, 10, "8.4.2\0"]);
  const scramble = Buffer.concat([body.subarray(11, 19), body.subarray(38, 50)]);
  expect([...scramble].some((byte) => byte === 0 || byte === 0x24)).toBe(false);
  expect(body.toString("latin1", 51)).toBe("mysql_native_password\0");
  client.send(answer());
  expect(await client.next()).toMatchObject({ sequence: 2 });
  client.end();
});

test("answers are numbered from the command on", async () => {
  const found = await answers(4, query("SELECT 1"));
  expect(found.map(({ sequence, body }) => [sequence, body[0]])).toEqual([
    [1, 1],
    [2, 3],
    [3, 1],
    [4, 0xfe],
  ]);
});

test("several results say whether another follows", async () => {
  const found = await answers(5, query("SELECT 1; BEGIN"));
  expect(found.map(({ body }) => body[0])).toEqual([1, 3, 1, 0xfe, 0]);
  expect([found[3]!.body.readUInt16LE(3) & 8, found[4]!.body.readUInt16LE(3) & 8]).toEqual([8, 0]);
});

test("commands: what they answer, and unknown ones", async () => {
  const first = async (...packets: readonly Uint8Array[]): Promise<number> => (await answers(1, ...packets))[0]!.body[0]!;
  expect(await first(command(0x0e))).toBe(0); // ping
  expect(await first(command(0x4d))).toBe(0); // no command at all
  expect(await first(command(4, "t", Buffer.from("%")))).toBe(0xfe); // field list
  expect(await first(command(0x1f))).toBe(0); // reset
  expect((await answers(1, command(9)))[0]!.body.toString()).toMatch(/^Uptime: \d+ {2}Threads: \d+$/);
  expect(errorOf((await answers(1, command(2, Buffer.from("nowhere"))))[0]!)).toBe(1102);
  expect(errorOf((await answers(1, command(0x0c, long(99_999))))[0]!)).toBe(1094);
});

test("prepared statements: unknown ones, values in pieces, too many, without values", async () => {
  const prepare = (text: string): Buffer => command(0x16, Buffer.from(text));
  expect(errorOf((await answers(1, command(0x17, long(7), 0, long(1))))[0]!)).toBe(1243);
  expect(errorOf((await answers(1, command(0x16, Buffer.from("SELECT 1; SELECT 2"))))[0]!)).toBe(1149);
  const many = await answers(4, ...Array.from({ length: 4 }, () => prepare("BEGIN")));
  expect(many.map(errorOf)).toEqual([0, 0, 0, 1461]);
  const text = "SELECT CAST(? AS STRING) AS x";
  const pieces = ["ab", "cd"].map((piece) => command(0x18, long(1), 0, 0, Buffer.from(piece)));
  const run = command(0x17, long(1), 0, long(1), 0, 1, 0xfd, 0);
  // Its answer is the statement, a parameter and a column; then a count, a column, a row and the end.
  const found = await answers(7, prepare(text), ...pieces, run);
  expect(found[5]!.body.toString("latin1")).toBe("\0\0\x04abcd");
  const bare = await answers(4, prepare(text), command(0x17, long(1), 0, long(1), 0, 0));
  expect(errorOf(bare[3]!)).toBe(1835);
  const astray = await answers(4, prepare(text), command(0x18, long(1), 9, 0, 0x61), run);
  expect(errorOf(astray[3]!)).toBe(1210);
});

test("clients older than 4.1, and those that say nothing that makes sense, are told and closed", async () => {
  for (const bytes of [packet(1, Buffer.alloc(32)), packet(1, 1), packet(1)]) {
    const client = await MysqlWire.connect(server.port);
    await client.next();
    client.send(bytes);
    expect(errorOf((await client.next())!)).toBe(1043);
    await client.closed;
  }
});

test("a text that is not UTF-8 is refused, and the connection stays", async () => {
  const found = await answers(2, command(3, Buffer.from([0xff, 0xfe])), command(0x0e));
  expect([errorOf(found[0]!), found[1]!.body[0]]).toEqual([1835, 0]);
});

test("canned answers", async () => {
  expect(await textRows("select @@tx_isolation, @@session.tx_isolation AS `i`, @@no_such")).toEqual([
    ["REPEATABLE-READ", "REPEATABLE-READ", "0"],
  ]);
  expect(await textRows("/* mysql-connector-j-8 */ SELECT @@session.time_zone, @@max_execution_time AS m, @@wait_timeout")).toEqual([
    ["UTC", "0", "31536000"],
  ]);
  expect(await textRows("SELECT @@max_allowed_packet")).toEqual([["67108864"]]);
  expect(await textRows("SELECT @@max_allowed_packet AS p")).toEqual([["134217728"]]);
  expect(await textRows("SHOW VARIABLES LIKE 'lower_case_table_names'")).toEqual([["lower_case_table_names", "0"]]);
  expect(await textRows("SHOW VARIABLES LIKE 'x%'")).toEqual([["", ""]]);
  expect(await textRows("SELECT TIMEDIFF(NOW(), UTC_TIMESTAMP())")).toEqual([["00:00:00"]]);
  const done = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "SET autocommit=1",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "set sql_mode='STRICT_TRANS_TABLES'",
    "/*!40101 SET character_set_client = utf8 */",
    "/* ApplicationName=x */ SHOW MASTER STATUS",
    "LOCK TABLES t READ",
    "UNLOCK TABLES",
    "COMMIT",
    "START TRANSACTION",
  ];
  const found = await answers(done.length, ...done.map(query));
  expect(found.map(({ body }) => body[0])).toEqual(done.map(() => 0));
});

test("text: floats, intervals, lists", async () => {
  expect(await textRows("SELECT 1024.0::DOUBLE, 333.3::FLOAT, -0.5, true, INTERVAL '1 year 2 months 3 days 4 hours'")).toEqual([
    ["1024", "333.3", "-0.5", "1", "P1Y2M3DT4H"],
  ]);
});

test("what the session has changed is told: its database, its zone, autocommit", async () => {
  const client = await MysqlWire.connect(server.port);
  await client.next();
  const tracks = Buffer.from(answer());
  tracks[6] = tracks[6]! | 0x80; // SESSION_TRACK
  client.send(tracks);
  await client.next();
  const told = async (text: string): Promise<readonly [status: number, what: string]> => {
    client.send(query(text));
    const { body } = (await client.next())!;
    return [body.readUInt16LE(3) & 0x4002, body.toString("latin1", 7)];
  };
  expect(await told("SET autocommit = 0")).toEqual([0x4000, "\0\x11\0\x0f\x0aautocommit\x03OFF"]);
  expect(await told("USE information_schema")).toEqual([0x4000, "\0\x15\x01\x13\x12information_schema"]);
  expect(await told("SET SESSION autocommit=ON")).toEqual([0x4002, "\0\x10\0\x0e\x0aautocommit\x02ON"]);
  expect(await told("SET time_zone = '+01:00'")).toEqual([0x4002, "\0\x13\0\x11\x09time_zone\x06+01:00"]);
  expect(await told("BEGIN")).toEqual([2, ""]);
  client.end();
});
