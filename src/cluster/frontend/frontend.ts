/**
 * A frontend: an engine without rows of its own. It has the catalogue as all of the cluster do, sends rows to the logs of their shards, and
 * asks the owners of shards for what it reads.
 *
 *   catalogue (mirror) ─► engine ─► write path ─► a lane a shard ─► log of the shard
 *                            └────► tables as queries see them ─► client ─► owners of shards
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { Engine } from "../../engine/engine.ts";
import { inlineMergeExecutor } from "../../storage/compaction/merge-executor.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import { inlineFlushExecutor } from "../../storage/sst/write/flush-executor.ts";
import { noWal } from "../../storage/wal/no-wal.ts";
import type { CatalogMirror } from "../catalog/catalog-mirror.ts";
import { LaneMemory } from "../lanes/lane-memory.ts";
import type { LaneFigures } from "../lanes/lane-metrics.ts";
import type { LaneCounts, ShardLaneParts } from "../lanes/lane-parts.ts";
import { LANE_KEPT_BYTES_MAX } from "../lanes/limits.ts";
import { ShardLane } from "../lanes/shard-lane.ts";
import type { Directory } from "../ownership/directory.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { RemoteTables } from "../remote/remote-tables.ts";
import { RemoteWorkers } from "../remote/remote-workers.ts";
import type { ShardClient } from "../wire/shard-client.ts";

/** Memory of a table's rows on their way to the lanes that is given back at once. Reason: rows stay for milliseconds. */
const MEMTABLE_BYTES: number = 8 * 1024 * 1024;
/** Part of the memory limit that rows on their way take at most. */
const LANES_PART = 1 / 4;
/** Most bytes of them, whatever the limit. */
const LANES_BYTES_MAX: number = 512 * 1024 * 1024;
/** Part of the memory limit that messages take at most that were acknowledged, in case the log loses them; they go when memory is short. */
const KEPT_PART = 1 / 8;
/** Most bytes of them, whatever the limit. */
const KEPT_BYTES_MAX: number = 256 * 1024 * 1024;
/** How far behind the owner of a shard may be before writers wait, in bytes of the log. */
const LAG_BYTES_MAX: number = 256 * 1024 * 1024;

/** What a frontend is made of. Whoever opens it closes all of them, after it. */
export interface FrontendParts {
  readonly port: ClusterPort;
  readonly mirror: CatalogMirror;
  readonly client: ShardClient;
  readonly directory: Directory;
  /** "session": reads see at least what this frontend was acknowledged; "all": what anybody was. */
  readonly consistency: "all" | "session";
  readonly memory: ServerMemory;
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  /** How long a write waits for room, for its shard or for the catalogue. */
  readonly stallMillis: number;
  readonly onBug: (error: Error) => void;
}

/** See the file header. */
export class Frontend {
  readonly engine: Engine;
  /** Runs parts of plans where the rows are. */
  readonly workers: RemoteWorkers;
  private readonly lanes: readonly ShardLane[];
  private readonly laneMemory: LaneMemory;
  private readonly mirror: CatalogMirror;
  private isClosed = false;

  private constructor(engine: Engine, lanes: readonly ShardLane[], laneMemory: LaneMemory, mirror: CatalogMirror) {
    this.mirror = mirror;
    this.engine = engine;
    this.workers = new RemoteWorkers(lanes.length);
    this.lanes = lanes;
    this.laneMemory = laneMemory;
  }

