/** Answers within one turn are, byte by byte, those that a connection gets for a statement whose plan is not known. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { countAtOnce } from "../../../test/support/at-once-count.ts";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";
import { message, type ServerMessage, short, WireClient } from "../../../test/support/postgres-wire.ts";

let server: PostgresFixture;
let answered: () => number;
let client: WireClient;

beforeAll(async () => {
  server = await startPostgres();
  client = await WireClient.start(server.port);
  await answer("CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, v DOUBLE, b VARBINARY, n BIGINT)");
  await answer("INSERT INTO t VALUES ('a', 1000, 0.5, X'00ff', 9007199254740993), ('a', 2000, NULL, NULL, NULL), ('ä''', 1000, 1, X'', 1)");
  answered = countAtOnce(server.db);
});

afterAll(async () => {
  client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

const told = (messages: readonly ServerMessage[]): string =>
  messages.map(({ letter, body }) => `${letter} ${body.toString("hex")}`).join("\n");

async function answer(text: string): Promise<string> {
  client.send(message("Q", text));
  return told(await client.until("Z"));
}

/** The answer to a text as the first of a shape, and as a later one: the alias makes a shape of its own. */
async function bothWays(text: (alias: string) => string, alias: string, other: string): Promise<readonly [first: string, later: string]> {
  const first = await answer(text(alias));
  await answer(text(other)); // Another shape with the same words.
  const before = answered();
  const later = await answer(text(alias));
  expect(answered()).toBe(before + 1);
  return [first, later];
}

const POINT = (alias: string): string => `SELECT host AS ${alias}, ts, v, b, n FROM t WHERE host = 'a' AND ts >= 1000`;

test("a simple query: columns, rows, NULLs, tag; under other settings too", async () => {
  const plain = await bothWays(POINT, "x", "y");
  expect(plain[1]).toBe(plain[0]);
  await answer("SET bytea_output = 'escape'");
  const escaped = await answer(POINT("x"));
  expect(escaped).not.toBe(plain[0]);
  expect(await answer(`${POINT("x")} `)).toBe(escaped); // The blank makes it another text to look for.
  await answer("RESET bytea_output");
  expect(await answer(`${POINT("x")};`)).toBe(plain[0]);
  const [none, noneLater] = await bothWays((alias) => `SELECT v AS ${alias} FROM t WHERE host = 'nobody' AND ts = 5`, "x", "y");
  expect(noneLater).toBe(none);
  const [quoted, quotedLater] = await bothWays((alias) => `SELECT host AS ${alias} FROM t WHERE host = 'ä'''`, "x", "y");
  expect(quotedLater).toBe(quoted);
});

test("in a transaction that has failed nothing is answered", async () => {
  await answer(POINT("q"));
  await answer("BEGIN");
  await answer("SELECT nosuch FROM t");
  const before = answered();
  expect(await answer(POINT("q"))).toContain(Buffer.from("25P02").toString("hex"));
  expect(answered()).toBe(before);
  await answer("ROLLBACK");
  expect(await answer(POINT("q"))).toStartWith("T ");
});

/** Bind, Describe where it is wanted, Execute, Sync. */
async function executed(name: string, format: 0 | 1, describes: boolean, rowsMax = 0, host = "a"): Promise<string> {
  const value = Buffer.from(host);
  const bind = message("B", "", name, short(0), short(1), value.length, value, short(1), short(format));
  const describe = describes ? [message("D", Buffer.from("P\0"))] : [];
  client.send(bind, ...describe, message("E", "", rowsMax), message("S"));
  return told(await client.until("Z"));
}

test("the extended protocol: text and binary, described and not, rows by rows", async () => {
  for (const name of ["first", "second"]) client.send(message("P", name, "SELECT host, ts, v, b, n FROM t WHERE host = $1", short(0)));
  client.send(message("S"));
  await client.until("Z");
  for (const [format, describes] of [
    [0, true],
    [1, true],
    [0, false],
    [1, false],
  ] as const) {
    client.send(
      message("P", `fresh ${format} ${describes}`, "SELECT host, ts, v, b, n FROM t WHERE host = $1 OR FALSE", short(0)),
      message("S"),
    );
    await client.until("Z");
    const slow = await executed(`fresh ${format} ${describes}`, format, describes);
    await executed("first", format, describes);
    const before = answered();
    expect(await executed("first", format, describes)).toBe(slow);
    expect(answered()).toBe(before + 1);
  }
  expect(await executed("first", 0, false, 1)).toMatch(/\ns \n/); // PortalSuspended after one of two rows.
  expect(await executed("first", 0, true, 2)).toMatch(/\ns \n/);
  expect(await executed("first", 0, false, 3)).toBe(await executed("first", 0, false));
  expect((await executed("first", 0, false, 0, "nobody")).split("\n")).toHaveLength(3);
});

test("many at once come in their order", async () => {
  await answer(POINT("x"));
  const want = await answer(POINT("x"));
  client.send(...Array.from({ length: 40 }, (_, i) => message("Q", i % 3 === 0 ? "SELECT 1 + 1" : POINT("x"))));
  for (let i = 0; i < 40; i++) {
    const got = told(await client.until("Z"));
    if (i % 3 !== 0) expect(got).toBe(want);
    else expect(got).not.toBe(want);
  }
});
