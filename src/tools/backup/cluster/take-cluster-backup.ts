/**
 * Takes a backup of a running cluster. Nobody of it is asked to do anything, and nothing of it waits.
 *
 *   beforehand   manifests of all shards ─► data files that no earlier backup has: what takes long
 *   the moment   each shard: manifest ─► how long its log is ─► the files that are new ─► the log up to there
 *   at the end   the catalogue, which knows all that the logs name ─► files that no shard names any more go ─► the backup's manifest
 *
 * Owners delete files whose rows are in others, and let go of what of the log is in files. Where that comes before the copy, the shard is
 * read again, by its manifest of then. That ends: each round copies only what came since the one before.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/log.ts";
import { CatalogMirror } from "../../../cluster/catalog/catalog-mirror.ts";
import { type CatalogSnapshot, encodeSnapshot } from "../../../cluster/catalog/catalog-entry.ts";
import { insist } from "../../../cluster/port/insist.ts";
import { portFailureOf } from "../../../cluster/port/port-error.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import type { DataFile } from "../../../storage/sst/data-file.ts";
import { storePieces } from "../../common/data-store.ts";
import type { ToolIo } from "../../tool.ts";
import { checkApart } from "../apart.ts";
import { eachAtOnce } from "../copy-file.ts";
import { inPieces } from "../manifest.ts";
import { backupId } from "../moment.ts";
import { latestFiles, NewBackup, type TakenBackup } from "../new-backup.ts";
import type { BackupTarget } from "../target.ts";
import { CATALOG_PATH, dataPath, logPath, shardPath } from "./paths.ts";
import { logPieces } from "./record-pieces.ts";
import { encodeShard, filesOf, readShard, type ReadPort, type ShardCopy } from "./shard-copy.ts";

/** Files, and shards, that are copied at once: over a network each waits for answers. */
const AT_ONCE = 4;
/** Times that a shard is read before the backup gives up, and what is waited between two, in milliseconds. */
const ROUNDS = 50;
const AGAIN_MILLIS = 100;

/** A cluster to be copied. */
export interface ClusterSource {
  readonly port: ReadPort;
  readonly shards: number;
  /** Has the data files; nothing is written to it, and it is not listed. */
  readonly files: FileStore;
  /** Where the files are on this machine's disks; undefined elsewhere. */
  readonly folder: string | undefined;
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
}

/** See the file header. @throws Error; nothing of the backup stays in the target then, if it can be reached */
export async function takeClusterBackup(target: BackupTarget, source: ClusterSource, io: ToolIo): Promise<TakenBackup> {
  const { clock, shards } = source;
  if (source.folder !== undefined) checkApart(target, [source.folder]);
  const earlier = await latestFiles(target);
  const id = backupId(clock.nowMillis(), randomBytes(4).toString("hex"));
  const backup = new NewBackup(target, id, earlier, io);
  const taking = new Taking(source, backup, io);
  try {
    await taking.copyBeforehand();
    const moment = clock.nowMillis();
    const until = await taking.copyShards();
    await taking.copyCatalogue();
    await taking.dropUnneeded();
    return await backup.finish({ kind: "cluster", id, moment, until, shards });
  } catch (error) {
    await backup.undo();
    throw error;
  }
}

/** What became of a try to copy a shard. */
type ShardTry = "copied" | "trimmed" | { readonly gone: string };

/** What is copied of a cluster. */
class Taking {
  private readonly source: ClusterSource;
  private readonly backup: NewBackup;
  private readonly io: ToolIo;
  /** Paths of data files that shards have as they were copied. */
  private readonly needed = new Set<string>();

  constructor(source: ClusterSource, backup: NewBackup, io: ToolIo) {
    this.source = source;
    this.backup = backup;
    this.io = io;
  }

  /** Copies most of the files, so that the shards can be copied one soon after the other. */
  async copyBeforehand(): Promise<void> {
    const missing: DataFile[] = [];
    await eachAtOnce(this.shards(), AT_ONCE, async (shard) => {
      this.backup.check(0);
      missing.push(...this.missingOf(await this.read(shard)));
    });
    this.backup.show(missing.reduce((sum, { byteLength }) => sum + byteLength, 0));
    await eachAtOnce(missing, AT_ONCE, async (file) => void (await this.copyFile(file))); // One that is gone is in another by now.
    this.backup.hide();
  }

