/** What the server answers to messages, one by one: order, states, and clients that do what they should not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { certificate } from "../../../test/support/certificate.ts";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";
import { fieldsOf, message, short, startup, WireClient } from "../../../test/support/postgres-wire.ts";

let server: PostgresFixture;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server.stop();
});

const query = (text: string): Buffer => message("Q", text);
const parse = (name: string, text: string, ...oids: readonly number[]): Buffer =>
  message("P", name, text, short(oids.length), ...oids.map((oid) => Buffer.concat([short(oid >> 16), short(oid & 0xffff)])));
const bind = (portal: string, statement: string, ...values: readonly (string | undefined)[]): Buffer =>
  message(
    "B",
    portal,
    statement,
    short(0),
    short(values.length),
    ...values.flatMap((value) => (value === undefined ? [-1] : [Buffer.byteLength(value), Buffer.from(value)])),
    short(0),
  );
const execute = (portal: string, rowsMax = 0): Buffer => message("E", portal, rowsMax);
const describe = (what: "S" | "P", name: string): Buffer => message("D", Buffer.from(what), name);
const close = (what: "S" | "P", name: string): Buffer => message("C", Buffer.from(what), name);
const sync: Buffer = message("S");

/** Sends messages and gives the letters of the answer up to ReadyForQuery. */
async function answers(want: string, ...messages: readonly Uint8Array[]): Promise<void> {
  const client = await WireClient.start(server.port);
  client.send(...messages);
  expect(await client.letters()).toBe(want);
  client.end();
}

test("start-up tells parameters and a key", async () => {
  const client = await WireClient.connect(server.port);
  client.send(startup({ user: "me", application_name: "test", TimeZone: "Europe/Berlin", options: "-c DateStyle=German,DMY" }));
  const messages = await client.until("Z");
  const parameters = Object.fromEntries(
    messages.filter(({ letter }) => letter === "S").map(({ body }) => body.toString().split("\0").slice(0, 2) as [string, string]),
  );
  expect(parameters).toMatchObject({
    server_version: "16.3-GreptimeDB-0.0.0",
    server_encoding: "UTF8",
    client_encoding: "UTF8",
    integer_datetimes: "on",
    standard_conforming_strings: "on",
    application_name: "test",
    TimeZone: "Europe/Berlin",
    DateStyle: "German, DMY",
  });
  expect(messages.map(({ letter }) => letter).join("")).toMatch(/^RS+KZ$/);
  expect(messages.find(({ letter }) => letter === "K")?.body.readInt32BE(0)).toBeGreaterThan(0);
  client.end();
});

test("newer minor versions are negotiated down; other protocols refused", async () => {
  const newer = await WireClient.connect(server.port);
  newer.send(startup({ user: "me", "_pq_.option": "x" }, 0x0003_0002));
  const [first] = await newer.until("Z");
  expect([first?.letter, first?.body.readInt32BE(0), first?.body.toString("utf8", 8)]).toEqual(["v", 0, "_pq_.option\0"]);
  newer.end();
  const old = await WireClient.connect(server.port);
  old.send(startup({ user: "me" }, 0x0002_0000));
  const [error] = await old.until("E");
  expect(fieldsOf(error!)).toMatchObject({ S: "FATAL", C: "08P01" });
  await old.closed;
});

test("refuses what a start-up cannot be", async () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string, string])[] = [
    [{ database: "public" }, "28000", "no PostgreSQL user name"],
    [{ user: "me", database: "nowhere" }, "3D000", "Database not found: nowhere"],
    [{ user: "me", TimeZone: "Mars/Base" }, "22023", "Invalid TimeZone: Mars/Base"],
    [{ user: "me", DateStyle: "Klingon" }, "0A000", "datestyle"],
    [{ user: "me", client_encoding: "LATIN1" }, "22023", "texts are UTF8"],
    [{ user: "me", replication: "database" }, "0A000", "replication"],
  ];
  for (const [parameters, sqlState, text] of cases) {
    const client = await WireClient.connect(server.port);
    client.send(startup(parameters));
    const messages = await client.until("E");
    expect(fieldsOf(messages.at(-1)!)).toMatchObject({ S: "FATAL", C: sqlState, M: expect.stringContaining(text) });
    await client.closed;
  }
});

