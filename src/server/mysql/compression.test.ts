/** Compressed connections: packets by hand that fold what they should and what they should not, and drivers that ask for it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import zlib from "node:zlib";
import { createConnection as connectMariadb } from "mariadb";
import mysql from "mysql2/promise";
import { ClientBytes } from "../../../test/support/client-bytes.ts";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";
import { command, long, packet, query } from "../../../test/support/mysql-wire.ts";

let server: MysqlFixture;

beforeAll(async () => {
  server = await startMysql();
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

/** PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, CONNECT_ATTRS, DEPRECATE_EOF. */
const CAPABILITIES = 0x200 | 0x8000 | 0x80000 | 0x100000 | 0x1000000;
const ZLIB = 0x20;
const ZSTD = 0x4000000;

/** A compressed packet. @param unfolded 0: the bytes are as they are */
function folded(sequence: number, unfolded: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(7);
  head.writeUIntLE(bytes.length, 0, 3);
  head[3] = sequence;
  head.writeUIntLE(unfolded, 4, 3);
  return Buffer.concat([head, bytes]);
}

/** A client that has signed in and asked for compression. */
class Client {
  private plain: Buffer = Buffer.alloc(0);
  /** Headers of the server's packets: sequence, length, unfolded length. */
  readonly heads: (readonly [number, number, number])[] = [];
  private readonly wire: ClientBytes;

  constructor(wire: ClientBytes) {
    this.wire = wire;
  }

  static async start(kind: number, ...tail: readonly number[]): Promise<Client> {
    const wire = await ClientBytes.connect(server.port);
    const attributes = packet(0, 3, Buffer.from("k\0v")).subarray(4);
    const plugin = "mysql_native_password";
    wire.send(packet(1, long(CAPABILITIES | kind), long(2 ** 24), 33, Buffer.alloc(23), "someone", 0, plugin, attributes, ...tail));
    const client = new Client(wire);
    await client.plainPacket(); // the greeting
    expect((await client.plainPacket())?.[0]).toBe(0);
    return client;
  }

  private async plainPacket(): Promise<Buffer | undefined> {
    const head = await this.wire.take(4);
    return head && this.wire.take(head.readUIntLE(0, 3));
  }

  send(...packets: readonly Uint8Array[]): void {
    this.wire.send(...packets);
  }

  /** The next packet's payload; undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    while (this.plain.length < 4 || this.plain.length < 4 + this.plain.readUIntLE(0, 3)) {
      const head = await this.wire.take(7);
      const bytes = head && (await this.wire.take(head.readUIntLE(0, 3)));
      if (head === undefined || bytes === undefined) return undefined;
      const length = head.readUIntLE(4, 3);
      this.heads.push([head[3]!, bytes.length, length]);
      const isZstd = bytes.length > 4 && bytes.readUInt32LE(0) === 0xfd2fb528;
      const unfolded = length === 0 ? bytes : isZstd ? zlib.zstdDecompressSync(bytes) : zlib.inflateSync(bytes);
      if (length > 0) expect(unfolded.length).toBe(length);
      this.plain = Buffer.concat([this.plain, unfolded]);
    }
    const length = this.plain.readUIntLE(0, 3);
    const payload = this.plain.subarray(4, 4 + length);
    this.plain = this.plain.subarray(4 + length);
    return payload;
  }

  /** What a query answers: the first value of each row. */
  async rows(): Promise<readonly string[]> {
    const first = (await this.next())!;
    if (first[0] === 0xff) throw new Error(first.toString("utf8", 9));
    for (let i = 0; i < first[0]!; i++) await this.next();
    const rows: string[] = [];
    for (let row = (await this.next())!; row[0] !== 0xfe || row.length > 20; row = (await this.next())!)
      rows.push(row[0] === 0xfd ? row.toString("utf8", 4) : row.toString("utf8", 1, 1 + row[0]!));
    return rows;
  }

  end(): void {
    this.wire.end();
  }
}

const SELECT = query("SELECT 'what is longer than fifty bytes is worth it, what is shorter is not' AS x");

