/**
 * A cluster in one process: frontends as servers have them, and data nodes with real shards, over a port, files and a time in memory. What
 * frontends ask of nodes passes as bytes. Who owns which shard is said here (`OwnerTable`), or by leases, as in a real cluster.
 *
 *   frontend ─► lanes ─► memory port ─► shards of nodes ─► one file store
 *       └──────► client, bytes ─► service of the node ──┘
 *
 * Whatever dies here is gone at once, as a process that is killed; what it had under way goes on beside its heirs, as far as it can.
 */
import { DbError, errorText } from "../../../src/base/error.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { ServerMemory } from "../../../src/base/memory/server-memory.ts";
import { Scheduler } from "../../../src/base/scheduler/scheduler.ts";
import type { CatalogMirror } from "../../../src/cluster/catalog/catalog-mirror.ts";
import { Frontend } from "../../../src/cluster/frontend/frontend.ts";
import { DataNode } from "../../../src/cluster/ownership/data-node.ts";
import type { Directory } from "../../../src/cluster/ownership/directory.ts";
import { FollowedDirectory } from "../../../src/cluster/ownership/followed-directory.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import type { ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import { FreshDb } from "../../../src/db/fresh-db.ts";
import { LocalDb } from "../../../src/db/local-db.ts";
import { Fenced } from "../../../src/storage/meta-store/meta-store.ts";
import { NO_STATEMENT_LIMITS } from "../../engine/sql-session.ts";
import { MovingClock } from "../moving-clock.ts";
import { inProcessShardClient } from "./in-process-shard-client.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";
import { addressOf, OwnerTable } from "./owner-table.ts";
import { ShardNode } from "./shard-node.ts";
import { openMirror, type RigNode, type RigNodeOptions, type RigOptions, ShardRig } from "./shard-rig.ts";

/** What is waited between two tries to begin something that the port did not let begin. */
const AGAIN_MILLIS = 200;
/** Longer than a frontend waits for a word of a node where another one owns the shard. */
const SLOW_ANSWER_MILLIS_MAX = 5000;
/** How long writes of frontends wait for room or the catalogue. */
const STALL_MILLIS = 10_000;

/** A frontend. */
export interface MachineFrontend {
  readonly name: string;
  readonly port: ClusterPort;
  readonly mirror: CatalogMirror;
  readonly frontend: Frontend;
  readonly directory: Directory;
  /** Its statements. */
  readonly db: FreshDb;
}

/** A data node. */
export interface MachineNode {
  readonly name: string;
  readonly rig: RigNode;
  readonly serving: ShardNode;
  /** Its part in leases; undefined: it is told what it owns. */
  data: DataNode | undefined;
  isDead: boolean;
}

/** How a cluster is made. */
export interface ClusterMachineOptions extends RigOptions {
  readonly shards: number;
  readonly nodes: number;
  readonly frontends: number;
  readonly consistency: "all" | "session";
  /** Whether nodes find out by leases who owns what. */
  readonly hasLeases: boolean;
  /** What the wall clock says until it is moved. */
  readonly startNanos: bigint;
  readonly node: Omit<RigNodeOptions, "clock" | "onBug">;
}

/** How a shard goes from a node that lives: with its memory in files, without, or while the node does not know it. */
export type HandOver = "flushed" | "plain" | "taken";

/** See the file header. */
export class ClusterMachine {
  readonly cluster: MemoryCluster;
  readonly clock: MovingClock;
  readonly owners: OwnerTable;
  readonly frontends: MachineFrontend[] = [];
  readonly nodes: MachineNode[] = [];
  /** What must not happen. */
  readonly bugs: string[] = [];
  private readonly rig: ShardRig;
  private readonly options: ClusterMachineOptions;
  private readonly addresses: Map<string, ShardNode["service"]> = new Map();
  /** Where each shard is to be; a later placement ends an earlier one. */
  private readonly placed: (MachineNode | undefined)[];
  private readonly turns: number[];
  /** What goes on by itself. */
  private readonly background: Set<Promise<unknown>> = new Set();
  private names = 0;

  private constructor(options: ClusterMachineOptions, rig: ShardRig) {
    this.options = options;
    this.rig = rig;
    this.cluster = rig.cluster;
    this.clock = new MovingClock(options.startNanos, rig.cluster.time);
    this.owners = new OwnerTable(rig.cluster.time);
    this.placed = Array.from({ length: options.shards }, () => undefined);
    this.turns = Array.from({ length: options.shards }, () => 0);
  }

  /** Everything runs, and each shard has an owner. */
  static async start(options: ClusterMachineOptions): Promise<ClusterMachine> {
    const machine = new ClusterMachine(options, await ShardRig.start(options));
    for (let i = 0; i < options.nodes; i++) await machine.startNode();
    for (let i = 0; i < options.frontends; i++) await machine.startFrontend();
    for (let shard = 0; shard < options.shards && !options.hasLeases; shard++) machine.place(shard, machine.nodeAt(shard));
    await machine.settled();
    return machine;
  }

