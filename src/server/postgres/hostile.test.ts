/** Clients that break the protocol (`test/support/hostile-suite.ts`). */
import { describe, expect } from "bun:test";
import pg from "pg";
import { ClientBytes } from "../../../test/support/client-bytes.ts";
import { testHostileClients } from "../../../test/support/hostile-suite.ts";
import { startPostgres } from "../../../test/support/postgres-fixture.ts";
import { message, short, startup, WireClient } from "../../../test/support/postgres-wire.ts";

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

describe("signed in", () =>
  testHostileClients({
    session: SESSION,
    async start() {
      const server = await startPostgres();
      const client = await WireClient.start(server.port);
      client.send(message("Q", "CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
      await client.until("Z");
      client.end();
      return server;
    },
    async understood(port, session) {
      const client = await WireClient.connect(port);
      client.send(session);
      const letters = (await client.until("nothing")).map(({ letter }) => letter).join("");
      expect(letters.replace(/S+/, "S")).toBe("RSKZTDCNCZ1tT2TC3ZGCZGCZ");
    },
    async stillServes(port) {
      const client = await WireClient.start(port);
      client.send(message("Q", "SELECT 1"));
      expect(await client.letters()).toBe("TDCZ");
      client.end();
    },
  }));

const CLIENT_FIRST = Buffer.from("n,,n=,r=abcdefghijklmnopqrstuvwx");

describe.each<readonly [string, readonly Buffer[], answer: string]>([
  ["a request for GSS", [message("", 80_877_104)], "N"],
  ["a request for TLS", [message("", 80_877_103)], "N"],
  ["a request to cancel", [message("", 80_877_102, 1, 2)], ""],
  [
    "a password",
    [
      startup({ user: "u", database: "public", TimeZone: "UTC" }),
      message("p", "SCRAM-SHA-256", CLIENT_FIRST.length, CLIENT_FIRST),
      message("p", Buffer.from("c=biws,r=abcdefghijklmnopqrstuvwx,p=AAAA")),
      message("Q", "SELECT 1"),
    ],
    "RRE", // which way, the server's first words, a refusal
  ],
])("before sign-in: %s", (_, session, letters) =>
  testHostileClients({
    session,
    isSignIn: true,
    start: () => startPostgres("static_user_provider:cmd:u=secret"),
    async understood(port, whole) {
      const client = await ClientBytes.connect(port);
      client.send(whole);
      let seen = "";
      for (let letter = ""; seen.length < letters.length; seen += letter) {
        letter = String(await client.take(1));
        if (letter === "N") continue;
        const length = (await client.take(4))?.readInt32BE(0) ?? 4;
        await client.take(length - 4);
      }
      expect(seen).toBe(letters);
      client.end();
    },
    async stillServes(port) {
      const client = new pg.Client({ host: "127.0.0.1", port, user: "u", password: "secret", database: "public" });
      await client.connect();
      expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: "1" }]);
      await client.end();
    },
  }),
);
