/**
 * Rows of a table that lies in several shards, by shard, and the series of their keys there: each shard numbers its own.
 *
 *   rows ─► BatchSplitter ─► rows of shard 0, 1, … ─► keys of them that are new there ─► series of that shard's registry
 */
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import { BatchSplitter } from "../../table/shards/split-batch.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import type { Shards } from "../schema/shards.ts";
import { resolveKeys, SeriesMapper, unresolvedKeys } from "../series/series-mapper.ts";
import type { WriteTables, WriteTarget } from "../table/write-target.ts";

/** Rows with where they go. */
export interface PlacedWrite {
  readonly target: WriteTarget;
  readonly write: TableWrite;
  /** The series of keys there; undefined: those of the batch. */
  readonly seriesOfKey?: Uint32Array | undefined;
}

/** See the file header. */
export class ShardedKeys {
  private readonly tables: WriteTables;
  private readonly splitter: BatchSplitter;
  private readonly mappers: readonly SeriesMapper[];

  constructor({ count }: Shards, tables: WriteTables) {
    this.tables = tables;
    this.splitter = new BatchSplitter(count, (database, table) => tables.schema(database, table));
    this.mappers = Array.from({ length: count }, () => new SeriesMapper());
  }

  /** Begins another batch: arrays of rows that were placed before are used again. */
  begin(): void {
    this.splitter.begin();
  }

  /**
   * The rows of a write by shard, valid until `begin`. Its table and tags exist.
   *
   * @throws DbError RateLimited at the series limit, InvalidArguments for a text that is no value of its tag's type
   */
  placed(database: string, dictionary: SeriesDictionary, write: TableWrite, targets: readonly WriteTarget[]): readonly PlacedWrite[] {
    const { dropEpoch, seriesRenewals } = this.tables;
    const placed: PlacedWrite[] = [];
    for (const { shard, batch } of this.splitter.split(database, { dictionary, tables: [write] }, dropEpoch)) {
      const target = targets[shard] as WriteTarget;
      const seriesOfKey = (this.mappers[shard] as SeriesMapper).mapOf(dictionary, database, dropEpoch, seriesRenewals);
      for (const part of batch.tables) {
        const keys = unresolvedKeys(part.keys, part.rowCount, seriesOfKey);
        if (keys.length > 0) resolveKeys(keys, dictionary, target.registry, seriesOfKey);
        placed.push({ target, write: part, seriesOfKey });
      }
    }
    return placed;
  }
}

/** Says that keys have been looked at: their series are numbered in each shard, not here. */
export function knownInShards(keys: readonly number[], seriesOfKey: Uint32Array): void {
  for (const key of keys) seriesOfKey[key] = 0;
}
