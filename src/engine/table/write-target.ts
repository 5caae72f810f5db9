/**
 * What a write needs of tables: implemented by the tables of the engine, and by the mirror of them that an ingest thread has.
 */
import type { DataType } from "../../column/data-type.ts";
import type { ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import type { SegmentMarks } from "../series/series-mapper.ts";
import type { WritePlan } from "./write-rows.ts";

/** A physical table as writes to its logical tables see it. One object as long as the table exists. */
export interface WriteCarrier {
  readonly schema: TableSchema;
  /** The field of the region in which logical tables have their values: numbers and native histograms have one each. */
  fieldFor(type: DataType): ColumnSchema;
  /** Id of a label column. @throws AssertionError when there is none */
  labelId(name: string): number;
}

/** A logical table as a write sees it. */
export interface LogicalTarget {
  readonly schema: TableSchema;
  readonly plan: WritePlan;
  readonly physical: WriteCarrier;
}

/** One table with rows of its own as a write sees it. */
export interface WriteTarget {
  /** The schema that the rows have in storage. */
  readonly schema: TableSchema;
  /** Set for a table that carries logical tables. */
  readonly physical: WriteCarrier | undefined;
  /** Follows the schema. */
  readonly plan: WritePlan;
  /** The series that rows are written under; their numbers stand in this thread's log. */
  readonly registry: SeriesRegistry;
  /** Series that the log segment being written has defined. */
  readonly marks: SegmentMarks;
  /** Where its rows go instead, by shard, itself the first; undefined: all are its own. */
  readonly shards: readonly WriteTarget[] | undefined;
  /** Copies rows into memory that other threads can read; they are visible after `publish`. */
  prepare(source: ChunkSource): PreparedChunk;
}

/** The table of a name, of either kind. */
export function targetOf(
  tables: Pick<WriteTables, "find" | "logical">,
  database: string,
  name: string,
): WriteTarget | LogicalTarget | undefined {
  return tables.find(database, name) ?? tables.logical(database, name);
}

/** The tables of a thread. */
export interface WriteTables {
  /** Changes whenever a name stops meaning the table that it meant: what a decoder knows of series is then void. */
  readonly dropEpoch: number;
  /** Changes whenever what is known of a table's series begins anew. */
  readonly seriesRenewals: number;
  /** The table of a name, if it has rows of its own. */
  find(database: string, name: string): WriteTarget | undefined;
  /** The table of a name, if it lies on another. */
  logical(database: string, name: string): LogicalTarget | undefined;
  /** The schema of a table of any kind, as users see it. */
  schema(database: string, name: string): TableSchema | undefined;
  entries(): Iterable<WriteTarget>;
  /** Options of a database, which its tables inherit; none when there is no such database. */
  databaseOptions(name: string): Readonly<Record<string, string>>;
  /**
   * Makes what a write needs, in one commit: all of the steps or none. "refreshed": nothing was made, since the tables had changed
   * meanwhile; they are now as they are, and the write has to look again. What steps of logical tables mean for their physical tables
   * comes with them.
   *
   * A promise: the catalogue takes its time. When it resolves, the batch has to be decoded and written again; meanwhile nothing of it was
   * taken.
   *
   * @throws DbError as the steps do
   */
  evolve(steps: readonly SchemaStep[]): "applied" | "refreshed" | Promise<void>;
}
