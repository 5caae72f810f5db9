/** The MySQL server of a real process: its address, its TLS, beside HTTP, and what a stop does to its clients. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import mysql from "mysql2/promise";
import { certificate } from "../support/certificate.ts";
import { queryRows } from "../support/http-client.ts";
import { MysqlWire } from "../support/mysql-wire.ts";
import { launchVarve, TestServer } from "../support/server-process.ts";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});

afterAll(async () => {
  await server.end();
});

function connect(address: string, more: mysql.ConnectionOptions = {}): Promise<mysql.Connection> {
  const [host, port] = address.split(":");
  return mysql.createConnection({ host: host ?? "", port: Number(port), user: "me", database: "public", ...more });
}

test("what it writes HTTP reads, and the other way round; metrics tell of it", async () => {
  const client = await connect(server.mysqlAddress);
  await client.query("CREATE TABLE both (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)");
  await client.execute("INSERT INTO both VALUES (?, ?, ?)", ["a", "2024-01-01 00:00:00", 1.5]);
  expect((await queryRows(server.url, "SELECT h, v FROM both")).rows).toEqual([["a", 1.5]]);
  const metrics = await (await fetch(`${server.processUrl}/metrics`)).text();
  expect(metrics).toContain("greptime_servers_mysql_connection_count 1");
  expect(metrics).toContain('greptime_servers_mysql_query_elapsed_count{subprotocol="binquery",db="public"} 1');
  expect(metrics).toContain('greptime_servers_mysql_prepared_count{db="public"} 1');
  await client.end();
});

test("a port that is taken is told with its key, and the server does not start", async () => {
  const flags = [...(await server.flags())].map((flag) => (flag === server.dataHome ? `${server.folder}/other` : flag));
  const { status, stderr } = await launchVarve([...flags, "--mysql-addr", server.mysqlAddress]).ended();
  expect(status).toBe(1);
  expect(stderr).toContain(`cannot listen on ${server.mysqlAddress} for MySQL (mysql.addr)`);
});

test("TLS by flags, the version by its variable, and no server where it is switched off", async () => {
  const { certPath, keyPath } = await certificate("process");
  const tls = ["--tls-mode", "require", "--tls-cert-path", certPath, "--tls-key-path", keyPath];
  const env = { GREPTIMEDB_MYSQL_SERVER_VERSION: "5.7.40" };
  const secure = await TestServer.start({ flags: ["--mysql-addr", "127.0.0.1:0", ...tls], env });
  try {
    const client = await connect(secure.mysqlAddress, { ssl: { rejectUnauthorized: false } });
    expect((await client.query("SELECT 1 AS a"))[0]).toEqual([{ a: 1 }] as never);
    await client.end();
    const wire = await MysqlWire.connect(Number(secure.mysqlAddress.split(":")[1]));
    expect((await wire.next())?.body.toString("latin1", 1, 8)).toBe("5.7.40\0");
    wire.end();
    expect(connect(secure.mysqlAddress)).rejects.toThrow("insecure transport");
    await secure.stop();
    await secure.restart({ config: "[mysql]\nenable = false" });
    expect(secure.mysqlAddress).toBe("");
  } finally {
    await secure.end();
  }
});

test("a stop lets a statement end and ends clients that rest", async () => {
  const other = await TestServer.start();
  try {
    const resting = await connect(other.mysqlAddress);
    const told = new Promise<string>((resolve) => resting.on("error", (error) => resolve(error.message)));
    const busy = await connect(other.mysqlAddress);
    busy.on("error", () => undefined);
    const answer = busy.query("SELECT count(*) AS n FROM numbers a, numbers b, numbers c WHERE a.number + b.number > c.number");
    await Bun.sleep(100);
    const { status } = await other.stop();
    expect(status).toBe(0);
    expect(Number(((await answer)[0] as { n: number }[])[0]?.n)).toBeGreaterThan(0);
    expect(await told).not.toBe("");
  } finally {
    await other.end();
  }
});
