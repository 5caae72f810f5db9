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
  signal(name: "SIGKILL"): void;
  ended(): Promise<unknown>;
}

/** Runs the program. */
export type Launch = (args: readonly string[], env: Readonly<Record<string, string>>) => Part;

/** What `TestCluster.start` makes. */
export interface TestClusterOptions {
  readonly nodes?: number;
  readonly shards?: number;
  /** Settings of all parts beside those of the cluster. */
  readonly env?: Readonly<Record<string, string>>;
}

/** See the file header. */
export class TestCluster {
  /** Settings that make a process a part of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: readonly Part[];
  readonly nats: NatsServers;

  private constructor(env: Readonly<Record<string, string>>, nodes: readonly Part[], nats: NatsServers) {
    this.env = env;
    this.nodes = nodes;
    this.nats = nats;
  }

  /** @param folder where the nodes have their files */
  static async start(
    folder: string,
    launch: Launch,
    { nodes = 2, shards = SHARDS, env: more = {} }: TestClusterOptions = {},
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
    const ofNode = (index: number): Readonly<Record<string, string>> => ({
      ...env,
      VARVE__CLUSTER__NODE_ID: `node-${index}`,
      VARVE__CLUSTER__BIND_ADDR: "127.0.0.1:0",
      VARVE__CLUSTER__SHARED_DIR: join(folder, "store"),
    });
    const processes = Array.from({ length: nodes }, (_, index) =>
      launch(["datanode", "start", "--data-home", join(folder, `node-${index}`)], ofNode(index)),
    );
    await Promise.all(processes.map((process) => process.logged("ready")));
    return new TestCluster(env, processes, nats);
  }

  /** Kills all of it. */
  async end(): Promise<void> {
    for (const node of this.nodes) node.signal("SIGKILL");
    await Promise.all(this.nodes.map((node) => node.ended()));
    await this.nats.dispose();
  }
}
