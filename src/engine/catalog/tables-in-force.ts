/**
 * The tables in force: keeps what the schema store has, the tables over their regions, and what other threads know of them in step.
 *
 *   plan ─► catalogue ─► schemas in force ─► live tables ─► news for the threads
 */
import { assert } from "../../base/assert.ts";
import type { TableId } from "../../base/units.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Logger } from "../../base/log.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { SlabPool } from "../../storage/memtable/arena.ts";
import type { MetaChange, MetaStore } from "../../storage/meta-store/meta-store.ts";
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
import type { CatalogPlan, CatalogPlans, SchemaStep } from "../schema/catalog-plans.ts";
import type { CatalogPort } from "../schema/catalog-port.ts";
import type { Shards } from "../schema/shards.ts";
import type { SchemaStore } from "../schema/schema-store.ts";
import { CatalogChanges, type MakePlan } from "./catalog-changes.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { CatalogFeed } from "../threads/catalog-feed.ts";
import type { CatalogChange } from "../threads/messages.ts";
import { targetOf, type WriteTables } from "../table/write-target.ts";

/** What tables are kept in, and what they are made of. */
export interface TablesInForceParts {
  readonly schemas: SchemaStore;
  readonly plans: CatalogPlans;
  readonly catalog: CatalogPort;
  readonly live: LiveTables;
  readonly feed: CatalogFeed;
  /** Is told up to which sequence a table has rows in files. */
  readonly sequences: Pick<SequenceCounter, "sawUsed">;
  readonly meta: MetaStore;
  readonly files: FileStore;
  /** What folders of tables lie in. */
  readonly folder: string | undefined;
  readonly pool: SlabPool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ofTables: EngineTableParts;
  readonly sure: SureSteps;
  /** Whether rows of one write may lie beside those of the next without their sequences. */
  readonly mayJoin: () => boolean;
  /** How long writes wait for the catalogue at most. */
  readonly stallMillis: number;
  /** Whether there is memory for new series. */
  readonly seriesRoom: SeriesRoom;
  readonly shards: Shards;
  /** Called in the turn in which tables went, whoever dropped them, when nobody finds them any more. */
  onGone(gone: GoneTables): void;
}

/** Tables that were dropped, or emptied by another id. */
export interface GoneTables {
  readonly ids: readonly TableId[];
  /** Those with rows of their own. */
  readonly entries: readonly TableEntry[];
  /** What has rows of the others. */
  readonly unclean: ReadonlySet<Region>;
}

/** See the file header. Invariant: `live` holds the tables of `schemas`, also while a drop or creation runs. */
export class TablesInForce implements SchemaLookup {
  readonly schemas: SchemaStore;
  readonly plans: CatalogPlans;
  readonly live: LiveTables;
  readonly feed: CatalogFeed;
  private readonly parts: TablesInForceParts;
  private readonly changes: CatalogChanges;
  /** Changes that others made while this engine opens; undefined from `begin` on. */
  private early: (readonly MetaChange[])[] | undefined = [];

  constructor(parts: TablesInForceParts) {
    this.schemas = parts.schemas;
    this.plans = parts.plans;
    this.live = parts.live;
    this.feed = parts.feed;
    this.parts = parts;
    this.changes = new CatalogChanges(parts.schemas, parts.catalog);
    parts.catalog.listen((changes) => this.follow(changes));
  }

  /** Puts everything in force that the store has: those first on which others lie. */
  openAll(): void {
    const schemas = this.schemas.allSchemas();
    for (const schema of schemas) if (physicalTableOf(schema) === undefined) this.add(schema);
    for (const schema of schemas) if (physicalTableOf(schema) !== undefined) this.apply(schema);
  }

