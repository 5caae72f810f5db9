/**
 * What an engine has in the place of storage whose rows are not in this process: a frontend of a cluster. Schemas, plans and writes are as
 * ever; rows go to the log of their shard, and whoever reads or changes them asks the shard's owner.
 */
import type { TableId } from "../base/units.ts";
import type { Table } from "../table/catalog.ts";
import type { TimeRange } from "../table/scan.ts";
import type { TableSchema } from "../table/schema.ts";
import type { WriteBatch, WriteResult } from "../table/write-batch.ts";
import type { RecordLane } from "./log/record-lane.ts";

/** See the file header. */
export interface RowsElsewhere {
  /** Where rows go, by shard. */
  readonly lanes: readonly RecordLane[];
  /**
   * A table as queries see it, of any kind: all its shards as one. The same object for an id until `forget`.
   *
   * @param schema as it is now, whenever it is asked
   */
  table(id: TableId, schema: () => TableSchema): Table;
  /** Says that a table is gone: its reads fail from now on. */
  forget(id: TableId): void;
  /** Resolves when what others changed in the catalogue before the call is in force here. @throws DbError StorageUnavailable */
  refreshed(): Promise<void>;
  /** Times of a table's rows in all shards as they are when it is asked; may be wider than the truth. @throws DbError */
  timeBounds(schema: TableSchema): Promise<TimeRange | undefined>;
  /** As the engine's own, in every shard; resolves when all have done it. @throws DbError of the first that did not */
  flush(schema: TableSchema): Promise<void>;
  compact(schema: TableSchema, range: TimeRange | undefined): Promise<void>;
  buildIndexes(schema: TableSchema): Promise<void>;
  truncate(schema: TableSchema, ranges: readonly TimeRange[] | undefined): Promise<void>;
  /** As `Writer.delete`. */
  deleteBatch(database: string, batch: WriteBatch): Promise<WriteResult>;
}
