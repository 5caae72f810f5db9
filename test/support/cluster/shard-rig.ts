/** Shards of a cluster in memory: nodes that open them over one file store, and a frontend that makes tables and writes. */
import { Scheduler } from "../../../src/base/scheduler/scheduler.ts";
import { type Logger, silentLogger } from "../../../src/base/log.ts";
import { CatalogMirror } from "../../../src/cluster/catalog/catalog-mirror.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import { type OpenShardParts, shardOpener } from "../../../src/cluster/shard/open-shard.ts";
import type { OpenShard, ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import { INT64, STRING } from "../../../src/column/data-type.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { Shards } from "../../../src/engine/schema/shards.ts";
import { inlineMergeExecutor } from "../../../src/storage/compaction/merge-executor.ts";
import type { FileStore } from "../../../src/storage/file-store/file-store.ts";
import { memoryFileStore } from "../../../src/storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "../../../src/storage/meta-store/memory-meta-store.ts";
import { inlineFlushExecutor } from "../../../src/storage/sst/write/flush-executor.ts";
import { memoryWal } from "../../../src/storage/wal/memory-wal.ts";
import type { ScannedTable } from "../../../src/table/catalog.ts";
import { EVERYTHING } from "../../engine/lines.ts";
import type { TableDefinition, TableSchema } from "../../../src/table/schema.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import { NO_COMPACTION, NO_LIMITS } from "../../engine/machine.ts";
import { plainParts } from "../../engine/plain-parts.ts";
import { unexpectedBug } from "../../engine/unexpected-bug.ts";
import { MemoryCluster, type MemoryClusterOptions } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";
import { RecordMaker } from "./record-maker.ts";
import { ShardWriter } from "./shard-writer.ts";

/** A shard that a node has open. */
export interface OpenRigShard {
  readonly host: ShardHost;
  /** Why it was lost. */
  readonly lost: readonly Error[];
}

/** A process of the cluster. */
export interface RigNode {
  readonly port: ClusterPort;
  readonly mirror: CatalogMirror;
  /** For whoever closes what it opens. */
  readonly opener: OpenShard;
  /** @param onLost is told when the shard is lost */
  open(shard: number, signal?: AbortSignal, onLost?: (why: Error) => void): Promise<OpenRigShard>;
  /** Ends all that it has, as a process that is killed. */
  kill(): Promise<void>;
}

/** How a node differs from the plain one. */
export interface RigNodeOptions
  extends Partial<Pick<OpenShardParts, "limits" | "compaction" | "memory" | "follow" | "seriesRenewal" | "clock" | "onBug">> {
  readonly wrapFiles?: (files: FileStore) => FileStore;
  readonly logger?: Logger;
}

/** How a cluster is made. */
export interface RigOptions extends MemoryClusterOptions {
  readonly shards?: number;
  /** Servers that there are already; then the other options do not count. */
  readonly cluster?: MemoryCluster;
  /** Data files that there are already. */
  readonly files?: Map<string, Uint8Array>;
}

/** See the file header. */
export class ShardRig {
  readonly cluster: MemoryCluster;
  readonly files: Map<string, Uint8Array>;
  readonly shards: Shards;
  readonly frontend: Engine;
  readonly mirror: CatalogMirror;
  private readonly port: ClusterPort;
  private readonly nodes: RigNode[] = [];

  private constructor(
    cluster: MemoryCluster,
    files: Map<string, Uint8Array>,
    shards: number,
    port: ClusterPort,
    mirror: CatalogMirror,
    frontend: Engine,
  ) {
    this.cluster = cluster;
    this.files = files;
    this.shards = new Shards(shards);
    this.port = port;
    this.mirror = mirror;
    this.frontend = frontend;
  }

  static async start({ shards = 3, files: there = new Map(), ...options }: RigOptions = {}): Promise<ShardRig> {
    const { rates, ...calm } = options;
    const cluster = options.cluster ?? new MemoryCluster(calm);
    const port = memoryPort(cluster, "frontend");
    const mirror = await openMirror(cluster, port, shards);
    const files = memoryFileStore(new Map());
    const { engine } = await Engine.open({
      ...plainParts(files),
      wal: memoryWal(),
      meta: memoryMetaStore(),
      catalogue: mirror.catalogue(),
      shards,
    });
    if (rates !== undefined) cluster.rates = rates;
    return new ShardRig(cluster, there, shards, port, mirror, engine);
  }

  /** A process with a name that no other has or had. */
  async node(name: string, options: RigNodeOptions = {}): Promise<RigNode> {
    const { cluster } = this;
    const port = memoryPort(cluster, name);
    const mirror = await openMirror(cluster, port, this.shards.count);
    const { wrapFiles = (store) => store, limits, compaction, logger = silentLogger, ...rest } = options;
    const files = wrapFiles(memoryFileStore(this.files));
    const open = shardOpener({
      port,
      catalog: mirror,
      files,
      flusher: inlineFlushExecutor(files),
      merger: inlineMergeExecutor(files),
      scheduler: new Scheduler(cluster.time),
      clock: cluster.time,
      sleep: (millis) => cluster.sleep(name, millis),
      logger,
      limits: limits ?? NO_LIMITS,
      compaction: compaction ?? NO_COMPACTION,
      pageCacheBytes: 1 << 20,
      follow: { snapshotMessages: 32, trimMillis: 0 },
      onBug: unexpectedBug,
      ...rest,
    });
    const opened: ShardHost[] = [];
    const node: RigNode = {
      port,
      mirror,
      opener: open,
      open: async (shard, signal = new AbortController().signal, onLost = () => undefined) => {
        const lost: Error[] = [];
        const note = (why: Error): void => {
          lost.push(why);
          onLost(why);
        };
        const host = await open(shard, { signal, onLost: note });
        opened.push(host);
        return { host, lost };
      },
      kill: async () => {
        await port.close();
        for (const host of opened) await host.close(false);
        await mirror.close();
      },
    };
    this.nodes.push(node);
    return node;
  }

  /** Writes to the log of a shard. */
  writer(shard: number, name = "frontend"): ShardWriter {
    const port = name === "frontend" ? this.port : memoryPort(this.cluster, name);
    const { cluster } = this;
    const sleep = (millis: number): Promise<void> => cluster.sleep(name, millis);
    const records = new RecordMaker(shard, this.shards);
    records.catalogVersion = this.mirror.version;
    return new ShardWriter(port, shard, records, { sleep, nowMillis: () => cluster.time.monotonicMillis() });
  }

  /** Makes a table of one tag and one field. */
  async table(name: string, options: Readonly<Record<string, string>> = {}): Promise<TableSchema> {
    const definition: TableDefinition = {
      database: "public",
      name,
      columns: [
        { name: "host", type: STRING, semantic: "tag", nullable: true },
        { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false },
        { name: "v", type: INT64, semantic: "field", nullable: true },
      ],
      primaryKey: ["host"],
      engine: "mito",
      options,
    };
    return (await this.frontend.createTable(definition, true)).schema;
  }

  /** Ends all of it: who follows would have time go on for ever. */
  async close(): Promise<void> {
    for (const node of this.nodes) await node.kill();
    await this.frontend.close(false);
    await this.mirror.close();
    await this.port.close();
  }
}

/** The catalogue as a process of the cluster has it. */
export async function openMirror(cluster: MemoryCluster, port: ClusterPort, shards: number): Promise<CatalogMirror> {
  return CatalogMirror.open(port, {
    clock: cluster.time,
    sleep: (millis) => cluster.sleep(port.identity, millis),
    shards,
    logger: silentLogger,
    onLost: () => undefined, // Of a process that is killed.
  });
}

/** Rows of a table of `ShardRig.table`, as texts: tag, time, value. */
export async function rowsOf(table: ScannedTable): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of table.scan({ ...EVERYTHING, projection: ["host", "ts", "v"] })) {
    const types = [STRING, { kind: "timestamp", unit: "millisecond" } as const, INT64];
    for (let row = 0; row < batch.rowCount; row++) {
      rows.push(batch.vectors.map((vector, i) => String(scalarAt(vector, types[i] as (typeof types)[number], row))).join(" "));
    }
  }
  return rows.sort();
}
