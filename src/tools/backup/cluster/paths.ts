/** Names of a cluster's files in a backup. `../manifest.ts` knows them, too. */

/** The catalogue: a snapshot (`cluster/catalog/FORMAT.md`). */
export const CATALOG_PATH = "catalog.json";

/** What a shard is: `shard-copy.ts`. */
export function shardPath(shard: number): string {
  return `${shardFolder(shard)}/shard.json`;
}

/** The part of a shard's log that is in no file of it: `record-pieces.ts`. */
export function logPath(shard: number): string {
  return `${shardFolder(shard)}/log`;
}

/** A data file by its name in the store. */
export function dataPath(name: string): string {
  return `data/${name}`;
}

/** The name in the store of a data file; undefined: it is none. */
export function nameOfData(path: string): string | undefined {
  return path.startsWith("data/") ? path.slice("data/".length) : undefined;
}

/** Folder of a shard, also in the store (`cluster/shard/open-shard.ts`). */
export function shardFolder(shard: number): string {
  return `shard-${String(shard).padStart(4, "0")}`;
}
