/**
 * Drivers of other languages against the MySQL and PostgreSQL servers of a real process: `bun run test:clients [name…]`.
 *
 * Two servers are started on fresh folders: one as it starts without configuration, one with accounts and TLS. Each client is a program
 * of its own, which prints a line a check (`ok NAME`, `FAIL NAME: why`) and `done` at its end; one whose toolchain is missing is skipped
 * with its reason. What they need is installed below the cache, `$VARVE_CACHE/clients` or the system's temporary folder.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificate } from "../support/certificate.ts";
import { TestServer } from "../support/server-process.ts";
import { type Client, clientsOf, type Step } from "./clients.ts";

/** Longest time of one client, what it installs included. */
const CLIENT_MS_MAX = 15 * 60_000;
const ACCOUNT = { user: "writer", password: "secret word" };

/** How many checks went which way. */
interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What a step printed, and its exit status. */
async function outputOf({ command, folder, env = {} }: Step, common: Readonly<Record<string, string>>): Promise<[number, string, string]> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { ...process.env, ...common, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: CLIENT_MS_MAX,
    killSignal: "SIGKILL",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return [status, out, err];
}

async function runClient(client: Client, env: Readonly<Record<string, string>>, tally: Tally): Promise<void> {
  const missing = client.needs.find((tool) => Bun.which(tool) === null);
  if (missing !== undefined) {
    say(`skip ${client.name}: there is no ${missing} on this machine`);
    tally.skipped++;
    return;
  }
  const fail = (why: string): void => {
    say(`FAIL ${client.name}: ${why}`);
    tally.failed++;
  };
  for (const step of client.prepare) {
    const [status, out, err] = await outputOf(step, env);
    if (status !== 0) return fail(`${step.command.join(" ")} ended with status ${status}\n${(out + err).slice(-2000)}`);
  }
  const [status, out, err] = await outputOf(client.run, env);
  const lines = out.split("\n").filter((line) => /^(?:ok|FAIL|skip) /.test(line));
  for (const line of lines) {
    say(line);
    tally[line.startsWith("ok ") ? "passed" : line.startsWith("FAIL ") ? "failed" : "skipped"]++;
  }
  if (status !== 0 || !out.trimEnd().endsWith("done")) fail(`ended with status ${status} before its last check\n${err.slice(-2000)}`);
}

async function startServers(): Promise<{ readonly servers: readonly TestServer[]; readonly env: Readonly<Record<string, string>> }> {
  const { certPath, keyPath } = await certificate("clients");
  const tls = (name: string): string => `[${name}.tls]\nmode = "prefer"\ncert_path = "${certPath}"\nkey_path = "${keyPath}"\n`;
  const provider = `user_provider = "static_user_provider:cmd:${ACCOUNT.user}=${ACCOUNT.password}"\n`;
  const open = await TestServer.start();
  const secure = await TestServer.start({ config: provider + tls("mysql") + tls("postgres") });
  const port = (address: string): string => address.slice(address.lastIndexOf(":") + 1);
  const env = {
    VARVE_PG: port(open.postgresAddress),
    VARVE_MYSQL: port(open.mysqlAddress),
    VARVE_PG_SECURE: port(secure.postgresAddress),
    VARVE_MYSQL_SECURE: port(secure.mysqlAddress),
    VARVE_GRPC: port(open.grpcAddress),
    VARVE_GRPC_SECURE: port(secure.grpcAddress),
    VARVE_CA: certPath,
    VARVE_USER: ACCOUNT.user,
    VARVE_PASSWORD: ACCOUNT.password,
    VARVE_VALUES: join(import.meta.dir, "values.json"),
  };
  return { servers: [open, secure], env };
}

async function main(wanted: readonly string[]): Promise<number> {
  const cache = join(process.env["VARVE_CACHE"] ?? join(tmpdir(), "varve"), "clients");
  mkdirSync(cache, { recursive: true });
  const clients = clientsOf(cache).filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  if (clients.length === 0) {
    say(
      `no client is named so; there are ${clientsOf(cache)
        .map(({ name }) => name)
        .join(", ")}`,
    );
    return 2;
  }
  const { servers, env } = await startServers();
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const client of clients) await runClient(client, env, tally);
  } finally {
    for (const server of servers) await server.end();
  }
  say(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
