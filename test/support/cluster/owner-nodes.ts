/**
 * Data nodes in a cluster in memory, with shards that are nothing but an epoch: for tests of who owns what. A node's clock and timers stand
 * still while the cluster stops it; killed, it never does anything again.
 */
import { DbError } from "../../../src/base/error.ts";
import { StatusCode } from "../../../src/base/status-code.ts";
import { DataNode } from "../../../src/cluster/ownership/data-node.ts";
import { FollowedDirectory } from "../../../src/cluster/ownership/followed-directory.ts";
import type { Timers } from "../../../src/cluster/ownership/timers.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import type { OpenShardOptions, ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import { type LogEntry, recordingLogger } from "../recording-logger.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";

/** Something that happened to a shard. */
export interface ShardEvent {
  readonly atMillis: number;
  readonly kind: "opened" | "closed" | "flushed";
  readonly shard: number;
  readonly node: string;
  readonly epoch: number;
}

/** How shards behave. */
export interface ShardBehaviour {
  /** How long opening takes, in milliseconds, or how it fails; "never": it hangs until it is told to end. */
  open(shard: number, node: string): number | Error | "never";
  /** As `DataNodeParts.beforeHandOver`. */
  beforeHandOver(): Promise<void>;
  /** How long closing takes, in milliseconds. */
  closeMillis: number;
  /** How long who was fenced goes on before it notices, in milliseconds. */
  fencedMillis: number;
}

interface OpenHost {
  readonly node: OwnerNode;
  readonly epoch: number;
  lose(): void;
}

/** One data node. */
export interface OwnerNode {
  readonly id: string;
  /** Of its port, and what the cluster knows it by. */
  readonly identity: string;
  readonly port: ClusterPort;
  readonly data: DataNode;
  readonly ousted: string[];
  readonly entries: readonly LogEntry[];
}

/** See the file header. */
export class OwnerNodes {
  readonly cluster: MemoryCluster;
  readonly shards: number;
  readonly events: ShardEvent[] = [];
  readonly behaviour: ShardBehaviour = { open: () => 200, beforeHandOver: () => Promise.resolve(), closeMillis: 100, fencedMillis: 3000 };
  readonly watcher: FollowedDirectory;
  /** Most shards that nobody served at once since it was set to 0. */
  unservedMost = 0;
  private readonly epochs = new Map<number, number>();
  private readonly hosts = new Map<number, Set<OpenHost>>();
  private readonly killed = new Set<string>();
  private starts = 0;

  constructor(cluster: MemoryCluster, shards: number) {
    this.cluster = cluster;
    this.shards = shards;
    const port = memoryPort(cluster, "watcher");
    this.watcher = FollowedDirectory.follow({ leases: port.leases, timers: cluster.time, logger: recordingLogger().logger });
    this.watcher.listen(() => {
      this.unservedMost = Math.max(this.unservedMost, this.owners().filter((owner) => owner === undefined).length);
    });
  }

  /** Starts a process of a node. */
  async start(id: string, shards: number = this.shards): Promise<OwnerNode> {
    const { cluster } = this;
    const identity = `${id}-${++this.starts}`;
    const port = memoryPort(cluster, identity);
    const { logger, entries } = recordingLogger();
    const ousted: string[] = [];
    const running = async (): Promise<void> => {
      await cluster.running(identity);
      if (this.killed.has(identity)) await new Promise(() => undefined);
    };
    const timers: Timers = {
      nowMillis: () => cluster.time.nowMillis(),
      monotonicMillis: () => cluster.time.monotonicMillis(),
      after: (millis, fire) => {
        let isOff = false;
        const forget = cluster.time.after(millis, () => void running().then(() => isOff || fire()));
        return () => {
          isOff = true;
          forget();
        };
      },
    };
    const node = { id, identity, port, ousted, entries } as { -readonly [K in keyof OwnerNode]: OwnerNode[K] };
    node.data = await DataNode.join({
      port,
      facts: { id, address: `${id}:3001`, version: "1.0.0" },
      shards,
      openShard: (shard, options) => this.open(node, shard, options, running),
      beforeHandOver: () => this.behaviour.beforeHandOver(),
      timers,
      logger,
      onOusted: (why) => void ousted.push(why.message),
    });
    return node;
  }

