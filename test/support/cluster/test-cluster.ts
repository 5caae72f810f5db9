/**
 * A cluster of processes for tests that ask a frontend as they would ask a standalone server: one server of NATS, data nodes over a folder
 * that all see. `VARVE_TEST_CLUSTER=1` gives every `TestServer` one: `VARVE_TEST_CLUSTER=1 bun test/conformance/sql.ts <folder>`.
 */
import { join } from "node:path";
import { NatsServers } from "./nats-server.ts";

const SECRET = "secret-of-a-test-cluster";
const SHARDS = 3;

/** A process of the program, as much of it as is needed here. */
interface Part {
  logged(message: string): Promise<unknown>;
  signal(name: "SIGKILL" | "SIGTERM"): void;
  ended(): Promise<unknown>;
  stderr(): string;
}

/** Runs the program. */
export type Launch = (args: readonly string[], env: Readonly<Record<string, string>>) => Part;

/** What `TestCluster.start` makes. */
export interface TestClusterOptions {
  readonly nodes?: number;
  readonly shards?: number;
  /** The configuration file of its data nodes. */
  readonly configPath?: string;
  /** Settings of all parts beside those of the cluster. */
  readonly env?: Readonly<Record<string, string>>;
}

/** See the file header. */
export class TestCluster {
  /** Settings that make a process a part of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Where all data files are. */
  readonly store: string;
  private readonly folder: string;
  private readonly count: number;
  readonly nats: NatsServers;
  private running: readonly Part[] = [];

  private constructor(folder: string, env: Readonly<Record<string, string>>, count: number, nats: NatsServers) {
    this.folder = folder;
    this.store = join(folder, "store");
    this.env = env;
    this.count = count;
    this.nats = nats;
  }

  /** @param folder where the nodes have their files */
  static async start(
    folder: string,
    launch: Launch,
    { nodes = 2, shards = SHARDS, configPath, env: more = {} }: TestClusterOptions = {},
  ): Promise<TestCluster> {
    const nats = await NatsServers.start({ maxFile: "32GB" });
    const env = {
      VARVE__CLUSTER__SERVERS: nats.addresses.join(","),
      VARVE__CLUSTER__NATS__USER: "varve",
      VARVE__CLUSTER__NATS__PASSWORD: "secret-v",
      VARVE__CLUSTER__NATS__MONITORS: nats.monitors.join(","),
      VARVE__CLUSTER__SECRET: SECRET,
      VARVE__CLUSTER__SHARDS: String(shards),
      VARVE__CLUSTER__REPLICAS: "1",
      VARVE__CLUSTER__LOG_SIZE: "256MiB",
      VARVE__CLUSTER__LEASE_TIME: "2s",
      ...more,
    };
    const cluster = new TestCluster(folder, env, nodes, nats);
    await cluster.startNodes(launch, configPath);
    return cluster;
  }

  /** The data nodes that run. */
  get nodes(): readonly Part[] {
    return this.running;
  }

  /** Starts the data nodes, for the first time or again once all have ended. */
  async startNodes(launch: Launch, configPath?: string): Promise<void> {
    const configured = configPath === undefined ? [] : ["--config-file", configPath];
    this.running = Array.from({ length: this.count }, (_, index) =>
      launch(["datanode", "start", "--data-home", join(this.folder, `node-${index}`), ...configured], {
        ...this.env,
        VARVE__CLUSTER__NODE_ID: `node-${index}`,
        VARVE__CLUSTER__BIND_ADDR: "127.0.0.1:0",
        VARVE__CLUSTER__SHARED_DIR: this.store,
      }),
    );
    await Promise.all(this.running.map((node) => node.logged("ready")));
  }

  /** Ends the data nodes; what is acknowledged is in their files or in the log. */
  async endNodes(name: "SIGKILL" | "SIGTERM"): Promise<void> {
    for (const node of this.running) node.signal(name);
    await Promise.all(this.running.map((node) => node.ended()));
    this.running = [];
  }

  /** Kills all of it. */
  async end(): Promise<void> {
    await this.endNodes("SIGKILL");
    await this.nats.dispose();
  }
}
