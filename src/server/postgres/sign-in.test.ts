/** Who gets in: SCRAM, passwords and MD5, by real drivers and by hand. */
import { expect, test } from "bun:test";
import { SQL } from "bun";
import pg from "pg";
import postgres from "postgres";
import { certificate } from "../../../test/support/certificate.ts";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";
import { fieldsOf, message, startup, WireClient } from "../../../test/support/postgres-wire.ts";
import type { PostgresOptions } from "./server.ts";

/** Of `password`, with the salt `salt`. */
const SCRAM =
  "pg_scram_sha256:4096:73616c74:945e1c466fc9932efadc23781edc5d1e78d5e10f005933652af1a6105154f084:" +
  "b9bf0e811b1fb6793671c0cc3adedf7c75cd72291191092ad65878c5a02aad2c";
const PBKDF2 = "pbkdf2_sha256:4096:73616c74:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a";

async function withServer(
  accounts: string,
  work: (server: PostgresFixture) => Promise<void>,
  changes: Partial<PostgresOptions> = {},
): Promise<void> {
  const server = await startPostgres(`static_user_provider:cmd:${accounts}`, changes);
  try {
    await work(server);
    expect(server.bugs).toEqual([]);
  } finally {
    await server.stop();
  }
}

/** What each driver gets: 1, or the SQLSTATE of its refusal. */
async function signIn({ port }: PostgresFixture, user: string, password: string): Promise<readonly unknown[]> {
  const config = { host: "127.0.0.1", port, user, password, database: "public" };
  const codeOf = (error: unknown): unknown => {
    const { code, errno } = error as { code?: string; errno?: string };
    return errno ?? code;
  };
  const client = new pg.Client(config);
  const first = await client
    .connect()
    .then(() => client.query("SELECT 1 AS one"))
    .then(({ rows }) => Number(rows[0]?.one), codeOf);
  await client.end();
  const sql = postgres({ ...config, max: 1 });
  const second = await sql`SELECT 1 AS one`.then((rows) => Number(rows[0]?.["one"]), codeOf);
  await sql.end();
  const bun = new SQL({ adapter: "postgres", hostname: "127.0.0.1", port, username: user, password, database: "public", max: 1 });
  const third = await bun`SELECT 1 AS one`.then((rows: { one: unknown }[]) => Number(rows[0]?.one), codeOf);
  await bun.end();
  return [first, second, third];
}

test("SCRAM: plain and stored passwords, wrong ones, unknown names", () =>
  withServer(`alice=wonder land,bob=${SCRAM},carol:ro=ünicode`, async (server) => {
    expect(await signIn(server, "alice", "wonder land")).toEqual([1, 1, 1]);
    expect(await signIn(server, "bob", "password")).toEqual([1, 1, 1]);
    expect(await signIn(server, "carol", "ünicode")).toEqual([1, 1, 1]);
    expect(await signIn(server, "alice", "wrong")).toEqual(["28P01", "28P01", "28P01"]);
    expect(await signIn(server, "bob", "passwor")).toEqual(["28P01", "28P01", "28P01"]);
    expect(await signIn(server, "nobody", "wonder land")).toEqual(["28P01", "28P01", "28P01"]);
    expect(await server.metrics.registry.getSingleMetricAsString("greptime_servers_auth_failure_count")).toContain(
      'code="UserPasswordMismatch"} 9',
    );
  }));

test("passwords in clear where an account cannot be checked by SCRAM", () =>
  withServer(`alice=wonder,dave=${PBKDF2}`, async (server) => {
    expect(await signIn(server, "alice", "wonder")).toEqual([1, 1, 1]);
    expect(await signIn(server, "dave", "password")).toEqual([1, 1, 1]);
    expect(await signIn(server, "dave", "wrong")).toEqual(["28P01", "28P01", "28P01"]);
    expect(await signIn(server, "nobody", "password")).toEqual(["28P01", "28P01", "28P01"]);
  }));

test("MD5 where the setting says so, for passwords stored plain", () =>
  withServer(
    `alice=wonder,bob=${SCRAM}`,
    async (server) => {
      expect(await signIn(server, "alice", "wonder")).toEqual([1, 1, 1]);
      expect(await signIn(server, "alice", "wrong")).toEqual(["28P01", "28P01", "28P01"]);
      expect(await signIn(server, "bob", "password")).toEqual(["28P01", "28P01", "28P01"]);
    },
    { authMethod: "md5" },
  ));

