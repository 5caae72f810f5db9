/**
 * Command-line tools against a server with accounts behind a proxy that ends TLS: each says who it is, believes no stranger, and
 * never shows a password.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { certificate } from "../support/certificate.ts";
import { standalone } from "../support/cluster/standalone.ts";
import { type Ending, runVarve, TestServer } from "../support/server-process.ts";

let server: TestServer;
let proxy: Bun.Server<undefined>;
let ca = "";

beforeAll(async () => {
  const { certPath, keyPath } = await certificate("tools");
  ca = certPath;
  server = await TestServer.start({
    flags: ["--user-provider", "static_user_provider:cmd:alice=se cret\u00e9,reader:ro=looks"],
  });
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: Bun.file(certPath), key: Bun.file(keyPath) },
    fetch: (request) => fetch(request.url.replace(/^https:..[^/]*/, server.url), { ...passed(request), decompress: false }),
  });
}, 60_000);
afterAll(async () => {
  await proxy.stop(true);
  await server.end();
});

const passed = ({ method, headers, body }: Request): RequestInit => (body === null ? { method, headers } : { method, headers, body });

const proxied = (): string => `https://127.0.0.1:${proxy.port}`;
const PASSWORD = { VARVE_PASSWORD: "se cret\u00e9" };

async function tool(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = ""): Promise<Ending> {
  const flags = args.includes("--insecure") ? [] : ["--ca", ca];
  const ended = await runVarve([name, "--url", proxied(), ...flags, ...args], env, stdin);
  expect(ended.stdout + ended.stderr).not.toContain("se cret");
  return ended;
}

const ALICE = ["--user", "alice"];

test("import, sql and export sign in by a password of the environment or of standard input", async () => {
  const rows = join(server.folder, "rows.lp");
  await Bun.write(rows, "t,host=a v=1.5 1700000000000000000\nt,host=b v=2.5 1700000000000000000\n");
  const state = { XDG_STATE_HOME: server.folder };
  expect(await tool("import", [...ALICE, rows], { ...PASSWORD, ...state })).toMatchObject({ status: 0, stderr: "" });
  const asked = await tool(
    "sql",
    [...ALICE, "--password-stdin", "SELECT host, v FROM t ORDER BY host"],
    {},
    `${PASSWORD.VARVE_PASSWORD}\n`,
  );
  expect(asked).toMatchObject({ status: 0 });
  expect(asked.stdout).toContain("2.5");
  expect(await tool("export", [...ALICE, "--insecure", "t", "-F", "csv", "-o", "-"], PASSWORD)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("1.5"),
  });
}, 60_000);

standalone("its folder is copied; a cluster is in cluster-backup.test.ts").test(
  "backup signs in, too",
  async () => {
    const taken = await tool("backup", [...ALICE, join(server.folder, "backups")], PASSWORD);
    expect([taken.status, taken.stderr]).toEqual([0, ""]);
  },
  60_000,
);

test("what is wrong is said, and costs nothing", async () => {
  const wrong = await tool("sql", ["--user", "alice", "SELECT 1"], { VARVE_PASSWORD: "guess" });
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringMatching(/password/i)]);
  const nobody = await tool("sql", ["SELECT 1"]);
  expect([nobody.status, nobody.stderr]).toEqual([1, expect.stringMatching(/auth|user|sign/i)]);
  const stranger = await runVarve(["sql", "--url", proxied(), "--user", "alice", "SELECT 1"], PASSWORD);
  expect([stranger.status, stranger.stderr]).toEqual([1, expect.stringMatching(/certificate/i)]);
  const plain = await runVarve(["sql", "--url", proxied().replace("https", "http"), "--user", "alice", "SELECT 1"], PASSWORD);
  expect(plain.status).toBe(1);
  const reading = await tool("backup", ["--user", "reader", join(server.folder, "refused")], { VARVE_PASSWORD: "looks" });
  expect([reading.status, reading.stderr]).toEqual([1, expect.stringMatching(/not authorized/)]);
}, 60_000);