test("encryption is answered by one byte; what was sent ahead of it is refused", async () => {
  const plain = await WireClient.connect(server.port);
  plain.send(message("", 80877103));
  expect(await plain.byte()).toBe("N");
  plain.send(message("", 80877104));
  expect(await plain.byte()).toBe("N");
  plain.send(startup());
  expect(await plain.letters()).toEndWith("Z");
  plain.end();
  const files = await certificate("protocol");
  const secure = await startPostgres(undefined, { tls: { mode: "require", ...files, watch: false } });
  const stuffed = await WireClient.connect(secure.port);
  stuffed.send(message("", 80877103), startup());
  const [error] = await stuffed.until("E");
  expect(fieldsOf(error!)).toMatchObject({ S: "FATAL", C: "08P01" });
  const unencrypted = await WireClient.connect(secure.port);
  unencrypted.send(startup());
  const [refusal] = await unencrypted.until("E");
  expect(fieldsOf(refusal!)).toMatchObject({ S: "FATAL", C: "28000", M: "No encryption" });
  await secure.stop();
});

test("simple queries: none, several, failing", async () => {
  await answers("IZ", query(""));
  await answers("IZ", query(" ; -- nothing"));
  await answers("TDCTDCZ", query("SELECT 1; SELECT 2"));
  await answers("TDCTEZ", query("SELECT 1; SELECT 1/0; SELECT 2"));
  await answers("EZ", query("SELECT 1; SELEC 2"));
  await answers("NCTDCCZ", query("BEGIN; SELECT 1; COMMIT"));
  await answers("TCZ", query("USE information_schema"));
});

test("the extended protocol: every step, and a failure passes what follows up to Sync", async () => {
  await answers("12DCZ", parse("", "SELECT 1"), bind("", ""), execute(""), sync);
  await answers(
    "1tT2TDC3Z",
    parse("a", "SELECT 1 AS x"),
    describe("S", "a"),
    bind("p", "a"),
    describe("P", "p"),
    execute("p"),
    close("P", "p"),
    sync,
  );
  await answers("12IZ", parse("", ""), bind("", ""), execute(""), sync);
  await answers("EZ", parse("", "SELEC 1"), bind("", ""), execute(""), sync);
  await answers("12EZ", parse("", "SELECT 1/0"), bind("", ""), execute(""), execute(""), sync);
  await answers("EZ", bind("", "nothing"), sync);
  await answers("EZ", execute("nothing"), sync);
  await answers("33Z", close("S", "nothing"), close("P", "nothing"), sync);
  await answers("1EZ", parse("a", "SELECT 1"), parse("a", "SELECT 2"), sync);
  await answers("1EZ", parse("", "SELECT $1::INT"), bind("", "", "1", "2"), sync);
  await answers("1tn2nNCZ", parse("", "BEGIN"), describe("S", ""), bind("", ""), describe("P", ""), execute(""), sync);
  await answers("1tT2TDCZ", parse("", "SHOW TimeZone"), describe("S", ""), bind("", ""), describe("P", ""), execute(""), sync);
  await answers("1tT2TDDDCZ", parse("", "SHOW DATABASES"), describe("S", ""), bind("", ""), describe("P", ""), execute(""), sync);
});

test("row limits suspend a portal, which goes on, and ends with Sync", async () => {
  const client = await WireClient.start(server.port);
  client.send(
    parse("", "SELECT number FROM numbers ORDER BY number LIMIT 5"),
    bind("p", ""),
    execute("p", 2),
    execute("p", 2),
    execute("p", 2),
    execute("p", 2),
    sync,
  );
  expect(await client.letters()).toBe("12DDsDDsDCCZ");
  client.send(execute("p"), sync);
  expect(await client.letters()).toBe("EZ");
  client.send(query("BEGIN"), parse("", "SELECT number FROM numbers LIMIT 3"), bind("p", ""), execute("p", 1), sync);
  expect(await client.letters()).toBe("NCZ");
  expect(await client.letters()).toBe("12DsZ");
  client.send(execute("p"), sync);
  expect(await client.letters()).toBe("DDCZ");
  client.send(query("COMMIT"), execute("p"), sync);
  expect(await client.letters()).toBe("CZ");
  expect(await client.letters()).toBe("EZ");
  client.end();
});

