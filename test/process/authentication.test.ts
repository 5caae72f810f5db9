/** Who may do what, with every form in which clients send names and passwords. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Answer, postLines, postSql, queryRows, send, writeLines } from "../support/http-client.ts";
import { openRequest } from "../support/raw-request.ts";
import { TestServer, temporaryFolder } from "../support/server-process.ts";

/** The stored form of `password`. */
const HASHED = "pbkdf2_sha256:4096:73616c74:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a";
const ACCOUNTS = ["# accounts", "alice=wonder:land", "reader:ro=r0-secret", "", "writer:wo=w0-secret", `hashed=${HASHED}`].join("\n");
/** What must not be in a log: passwords, also in the forms in which they travel. */
const SECRETS = [
  "wonder:land",
  "wonder%3Aland",
  "r0-secret",
  "w0-secret",
  "late-secret",
  HASHED,
  btoa("alice:wonder:land"),
  "wrong-secret",
];

/** A changed file is noticed at once by an event, or after two seconds without one. */
const RELOAD_MS_MAX = 10_000;

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

const ALICE = basic("alice", "wonder:land");

let server: TestServer;
let accountFile = "";

beforeAll(async () => {
  const folder = await temporaryFolder();
  accountFile = join(folder, "users.txt");
  await writeFile(accountFile, ACCOUNTS);
  const flags = ["--user-provider", `watch_file_user_provider:${accountFile}`, "--log-level", "trace"];
  server = await TestServer.start({ flags }, folder);
  await writeLines(server.url, "t,host=a v=1i 1", { headers: { authorization: ALICE } });
});
afterAll(async () => {
  await server.end();
});

/** Lines of the influx endpoints, SQL of the others, with these headers. */
async function attempt(path: "sql" | "write", headers: Readonly<Record<string, string>>, query: string = ""): Promise<Answer> {
  if (path === "sql") return await postSql(server.url, "SELECT v FROM t", { headers });
  return await send(`${server.url}/v1/influxdb/write${query}`, { method: "POST", headers: { ...headers }, body: "t,host=a v=1i 1" });
}

describe("credentials that are right", () => {
  async function check(path: "sql" | "write", headers: Readonly<Record<string, string>>, query?: string): Promise<void> {
    const { status, text } = await attempt(path, headers, query);
    expect({ status, text }).toEqual({ status: path === "sql" ? 200 : 204, text: path === "sql" ? expect.any(String) : "" });
  }

  test("Basic, in any case, with a password that holds a colon", async () => {
    await check("sql", { authorization: ALICE });
    await check("sql", { authorization: ALICE.replace("Basic", "bAsIC") });
    await check("write", { authorization: ALICE });
    await check("sql", { authorization: basic("hashed", "password") });
  });

  test("x-greptime-auth, which wins over Authorization", async () => {
    await check("sql", { "x-greptime-auth": ALICE });
    await check("sql", { "x-greptime-auth": ALICE, authorization: "Basic AAAA" });
  });

  test("Token user:password and the parameters u and p, for line protocol", async () => {
    await check("write", { authorization: "Token alice:wonder:land" });
    await check("write", { authorization: "token writer:w0-secret" });
    await check("write", {}, "?u=alice&p=wonder:land");
    await check("write", {}, "?precision=ns&p=wonder%3Aland&db=public&u=alice");
    const v2 = `${server.url}/v1/influxdb/api/v2/write?bucket=public&org=none`;
    const { status } = await send(v2, { method: "POST", headers: { authorization: "Token alice:wonder:land" }, body: "t,host=a v=1i 1" });
    expect(status).toBe(204);
  });
});

