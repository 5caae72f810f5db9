/** SIGHUP to a real process: accounts and certificates are read again on all threads, what cannot be used leaves the old in force. */
import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import mysql from "mysql2/promise";
import { certificate } from "../support/certificate.ts";
import { SHARDS, TestServer, temporaryFolder } from "../support/server-process.ts";

const THREADS = 3;
/** Enough new connections to meet each thread with near certainty: two of three thirds missed by all of 40 is 1e-7. */
const CONNECTIONS = 40;

/** Statuses of writes as an account, each on a connection of its own. */
async function statuses(server: TestServer, login: string): Promise<readonly number[]> {
  const authorization = `Basic ${btoa(login)}`;
  const asked = Array.from({ length: CONNECTIONS }, async () => {
    const headers = { authorization, connection: "close" };
    const response = await fetch(`${server.processUrl}/v1/influxdb/write`, { method: "POST", body: "m f=1 1", headers });
    await response.text();
    return response.status;
  });
  return [...new Set(await Promise.all(asked))];
}

/** Sends SIGHUP, and waits until its round is over. @returns lines of the log since */
async function reload(server: TestServer): Promise<string> {
  const before = server.running.stderr().length;
  server.running.signal("SIGHUP");
  for (let tries = 0; tries < 500; tries++) {
    const text = server.running.stderr().slice(before);
    if (/"msg":"reloaded(?:"| in part)/.test(text)) return text;
    await Bun.sleep(10);
  }
  throw new Error(`no word of a reload:\n${server.running.stderr().slice(before)}`);
}

test.each(["static_user_provider:file:", "watch_file_user_provider:"])("accounts of %s on every thread", async (provider) => {
  const folder = await temporaryFolder();
  const users = join(folder, "users.txt");
  writeFileSync(users, "alice=first\n");
  const config = `user_provider = "${provider}${users}"\n[ingest]\nthreads = ${THREADS}\n`;
  await using server = await TestServer.start({ config }, folder);
  expect(await statuses(server, "alice:first")).toEqual([204]);
  writeFileSync(users, "alice=second\nbob=third\n");
  expect(await reload(server)).toContain('"msg":"reloaded"');
  expect(await statuses(server, "alice:first")).toEqual([401]);
  expect(await statuses(server, "alice:second")).toEqual([204]);
  expect(await statuses(server, "bob:third")).toEqual([204]);
  writeFileSync(users, "nothing of use, but secret\n");
  const kept = await reload(server);
  expect(kept).toContain("cannot use the account file: the last good accounts stay");
  expect(kept).toContain("reloaded in part: what was in force before stays for the others");
  expect(await statuses(server, "alice:second")).toEqual([204]);
  writeFileSync(users, "alice=fourth\n");
  expect(await reload(server)).toContain('"msg":"reloaded"');
  expect(await statuses(server, "alice:fourth")).toEqual([204]);
  for (const secret of ["second", "third", "fourth", "secret"]) expect(server.log()).not.toContain(secret);
});

/** Fingerprint of what a port shows to a client of TLS from the first byte on. */
function shown(address: string): Promise<string> {
  const [host = "", port = ""] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

async function shownByMysql(address: string): Promise<string> {
  const [host = "", port = ""] = address.split(":");
  const connection = await mysql.createConnection({ host, port: Number(port), ssl: { rejectUnauthorized: false } });
  const { stream } = (connection as unknown as { connection: { stream: tls.TLSSocket } }).connection;
  const { fingerprint256 } = stream.getPeerCertificate();
  await connection.end();
  return fingerprint256;
}

/** What psql is shown: openssl knows how to begin. */
async function shownByPostgres(address: string): Promise<string> {
  const client = Bun.spawn(
    [
      "sh",
      "-c",
      `openssl s_client -starttls postgres -connect ${address} </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256`,
    ],
    {
      stdout: "pipe",
    },
  );
  return /=(\S+)/.exec(await client.stdout.text())?.[1] ?? "";
}

test("certificates of every listener; a key that does not fit leaves the old one", async () => {
  const [first, second] = [await certificate("reload-1"), await certificate("reload-2")];
  const folder = await temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const use = (certPath: string, keyPath: string): void => {
    copyFileSync(certPath, cert);
    copyFileSync(keyPath, key);
  };
  use(first.certPath, first.keyPath);
  const section = (name: string): string => `[${name}.tls]\nmode = "require"\ncert_path = "${cert}"\nkey_path = "${key}"\n`;
  await using server = await TestServer.start({ config: ["grpc", "mysql", "postgres"].map(section).join("") }, folder);
  const all = (): Promise<readonly string[]> =>
    Promise.all([shown(server.grpcAddress), shownByMysql(server.mysqlAddress), shownByPostgres(server.postgresAddress)]);
  const before = await all();
  expect(new Set(before).size).toBe(1);
  use(second.certPath, second.keyPath);
  expect(await all()).toEqual(before);
  const read = await reload(server);
  expect(read).toContain('"read":["certificate of grpc","certificate of mysql","certificate of postgres"]');
  const after = await all();
  expect(new Set(after).size).toBe(1);
  expect(after[0]).not.toBe(before[0] ?? "");
  expect(read).toContain(after[0] ?? "?");
  use(first.certPath, second.keyPath);
  const kept = await reload(server);
  expect(kept).toContain("cannot use the new certificate: the last one stays");
  expect(kept).not.toContain("PRIVATE");
  expect(await all()).toEqual(after);
});

test("a terminal that is closed ends the server; without one SIGHUP never does", async () => {
  await using server = await TestServer.start();
  for (let i = 0; i < 20; i++) server.running.signal("SIGHUP");
  expect(await reload(server)).toContain('"msg":"reloaded"');
  expect((await fetch(`${server.processUrl}/health`)).status).toBe(200);
  expect((await server.stop()).status).toBe(0);
  const python = `
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
while b"ready" not in text:
    text += os.read(fd, 4096)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
  const main = join(import.meta.dir, "../../src/main.ts");
  const args = [process.execPath, "run", main, ...(await server.flags())];
  const env = { ...process.env, ...SHARDS, VARVE__QUERY__REHEARSAL: "false" };
  for (const name of ["GRPC__BIND_ADDR", "MYSQL__ADDR", "POSTGRES__ADDR"]) Object.assign(env, { [`VARVE__${name}`]: "127.0.0.1:0" });
  const terminal = Bun.spawn(["python3", "-c", python, ...args], { env, stdout: "pipe", stderr: "pipe" });
  expect([await terminal.stdout.text(), await terminal.stderr.text()]).toEqual(["0\n", ""]);
});
