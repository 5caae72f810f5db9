/**
 * A cluster of real processes on this machine, each behind proxies that can cut it off.
 *
 * ```text
 *   clients ──────────► frontend ──proxy──► NATS 1 … n      one proxy for each process and NATS server
 *                         │                    ▲
 *                         └──proxy──► data node ┴ proxy      data nodes are reached at their proxy (cluster.advertise_addr)
 *                                        │
 *                                        └──► a folder, or ──proxy──► an S3 store
 * ```
 *
 * Cut off: a frontend from NATS; a data node from NATS and from frontends; a NATS server from all clients, not from its peers; the store
 * from all data nodes.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";
import { s3Settings } from "../../bench/macro/s3-gateway.ts";
import { type ServerProcess, startServer } from "../../bench/macro/server-process.ts";
import { sqlTable } from "../../bench/macro/sql-client.ts";
import { NatsServers } from "../support/cluster/nats-server.ts";
import { TcpProxy } from "../support/cluster/tcp-proxy.ts";
import { type Door, HttpDoor, TABLES } from "./door.ts";
import { HurtProcess } from "./hurt-process.ts";
import { StoreTarget } from "./store-target.ts";
import type { Cut, Target, TrialCluster } from "./trial.ts";

/** What a cluster is made of. */
export interface ClusterOptions {
  /** Configurations, logs and the store lie here. */
  readonly directory: string;
  readonly frontends: number;
  readonly datanodes: number;
  /** One, or three. */
  readonly nats: number;
  readonly shards: number;
  /** A program of versitygw that keeps the data files; undefined: a folder does. */
  readonly versitygw: string | undefined;
}

type Role = "frontend" | "datanode";
/** Keys of the configuration file, whole, with TOML text. */
type Keys = Readonly<Record<string, string>>;

/** Small, so that there are flushes and merges in every round. */
const MEMTABLE = '"1MiB"';
const READY_SECONDS_MAX = 60;
/** A start that finds NATS without a leader ends after some seconds. */
const STARTS_MAX = 5;
const PROGRAM = Bun.fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** See the file header. */
export class ClusterProcesses implements TrialCluster {
  readonly doors: readonly Door[];
  readonly targets: readonly Target[];
  private readonly end: () => Promise<void>;

  private constructor(doors: readonly Door[], targets: readonly Target[], end: () => Promise<void>) {
    this.doors = doors;
    this.targets = targets;
    this.end = end;
  }