describe("credentials that are missing or wrong", () => {
  async function check(answer: Promise<Answer>, code: number, error: string): Promise<void> {
    const { status, headers, text } = await answer;
    expect(text).toBe(`{"code":${code},"error":${JSON.stringify(error)},"execution_time_ms":0}`);
    expect(status).toBe(401);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-greptime-err-code")).toBe(String(code));
    expect(headers.get("x-greptime-err-msg")).toBe(`error: ${error}, execution_time_ms: 0`);
    expect(headers.get("www-authenticate")).toBeNull();
  }

  test("none at all", async () => {
    await check(attempt("sql", {}), 7003, "Not found http or grpc authorization header");
    await check(attempt("write", {}), 7003, "Not found influx http authorization info");
    await check(send(`${server.url}/v1/no/such/path`), 7003, "Not found http or grpc authorization header");
  });

  test("unknown users and wrong passwords", async () => {
    const mismatch = "Username and password does not match, username: alice";
    await check(attempt("sql", { authorization: basic("nobody", "wrong-secret") }), 7002, mismatch.replace("alice", "nobody"));
    await check(attempt("sql", { authorization: basic("alice", "wrong-secret") }), 7002, mismatch);
    await check(attempt("write", { authorization: "Token alice:wrong-secret" }), 7002, mismatch);
    await check(attempt("write", {}, "?u=alice&p=wrong-secret"), 7002, mismatch);
    await check(attempt("sql", { authorization: basic("", "x") }), 1004, "Illegal param: blank username");
    await check(attempt("sql", { authorization: basic("alice", "") }), 1004, "Illegal param: blank password");
  });

  test("headers that make no sense", async () => {
    await check(attempt("sql", { authorization: "Basic" }), 7004, "Invalid http authorization header");
    await check(attempt("sql", { authorization: `Basic ${btoa("alice")}` }), 7004, "Invalid http authorization header");
    await check(attempt("write", { authorization: "Token alice" }), 7004, "Invalid http authorization header");
    await check(attempt("sql", { authorization: "Digest abc" }), 7004, "Unsupported http auth scheme, name: digest");
    await check(attempt("write", { authorization: "Digest abc" }), 7004, "Unsupported http auth scheme, name: Digest");
    await check(attempt("sql", { authorization: "Token alice:wonder:land" }), 7004, "Unsupported http auth scheme, name: token");
    await check(attempt("sql", { authorization: "Bearer abc" }), 7002, "Unsupported authentication method: bearer token");
    const half = "Invalid request parameter: influxdb auth: username and password must be provided together";
    await check(attempt("write", {}, "?u=alice"), 1004, half);
    const { text } = await attempt("sql", { authorization: "Basic wrong-secret!" });
    expect(JSON.parse(text)).toEqual({ code: 7004, error: expect.stringMatching(/^Invalid base64 value: /), execution_time_ms: 0 });
  });

  test("the other header of a class is not read", async () => {
    await check(attempt("write", { "x-greptime-auth": ALICE }), 7003, "Not found influx http authorization info");
    const { status } = await send(`${server.url}/v1/sql?sql=SELECT+1&u=alice&p=wonder:land`);
    expect(status).toBe(401);
  });

  test("nothing was written without credentials", async () => {
    const { rows } = await queryRows(server.url, "SELECT count(*) FROM t", { headers: { authorization: ALICE } });
    expect(rows).toEqual([[1]]);
  });
});

describe("modes of accounts", () => {
  const reader = { authorization: basic("reader", "r0-secret") };
  const writer = { authorization: basic("writer", "w0-secret") };
  const REFUSED = "User is not authorized to perform this action";

  async function checkSql(headers: Readonly<Record<string, string>>, sql: string, isAllowed: boolean): Promise<void> {
    const { status, text } = await postSql(server.url, sql, { headers });
    expect(status, `${sql}: ${text}`).toBe(isAllowed ? 200 : 403);
    if (!isAllowed) expect(JSON.parse(text)).toEqual({ code: 7006, error: REFUSED, execution_time_ms: expect.any(Number) });
  }

  test("a reader reads and changes nothing", async () => {
    await checkSql(reader, "SELECT v FROM t", true);
    await checkSql(reader, "SHOW TABLES", true);
    await checkSql(reader, "DESC TABLE t", true);
    await checkSql(reader, "EXPLAIN SELECT v FROM t", true);
    await checkSql(reader, "CREATE DATABASE taken", false);
    await checkSql(reader, "INSERT INTO t (host, v, greptime_timestamp) VALUES ('a', 2, 2)", false);
    await checkSql(reader, "DROP TABLE t", false);
    await checkSql(reader, "ADMIN flush_table('t')", false);
    const written = await postLines(server.url, "t,host=a v=2i 2", { headers: reader });
    expect({ status: written.status, text: written.text }).toEqual({ status: 403, text: JSON.stringify({ error: REFUSED }) });
  });

  test("a writer writes and reads nothing", async () => {
    expect((await postLines(server.url, "w,host=a v=2i 2", { headers: writer })).status).toBe(204);
    await checkSql(writer, "INSERT INTO w (host, v, greptime_timestamp) VALUES ('b', 2, 2)", true);
    await checkSql(writer, "CREATE DATABASE made_by_writer", true);
    await checkSql(writer, "SELECT v FROM t", false);
    await checkSql(writer, "SHOW TABLES", false);
    await checkSql(writer, "EXPLAIN ANALYZE SELECT v FROM t", false);
    const query = `${server.url}/v1/influxdb/query?q=${encodeURIComponent("SHOW DATABASES")}`;
    expect((await send(query, { headers: writer })).status).toBe(403);
  });
});

