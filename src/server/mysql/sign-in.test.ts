/** Who gets in: by which plugin, over TLS and without, by real drivers and by hand. */
import { expect, test } from "bun:test";
import { createHash, constants, publicEncrypt } from "node:crypto";
import mysql from "mysql2/promise";
import { certificate } from "../../../test/support/certificate.ts";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { answer, errorOf, MysqlWire, packet } from "../../../test/support/mysql-wire.ts";
import { mysqlNative, printVerifier } from "../../db/auth/verifier.ts";
import type { MysqlOptions } from "./server.ts";

const PBKDF2 = "pbkdf2_sha256:4096:73616c74:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"; // of `password`

async function withServer(
  accounts: string | undefined,
  work: (server: MysqlFixture) => Promise<void>,
  changes: Partial<MysqlOptions> = {},
): Promise<void> {
  const server = await startMysql(accounts === undefined ? undefined : `static_user_provider:cmd:${accounts}`, changes);
  try {
    await work(server);
    expect(server.bugs).toEqual([]);
  } finally {
    await server.stop();
  }
}

/** What a driver gets: 1, or the number of the error. */
async function signIn({ port }: MysqlFixture, user: string, password: string, more: mysql.ConnectionOptions = {}): Promise<unknown> {
  try {
    const client = await mysql.createConnection({ host: "127.0.0.1", port, user, password, database: "public", ...more });
    const [rows] = await client.query("SELECT 1 AS one");
    await client.end();
    return (rows as { one: number }[])[0]?.one;
  } catch (error) {
    const { errno, code } = error as { errno?: number; code?: string };
    return errno ?? code;
  }
}

test("mysql_native_password: plain and stored passwords, wrong ones, unknown names, none", () =>
  withServer(`alice=wonder land,bob=${printVerifier(mysqlNative("password"))},carol:ro=ünicode`, async (server) => {
    expect(await signIn(server, "alice", "wonder land")).toBe(1);
    expect(await signIn(server, "bob", "password")).toBe(1);
    expect(await signIn(server, "carol", "ünicode")).toBe(1);
    expect(await signIn(server, "alice", "wrong")).toBe(1698);
    expect(await signIn(server, "bob", "passwor")).toBe(1698);
    expect(await signIn(server, "nobody", "wonder land")).toBe(1698);
    expect(await signIn(server, "alice", "")).toBe(1698);
  }));

test("caching_sha2_password: the password itself by RSA where accounts are stored for others", () =>
  withServer(`alice=wonder land,bob=${PBKDF2},carol=${printVerifier(mysqlNative("secret"))}`, async (server) => {
    expect(await signIn(server, "alice", "wonder land")).toBe(1);
    expect(await signIn(server, "carol", "secret")).toBe(1);
    expect(await signIn(server, "carol", "secre")).toBe(1698);
    expect(await signIn(server, "carol", "")).toBe(1698);
    expect(await signIn(server, "alice", "")).toBe(1698);
    expect(await signIn(server, "bob", "password")).toBe(1);
    expect(await signIn(server, "bob", "passwor")).toBe(1698);
    expect(await signIn(server, "nobody", "password")).toBe(1698);
  }));

