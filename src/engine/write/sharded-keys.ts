/**
 * Rows of a table that lies in several shards, by shard, and the series of their keys there: each shard numbers its own.
 *
 *   rows ─► BatchSplitter ─► rows of shard 0, 1, … ─► keys of them that are new there ─► series of that shard's registry
 */
import { assert } from "../../base/assert.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import { BatchSplitter } from "../../table/shards/split-batch.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { LabelPlans } from "../metric/label-plans.ts";
import { LabelResolver } from "../metric/label-resolver.ts";
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

/** What is known of keys in one shard: its numbers mean nothing in another. */
interface ShardKeys {
  readonly mapper: SeriesMapper;
  readonly plans: LabelPlans;
}

/** See the file header. */
export class ShardedKeys {
  private readonly tables: WriteTables;
  private readonly splitter: BatchSplitter;
  private readonly keys: readonly ShardKeys[];

  /** @param plans of the first shard: those of the others are made here */
  constructor({ count }: Shards, tables: WriteTables, plans: LabelPlans) {
    this.tables = tables;
    this.splitter = new BatchSplitter(count, (database, table) => tables.schema(database, table));
    this.keys = Array.from({ length: count }, (_, shard) => ({
      mapper: new SeriesMapper(),
      plans: shard === 0 ? plans : new LabelPlans(),
    }));
  }

  /** Begins another batch: arrays of rows that were placed before are used again. */
  begin(): void {
    this.splitter.begin();
  }

  /**
   * The rows of a write by shard, valid until `begin`. Its table, or those of all its keys, and tags exist.
   *
   * @param table that the write names: what it has in the first shard
   * @throws DbError RateLimited at the series limit, InvalidArguments for a text that is no value of its tag's type
   */
  placed(database: string, dictionary: SeriesDictionary, write: TableWrite, table: WriteTarget): readonly PlacedWrite[] {
    const { tables } = this;
    const { dropEpoch, seriesRenewals } = tables;
    const placed: PlacedWrite[] = [];
    for (const { shard, batch } of this.splitter.split(database, { dictionary, tables: [write] }, dropEpoch)) {
      const target = table.shards?.[shard];
      const known = this.keys[shard];
      assert(target !== undefined && known !== undefined, `a shard of the table; got ${shard}`);
      const seriesOfKey = known.mapper.mapOf(dictionary, database, dropEpoch, seriesRenewals);
      for (const part of batch.tables) {
        const keys = unresolvedKeys(part.keys, part.rowCount, seriesOfKey);
        if (keys.length > 0 && part.tablesOfKeys === true) {
          const labels = new LabelResolver(database, table.physical, target.registry, tables, known.plans);
          for (const key of keys) seriesOfKey[key] = labels.seriesOf(key, dictionary);
        } else if (keys.length > 0) resolveKeys(keys, dictionary, target.registry, seriesOfKey);
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
