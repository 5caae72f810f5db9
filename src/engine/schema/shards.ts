/**
 * Ids of what a table has in each shard: its region, log entries, files and meta entries there. In the first shard they are the table's
 * own, so that a server of one shard has what it always had.
 *
 *   region id = table id + shard * 2^22        table ids below 2^22, shards below 2^10: the id of a record has 32 bits
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type MetaStore, SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import { numberOf } from "./meta-codec.ts";
import { NEXT_TABLE } from "./schema-store.ts";
import { assert } from "../../base/assert.ts";
import { TABLE_SPREAD_MAX } from "../../base/limits.ts";
import { type TableId, tableId } from "../../base/units.ts";

const STRIDE = 2 ** 22;

/** The shards of an engine: for ever as many. */
export class Shards {
  readonly count: number;
  /** The one whose rows this engine has; undefined: it has all. */
  readonly own: number | undefined;

  constructor(count: number, own?: number) {
    assert(Number.isInteger(count) && count >= 1 && count <= TABLE_SPREAD_MAX, `1 to ${TABLE_SPREAD_MAX} shards; got ${count}`);
    assert(own === undefined || (Number.isInteger(own) && own >= 0 && own < count), `a shard below ${count}; got ${own}`);
    this.count = count;
    this.own = own;
  }

  /** Ids of a table's regions here, by shard. */
  regionsOf(table: TableId): readonly TableId[] {
    if (this.own !== undefined) return [this.regionOf(table, this.own)];
    return Array.from({ length: this.count }, (_, shard) => this.regionOf(table, shard));
  }

  /** The id of what a table has in one shard. */
  regionOf(table: TableId, shard: number): TableId {
    if (this.count === 1) return table;
    assert(table < STRIDE, `ids of tables that lie in several shards are below ${STRIDE}; got ${table}`);
    return tableId(table + shard * STRIDE);
  }

  /** The shard of a region. */
  shardOf(region: TableId): number {
    return this.count === 1 ? 0 : Math.floor(region / STRIDE);
  }

  /** The table of a region. */
  tableOf(region: TableId): TableId {
    return this.count === 1 ? region : tableId(region % STRIDE);
  }
}

/** What was stored with is what has to be read with. @throws DbError StorageUnavailable when the data has another number of shards */
export function shardsOf(meta: Pick<MetaStore, "get">, wanted: number, own?: number): Shards {
  const isNew = meta.get(SHARDS_KEY) === undefined && meta.get(NEXT_TABLE) === undefined;
  const stored = isNew ? wanted : numberOf(SHARDS_KEY, meta.get(SHARDS_KEY) ?? 1);
  if (stored === wanted) return new Shards(wanted, own);
  const why = `the data lies in ${stored} ${stored === 1 ? "shard" : "shards"} since it was made, and storage.shards says ${wanted}`;
  throw new DbError(StatusCode.StorageUnavailable, `cannot open the data: ${why}; set storage.shards = ${stored}`);
}

/** An engine that is not cut. */
export const ONE_SHARD: Shards = new Shards(1);
