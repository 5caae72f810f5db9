/** Who gets in where: accounts of each mode, the server's own cloud credentials, its files, what its log says of strangers and secrets. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { IN_CLUSTER, standalone } from "../support/cluster/standalone.ts";
import { FakeS3 } from "../support/fake-s3.ts";
import { type Cell, execute, postSql, queryRows, writeLines } from "../support/http-client.ts";
import { rawExchange } from "../support/http-fixture.ts";
import { TestServer } from "../support/server-process.ts";

/** A busy machine takes its time. */
const START_MS_MAX = 60_000;
const SECRET = "correct-horse-battery";
const ACCOUNTS = "static_user_provider:cmd:all=a-secret,reader:ro=r-secret,writer:wo=w-secret";
const store = new FakeS3();
/** A store that takes connections and never answers. */
const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: () => new Promise<Response>(() => undefined) });
let server: TestServer;

const as = (name: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Basic ${btoa(`${name}:${name[0] ?? ""}-secret`)}` },
});

beforeAll(async () => {
  const endpoints = JSON.stringify([store.endpoint, `http://127.0.0.1:${silent.port}`]);
  server = await TestServer.start({
    flags: ["--user-provider", ACCOUNTS],
    config: `[storage]\ncopy_endpoints = ${endpoints}\n[logging]\nlevel = "debug"\n[ingest]\nthreads = 2\n`,
    env: { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "server-secret", AWS_SESSION_TOKEN: "server-token" },
  });
  await writeLines(server.url, `cpu,host=a word="${SECRET}" 1`, as("all"));
}, START_MS_MAX);
afterAll(async () => {
  await server.end();
  await store.close();
  await silent.stop(true);
});

const connectionOf = (keys: string): string => `CONNECTION (endpoint = '${store.endpoint}'${keys})`;

test("a write-only account gets rows out in no way", async () => {
  const tries = [
    "SELECT word FROM cpu",
    "COPY cpu TO 'cpu.csv' WITH (FORMAT = 'csv')",
    `COPY cpu TO 's3://b/cpu.csv' WITH (FORMAT = 'csv') ${connectionOf(", access_key_id = 'key', secret_access_key = 'x'")}`,
    "COPY DATABASE public TO 'all/' WITH (FORMAT = 'csv')",
    "INSERT INTO cpu (host, word, greptime_timestamp) SELECT host, word, 2 FROM cpu",
    "DELETE FROM cpu WHERE CAST(word AS INT) = 1",
    "CREATE VIEW v AS SELECT word FROM cpu",
    "SHOW PROCESSLIST",
    "KILL 1",
  ];
  for (const sql of tries) {
    const { status, text } = await postSql(server.url, sql, as("writer"));
    expect([sql, status >= 400]).toEqual([sql, true]);
    expect(text).not.toContain(SECRET);
  }
  expect([...store.objects.keys()]).toEqual([]);
  expect(await readdir(join(server.dataHome, "copy")).catch(() => [])).toEqual([]);
});

test("the server's own cloud credentials sign nothing that a statement asks for", async () => {
  const { status, text } = await postSql(server.url, `COPY cpu TO 's3://b/k' ${connectionOf("")}`, as("all"));
  expect([status, text]).toEqual([400, expect.stringContaining("give access_key_id and secret_access_key")]);
  expect(store.requests).toEqual([]);
  const keys = ", access_key_id = 'key', secret_access_key = 'mine'";
  await execute(server.url, `COPY cpu TO 's3://b/k' ${connectionOf(keys)}`, as("all"));
  expect([...store.objects.keys()]).toEqual(["b/k"]);
  expect(JSON.stringify(store.requests.map((headers) => [...headers]))).not.toContain("server-token");
});

test("KILL ends a statement that waits for a store, and its account may end it itself", async () => {
  const endpoint = `http://127.0.0.1:${silent.port}`;
  const copy = `COPY cpu FROM 's3://b/k' CONNECTION (endpoint = '${endpoint}', access_key_id = 'k', secret_access_key = 's')`;
  const waiting = postSql(server.url, copy, as("writer"));
  const listed = "SELECT id FROM information_schema.process_list WHERE query LIKE 'COPY cpu FROM%'";
  let id: Cell | undefined;
  while (id === undefined) id = (await queryRows(server.url, listed, as("all"))).rows[0]?.[0];
  expect((await postSql(server.url, `KILL '${String(id)}'`, as("reader"))).status).toBe(403);
  expect((await postSql(server.url, `KILL '${String(id)}'`, as("writer"))).status).toBe(200);
  const { text } = await waiting;
  expect(text).toContain(`statement ${String(id)} was killed`);
});