describe("paths", () => {
  test("that are open to all", async () => {
    const open = ["/health", "/ready", "/v1/health", "/status", "/metrics", "/v1/influxdb/ping", "/v1/influxdb/health"];
    for (const path of open) expect((await send(`${server.url}${path}`)).status, path).toBeLessThan(300);
  });

  test("of the administrator need credentials, and show no password", async () => {
    expect((await send(`${server.url}/config`)).status).toBe(401);
    expect((await send(`${server.url}/debug/log_level`, { method: "POST", body: "info" })).status).toBe(401);
    const { status, text } = await send(`${server.url}/config`, { headers: { authorization: ALICE } });
    expect(status).toBe(200);
    expect(text).toContain(`user_provider = "watch_file_user_provider:${accountFile}"`);
  });

  test("cannot be reached around the check", async () => {
    const targets = [
      "/v1//sql",
      "/v1/./sql",
      "/health/../v1/sql",
      "/v1/influxdb/ping/../../sql",
      "/v1/%73ql",
      "/V1/sql",
      "//v1/sql",
      "/%2e/v1/sql",
    ];
    for (const target of [...targets, `${server.url}/v1/sql`, "http://other/v1/sql"]) {
      const request = await openRequest(server.url, `GET ${target}?sql=SELECT+4711`, { connection: "close" });
      const answer = await request.closed();
      expect(answer, target).toMatch(/^HTTP\/1\.1 (?:400|401|404) /);
      expect(answer, target).not.toContain("4711");
    }
  });

  test("count what they refuse", async () => {
    const { text } = await send(`${server.url}/metrics`);
    expect(text).toMatch(/greptime_servers_auth_failure_count\{code="UserPasswordMismatch"\} [1-9]/);
  });
});

describe("the account file", () => {
  async function replaceFile(text: string, logged: string): Promise<void> {
    const before = server.log().split(logged).length;
    await writeFile(`${accountFile}.new`, text);
    await rename(`${accountFile}.new`, accountFile);
    const deadline = performance.now() + RELOAD_MS_MAX;
    while (server.log().split(logged).length === before) {
      if (performance.now() > deadline) throw new Error(`no "${logged}" in the log after ${RELOAD_MS_MAX} ms`);
      await Bun.sleep(5);
    }
  }

  test("is read again when it is replaced; a broken one leaves the accounts as they are", async () => {
    const late = { headers: { authorization: basic("late", "late-secret") } };
    expect((await postSql(server.url, "SELECT 1", late)).status).toBe(401);
    await replaceFile("late=late-secret\n", "reloaded the account file");
    expect((await postSql(server.url, "SELECT 1", late)).status).toBe(200);
    expect((await attempt("sql", { authorization: ALICE })).status).toBe(401);
    await replaceFile("no account here\n", "cannot use the account file");
    expect((await postSql(server.url, "SELECT 1", late)).status).toBe(200);
    await replaceFile(ACCOUNTS, "reloaded the account file");
    expect((await attempt("sql", { authorization: ALICE })).status).toBe(200);
    expect((await postSql(server.url, "SELECT 1", late)).status).toBe(401);
  });
});

test("accounts of the command line are masked in /config", async () => {
  const other = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:alice=wonder,bob:ro=build"] });
  try {
    const { text } = await send(`${other.url}/config`, { headers: { authorization: basic("bob", "build") } });
    expect(text).toContain('user_provider = "static_user_provider:cmd:alice=***,bob:ro=***"');
    expect(text + other.log()).not.toMatch(/wonder|build/);
  } finally {
    await other.end();
  }
});

test("no password is in the log, at any level", async () => {
  await server.stop();
  const log = server.log();
  expect(log).toContain("stopped");
  expect(SECRETS.filter((secret) => log.includes(secret))).toEqual([]);
});