test("accounts that may only read, or only write", () =>
  withServer("reader:ro=secret,writer:wo=secret,both=secret", async ({ port }) => {
    const codeOf = async (user: string, text: string): Promise<unknown> => {
      const client = new pg.Client({ host: "127.0.0.1", port, user, password: "secret", database: "public" });
      await client.connect();
      const code = await client.query(text).then(
        () => undefined,
        (error: pg.DatabaseError) => error.code,
      );
      await client.end();
      return code;
    };
    const create = "CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX)";
    expect(await codeOf("both", create)).toBeUndefined();
    expect(await codeOf("reader", create)).toBe("42501");
    expect(await codeOf("reader", "SELECT * FROM t")).toBeUndefined();
    expect(await codeOf("reader", "COPY t FROM STDIN")).toBe("42501");
    expect(await codeOf("writer", "SELECT * FROM t")).toBe("42501");
    expect(await codeOf("writer", "COPY t TO STDOUT")).toBe("42501");
    expect(await codeOf("writer", "INSERT INTO t VALUES (1)")).toBeUndefined();
  }));

test("a challenge is the same each time, for names that there are none of as well", () =>
  withServer(`bob=${SCRAM},alice=wonder`, async ({ port }) => {
    const challenge = async (name: string): Promise<string> => {
      const client = await WireClient.connect(port);
      client.send(startup({ user: name, database: "public" }));
      const [ask] = await client.until("R");
      expect(ask?.body.readInt32BE(0)).toBe(10);
      const first = "n,,n=,r=abc";
      client.send(message("p", "SCRAM-SHA-256", first.length, Buffer.from(first)));
      const [next] = await client.until("R");
      client.end();
      return next!.body.toString("utf8", 4).replace(/^r=[^,]*,/, "");
    };
    expect(await challenge("bob")).toBe("s=c2FsdA==,i=4096");
    for (const name of ["alice", "nobody", "someone else", ""].slice(0, 3)) {
      const first = await challenge(name);
      expect(await challenge(name)).toBe(first);
      expect(first).toMatch(/^s=[A-Za-z0-9+/=]+,i=4096$/);
    }
  }));

test("what is no answer ends the connection", () =>
  withServer("alice=wonder", async ({ port }) => {
    const says: readonly (readonly [string, ...Buffer[]])[] = [
      ["08P01", message("Q", "SELECT 1")],
      ["08P01", message("p", "SCRAM-SHA-1", 0, Buffer.alloc(0))],
      ["08P01", message("p", "SCRAM-SHA-256", 5, Buffer.from("hello"))],
      ["08P01", message("p", "SCRAM-SHA-256", 99, Buffer.from("n,,n=,r=a"))],
      ["28P01", message("p", "SCRAM-SHA-256", 9, Buffer.from("n,,n=,r=a")), message("p", Buffer.from("c=biws,r=a,p=AAAA"))],
      ["28P01", message("p", "SCRAM-SHA-256", 9, Buffer.from("n,,n=,r=a")), message("p", Buffer.from("nonsense"))],
      ["08P01", message("p", Buffer.alloc(20_000))],
    ];
    for (const [sqlState, ...messages] of says) {
      const client = await WireClient.connect(port);
      client.send(startup({ user: "alice", database: "public" }), ...messages);
      const found = await client.until("E");
      expect(fieldsOf(found.at(-1)!)).toMatchObject({ S: "FATAL", C: sqlState });
      await client.closed;
    }
  }));

test("over TLS, asked for and direct", async () => {
  const files = await certificate("sign-in");
  await withServer(
    "alice=wonder",
    async ({ port }) => {
      for (const sslnegotiation of ["postgres", "direct"]) {
        const client = new pg.Client({
          host: "127.0.0.1",
          port,
          user: "alice",
          password: "wonder",
          database: "public",
          ssl: { rejectUnauthorized: false },
          ...(sslnegotiation === "direct" ? { sslnegotiation: "direct" } : {}),
        } as pg.ClientConfig);
        await client.connect();
        const { rows } = await client.query("SELECT count(*) AS n FROM numbers a, numbers b");
        expect(Number(rows[0].n)).toBe(10_000);
        await client.end();
      }
      const sql = postgres({
        host: "127.0.0.1",
        port,
        user: "alice",
        password: "wonder",
        database: "public",
        ssl: { rejectUnauthorized: false },
        max: 1,
      });
      expect(await sql`SELECT number FROM numbers`).toHaveLength(100);
      await sql.end();
    },
    { tls: { mode: "require", ...files, watch: false } },
  );
});