test("secrets of statements, of parameters and of headers reach no log and no error", async () => {
  const hush = "hush-hush-4711";
  for (const sql of [
    `COPY cpu TO 's3://b/k' ${connectionOf(`, access_key_id = 'key', secret_access_key '${hush}'`)}`,
    `COPY cpu TO 's3://b/k' ${connectionOf(`, access_key_id = 'key', secret_access_key = '${hush}' 'x', region = 'r'`)}`,
    `COPY cpu TO 's3://b/k' ${connectionOf(`, access_key_id = 'other', secret_access_key = '${hush}'`)}`,
    `COPY cpu TO 's3://b/k' CONNECTION (endpoint = 'http://u:${hush}@h', access_key_id = 'k', secret_access_key = '${hush}')`,
    `CREATE EXTERNAL TABLE e WITH (LOCATION = 's3://b/none', ENDPOINT = '${store.endpoint}', SECRET_ACCESS_KEY = '${hush}')`,
  ]) {
    const { status, text } = await postSql(server.url, sql, as("all"));
    expect([sql, status >= 400]).toEqual([sql, true]);
    expect(text).not.toContain(hush);
  }
  await fetch(`${server.url}/v1/influxdb/write?u=all&p=${hush}`, { method: "POST", body: "cpu v=1" });
  await fetch(`${server.url}/v1/sql?sql=SELECT+1&p=${hush}`, { headers: { authorization: `Basic ${btoa(`all:${hush}`)}` } });
  await fetch(`${server.url}/v1/sql?sql=SELECT+1`, { headers: { authorization: `Bearer ${hush}` } });
  await server.running.logged("a login failed"); // The log comes through a pipe: what was written before that line is here, too.
  const log = server.log();
  for (const word of [hush, "server-secret", "server-token", "a-secret", SECRET]) expect([word, log.includes(word)]).toEqual([word, false]);
  expect(log).toContain("the passwords in --user-provider are visible to every user of this machine");
});

test("a request of HTTP/1.0 without a Host finds its path, on every thread", async () => {
  const { port } = new URL(server.url);
  for (let i = 0; i < 8; i++) {
    const answer = await rawExchange(
      Number(port),
      `GET /v1/sql?sql=SELECT+4711 HTTP/1.0\r\nAuthorization: Basic ${btoa("all:a-secret")}\r\n\r\n`,
      2000,
    );
    expect(answer).toContain("[[4711]]");
  }
});

/** Rights of all that lies in a folder and of itself, but for those that are private: path and rights. */
async function openToOthers(folder: string): Promise<readonly string[]> {
  const paths = [folder, ...(await readdir(folder, { recursive: true })).map((name) => join(folder, name))];
  const found: string[] = [];
  for (const path of paths) {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) found.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

test("files are for the server's own user alone", async () => {
  await execute(server.url, "ADMIN flush_table('cpu')", as("all"));
  await execute(server.url, "COPY cpu TO 'deep/cpu.csv' WITH (FORMAT = 'csv')", as("all"));
  const before = process.umask();
  expect(before & 0o077).not.toBe(0o077); // else the system, not the server, keeps them private
  const folders = IN_CLUSTER ? ["data", "node-0", "node-1", "other", "store"] : ["data"];
  for (const folder of folders) expect(await openToOthers(join(server.folder, folder))).toEqual([]);
  const written = (await readdir(server.folder, { recursive: true })).filter((name) => /\.parquet$|cpu\.csv$|meta\.db$|wal\//.test(name));
  expect(written.length).toBeGreaterThan(IN_CLUSTER ? 1 : 3);
});

standalone("a frontend has no files to close").test("folders that are open to others are closed at the start", async () => {
  await server.stop();
  await chmod(server.dataHome, 0o755);
  await server.restart();
  expect(server.log()).toContain("a folder was open to other users; it is closed to them now");
  expect(await openToOthers(server.dataHome)).toEqual([]);
});