  /** Lets changes come into force: until now a start looks at files and logs of the tables that it began with. */
  begin(): void {
    const { early = [] } = this;
    this.early = undefined;
    for (const changes of early) this.follow(changes);
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
      evolve: (steps) => this.evolve(steps) ?? "applied",
    };
  }

  /** Makes the table of a schema that has storage of its own. */
  private add(schema: TableSchema): void {
    const [first, ...others] = this.parts.shards.regionsOf(schema.id);
    assert(first !== undefined, "a shard at least");
    const entries = others.map((id) => this.entryOf(schema, id));
    this.live.add(this.entryOf(schema, first, entries));
    this.feed.push({ kind: "schema", schema });
  }

  /** What a table has in one shard. */
  private entryOf(schema: TableSchema, id: TableId, others?: readonly TableEntry[]): TableEntry {
    const table = this.storageOf(schema, id);
    const isUnclean = (): boolean => this.parts.meta.get(uncleanKey(id)) === true;
    return new TableEntry(table, isPhysicalTable(schema) ? new PhysicalTable(schema, table, isUnclean()) : undefined, others);
  }

  /** A table's region in one shard, with the files that the meta store names. */
  private storageOf(schema: TableSchema, id: TableId): EngineTable {
    const { meta, files, folder, clock, logger, pool, mayJoin, seriesRoom, ofTables } = this.parts;
    const dataFiles: DataFile[] = meta.list(fileKey(id)).map(({ key, value }) => decodeFile(key, value));
    dataFiles.sort(compareFiles);
    const flushed = numberOf(flushedKey(id), meta.get(flushedKey(id)) ?? 0);
    this.parts.sequences.sawUsed(flushed);
    const stored = { ...storageSchemaOf(schema), id };
    const region = new Region(stored, dataFiles, flushed, { pool, store: files, folder, clock, logger, mayJoin, seriesRoom });
    return new EngineTable(region, ofTables);
  }

  /** Puts a schema in force that the store has. */
  private apply(schema: TableSchema): void {
    const physical = physicalTableOf(schema);
    const entry = this.live.ofTable(schema.id);
    if (physical === undefined && entry === undefined) {
      this.add(schema);
      return;
    }
    if (physical !== undefined) this.live.setLogical(schema, physical);
    else if (entry !== undefined) this.live.setSchema(entry, schema);
    this.feed.push({ kind: "schema", schema });
  }

  /** Makes a change of the catalogue, as `CatalogChanges.make`. */
  make(plan: MakePlan): Promise<void> | undefined {
    return this.changes.make(plan);
  }

  /** The plan of a transaction of schemas, with what it means for physical tables. @throws DbError */
  planOf(steps: readonly SchemaStep[]): CatalogPlan {
    return this.plans.steps(withPhysicalSteps(steps, this.schemas));
  }

  /**
   * Makes what a write needs; undefined: it is in force, else the promise resolves when it may be: the write has to look again. It is
   * made also where the wait is given up.
   *
   * @throws DbError what refuses the steps on what is in force now; StorageUnavailable
   */
  evolve(steps: readonly SchemaStep[]): Promise<void> | undefined {
    let isLater = false;
    const made = this.make(() => {
      try {
        return this.planOf(steps).changes;
      } catch (error) {
        // Others changed the catalogue first: whoever looks again sees what lacks now, or is refused.
        if (isLater && error instanceof DbError) return undefined;
        throw error;
      }
    });
    isLater = true;
    return made === undefined ? undefined : waitWithin(made, { millis: this.parts.stallMillis, late: noAnswer });
  }

  /** Brings a change of the catalogue that was taken into force. */
  private follow(changes: readonly MetaChange[]): void {
    if (this.early !== undefined) {
      this.early.push(changes);
      return;
    }
    this.parts.sure.run("a stored change of the catalogue comes into force", () => {
      const ids: TableId[] = [];
      const entries: TableEntry[] = [];
      const unclean = new Set<Region>();
      for (const effect of this.schemas.follow(changes)) {
        switch (effect.kind) {
          case "databases":
            this.feed.push(databasesOf(this.schemas));
            break;
          case "put":
            this.apply(effect.schema);
            break;
          case "renumbered": {
            const { old, schema } = effect;
            failPoint("truncate.after-commit");
            this.live.renumberLogical(old, schema);
            this.feed.push({ kind: "dropped", tableId: old.id });
            this.feed.push({ kind: "schema", schema });
            ids.push(old.id);
            for (const region of this.live.regionsOf(schema.database, schema.name)) unclean.add(region);
            break;
          }
          case "dropped": {
            const { schema } = effect;
            failPoint("drop.after-commit");
            for (const region of this.live.removeLogical(schema)) unclean.add(region);
            const entry = this.live.remove(schema);
            if (entry !== undefined) entries.push(...entry.all);
            this.feed.push({ kind: "dropped", tableId: schema.id });
            ids.push(schema.id);
          }
        }
      }
      if (ids.length > 0) this.parts.onGone({ ids, entries, unclean });
    });
  }

  /** The table of an id as it is in force. @throws DbError TableNotFound when it was dropped meanwhile */
  tableOfId(id: TableId | undefined, database: string, name: string): Table {
    const table = id === undefined ? undefined : this.live.tableOfId(id);
    if (table === undefined) throw tableNotFound(database, name);
    return table;
  }

  /** Where a table's rows are, in each shard. @throws DbError TableNotFound */
  regionsOf(database: string, table: string): readonly Region[] {
    const regions = this.live.regionsOf(database, table);
    if (regions.length === 0) throw tableNotFound(database, table);
    return regions;
  }
}

function noAnswer(): DbError {
  const why = "the catalogue has not taken the tables that it needs within write.stall_timeout";
  return new DbError(StatusCode.StorageUnavailable, `cannot write: ${why}; send it again`, { retryAfterSeconds: 1 });
}

/** Everything the store has, as changes of an empty catalog. */
export function wholeCatalog(schemas: SchemaStore): CatalogChange[] {
  return [databasesOf(schemas), ...schemas.allSchemas().map((schema): CatalogChange => ({ kind: "schema", schema }))];
}

function databasesOf(schemas: SchemaStore): CatalogChange {
  return { kind: "databases", databases: schemas.databases() };
}
