/** What a backup says of the cluster that it is of: read, held against its sums, and against itself. */
import { type CatalogSnapshot, decodeSnapshot } from "../../../cluster/catalog/catalog-entry.ts";
import type { FirstNumbers } from "../../../cluster/port/new-cluster.ts";
import { errorText } from "../../../base/error.ts";
import { SHARDS_KEY } from "../../../storage/meta-store/meta-store.ts";
import { SummedPieces } from "../copy-file.ts";
import type { BackupFile, ClusterManifest } from "../manifest.ts";
import { checkSums } from "../restore-backup.ts";
import type { BackupTarget } from "../target.ts";
import { CATALOG_PATH, dataPath, logPath, shardPath } from "./paths.ts";
import { recordsOf } from "./record-pieces.ts";
import { decodeShard, filesOf, type ShardCopy } from "./shard-copy.ts";

/** See the file header. */
export class CopiedCluster {
  readonly manifest: ClusterManifest;
  readonly catalogue: CatalogSnapshot;
  /** Where the streams of a cluster that is made of it begin. */
  readonly first: FirstNumbers;
  private readonly target: BackupTarget;
  private readonly files: ReadonlyMap<string, BackupFile>;

  private constructor(
    target: BackupTarget,
    manifest: ClusterManifest,
    files: ReadonlyMap<string, BackupFile>,
    catalogue: CatalogSnapshot,
    logs: FirstNumbers["logs"],
  ) {
    this.target = target;
    this.manifest = manifest;
    this.files = files;
    this.catalogue = catalogue;
    this.first = { logs, catalog: catalogue.catalogVersion };
  }

  /** Reads it. @throws Error: it is damaged, or does not have what it says */
  static async read(target: BackupTarget, manifest: ClusterManifest): Promise<CopiedCluster> {
    const files = new Map(manifest.files.map((file) => [file.path, file]));
    const catalogue = await decoded(target, files, CATALOG_PATH, (bytes) =>
      decodeSnapshot(CATALOG_PATH, { number: 0, text: new TextDecoder().decode(bytes) }),
    );
    const said = catalogue.entries.find(([key]) => key === SHARDS_KEY)?.[1];
    if (catalogue.catalogVersion < 1 || said !== manifest.shards) {
      throw damaged(CATALOG_PATH, `it is of ${JSON.stringify(said)} shards, and the backup of ${manifest.shards}`);
    }
    const logs: { first: number; last: number }[] = [];
    for (let shard = 0; shard < manifest.shards; shard++) {
      const copy = await shardOf(target, files, shard);
      if (copy.from < copy.last) fileOf(files, logPath(shard));
      for (const { name, byteLength } of filesOf(copy)) {
        if (fileOf(files, dataPath(name)).byteLength !== byteLength) throw damaged(name, "it has another length than its shard says");
      }
      logs.push({ first: copy.from + 1, last: copy.last });
    }
    return new CopiedCluster(target, manifest, files, catalogue, logs);
  }

  /** A shard. @throws Error: it is damaged */
  shard(shard: number): Promise<ShardCopy> {
    return shardOf(this.target, this.files, shard);
  }

  /** The messages of a shard's log, by their numbers. @param onBytes hears how many were read. @throws Error: the log is damaged */
  async *records(
    { shard, from, last }: ShardCopy,
    onBytes: (byteLength: number) => void,
  ): AsyncGenerator<{ readonly number: number; readonly record: Uint8Array }> {
    if (from === last) return;
    const file = fileOf(this.files, logPath(shard));
    const pieces = new SummedPieces(this.target.read(file.object), onBytes);
    let number = from;
    for await (const record of recordsOf(pieces)) yield { number: ++number, record };
    checkSums(file, pieces.sums());
    if (number !== last) throw damaged(file.object, `it ends with message ${number} instead of ${last}`);
  }
}

async function shardOf(target: BackupTarget, files: ReadonlyMap<string, BackupFile>, shard: number): Promise<ShardCopy> {
  const path = shardPath(shard);
  const copy = await decoded(target, files, path, decodeShard);
  if (copy.shard !== shard) throw damaged(path, `it is of shard ${copy.shard}`);
  return copy;
}

async function decoded<T>(
  target: BackupTarget,
  files: ReadonlyMap<string, BackupFile>,
  path: string,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const file = fileOf(files, path);
  const pieces = new SummedPieces(target.read(file.object), () => undefined);
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece.slice());
  checkSums(file, pieces.sums());
  try {
    return decode(Buffer.concat(parts));
  } catch (error) {
    throw damaged(file.object, errorText(error));
  }
}

function fileOf(files: ReadonlyMap<string, BackupFile>, path: string): BackupFile {
  const file = files.get(path);
  if (file === undefined) throw damaged(path, "it is missing");
  return file;
}

function damaged(object: string, why: string): Error {
  return new Error(`the backup cannot be restored: ${object}: ${why}; nothing is restored`);
}