  /** Starts one, with the tables of a trial. @throws Error with the end of a log where a process does not start */
  static async start(options: ClusterOptions): Promise<ClusterProcesses> {
    const ends: (() => Promise<void>)[] = [];
    const end = async (): Promise<void> => {
      for (const each of ends.splice(0).reverse()) await each();
    };
    try {
      await mkdir(options.directory, { recursive: true });
      const nats = await NatsServers.start({ servers: options.nats, maxPayload: "2MB", isAdvertised: false });
      ends.push(() => nats.dispose());
      await leaderOf(nats);
      const store = await startStore(options, ends);
      const nodes: Node[] = [];
      const start = async (role: Role, count: number): Promise<void> => {
        const added = Array.from({ length: count }, (_, i) => new Node(role, i, options, nats, store.keys));
        for (const node of added) ends.push(() => node.end());
        nodes.push(...added);
        await Promise.all(added.map((node) => node.restart()));
      };
      await start("datanode", options.datanodes);
      await start("frontend", options.frontends);
      const doors = nodes.flatMap(({ door }) => (door === undefined ? [] : [door]));
      for (const statement of TABLES) await sqlTable(nodes.find(({ door }) => door !== undefined)!.url, statement);
      const servers = nats.addresses.map((_, i) => natsTarget(nats, i, nodes));
      return new ClusterProcesses(doors, [...nodes, ...servers, ...(store.target === undefined ? [] : [store.target])], end);
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Ends all processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** Waits until the servers have a leader: before that they make no streams. @throws Error when they have none in time */
async function leaderOf(nats: NatsServers): Promise<void> {
  if (nats.addresses.length === 1) return;
  for (const until = performance.now() + READY_SECONDS_MAX * 1000; ; await Bun.sleep(50)) {
    const told = (await (await fetch(`${nats.monitors[0]}/jsz`)).json()) as { readonly meta_cluster?: { readonly leader?: string } };
    if ((told.meta_cluster?.leader ?? "") !== "") return;
    if (performance.now() > until) throw new Error(`the servers of NATS have no leader after ${READY_SECONDS_MAX} s`);
  }
}

/** Where data files are. */
interface Store {
  /** Keys of data nodes. */
  readonly keys: Keys;
  /** Absent: a folder. */
  readonly target?: StoreTarget;
}

async function startStore({ directory, versitygw }: ClusterOptions, ends: (() => Promise<void>)[]): Promise<Store> {
  const folder = join(directory, "store");
  await mkdir(folder, { recursive: true });
  if (versitygw === undefined) return { keys: { "cluster.shared_dir": JSON.stringify(folder) } };
  const target = await StoreTarget.start(versitygw, folder);
  ends.push(() => target.end());
  const settings = Object.entries(s3Settings(target.place, "trial"));
  return { keys: Object.fromEntries(settings.map(([key, value]) => [`storage.${key}`, value])), target };
}

/** A frontend or a data node. */
class Node extends HurtProcess implements Target {
  readonly name: string;
  readonly faults = ["kill", "stop", "partition"] as const;
  readonly door?: Door;
  readonly url: string;
  /** To each NATS server. */
  readonly proxies: readonly TcpProxy[];
  private readonly role: Role;
  private readonly folder: string;
  private readonly port: number = freePort();
  private readonly keys: Keys;
  /** In front of a data node. */
  private readonly front: TcpProxy | undefined;

  constructor(role: Role, index: number, options: ClusterOptions, nats: NatsServers, store: Keys) {
    super();
    this.role = role;
    this.name = `${role}-${index + 1}`;
    this.folder = join(options.directory, this.name);
    this.url = `http://127.0.0.1:${this.port}`;
    if (role === "frontend") this.door = new HttpDoor(this.name, this.url);
    this.proxies = nats.addresses.map((address) => new TcpProxy(Number(new URL(address).port)));
    this.front = role === "datanode" ? new TcpProxy(this.port) : undefined;
    this.keys = {
      ...keysOf(options, nats, this.proxies),
      "storage.data_home": JSON.stringify(join(this.folder, "data")),
      "cluster.node_id": JSON.stringify(this.name),
      ...(this.front === undefined ? frontendKeys(this.port) : nodeKeys(this.port, this.front.port, store)),
    };
  }

  async restart(): Promise<number> {
    for (let failed = 0; ; failed++) {
      try {
        this.began(await this.launch());
        return failed;
      } catch (error) {
        if (failed + 1 === STARTS_MAX) throw error;
      }
    }
  }

  private async launch(): Promise<ServerProcess> {
    await mkdir(this.folder, { recursive: true });
    const configPath = join(this.folder, "varve.toml");
    await Bun.write(
      configPath,
      Object.entries(this.keys)
        .map(([key, value]) => `${key} = ${value}\n`)
        .join(""),
    );
    return await startServer({
      name: this.name,
      command: [process.execPath, PROGRAM, this.role, "start", "--config-file", configPath],
      readyUrl: this.door === undefined ? `tcp://127.0.0.1:${this.port}` : `${this.url}/ready`,
      logPath: join(this.folder, "server.log"),
      readySecondsMax: READY_SECONDS_MAX,
    });
  }

  cut(how: Cut): void {
    for (const proxy of this.allProxies()) proxy.become(how);
  }

  heal(): void {
    for (const proxy of this.allProxies()) proxy.become("open");
  }

  async end(): Promise<void> {
    await this.kill();
    for (const proxy of this.allProxies()) proxy.stop();
  }

  private allProxies(): readonly TcpProxy[] {
    return this.front === undefined ? this.proxies : [...this.proxies, this.front];
  }
}

/** Keys of all parts. */
function keysOf(options: ClusterOptions, nats: NatsServers, proxies: readonly TcpProxy[]): Keys {
  return {
    "cluster.servers": JSON.stringify(proxies.map(({ address }) => address)),
    "cluster.nats.user": '"varve"',
    "cluster.nats.password": '"secret-v"',
    "cluster.nats.monitors": JSON.stringify(nats.monitors),
    "cluster.shards": String(options.shards),
    "cluster.replicas": String(options.nats),
    "cluster.log_size": '"64MiB"',
    "cluster.secret": '"a-secret-of-trials-0123456789"',
  };
}

function frontendKeys(port: number): Keys {
  const others = ["grpc.bind_addr", "mysql.addr", "postgres.addr"].map((key) => [key, '"127.0.0.1:0"'] as const);
  return { "http.addr": JSON.stringify(`127.0.0.1:${port}`), ...Object.fromEntries(others), "query.rehearsal": "false" };
}

function nodeKeys(port: number, front: number, store: Keys): Keys {
  return {
    "cluster.bind_addr": JSON.stringify(`127.0.0.1:${port}`),
    "cluster.advertise_addr": JSON.stringify(`127.0.0.1:${front}`),
    "storage.memtable_size": MEMTABLE,
    ...store,
  };
}

/** Waits until all servers say that all their copies of streams are whole. @throws Error when they are not in time */
async function caughtUp(nats: NatsServers): Promise<void> {
  const isWhole = (monitor: string): Promise<boolean> =>
    fetch(`${monitor}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const until = performance.now() + READY_SECONDS_MAX * 1000; ; await Bun.sleep(100)) {
    if ((await Promise.all(nats.monitors.map(isWhole))).every(Boolean)) return;
    if (performance.now() > until) throw new Error(`the servers of NATS have not caught up after ${READY_SECONDS_MAX} s`);
  }
}

/** A NATS server. Cut off, all proxies that lead to it are. */
function natsTarget(nats: NatsServers, index: number, nodes: readonly Node[]): Target {
  const proxies = nodes.map((node) => node.proxies[index]!);
  let isDown = false;
  return {
    name: `nats-${index + 1}`,
    faults: ["kill", "stop", "partition"],
    async kill() {
      isDown = true;
      await nats.kill(index);
    },
    async restart() {
      await nats.startOne(index);
      isDown = false;
      return 0;
    },
    stop: () => nats.stop(index),
    goOn: () => nats.goOn(index),
    cut: (how) => proxies.forEach((proxy) => proxy.become(how)),
    heal: () => proxies.forEach((proxy) => proxy.become("open")),
    isRunning: () => isDown || nats.isRunning(index),
    settled: () => caughtUp(nats),
  };
}