  /** How many there are. */
  get shards(): number {
    return this.options.shards;
  }

  /** Resolves when each shard is served where it was placed last, or wherever all frontends know it to be. */
  async settled(): Promise<void> {
    const isServed = (node: MachineNode | undefined, shard: number): boolean => {
      if (!this.options.hasLeases) return node?.serving.hosts.has(shard) === true;
      return this.frontends.every(({ directory }) => this.addresses.has(directory.ownerOf(shard)?.address ?? ""));
    };
    while (!this.placed.every(isServed)) await this.cluster.time.sleep(AGAIN_MILLIS);
  }

  /** Shards that are open on nodes. */
  hosts(): readonly ShardHost[] {
    const all = [...this.placed.keys()];
    return this.nodes.flatMap(({ serving, data }) =>
      data === undefined ? [...serving.hosts.values()] : all.flatMap((shard) => data.host(shard) ?? []),
    );
  }

  private hostOf(shard: number): ShardHost | undefined {
    return this.placed[shard]?.serving.hosts.get(shard);
  }

  /** Adds a data node, which has no shards yet. */
  async startNode(): Promise<MachineNode> {
    const node = await this.insist(async (name) => {
      const rig = await this.rig.node(name, { ...this.options.node, clock: this.clock, onBug: (error) => this.noteBug(name, error) });
      const shards = this.options.hasLeases ? { get: (shard: number) => made.data?.host(shard) } : undefined;
      const serving = new ShardNode({ catalog: rig.mirror, clock: this.cluster.time, ...(shards === undefined ? {} : { shards }) });
      const made: MachineNode = { name, rig, serving, data: undefined, isDead: false };
      if (this.options.hasLeases) await this.join(made);
      return made;
    }, "n");
    this.nodes.push(node);
    this.addresses.set(addressOf(node.name), node.serving.service);
    return node;
  }

  /** Adds a frontend. */
  async startFrontend(): Promise<MachineFrontend> {
    const opened = await this.insist((name) => this.openFrontend(name), "f");
    this.frontends.push(opened);
    return opened;
  }

  /** Ends a frontend as a process that is killed, and starts another in its place. */
  async replaceFrontend(old: MachineFrontend): Promise<void> {
    const place = this.frontends.indexOf(old);
    if (place < 0) return;
    this.frontends.splice(place, 1);
    await old.port.close();
    this.goOn(this.closeFrontend(old));
    await this.startFrontend();
  }

  /**
   * Ends a node as a process that is killed. Its shards go to others after `leaseMillis`; another node comes in its place.
   */
  async killNode(node: MachineNode, leaseMillis: number): Promise<void> {
    if (node.isDead) return;
    this.nodes.splice(this.nodes.indexOf(node), 1);
    const orphans = this.placed.flatMap((at, shard) => (at === node ? [shard] : []));
    node.isDead = true;
    this.addresses.delete(addressOf(node.name));
    node.serving.hosts.clear();
    this.goOn(node.rig.kill());
    const started = this.startNode();
    if (this.options.hasLeases) return void (await started);
    await this.cluster.time.sleep(leaseMillis);
    if (this.nodes.length === 0) await started;
    for (const shard of orphans) if (this.placed[shard] === node) this.place(shard, this.nodeAt(shard));
    await started;
  }

  /** Gives a shard to a node; where leases say it, ends one as an operator does, once another is there to take what it has. */
  async moveShard(shard: number, to: MachineNode, how: HandOver): Promise<void> {
    if (this.options.hasLeases) return this.stopNode(to);
    const from = this.placed[shard];
    const host = this.hostOf(shard);
    if (from === undefined || host === undefined || from === to || to.isDead) return;
    if (how !== "taken") {
      const turn = (this.turns[shard] ?? 0) + 1;
      this.turns[shard] = turn;
      from.serving.hosts.delete(shard);
      this.owners.set(shard, undefined);
      await host.close(how === "flushed");
      if (this.turns[shard] !== turn || this.placed[shard] !== from) return; // It went elsewhere meanwhile.
    }
    if (!to.isDead) this.place(shard, to);
    else if (!from.isDead) this.place(shard, from); // Else whoever sees to the dead does it.
    await this.whenServed(shard);
    if (how !== "taken") return;
    if (from.serving.hosts.get(shard) === host) from.serving.hosts.delete(shard);
    await host.close(false);
  }

  /** Ends all of it. */
  async close(): Promise<void> {
    for (const frontend of this.frontends) await this.closeFrontend(frontend);
    for (const node of this.nodes) {
      node.isDead = true;
      node.serving.hosts.clear();
    }
    await this.rig.close();
    await Promise.allSettled(this.background);
  }

  private async stopNode(node: MachineNode): Promise<void> {
    await this.startNode();
    if (node.isDead) return;
    this.nodes.splice(this.nodes.indexOf(node), 1);
    node.isDead = true;
    await node.data?.stop();
    this.addresses.delete(addressOf(node.name));
    await node.rig.kill();
  }

