/**
 * The tables in force: keeps what the schema store has, the tables over their regions, and what other threads know of them in step.
 *
 *   steps ─► one commit (schema store) ─► live tables ─► news for the threads
 */
import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { SlabPool } from "../../storage/memtable/arena.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { Region } from "../../storage/region/region.ts";
import type { SeriesRoom } from "../../storage/series/series-registry.ts";
import { compareFiles, type DataFile } from "../../storage/sst/data-file.ts";
import type { Table } from "../../table/catalog.ts";
import { tableNotFound } from "../../table/not-found.ts";
import { isPhysicalTable, physicalTableOf } from "../../table/metric.ts";
import { onlyFieldOf, type TableSchema } from "../../table/schema.ts";
import type { KnownColumn, SchemaLookup } from "../../table/write-batch.ts";
import { EngineTable, type EngineTableParts } from "../table/engine-table.ts";
import { type LiveTables, TableEntry } from "./live-tables.ts";
import { decodeFile, fileKey, flushedKey, numberOf, uncleanKey } from "../schema/meta-codec.ts";
import { withPhysicalSteps } from "../metric/metric-steps.ts";
import { PhysicalTable } from "../metric/physical-table.ts";
import { storageSchemaOf } from "../metric/storage-schema.ts";
import type { SchemaStep, SchemaStore } from "../schema/schema-store.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { CatalogFeed } from "../threads/catalog-feed.ts";
import type { CatalogChange } from "../threads/messages.ts";
import { targetOf, type WriteTables } from "../table/write-target.ts";

/** What tables are kept in, and what they are made of. */
export interface TablesInForceParts {
  readonly schemas: SchemaStore;
  readonly live: LiveTables;
  readonly feed: CatalogFeed;
  readonly sequences: SequenceCounter;
  readonly meta: MetaStore;
  readonly files: FileStore;
  readonly pool: SlabPool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ofTables: EngineTableParts;
  readonly sure: SureSteps;
  /** Whether rows of one write may lie beside those of the next without their sequences. */
  readonly mayJoin: () => boolean;
  /** Whether there is memory for new series. */
  readonly seriesRoom: SeriesRoom;
}

/** See the file header. Invariant: `live` holds the tables of `schemas`, also while a drop or creation runs. */
export class TablesInForce implements SchemaLookup {
  readonly schemas: SchemaStore;
  readonly live: LiveTables;
  readonly feed: CatalogFeed;
  private readonly parts: TablesInForceParts;

  constructor(parts: TablesInForceParts) {
    this.schemas = parts.schemas;
    this.live = parts.live;
    this.feed = parts.feed;
    this.parts = parts;
  }

  /** Puts everything in force that the store has: those first on which others lie. */
  openAll(): void {
    const schemas = this.schemas.allSchemas();
    for (const schema of schemas) if (physicalTableOf(schema) === undefined) this.add(schema);
    for (const schema of schemas) if (physicalTableOf(schema) !== undefined) this.apply(schema);
  }

  /** Tells the threads of databases that were made, changed or dropped. */
  tellDatabases(): void {
    this.feed.push(databasesOf(this.schemas));
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    return targetOf(this.live, database, table)?.plan.columnOf.get(column);
  }

  onlyFieldOf(database: string, table: string): string | undefined {
    const found = targetOf(this.live, database, table);
    return found === undefined ? undefined : onlyFieldOf(found.schema);
  }

  /** The tables as writes of this thread see them. */
  forWrites(): WriteTables {
    const { live, schemas } = this;
    return {
      get dropEpoch() {
        return live.dropEpoch;
      },
      get seriesRenewals() {
        return live.seriesRenewals;
      },
      find: (database, name) => live.find(database, name),
      logical: (database, name) => live.logical(database, name),
      schema: (database, name) => schemas.schema(database, name),
      entries: () => live.entries(),
      databaseOptions: (name) => schemas.database(name)?.options ?? {},
      evolve: (steps) => {
        this.applySteps(steps);
        return "applied";
      },
    };
  }

  /** Makes the table of a schema that has storage of its own, with the files that the meta store names. */
  private add(schema: TableSchema): void {
    const { meta, files, clock, logger, pool, mayJoin, seriesRoom, ofTables } = this.parts;
    const dataFiles: DataFile[] = meta.list(fileKey(schema.id)).map(({ key, value }) => decodeFile(key, value));
    dataFiles.sort(compareFiles);
    const flushed = numberOf(flushedKey(schema.id), meta.get(flushedKey(schema.id)) ?? 0);
    this.parts.sequences.sawUsed(flushed);
    const region = new Region(storageSchemaOf(schema), dataFiles, flushed, { pool, store: files, clock, logger, mayJoin, seriesRoom });
    const table = new EngineTable(region, ofTables);
    const physical = isPhysicalTable(schema) ? new PhysicalTable(schema, table, meta.get(uncleanKey(schema.id)) === true) : undefined;
    this.live.add(new TableEntry(table, physical));
    this.feed.push({ kind: "schema", schema });
  }

  /** Puts a schema in force that the store has. */
  private apply(schema: TableSchema): void {
    const physical = physicalTableOf(schema);
    const entry = this.live.byTableId(schema.id);
    if (physical === undefined && entry === undefined) {
      this.add(schema);
      return;
    }
    if (physical !== undefined) this.live.setLogical(schema, physical);
    else if (entry !== undefined) this.live.setSchema(entry, schema);
    this.feed.push({ kind: "schema", schema });
  }

  /**
   * Commits a transaction of schemas, with what it means for physical tables, and puts it in force. Returns the id of the first step's
   * table.
   *
   * @throws DbError; nothing changed
   */
  applySteps(steps: readonly SchemaStep[]): TableId {
    const schemas = this.schemas.applyAll(withPhysicalSteps(steps, this.schemas));
    this.parts.sure.run("a stored schema comes into force", () => {
      for (const schema of schemas) this.apply(schema);
    });
    const [first] = schemas;
    assert(first !== undefined, "a step gives a schema");
    return first.id;
  }

  /** The table of an id that exists. */
  tableOfId(id: TableId): Table {
    const table = this.live.tableOfId(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  /** Where a table's rows are. @throws DbError TableNotFound */
  regionOf(database: string, table: string): Region {
    const region = this.live.regionOf(database, table);
    if (region === undefined) throw tableNotFound(database, table);
    return region;
  }
}

/** Everything the store has, as changes of an empty catalog. */
export function wholeCatalog(schemas: SchemaStore): CatalogChange[] {
  return [databasesOf(schemas), ...schemas.allSchemas().map((schema): CatalogChange => ({ kind: "schema", schema }))];
}

function databasesOf(schemas: SchemaStore): CatalogChange {
  return { kind: "databases", databases: schemas.databases() };
}
