/**
 * What a write needs of tables: implemented by the tables of the engine, and by the mirror of them that an ingest thread has.
 */
import type { ChunkSource } from "../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../storage/region/region.ts";
import type { SeriesRegistry } from "../storage/series/series-registry.ts";
import type { TableSchema } from "../table/schema.ts";
import type { SchemaStep } from "./schema-store.ts";
import type { SegmentMarks } from "./series-mapper.ts";
import type { WritePlan } from "./write-rows.ts";

/** One table as a write sees it. */
export interface WriteTarget {
  readonly schema: TableSchema;
  /** Follows the schema. */
  readonly plan: WritePlan;
  /** The series that rows are written under; their numbers stand in this thread's log. */
  readonly registry: SeriesRegistry;
  /** Series that the log segment being written has defined. */
  readonly marks: SegmentMarks;
  /** Copies rows into memory that other threads can read; they are visible after `publish`. */
  prepare(source: ChunkSource): PreparedChunk;
}

/** The tables of a thread. */
export interface WriteTables {
  /** Changes whenever a name stops meaning the table that it meant: what a decoder knows of series is then void. */
  readonly dropEpoch: number;
  /** The table of a name. */
  find(database: string, name: string): WriteTarget | undefined;
  entries(): Iterable<WriteTarget>;
  /**
   * Makes what a write needs, in one commit: all of the steps or none. "refreshed": nothing was made, since the tables had changed
   * meanwhile; they are now as they are, and the write has to look again.
   *
   * @throws DbError as the steps do
   */
  evolve(steps: readonly SchemaStep[]): "applied" | "refreshed";
}