test("caching_sha2_password by hand: the short exchange, the long one, and answers that make no sense", () =>
  withServer("alice=wonder land", async (server) => {
    const sha = (...parts: readonly Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
    const begin = async (password: string): Promise<{ client: MysqlWire; scramble: Buffer }> => {
      const client = await MysqlWire.connect(server.port);
      const { body } = (await client.next())!;
      const start = body.indexOf(0) + 5;
      const scramble = Buffer.concat([body.subarray(start, start + 8), body.subarray(start + 27, start + 39)]);
      const once = sha(Buffer.from(password));
      const mask = sha(sha(sha(once)), scramble);
      const proof = Buffer.from(once.map((byte, i) => byte ^ mask[i]!));
      client.send(answer("alice", "public", "caching_sha2_password", proof));
      return { client, scramble };
    };
    const right = await begin("wonder land");
    expect([(await right.client.next())?.body, (await right.client.next())?.body[0]]).toEqual([Buffer.from([1, 3]), 0]);
    right.client.end();
    for (const [password, want] of [
      ["wonder land", 0],
      ["wrong", 1698],
    ] as const) {
      const { client, scramble } = await begin("not it");
      expect((await client.next())?.body).toEqual(Buffer.from([1, 4]));
      client.send(packet(3, 2));
      const pem = (await client.next())!.body.subarray(1).toString();
      const plain = Buffer.from(`${password}\0`).map((byte, i) => byte ^ scramble[i % 20]!);
      client.send(packet(5, publicEncrypt({ key: pem, padding: constants.RSA_PKCS1_OAEP_PADDING }, plain)));
      const last = (await client.next())!;
      expect(errorOf(last)).toBe(want);
      if (want === 0) expect(last.body[0]).toBe(0);
      client.end();
    }
    const { client } = await begin("not it");
    await client.next();
    client.send(packet(3, Buffer.from("wonder land\0"))); // in clear, without TLS
    expect(errorOf((await client.next())!)).toBe(1043);
    await client.closed;
  }));

test("without accounts everybody gets in, whatever the plugin", () =>
  withServer(undefined, async (server) => {
    expect(await signIn(server, "anybody", "anything")).toBe(1);
    const client = await MysqlWire.connect(server.port);
    await client.next();
    client.send(answer("x", "public", "dialog"));
    expect((await client.next())?.body[0]).toBe(0xfe);
    client.send(packet(3, Buffer.alloc(20)));
    expect((await client.next())?.body[0]).toBe(0);
    client.end();
  }));

test("databases: unknown ones, and none where one is wanted", () =>
  withServer(
    undefined,
    async (server) => {
      expect(await signIn(server, "x", "y", { database: "nowhere" })).toBe(1102);
      expect(await signIn(server, "x", "y", { database: "" })).toBe(1046);
      expect(await signIn(server, "x", "y", { database: "greptime-public" })).toBe(1);
    },
    { rejectsNoDatabase: true },
  ));

test("TLS: where it is offered, and where it is required", async () => {
  const files = await certificate("mysql");
  const ssl = { ssl: { rejectUnauthorized: false } };
  for (const mode of ["prefer", "require"] as const) {
    const tls = { mode, watch: false, ...files };
    await withServer(
      `alice=wonder land,bob=${PBKDF2}`,
      async (server) => {
        expect(await signIn(server, "alice", "wonder land", ssl)).toBe(1);
        expect(await signIn(server, "bob", "password", ssl)).toBe(1);
        expect(await signIn(server, "bob", "wrong", ssl)).toBe(1698);
        expect(await signIn(server, "alice", "wonder land")).toBe(mode === "prefer" ? 1 : 3159);
      },
      { tls },
    );
  }
});

test("accounts that may not write, or not read", () =>
  withServer("ro:ro=a,wo:wo=b,rw=c", async (server) => {
    const run = async (user: string, password: string, text: string): Promise<unknown> => {
      const client = await mysql.createConnection({ host: "127.0.0.1", port: server.port, user, password, database: "public" });
      const got = await client.query(text).then(
        () => 0,
        ({ errno }: { errno: number }) => errno,
      );
      await client.end();
      return got;
    };
    expect(await run("rw", "c", "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE)")).toBe(0);
    expect(await run("ro", "a", "INSERT INTO t VALUES (1, 1)")).toBe(1045);
    expect(await run("wo", "b", "SELECT * FROM t")).toBe(1045);
    expect(await run("ro", "a", "KILL 1")).toBe(1045);
    expect(await run("wo", "b", "INSERT INTO t VALUES (1, 1)")).toBe(0);
  }));
