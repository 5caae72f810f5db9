/** Clients that break the protocol (`test/support/hostile-suite.ts`). */
import { describe, expect } from "bun:test";
import { deflateSync } from "node:zlib";
import mysql from "mysql2/promise";
import { ClientBytes } from "../../../test/support/client-bytes.ts";
import { testHostileClients } from "../../../test/support/hostile-suite.ts";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { answer, command, errorOf, long, MysqlWire, packet, query } from "../../../test/support/mysql-wire.ts";

const PBKDF2 = "pbkdf2_sha256:4096:73616c74:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"; // of `password`

/** A client that lets its files be loaded. */
const LOCAL_FILES: Buffer = answer();
LOCAL_FILES[4] = LOCAL_FILES[4]! | 0x80;

const execute = (...fields: readonly (string | number | Uint8Array)[]): Buffer => command(0x17, long(1), 0, long(1), ...fields);
const cursor = (...fields: readonly (string | number | Uint8Array)[]): Buffer => command(0x17, long(1), 1, long(1), ...fields);
const SESSION: readonly Buffer[] = [
  LOCAL_FILES,
  query("SELECT 1; BEGIN"),
  command(2, Buffer.from("public")),
  command(0x16, Buffer.from("SELECT h FROM t WHERE v = ? AND h <> ? AND ts < ?")),
  command(0x18, long(1), 1, 0, Buffer.from("xyz")),
  execute(0, 1, 5, 0, 0xfd, 0, 12, 0, Buffer.alloc(8), 7, 0xe8, 7, 2, 29, 23, 59, 59),
  execute(0b110, 0, Buffer.alloc(8)),
  command(0x1c, long(1), long(10)),
  cursor(0b111, 0),
  command(0x1c, long(1), long(10)),
  query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ENCLOSED BY '\"'(h,ts)"),
  packet(2, Buffer.from('"a""\\n"\t1\n')),
  packet(3, Buffer.from('"c"\t2')),
  packet(4),
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

async function start(): Promise<MysqlFixture> {
  const server = await startMysql();
  const client = await MysqlWire.start(server.port);
  client.send(query("CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
  expect((await client.next())?.body[0]).toBe(0);
  client.end();
  return server;
}

async function stillServes(port: number): Promise<void> {
  const client = await MysqlWire.start(port);
  client.send(query("SELECT 1"));
  expect((await client.next())?.body).toEqual(Buffer.from([1]));
  client.end();
}

describe("packets as they are", () =>
  testHostileClients({
    session: SESSION,
    start,
    stillServes,
    async understood(port, session) {
      const client = await MysqlWire.connect(port);
      client.send(session);
      const errors: number[] = [];
      for (let found = await client.next(); found !== undefined; found = await client.next())
        if (errorOf(found) !== 0) errors.push(errorOf(found));
      expect(errors).toEqual([1421]); // The first FETCH has no cursor.
    },
  }));

/** A compressed packet. @param unfolded 0: the bytes are as they are */
function folded(sequence: number, unfolded: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([bytes.length, 0, 0, sequence, unfolded, 0, 0]), bytes]);
}

const COMPRESSED: Buffer = answer();
COMPRESSED[4] = COMPRESSED[4]! | 0x20;
const LONG: Buffer = query("SELECT 'a text that is longer than fifty bytes, as texts are that are worth it'");

describe("compressed", () =>
  testHostileClients({
    session: [COMPRESSED, folded(0, LONG.length, deflateSync(LONG)), folded(0, 0, command(0x0e)), folded(0, 0, command(1))],
    start,
    stillServes,
    async understood(port, session) {
      const wire = await ClientBytes.connect(port);
      wire.send(session);
      await wire.closed;
      const all: Buffer[] = [];
      for (let byte = await wire.take(1); byte !== undefined; byte = await wire.take(1)) all.push(byte);
      expect(
        Buffer.concat(all)
          .subarray(-11)
          .equals(packet(1, 0, 0, 0, 2, 0, 0, 0)),
      ).toBe(true); // what COM_PING is answered
    },
  }));

describe.each(["mysql_native_password", "caching_sha2_password", "mysql_clear_password"])("before sign-in by %s", (plugin) =>
  testHostileClients({
    session: [
      answer("alice", "public", plugin, Buffer.alloc(plugin === "caching_sha2_password" ? 32 : 20, 7)),
      packet(3, 2), // wants the key
      packet(5, Buffer.alloc(256, 9)), // a password, encrypted with RSA
      query("SELECT 1"),
    ],
    isSignIn: true,
    // An account that is stored hashed makes the server ask for the password itself.
    start: () => startMysql(`static_user_provider:cmd:alice=secret,bob=${PBKDF2}`),
    async understood(port, session) {
      const client = await MysqlWire.connect(port);
      expect((await client.next())?.body[0]).toBe(10);
      client.send(session);
      let last = 0;
      for (let found = await client.next(); found !== undefined; found = await client.next()) last = errorOf(found) || last;
      expect([1698, 1043]).toContain(last);
    },
    async stillServes(port) {
      const client = await mysql.createConnection({ host: "127.0.0.1", port, user: "alice", password: "secret", database: "public" });
      expect((await client.query("SELECT 1 AS one"))[0]).toEqual([{ one: 1 }] as never);
      await client.end();
    },
  }),
);
