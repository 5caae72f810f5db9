/** The PostgreSQL server of a real process: its address, its TLS, beside HTTP, and what a stop does to its clients. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { certificate } from "../support/certificate.ts";
import { queryRows } from "../support/http-client.ts";
import { launchVarve, TestServer } from "../support/server-process.ts";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});

afterAll(async () => {
  await server.end();
});

const clientOf = (address: string, more: pg.ClientConfig = {}): pg.Client =>
  new pg.Client({ connectionString: `postgres://me@${address}/public`, ...more });

test("what it writes HTTP reads, and the other way round; metrics tell of it", async () => {
  const client = clientOf(server.postgresAddress);
  await client.connect();
  await client.query("CREATE TABLE both (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)");
  await client.query("INSERT INTO both VALUES ($1, $2, $3)", ["a", "2024-01-01 00:00:00", 1.5]);
  expect((await queryRows(server.url, "SELECT h, v FROM both")).rows).toEqual([["a", 1.5]]);
  const metrics = await (await fetch(`${server.processUrl}/metrics`)).text();
  expect(metrics).toContain("greptime_servers_postgres_connection_count 1");
  expect(metrics).toContain('greptime_servers_postgres_query_elapsed_count{subprotocol="extended",db="public"} 1');
  await client.end();
});

test("a port that is taken is told with its key, and the server does not start", async () => {
  const flags = [...(await server.flags())].map((flag) => (flag === server.dataHome ? `${server.folder}/other` : flag));
  const { status, stderr } = await launchVarve([...flags, "--postgres-addr", server.postgresAddress]).ended();
  expect(status).toBe(1);
  expect(stderr).toContain(`cannot listen on ${server.postgresAddress} for PostgreSQL (postgres.addr)`);
});

test("TLS by flags, and no server where it is switched off", async () => {
  const { certPath, keyPath } = await certificate("process");
  const tls = ["--tls-mode", "require", "--tls-cert-path", certPath, "--tls-key-path", keyPath];
  const secure = await TestServer.start({ flags: ["--postgres-addr", "127.0.0.1:0", ...tls] });
  try {
    const client = clientOf(secure.postgresAddress, { ssl: { rejectUnauthorized: false } });
    await client.connect();
    expect((await client.query("SELECT 1 AS a")).rowCount).toBe(1);
    await client.end();
    expect(clientOf(secure.postgresAddress).connect()).rejects.toThrow("No encryption");
    await secure.stop();
    await secure.restart({ config: "[postgres]\nenable = false" });
    expect(secure.postgresAddress).toBe("");
  } finally {
    await secure.end();
  }
});

test("a stop lets a statement end and tells clients that rest", async () => {
  const other = await TestServer.start();
  try {
    const resting = clientOf(other.postgresAddress);
    const told = new Promise<string>((resolve) => resting.on("error", (error) => resolve(error.message)));
    await resting.connect();
    const busy = clientOf(other.postgresAddress);
    busy.on("error", () => undefined);
    await busy.connect();
    const answer = busy.query("SELECT count(*) AS n FROM numbers a, numbers b, numbers c WHERE a.number + b.number > c.number");
    await Bun.sleep(100);
    const { status } = await other.stop();
    expect(status).toBe(0);
    expect(Number((await answer).rows[0].n)).toBeGreaterThan(0);
    expect(await told).toContain("terminating connection due to administrator command");
  } finally {
    await other.end();
  }
});
