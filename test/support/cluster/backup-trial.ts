/** A cluster in memory that is backed up, and clusters that are made of the backups. `endTrials` belongs behind each test. */
import { expect } from "bun:test";
import type { NewCluster } from "../../../src/cluster/port/new-cluster.ts";
import type { FileStore } from "../../../src/storage/file-store/file-store.ts";
import { memoryFileStore } from "../../../src/storage/file-store/memory-file-store.ts";
import type { TableSchema } from "../../../src/table/schema.ts";
import { restoreCluster } from "../../../src/tools/backup/cluster/restore-cluster.ts";
import { type ClusterSource, takeClusterBackup } from "../../../src/tools/backup/cluster/take-cluster-backup.ts";
import type { ClusterManifest } from "../../../src/tools/backup/manifest.ts";
import type { TakenBackup } from "../../../src/tools/backup/new-backup.ts";
import { pickBackup } from "../../../src/tools/backup/restore-backup.ts";
import type { BackupTarget } from "../../../src/tools/backup/target.ts";
import { testIo } from "../tool-io.ts";
import { MemoryCluster } from "./memory-cluster.ts";
import { memoryNewCluster } from "./memory-new-cluster.ts";
import { memoryPort } from "./memory-port.ts";
import type { WrittenRow } from "./record-maker.ts";
import { type OpenRigShard, type RigNode, rowsOf, ShardRig } from "./shard-rig.ts";
import type { ShardWriter } from "./shard-writer.ts";

/** Shards of all of them. */
export const SHARDS = 2;

const rigs: ShardRig[] = [];

/** Ends all that a test has started. */
export async function endTrials(): Promise<void> {
  for (const rig of rigs.splice(0)) await rig.close();
}

/** Has a cluster end with the test. */
export function endedLater(rig: ShardRig): ShardRig {
  rigs.push(rig);
  return rig;
}

/** A cluster with a table, one data node, and a writer a shard. */
export class Trial {
  readonly rig: ShardRig;
  readonly cpu: TableSchema;
  readonly node: RigNode;
  readonly open: readonly OpenRigShard[];
  readonly writers: readonly ShardWriter[];

  private constructor(rig: ShardRig, cpu: TableSchema, node: RigNode, open: readonly OpenRigShard[]) {
    this.rig = rig;
    this.cpu = cpu;
    this.node = node;
    this.open = open;
    this.writers = open.map((_, shard) => rig.writer(shard));
  }

  /** @param options servers and files of a cluster that was restored; without them a new one */
  static async start(options: Parameters<typeof ShardRig.start>[0] = {}): Promise<Trial> {
    const rig = await ShardRig.start({ shards: SHARDS, ...options });
    rigs.push(rig);
    const cpu = await rig.table("cpu"); // Unless there is one.
    const node = await rig.node("a", { follow: { snapshotMessages: 1, trimMillis: 0 } });
    const open: OpenRigShard[] = [];
    for (let shard = 0; shard < SHARDS; shard++) open.push(await node.open(shard));
    return new Trial(rig, cpu, node, open);
  }

  async write(shard: number, ...rows: readonly WrittenRow[]): Promise<void> {
    await this.writers[shard]?.write([this.cpu, rows]);
  }

  async flush(): Promise<void> {
    for (const [shard, { host }] of this.open.entries()) {
      await host.reach(this.writers[shard]?.acknowledged ?? 0);
      await host.engine.flushTable("public", "cpu");
    }
  }

  /** Has the logs let go of all but the row that it writes: segments of writers are closed two minutes after they were seen. */
  async letGo(time: number): Promise<void> {
    await this.rig.cluster.time.sleep(130_000);
    for (let shard = 0; shard < SHARDS; shard++) await this.write(shard, row(time));
    await this.flush();
    await this.rig.cluster.time.sleep(1000);
    for (let shard = 0; shard < SHARDS; shard++) {
      const { firstNumber, lastNumber } = this.rig.cluster.stream(`LOG${shard}`);
      expect(firstNumber).toBe(lastNumber);
    }
  }

  async rows(): Promise<string[]> {
    const found: string[] = [];
    for (const [shard, { host }] of this.open.entries()) {
      await host.reach(await this.node.port.log.last(shard));
      for (const text of await rowsOf(host.table(this.cpu.id))) found.push(`${shard}: ${text}`);
    }
    return found;
  }

  source(more: Partial<ClusterSource> = {}): ClusterSource {
    const { cluster, files } = this.rig;
    return {
      port: memoryPort(cluster, "backup"),
      shards: SHARDS,
      files: memoryFileStore(files),
      folder: undefined,
      clock: cluster.time,
      sleep: (millis) => cluster.sleep("backup", millis),
      ...more,
    };
  }

  backUp(target: BackupTarget, more: Partial<ClusterSource> = {}): Promise<TakenBackup> {
    return takeClusterBackup(target, this.source(more), testIo());
  }
}

/** A row of the table. */
export function row(time: number, value: number = time, tag = "x"): WrittenRow {
  return { tag, time, value };
}

/** A cluster with rows in files, twice over, and rows that only the log has. */
export async function busy(): Promise<Trial> {
  const trial = await Trial.start();
  for (let shard = 0; shard < SHARDS; shard++) await trial.write(shard, row(1), row(2));
  await trial.flush();
  for (let shard = 0; shard < SHARDS; shard++) await trial.write(shard, row(2, 20), row(3, 3, "y"));
  await trial.flush();
  await trial.write(0, row(3, 30, "y"), row(4));
  await trial.write(1, row(5, 5, "z"));
  return trial;
}

/** What it has. */
export const BUSY: readonly string[] = ["0: x 1 1", "0: x 2 20", "0: x 4 4", "0: y 3 30", "1: x 1 1", "1: x 2 20", "1: y 3 3", "1: z 5 5"];

/** What was made of a backup. */
export interface Made {
  readonly cluster: MemoryCluster;
  readonly files: Map<string, Uint8Array>;
}

async function clusterBackup(target: BackupTarget, id?: string): Promise<ClusterManifest> {
  const picked = await pickBackup(target, { id });
  if (picked.kind === "cluster") return picked;
  throw new Error("it is of a server");
}

/** Where nothing is. */
export function newPlace(): Made {
  return { cluster: new MemoryCluster(), files: new Map() };
}

/** Restores a backup, the newest unless another is named. */
export async function restore(
  target: BackupTarget,
  made: Made,
  more: { readonly id?: string; readonly cluster?: NewCluster; readonly files?: FileStore; readonly shards?: number } = {},
): Promise<Made> {
  const place = {
    cluster: more.cluster ?? memoryNewCluster(made.cluster),
    shards: more.shards ?? SHARDS,
    files: more.files ?? memoryFileStore(made.files),
    filesText: "memory",
    someFile: async () => made.files.keys().next().value,
    sleep: () => Promise.resolve(),
  };
  await restoreCluster(target, await clusterBackup(target, more.id), place, testIo());
  return made;
}

/** A cluster that is made of a backup, with its parts. */
export async function restored(target: BackupTarget, id?: string): Promise<Trial> {
  return await Trial.start(await restore(target, newPlace(), id === undefined ? {} : { id }));
}