  /** Copies all shards, each as of a message. @returns when the length of the last log was known */
  async copyShards(): Promise<number> {
    let until = 0;
    await eachAtOnce(this.shards(), AT_ONCE, async (shard) => {
      until = Math.max(until, await this.copyShard(shard));
    });
    return until;
  }

  /** The catalogue has what the logs name: whoever appended a record knew the catalogue before. */
  async copyCatalogue(): Promise<void> {
    const { port, clock, sleep, shards } = this.source;
    const lost: Error[] = [];
    const mirror = await CatalogMirror.open(port, { clock, sleep, logger: silentLogger, onLost: (why) => lost.push(why) });
    let snapshot: CatalogSnapshot;
    try {
      snapshot = mirror.snapshot();
      if (mirror.shards !== shards)
        throw new Error(`cannot back up the cluster: it has ${mirror.shards} shards, and NATS has ${shards} logs`);
    } finally {
      await mirror.close();
    }
    if (lost[0] !== undefined) throw lost[0];
    await this.backup.copy(CATALOG_PATH, inPieces(new TextEncoder().encode(encodeSnapshot(snapshot))));
  }

  /** Files that were copied and that no shard has any more. */
  async dropUnneeded(): Promise<void> {
    for (const path of this.backup.paths) if (path.startsWith("data/") && !this.needed.has(path)) await this.backup.drop(path);
  }

  private async copyShard(shard: number): Promise<number> {
    let gone: string | undefined;
    let why = "";
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await this.source.sleep(AGAIN_MILLIS);
      this.backup.check(0);
      const copy = await this.read(shard);
      const until = this.source.clock.nowMillis();
      const tried = await this.tryShard(copy);
      if (tried === "copied") {
        for (const { name } of filesOf(copy)) this.needed.add(dataPath(name));
        return until;
      }
      if (tried === "trimmed") why = "its log was let go";
      else if (tried.gone === gone) throw new Error(`cannot back up ${gone}: shard ${shard} has it, and it is not in the store`);
      else ({ gone } = tried);
      if (gone !== undefined && tried !== "trimmed") why = `file ${gone} was merged`;
    }
    throw new Error(
      `cannot back up shard ${shard}: ${why} before it was copied, ${ROUNDS} times; the target is too slow for what is written`,
    );
  }

  private async tryShard(copy: ShardCopy): Promise<ShardTry> {
    const { backup } = this;
    const { shard } = copy;
    for (const file of this.missingOf(copy)) if (!(await this.copyFile(file))) return { gone: file.name };
    if (!(await this.copyLog(copy))) return "trimmed"; // Behind the files: they are few, and the log may be long.
    await backup.copy(shardPath(shard), inPieces(encodeShard(copy)));
    return "copied";
  }

  /** @returns false: the log does not begin where it is needed any more */
  private async copyLog(copy: ShardCopy): Promise<boolean> {
    const { backup, io } = this;
    const path = logPath(copy.shard);
    if (copy.from === copy.last) {
      await backup.drop(path);
      return true;
    }
    try {
      await backup.copy(path, logPieces(this.source.port.log, copy, io.interrupted));
      backup.check(0); // The signal ends the pieces early.
      return true;
    } catch (error) {
      if (!isTrimmed(error)) throw error;
      return false;
    }
  }

  /** @returns false: it is not there any more */
  private async copyFile(file: DataFile): Promise<boolean> {
    const { files } = this.source;
    const { name } = file;
    try {
      await this.backup.copy(dataPath(name), storePieces(files, name), file);
      return true;
    } catch (error) {
      this.backup.check(0);
      if ((await files.sizeOf(name)) !== undefined) throw error;
      return false;
    }
  }

  /** Data files of a shard that neither this backup has nor one before. */
  private missingOf(copy: ShardCopy): readonly DataFile[] {
    const { backup } = this;
    return filesOf(copy).filter((file) => {
      const path = dataPath(file.name);
      return !backup.has(path) && !backup.reuse(path, file);
    });
  }

  private read(shard: number): Promise<ShardCopy> {
    const { port, sleep } = this.source;
    return insist(() => readShard(port, shard, sleep), this.source);
  }

  private shards(): readonly number[] {
    return Array.from({ length: this.source.shards }, (_, shard) => shard);
  }
}

/** Whether a copy ended since the log was let go: targets say why a copy failed in words of their own. */
function isTrimmed(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) if (portFailureOf(error) === "trimmed") return true;
  return false;
}