test("types of parameters are told, and given ones kept", async () => {
  const client = await WireClient.start(server.port);
  client.send(parse("", "SELECT number FROM numbers WHERE number = $1 AND $2::TEXT <> $3"), describe("S", ""), sync);
  const told = (await client.until("Z")).find(({ letter }) => letter === "t")!.body;
  expect([told.readInt16BE(0), told.readInt32BE(2), told.readInt32BE(6), told.readInt32BE(10)]).toEqual([3, 20, 25, 25]);
  client.send(parse("", "SELECT $1 AS x", 23), describe("S", ""), sync);
  const messages = await client.until("Z");
  expect(messages.find(({ letter }) => letter === "t")!.body.readInt32BE(2)).toBe(23);
  expect(messages.find(({ letter }) => letter === "T")!.body.readInt32BE(2 + 2 + 6)).toBe(23);
  client.end();
});

test("COPY: what the client may say in it, and a failure of either side", async () => {
  const client = await WireClient.start(server.port);
  client.send(query("CREATE TABLE c (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
  await client.until("Z");
  const copy = async (want: string, ...data: readonly Uint8Array[]): Promise<void> => {
    client.send(query("COPY c FROM STDIN"));
    expect(await client.letters("G")).toBe("G");
    client.send(...data);
    expect(await client.letters()).toBe(want);
  };
  const data = (text: string): Buffer => message("d", Buffer.from(text));
  await copy("CZ", data("a\t2024-01-01 00:00:00\t1.5\nb\t2024-01"), data("-01 00:00:01\t\\N\n"), message("c"));
  await copy("CZ", data("c\t2024-01-01 00:00:00\t2"), message("c"));
  await copy("CZ", data("d\t2024-01-01 00:00:00\t2\n\\.\nnothing\n"), message("c"));
  await copy("EZ", data("e\t2024-01-01 00:00:00\t2\n"), message("f", "no more"));
  await copy("EZ", data("e\tx\t2\n"), message("c"));
  await copy("EZ", data("e\t2024-01-01 00:00:00\n"), message("c"));
  await copy("EZ", data("e\t2024-01-01 00:00:00\t1\t2\n"), message("c"));
  client.send(query("SELECT h, v FROM c ORDER BY h"));
  const rows = (await client.until("Z"))
    .filter(({ letter }) => letter === "D")
    .map(({ body }) => body.toString("latin1").replace(/[^a-z0-9.]/g, ""));
  expect(rows).toEqual(["a1.5", "b", "c2.0", "d2.0"]);
  client.send(query("COPY c FROM STDIN"), message("Z"));
  expect(await client.letters()).toBe("GEZ");
  client.end();
});

test("letters that are none end the connection; lengths that are none too", async () => {
  const letter = await WireClient.start(server.port);
  letter.send(message("?"));
  const [error] = await letter.until("E");
  expect(fieldsOf(error!)).toMatchObject({ S: "FATAL", C: "08P01" });
  await letter.closed;
  const length = await WireClient.start(server.port);
  length.send(Buffer.from([0x51, 0x7f, 0xff, 0xff, 0xff]));
  const [refusal] = await length.until("E");
  expect(fieldsOf(refusal!)).toMatchObject({ S: "FATAL", C: "08P01" });
  await length.closed;
});

test("a server that stops says so", async () => {
  const stopping = await startPostgres();
  const client = await WireClient.start(stopping.port);
  await stopping.stop();
  const messages = await client.until("E");
  expect(fieldsOf(messages[0]!)).toMatchObject({ S: "FATAL", C: "57P01" });
  await client.closed;
});