  /** kill -9 */
  kill(node: OwnerNode): void {
    this.killed.add(node.identity);
    this.cluster.stop(node.identity, 1e12);
    for (const hosts of this.hosts.values()) for (const host of hosts) if (host.node === node) hosts.delete(host);
  }

  /** Nodes that have a shard open. */
  openAt(shard: number): string[] {
    return [...(this.hosts.get(shard) ?? [])].map(({ node }) => node.id);
  }

  /** Who serves each shard, as a frontend sees it. */
  owners(): (string | undefined)[] {
    return Array.from({ length: this.shards }, (_, shard) => this.watcher.ownerOf(shard)?.nodeId);
  }

  /** Resolves when it holds. @returns how long that took, in milliseconds. @throws when it does not within `millis` */
  async until(what: string, holds: () => boolean, millis: number = 60_000): Promise<number> {
    const { time } = this.cluster;
    const begun = time.monotonicMillis();
    while (!holds()) {
      if (time.monotonicMillis() - begun > millis) throw new Error(`${what}: not within ${millis} ms; owners ${this.owners().join(" ")}`);
      await time.sleep(50);
    }
    return time.monotonicMillis() - begun;
  }

  private note(kind: ShardEvent["kind"], shard: number, node: OwnerNode, epoch: number): void {
    this.events.push({ atMillis: this.cluster.time.monotonicMillis(), kind, shard, node: node.id, epoch });
  }

  private async open(node: OwnerNode, shard: number, options: OpenShardOptions, running: () => Promise<void>): Promise<ShardHost> {
    const { time } = this.cluster;
    const how = this.behaviour.open(shard, node.id);
    const ended = new Promise<void>((resolve) => options.signal.addEventListener("abort", () => resolve()));
    if (how instanceof Error) throw how;
    await (how === "never" ? ended : Promise.race([time.sleep(how / 2), ended]));
    await running();
    if (options.signal.aborted) throw new DbError(StatusCode.Cancelled, "the opening was cancelled");
    const epoch = (this.epochs.get(shard) ?? 0) + 1;
    this.epochs.set(shard, epoch);
    const hosts = this.hosts.get(shard) ?? new Set();
    this.hosts.set(shard, hosts);
    for (const other of hosts) time.after(this.behaviour.fencedMillis, () => other.lose()); // The fence.
    await Promise.race([time.sleep(Number(how) / 2), ended]);
    await running();
    if (options.signal.aborted) throw new DbError(StatusCode.Cancelled, "the opening was cancelled");
    const open: OpenHost = {
      node,
      epoch,
      lose: () =>
        void running().then(() => {
          if (hosts.delete(open)) options.onLost(new DbError(StatusCode.StorageUnavailable, `the manifest of shard ${shard} is another's`));
        }),
    };
    if (epoch < (this.epochs.get(shard) ?? 0)) time.after(this.behaviour.fencedMillis, () => open.lose());
    hosts.add(open);
    this.note("opened", shard, node, epoch);
    return {
      shard,
      epoch,
      applied: 10 * epoch,
      lag: { records: 0, memoryBytes: 1000 },
      confirm: async () => {
        if (epoch === this.epochs.get(shard)) return;
        open.lose();
        throw new DbError(StatusCode.StorageUnavailable, `the manifest of shard ${shard} is another's`);
      },
      close: async (flushes: boolean) => {
        if (hosts.delete(open)) this.note(flushes ? "flushed" : "closed", shard, node, epoch);
        await time.sleep(this.behaviour.closeMillis);
        await running();
      },
    } as unknown as ShardHost; // Nobody asks it for rows.
  }
}
