/**
 * The real servers of both protocols, as Debian has them (`postgresql`, `mariadb-server`): on free ports, in folders of their own, as an
 * unprivileged user, since neither runs as root. Both sync what they acknowledge, as Varve does; what each keeps in memory is 1 GiB.
 */
import { chown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { startServer, type ServerProcess } from "../server-process.ts";
import type { WireAddress, WireName } from "./wire-plan.ts";

/** A server that speaks one of the protocols. */
export interface WirePeer {
  readonly name: string;
  readonly address: WireAddress;
  readonly server: ServerProcess;
}

/** A peer, or why there is none. */
export type FoundPeer = WirePeer | { readonly missing: string };

const DEBIAN_POSTGRES = "/usr/lib/postgresql";
const NOBODY = "nobody";
const CONNECTIONS_MAX = 1100;

/** Starts the peer of a protocol on a fresh folder under `parent`, which others may enter. @throws Error when it does not start */
export async function startPeer(wire: WireName, parent: string): Promise<FoundPeer> {
  const user = await unprivileged();
  if (user === undefined) return { missing: `no peer of ${wire}: this is root, and there is no user ${NOBODY} or no setpriv` };
  const directory = join(parent, `peer-${wire}`);
  await mkdir(directory);
  if (user.uid !== undefined) await chown(directory, user.uid, -1);
  return wire === "postgres" ? await startPostgres(directory, user.prefix) : await startMariadb(directory, user.prefix);
}

interface Unprivileged {
  /** Words before a command. */
  readonly prefix: readonly string[];
  /** Undefined: it is who runs this. */
  readonly uid: number | undefined;
}

async function unprivileged(): Promise<Unprivileged | undefined> {
  if (process.getuid?.() !== 0) return { prefix: [], uid: undefined };
  const line = (await Bun.file("/etc/passwd").text()).split("\n").find((each) => each.startsWith(`${NOBODY}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined || Bun.which("setpriv") === null) return undefined;
  return { prefix: ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"], uid: Number(uid) };
}

async function startPostgres(directory: string, prefix: readonly string[]): Promise<FoundPeer> {
  const programs = await postgresPrograms();
  if (programs === undefined) return { missing: `no PostgreSQL: initdb is neither on the PATH nor under ${DEBIAN_POSTGRES}` };
  const [user, database, port] = ["bench", "postgres", freePort()];
  const data = join(directory, "data");
  await runToEnd([...prefix, programs.initdb, "-D", data, "-U", user, "-A", "trust", "--locale=C.UTF-8"], directory);
  const settings = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${directory}`,
    `max_connections=${CONNECTIONS_MAX}`,
    "shared_buffers=1GB",
    "max_wal_size=4GB", // No checkpoint within a measurement.
    "autovacuum=off",
    "timezone=UTC",
  ];
  const server = await startServer({
    name: "PostgreSQL",
    command: [...prefix, programs.postgres, "-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    readyUrl: `tcp://127.0.0.1:${port}`,
    logPath: join(directory, "server.log"),
    cwd: directory,
  });
  return { name: await versionOf(programs.postgres), server, address: { wire: "postgres", port, user, database } };
}

async function startMariadb(directory: string, prefix: readonly string[]): Promise<FoundPeer> {
  const PATH = `${process.env["PATH"]}:/usr/sbin`;
  const [install, program] = [Bun.which("mariadb-install-db", { PATH }), Bun.which("mariadbd", { PATH })];
  if (install === null || program === null) return { missing: "no MariaDB: mariadb-install-db or mariadbd is not on the PATH" };
  const port = freePort();
  const data = join(directory, "data");
  await runToEnd([...prefix, install, "--no-defaults", `--datadir=${data}`, "--skip-test-db"], directory);
  const flags = [
    "--no-defaults",
    `--datadir=${data}`,
    `--socket=${join(directory, "socket")}`,
    "--bind-address=127.0.0.1",
    `--port=${port}`,
    "--skip-grant-tables", // Anybody may sign in, as in the other two.
    "--skip-name-resolve",
    `--max-connections=${CONNECTIONS_MAX}`,
    "--innodb-buffer-pool-size=1G",
    "--innodb-log-file-size=1G", // No checkpoint within a measurement.
    "--local-infile=1",
    "--default-time-zone=+00:00",
  ];
  const server = await startServer({
    name: "MariaDB",
    command: [...prefix, program, ...flags],
    readyUrl: `tcp://127.0.0.1:${port}`,
    logPath: join(directory, "server.log"),
    cwd: directory,
  });
  return { name: await versionOf(program), server, address: { wire: "mysql", port, user: "root", database: "mysql" } };
}

async function postgresPrograms(): Promise<{ readonly initdb: string; readonly postgres: string } | undefined> {
  const versions = await readdir(DEBIAN_POSTGRES).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  const PATH = `${newest === undefined ? "" : `${join(DEBIAN_POSTGRES, newest, "bin")}:`}${process.env["PATH"]}`;
  const [initdb, postgres] = [Bun.which("initdb", { PATH }), Bun.which("postgres", { PATH })];
  return initdb === null || postgres === null ? undefined : { initdb, postgres };
}

/** "PostgreSQL 15.14" and the like. */
async function versionOf(program: string): Promise<string> {
  const child = Bun.spawn([program, "--version"], { stdout: "pipe", stderr: "ignore" });
  const text = await child.stdout.text();
  const number = /(\d+\.\d+(?:\.\d+)?)/.exec(text)?.[1] ?? "";
  return `${text.includes("MariaDB") ? "MariaDB" : "PostgreSQL"} ${number}`;
}

/** @throws Error with what it printed */
async function runToEnd(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, error, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`cannot run ${command.join(" ")}: it ended with status ${status}\n${out}${error}`);
}