describe.each([
  ["zlib", () => Client.start(ZLIB), (bytes: Uint8Array) => zlib.deflateSync(bytes)],
  ["zstd", () => Client.start(ZSTD, 7), (bytes: Uint8Array) => zlib.zstdCompressSync(bytes)],
] as const)("%s", (_, start, fold) => {
  test("both ways, short packets as they are, numbered from the client's on", async () => {
    const client = await start();
    client.send(folded(0, 0, SELECT));
    expect(await client.rows()).toHaveLength(1);
    client.send(folded(4, SELECT.length, fold(SELECT)));
    expect(await client.rows()).toHaveLength(1);
    client.send(folded(0, 0, command(0x0e)));
    expect((await client.next())?.[0]).toBe(0);
    expect(client.heads.map(([sequence]) => sequence)).toEqual([1, 5, 1]);
    expect(client.heads.map(([, length, unfolded]) => unfolded > length)).toEqual([true, true, false]);
    client.end();
  });

  test("packets lie across compressed ones, and several in one", async () => {
    const client = await start();
    const text = Buffer.concat([SELECT, query("SELECT 'b' AS b")]);
    const parts = [text.subarray(0, 3), text.subarray(3, 70), text.subarray(70)];
    client.send(...parts.map((part, i) => (i === 1 ? folded(i, part.length, fold(part)) : folded(i, 0, part))));
    expect(await client.rows()).toHaveLength(1);
    expect(await client.rows()).toEqual(["b"]);
    client.end();
  });

  test("rows of megabytes", async () => {
    const client = await start();
    client.send(folded(0, 0, query("SELECT repeat('abcdefgh', 300000) AS x")));
    expect((await client.rows())[0]).toBe("abcdefgh".repeat(300_000));
    const sent = client.heads.reduce((sum, [, length]) => sum + length, 0);
    expect(sent).toBeLessThan(100_000);
    client.end();
  });

  test.each([
    ["shorter than it says", 80, fold(SELECT)],
    ["longer than it says", SELECT.length - 1, fold(SELECT)],
    ["cut off", SELECT.length, fold(SELECT).subarray(0, 20)],
    ["no such bytes", 100, Buffer.from("what is this?")],
    ["a bomb", 4096, fold(Buffer.alloc(2 ** 22))],
    ["nothing at all", 10, Buffer.alloc(0)],
  ])("ends a connection whose packet is %s", async (_name, length, bytes) => {
    const client = await start();
    client.send(folded(0, length, bytes));
    const told = (await client.next())!;
    expect([told[0], told.readUInt16LE(1)]).toEqual([0xff, 1835]);
    expect(told.toString()).toContain("unfolds to");
    expect(await client.next()).toBeUndefined();
    client.end();
  });
});

test("a length that zlib cannot unfold to is refused before memory is taken", async () => {
  const client = await Client.start(ZLIB);
  client.send(folded(0, 2 ** 24 - 1, Buffer.alloc(16)));
  expect((await client.next())!.toString()).toContain("zlib cannot do that");
  client.end();
});

test("messages that unfold to more than 64 MiB are refused", async () => {
  const client = await Client.start(ZSTD, 3);
  const whole = 2 ** 24 - 1;
  // Packets of 2^24 - 1 bytes, each of which goes on in the next.
  const parts = Buffer.alloc(5 * (whole + 4));
  for (let i = 0; i < 5; i++) parts.set([0xff, 0xff, 0xff, i], i * (whole + 4));
  for (let at = 0; at < parts.length; at += whole) {
    const piece = parts.subarray(at, at + whole);
    client.send(folded(1, piece.length, zlib.zstdCompressSync(piece)));
  }
  const told = (await client.next())!;
  expect([told[0], told.readUInt16LE(1)]).toEqual([0xff, 1153]);
  client.end();
});

test("a level that zstd does not have is refused", () => {
  expect(Client.start(ZSTD, 23)).rejects.toThrow();
  expect(Client.start(ZSTD)).rejects.toThrow();
});

const LONG = "abcdefghij".repeat(1_800_000);

test("mysql2", async () => {
  const client = await mysql.createConnection({ host: "127.0.0.1", port: server.port, user: "u", database: "public", compress: true });
  await client.query("CREATE TABLE long (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, s STRING)");
  await client.execute("INSERT INTO long VALUES ('a', 1, ?)", [LONG]);
  const [rows] = await client.query("SELECT h, s FROM long");
  expect((rows as { s: string }[])[0]?.s === LONG).toBe(true);
  const [many] = await client.execute("SELECT value AS v FROM generate_series(1, 20000)");
  expect((many as unknown[]).length).toBe(20_000);
  await client.changeUser({ user: "other" });
  expect((await client.query("SELECT 1 AS a"))[0]).toEqual([{ a: 1 }] as never);
  await client.query("DROP TABLE public.long");
  await client.end();
});

test("mariadb", async () => {
  const patience = { connectTimeout: 30_000 }; // It waits for one second else.
  const client = await connectMariadb({ host: "127.0.0.1", port: server.port, user: "u", database: "public", compress: true, ...patience });
  const [row]: { s: string }[] = await client.execute("SELECT CAST(? AS STRING) AS s", [LONG]);
  expect(row?.s === LONG).toBe(true);
  const many: unknown[] = await client.execute("SELECT value AS v FROM generate_series(1, 20000)");
  expect(many.length).toBe(20_000);
  expect(client.query("SELECT * FROM nowhere")).rejects.toMatchObject({ errno: 1146 });
  await client.end();
});

const CLIENT = Bun.which("mariadb") ?? Bun.which("mysql");

test.skipIf(CLIENT === null)("the command line", async () => {
  const command = [CLIENT ?? "", "-h127.0.0.1", `-P${server.port}`, "-uu", "--skip-ssl", "--compress", "public"];
  const process = Bun.spawn([...command, "-e", "SELECT value FROM generate_series(1, 5000)"], { stdout: "pipe", stderr: "pipe" });
  expect(await new Response(process.stderr).text()).toBe("");
  expect((await new Response(process.stdout).text()).split("\n").slice(-3)).toEqual(["4999", "5000", ""]);
});