  /** @throws DbError StorageUnavailable */
  static async open(parts: FrontendParts): Promise<Frontend> {
    const { mirror, client, clock, logger, memory } = parts;
    const laneMemory = new LaneMemory(Math.min(LANES_BYTES_MAX, Math.floor(memory.bytesMax * LANES_PART)));
    memory.register("lanes", { bytes: () => laneMemory.bytes });
    const keptBytes = Math.min(KEPT_BYTES_MAX, Math.floor(memory.bytesMax * KEPT_PART));
    const keptBytesMax = Math.min(LANE_KEPT_BYTES_MAX, Math.floor(keptBytes / mirror.shards));
    const kept = { bytes: 0 };
    const lanes = Array.from({ length: mirror.shards }, (_, shard) => laneOf(shard, { memory: laneMemory, kept, keptBytesMax }, parts));
    memory.register("acknowledged", {
      bytes: () => kept.bytes,
      giveBack: (bytes) => forgetKept(lanes, bytes),
    });
    let engine: Engine | undefined;
    const tables = new RemoteTables({
      client,
      lanes,
      refresh: async () => void (await mirror.refresh()),
      moments: {
        catalogVersion: () => mirror.version,
        ...(parts.consistency === "session" ? { ownLast: (shard: number) => lanes[shard]?.newest ?? 0 } : {}),
      },
      clock,
      logger,
      memory,
      schemaOf: (database, table) => engine?.table(database, table)?.schema,
    });
    const catalogue = mirror.catalogue();
    try {
      ({ engine } = await Engine.open({ ...rowless(parts), catalogue, shards: mirror.shards, elsewhere: tables }));
    } catch (error) {
      await catalogue.port.close();
      throw error;
    }
    const frontend = new Frontend(engine, lanes, laneMemory, mirror);
    void frontend.hear(parts.directory); // It never rejects.
    return frontend;
  }

  /** What the lanes have done, all together, and the bytes that they hold. */
  get laneFigures(): LaneFigures {
    const sum: LaneCounts = { records: 0, bytes: 0, messages: 0, resends: 0, restored: 0, failures: 0, waits: 0 };
    for (const { counts } of this.lanes) for (const name of Object.keys(sum) as (keyof LaneCounts)[]) sum[name] += counts[name];
    const bytesKept = this.lanes.reduce((bytes, { keptBytes }) => bytes + keptBytes, 0);
    return { ...sum, bytesHeld: this.laneMemory.bytes, bytesKept };
  }

  /** Resolves when what others changed in the catalogue before the call is in force here. @throws DbError StorageUnavailable; Cancelled */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.mirror.refresh(signal);
  }

  /** Says that the log of a shard ends before a message that this process knows of. */
  wentBack(shard: number, why: string): void {
    this.lanes[shard]?.wentBack(why);
  }

  /** Tells lanes when owners of shards ask for what the log has lost. */
  private async hear(directory: Directory): Promise<void> {
    while (!this.isClosed) {
      for (const [shard, lane] of this.lanes.entries()) {
        const claim = directory.claimOf(shard);
        if (claim?.state === "serving") lane.heard(claim.asked, claim.askedOf);
      }
      await directory.nextChange();
    }
  }

  /** Ends it, once all that is under way has been answered or given up. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.lanes.map((lane) => lane.close()));
    await this.engine.close();
  }
}

/** Lets go of about so many bytes of what was acknowledged, of all lanes alike. */
function forgetKept(lanes: readonly ShardLane[], bytes: number): void {
  let left = bytes;
  for (const lane of lanes.toSorted((one, other) => other.keptBytes - one.keptBytes)) {
    if (left <= 0) return;
    left -= lane.keptBytes;
    lane.forgetKept();
  }
}

function laneOf(shard: number, shared: Pick<ShardLaneParts, "memory" | "kept" | "keptBytesMax">, parts: FrontendParts): ShardLane {
  const { port, mirror, directory, clock, sleep, logger, stallMillis } = parts;
  return new ShardLane({
    shard,
    port,
    clock,
    sleep,
    logger,
    catalogVersion: () => mirror.version,
    ...shared,
    lag: () => (directory.isBehind(shard, LAG_BYTES_MAX) ? `the owner of shard ${shard} is too far behind its log` : undefined),
    stallMillis,
  });
}

/** Storage of an engine that has no rows. */
function rowless({
  memory,
  clock,
  scheduler,
  logger,
  stallMillis,
  onBug,
}: FrontendParts): Omit<Parameters<typeof Engine.open>[0], "shards"> {
  const files = memoryFileStore();
  return {
    wal: noWal("rows go to the cluster's log"),
    meta: memoryMetaStore(),
    files,
    flusher: inlineFlushExecutor(files),
    merger: inlineMergeExecutor(files),
    clock,
    scheduler,
    logger,
    memory,
    limits: {
      memtableBytes: MEMTABLE_BYTES,
      writeBufferBytes: LANES_BYTES_MAX,
      logBytesMax: Number.POSITIVE_INFINITY,
      idleMillis: 1000,
      stallMillis,
    },
    compaction: { isAutomatic: false, triggerFiles: 2, outputBytesMax: 1 },
    pageCacheBytes: 0,
    onBug,
  };
}
