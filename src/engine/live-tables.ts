/**
 * The tables that exist, by name and by id, with what writing to them needs. In force at once: a drop or creation changes it before the
 * first wait.
 */
import type { ChunkSource } from "../storage/memtable/chunk-builder.ts";
import type { PreparedChunk, Region } from "../storage/region/region.ts";
import type { SeriesRegistry } from "../storage/series/series-registry.ts";
import type { TableSchema } from "../table/schema.ts";
import type { EngineTable } from "./engine-table.ts";
import { SegmentMarks } from "./series-mapper.ts";
import { type WritePlan, writePlanOf } from "./write-rows.ts";
import type { WriteTarget } from "./write-target.ts";

/** A table and what writing to it needs. */
export class TableEntry implements WriteTarget {
  readonly table: EngineTable;
  readonly marks: SegmentMarks = new SegmentMarks();
  plan: WritePlan;

  constructor(table: EngineTable) {
    this.table = table;
    this.plan = writePlanOf(table.schema);
  }

  get schema(): TableSchema {
    return this.table.schema;
  }

  get registry(): SeriesRegistry {
    return this.table.region.registry;
  }

  prepare(source: ChunkSource): PreparedChunk {
    return this.table.region.prepare(source);
  }
}

/** See the file header. */
export class LiveTables {
  private readonly byName: Map<string, TableEntry> = new Map();
  private readonly byId: Map<number, TableEntry> = new Map();
  private epoch = 0;

  /** Changes whenever a name stops meaning the table that it meant: what a decoder knows of series is then void. */
  get dropEpoch(): number {
    return this.epoch;
  }

  /** The table of a name. */
  find(database: string, name: string): TableEntry | undefined {
    return this.byName.get(keyOf(database, name));
  }

  /** The table of an id, dropped ones apart. */
  byTableId(id: number): TableEntry | undefined {
    return this.byId.get(id);
  }

  entries(): IterableIterator<TableEntry> {
    return this.byId.values();
  }

  /** Storage of all tables. */
  *regions(): Generator<Region> {
    for (const { table } of this.byId.values()) yield table.region;
  }

  /** Whether the region is that of a table which was not dropped. */
  isLive(region: Region): boolean {
    return this.byId.get(region.schemaNow.id)?.table.region === region;
  }

  /** Sequence up to which a table's rows are in files; Infinity when the table is gone. */
  flushedSequence(tableId: number): number {
    return this.byId.get(tableId)?.table.region.flushedSequence ?? Number.POSITIVE_INFINITY;
  }

  add(entry: TableEntry): void {
    const { schema } = entry.table;
    this.byName.set(keyOf(schema.database, schema.name), entry);
    this.byId.set(schema.id, entry);
  }

  /** Puts a new version of its schema in force, under its new name if it has one. */
  setSchema(entry: TableEntry, schema: TableSchema): void {
    const { name, database } = entry.table.schema;
    if (name !== schema.name) {
      this.byName.delete(keyOf(database, name));
      this.byName.set(keyOf(database, schema.name), entry);
      this.epoch++; // Keys of a decoder say the old name.
    }
    entry.table.region.setSchema(schema);
    entry.plan = writePlanOf(schema);
  }

  /** Forgets a table; its reads fail from now on. Returns undefined when it was forgotten before. */
  remove(schema: TableSchema): TableEntry | undefined {
    const entry = this.byId.get(schema.id);
    if (entry === undefined) return undefined;
    this.byId.delete(schema.id);
    this.byName.delete(keyOf(schema.database, schema.name));
    this.epoch++;
    entry.table.markDropped();
    return entry;
  }
}

function keyOf(database: string, table: string): string {
  return `${database}\0${table}`;
}