  private async join(node: MachineNode): Promise<void> {
    const { port, opener: openShard } = node.rig;
    node.data = await DataNode.join({
      port,
      facts: { id: node.name, address: addressOf(node.name), version: "1.0.0" },
      shards: this.options.shards,
      openShard,
      timers: this.cluster.time,
      logger: silentLogger,
      onOusted: (why) => {
        if (!node.isDead) this.noteBug(node.name, why);
      },
    });
  }

  private nodeAt(place: number): MachineNode {
    const node = this.nodes[place % this.nodes.length];
    if (node === undefined) throw new Error("a cluster has a node");
    return node;
  }

  private async whenServed(shard: number): Promise<void> {
    while (this.hostOf(shard) === undefined) await this.cluster.time.sleep(AGAIN_MILLIS);
  }

  /** Has a node open a shard, again until it is open. */
  private place(shard: number, node: MachineNode): void {
    const turn = (this.turns[shard] ?? 0) + 1;
    this.turns[shard] = turn;
    this.placed[shard] = node;
    this.goOn(this.open(shard, node, () => this.turns[shard] === turn && !node.isDead));
  }

  private async open(shard: number, node: MachineNode, isWanted: () => boolean): Promise<void> {
    const { time } = this.cluster;
    while (isWanted()) {
      try {
        const { host } = await node.rig.open(shard, undefined, (why) => this.onLost(shard, node, why));
        if (!isWanted()) return await host.close(false);
        node.serving.hosts.set(shard, host);
        this.owners.set(shard, node.name, host.epoch);
        return;
      } catch (error) {
        if (!(error instanceof DbError)) this.noteBug(`opening shard ${shard} on ${node.name}`, error);
      }
      await time.sleep(AGAIN_MILLIS);
    }
  }

  private onLost(shard: number, node: MachineNode, why: Error): void {
    if (node.isDead) return;
    if (!(why instanceof Fenced)) this.noteBug(`shard ${shard} of ${node.name}`, why);
    const wasServed = node.serving.hosts.delete(shard);
    if (!wasServed || this.placed[shard] !== node) return;
    this.owners.set(shard, undefined);
    this.place(shard, node);
  }

  private async openFrontend(name: string): Promise<MachineFrontend> {
    const { cluster, clock, owners, addresses } = this;
    const { shards, consistency } = this.options;
    const port = memoryPort(cluster, name);
    const mirror = await openMirror(cluster, port, shards);
    const scheduler = new Scheduler(cluster.time);
    const { leases } = port;
    const directory = this.options.hasLeases ? FollowedDirectory.follow({ leases, timers: cluster.time, logger: silentLogger }) : owners;
    try {
      await directory.started;
      const frontend = await Frontend.open({
        port,
        mirror,
        client: inProcessShardClient(shards, addresses, directory, port.log, { clock: cluster.time, onWay: () => this.onWay() }),
        directory,
        consistency,
        memory: new ServerMemory(Number.POSITIVE_INFINITY),
        clock,
        sleep: (millis) => cluster.sleep(name, millis),
        scheduler,
        logger: silentLogger,
        stallMillis: STALL_MILLIS,
        onBug: (error) => this.noteBug(name, error),
      });
      const limits = { ...NO_STATEMENT_LIMITS, workers: frontend.workers };
      const db = new FreshDb(new LocalDb(frontend.engine, scheduler, limits), (signal) => frontend.refresh(signal));
      return { name, port, mirror, frontend, directory, db };
    } catch (error) {
      if (directory instanceof FollowedDirectory) await directory.close();
      await mirror.close();
      await port.close();
      throw error;
    }
  }

  private async closeFrontend({ frontend, mirror, port, directory }: MachineFrontend): Promise<void> {
    await frontend.close();
    if (directory instanceof FollowedDirectory) await directory.close();
    await mirror.close();
    await port.close();
  }

  /** What requests to nodes and their answers wait: now and then, where the port fails, as long as makes frontends look elsewhere. */
  private onWay(): Promise<void> {
    const { random, time, rates } = this.cluster;
    const isSlow = rates.slow > 0 && random.next() < rates.slow;
    return time.sleep(isSlow ? random.below(SLOW_ANSWER_MILLIS_MAX) : random.below(3));
  }

  /** Begins something under a name of its own, until it begins. */
  private async insist<T>(begin: (name: string) => Promise<T>, kind: string): Promise<T> {
    for (;;) {
      try {
        return await begin(`${kind}${this.names++}`);
      } catch (error) {
        if (!(error instanceof DbError)) throw error;
      }
      await this.cluster.time.sleep(AGAIN_MILLIS);
    }
  }

  private goOn(work: Promise<unknown>): void {
    const noted = work.catch((error: unknown) => this.noteBug("background", error)).finally(() => this.background.delete(noted));
    this.background.add(noted);
  }

  private noteBug(where: string, error: unknown): void {
    this.bugs.push(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : errorText(error)}`);
  }
}
