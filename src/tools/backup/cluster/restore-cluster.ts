/**
 * Restores a backup of a cluster into an empty one.
 *
 *   read, hold against sums ─► nobody is there ─► data files ─► streams, the logs under the numbers that they had ─► manifests
 *                           ─► the catalogue: from then on there is a cluster, and frontends and data nodes can be started
 *
 * Sequences of rows are numbers of messages, in files, manifests and the log. All keep what they had, and streams begin where the copies
 * do: so what is written from then on is newer than all that was restored.
 */
import { errorText } from "../../../base/error.ts";
import { putLastChange, putSnapshot } from "../../../cluster/catalog/put-catalogue.ts";
import { putEntry } from "../../../cluster/meta-log/put-entry.ts";
import type { NewCluster } from "../../../cluster/port/new-cluster.ts";
import { NEXT_FILE } from "../../../engine/schema/file-ids.ts";
import { numberOf } from "../../../engine/schema/meta-codec.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import type { MetaValue } from "../../../storage/meta-store/meta-store.ts";
import { encodeOwnedCopy, type OwnedCopy } from "../../../storage/meta-store/owned-meta-store.ts";
import { ByteProgress } from "../../common/byte-progress.ts";
import type { ToolIo } from "../../tool.ts";
import { eachAtOnce, SummedPieces } from "../copy-file.ts";
import type { BackupFile, ClusterManifest } from "../manifest.ts";
import { checkSums, verifyBackup } from "../restore-backup.ts";
import type { BackupTarget } from "../target.ts";
import { CopiedCluster } from "./copied-cluster.ts";
import { nameOfData, shardFolder } from "./paths.ts";

/** Files, and shards, that are restored at once. */
const AT_ONCE = 4;
/**
 * Ids of files that are left out in each shard: what the cluster gave out after the backup. Copies of its files that are left on a data
 * node are then never taken for the new cluster's. Reason: a flush a minute gives out so many in two years.
 */
const FILE_IDS_APART = 1_000_000;

/** A cluster to be made. */
export interface ClusterPlace {
  readonly cluster: NewCluster;
  /** How many shards its configuration says. */
  readonly shards: number;
  /** Where data files go. */
  readonly files: FileStore;
  /** As a person calls that. */
  readonly filesText: string;
  /** A data file that is there; undefined: there is none. Changes nothing. */
  someFile(shards: number): Promise<string | undefined>;
  readonly sleep: (millis: number) => Promise<void>;
}

/** See the file header. @throws Error; before the last step nothing that counts stays, and the same backup can be restored again */
export async function restoreCluster(target: BackupTarget, manifest: ClusterManifest, place: ClusterPlace, io: ToolIo): Promise<void> {
  const { cluster, shards } = place;
  if (shards !== manifest.shards) {
    throw new Error(
      `cannot restore ${manifest.id}: it has ${manifest.shards} shards; set cluster.shards = ${manifest.shards}, for all parts`,
    );
  }
  const there = await place.someFile(shards);
  if (there !== undefined) {
    throw new Error(`cannot restore to ${place.filesText}: ${there} is there; name an empty place, or delete it where no cluster has it`);
  }
  const copied = await CopiedCluster.read(target, manifest);
  await cluster.check(copied.first);
  await verifyBackup(target, manifest, io);
  const restoring = new Restoring(target, copied, place, io);
  const catalogue = { ...copied.catalogue, shards, id: `restore-${manifest.id}` };
  try {
    await restoring.writeFiles();
    await cluster.make(copied.first);
    await restoring.writeShards();
    await putSnapshot(cluster, catalogue, place.sleep);
  } catch (error) {
    await restoring.undo();
    throw error;
  }
  await putLastChange(cluster, catalogue, place.sleep); // Where its answer is lost there may be a cluster, which needs its files.
}

/** One backup being restored. */
class Restoring {
  private readonly target: BackupTarget;
  private readonly copied: CopiedCluster;
  private readonly place: ClusterPlace;
  private readonly io: ToolIo;

  constructor(target: BackupTarget, copied: CopiedCluster, place: ClusterPlace, io: ToolIo) {
    this.target = target;
    this.copied = copied;
    this.place = place;
    this.io = io;
  }

  async writeFiles(): Promise<void> {
    const files = this.copied.manifest.files.filter(({ path }) => nameOfData(path) !== undefined);
    await this.showing(files, async (onBytes) => {
      await eachAtOnce(files, AT_ONCE, (file) => this.writeFile(file, onBytes));
    });
  }

  /** Logs and manifests of all shards. */
  async writeShards(): Promise<void> {
    const logs = this.copied.manifest.files.filter(({ path }) => path.endsWith("/log"));
    const shards = Array.from({ length: this.copied.manifest.shards }, (_, shard) => shard);
    await this.showing(logs, async (onBytes) => {
      await eachAtOnce(shards, AT_ONCE, (shard) => this.writeShard(shard, onBytes));
    });
  }

  /** Deletes the files that were written: there were none. */
  async undo(): Promise<void> {
    try {
      for (let shard = 0; shard < this.copied.manifest.shards; shard++) await this.place.files.deleteFolder(shardFolder(shard));
    } catch (error) {
      this.io.err(`varve restore: warning: cannot delete the data files in ${this.place.filesText}: ${errorText(error)}\n`);
    }
  }

  private async writeFile(file: BackupFile, onBytes: (byteLength: number) => void): Promise<void> {
    const pieces = new SummedPieces(this.target.read(file.object), onBytes);
    const writer = await this.place.files.create(nameOfData(file.path) ?? "");
    try {
      for await (const piece of pieces) writer.write(piece);
      checkSums(file, pieces.sums());
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.finish();
  }

  private async writeShard(shard: number, onBytes: (byteLength: number) => void): Promise<void> {
    const { copied, place } = this;
    const { cluster } = place;
    const copy = await copied.shard(shard);
    for await (const { number, record } of copied.records(copy, onBytes)) await cluster.putRecord(shard, number, record);
    if (copy.manifest === undefined) return;
    const text = encodeOwnedCopy(withIdsApart(copy.manifest), `restore-${copied.manifest.id}`);
    await putEntry(cluster, `manifest.${shard}`, text, 0, place.sleep);
  }

  private async showing(files: readonly BackupFile[], work: (onBytes: (byteLength: number) => void) => Promise<void>): Promise<void> {
    const progress = new ByteProgress(
      this.io,
      "restoring",
      files.reduce((sum, { byteLength }) => sum + byteLength, 0),
    );
    try {
      await work((byteLength) => {
        if (this.io.interrupted.aborted) throw new Error("interrupted; nothing is restored");
        progress.add(byteLength);
      });
    } finally {
      progress.clear();
    }
  }
}

/** A manifest whose next files have ids that the cluster before has not given out. */
function withIdsApart({ epoch, entries }: OwnedCopy): OwnedCopy {
  const before = entries.find(([key]) => key === NEXT_FILE)?.[1];
  const next: readonly [string, MetaValue] = [NEXT_FILE, (before === undefined ? 1 : numberOf(NEXT_FILE, before)) + FILE_IDS_APART];
  return { epoch, entries: [...entries.filter(([key]) => key !== NEXT_FILE), next] };
}
