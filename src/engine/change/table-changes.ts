/**
 * Databases and tables that clients make, change and drop, and who waits for whom. Each change is one of the catalogue; the call
 * returns when it is in force and durable.
 */
import { failPoint } from "../../base/process/fail-point.ts";
import { errorText, invalidArguments } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { TableId } from "../../base/units.ts";
import type { Region } from "../../storage/region/region.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { mergeModeOf, type SchemaChange, type TableDefinition, type TableSchema } from "../../table/schema.ts";
import type { ViewDefinition } from "../../table/view.ts";
import type { Compactor } from "../compaction/compactor.ts";
import type { RowsElsewhere } from "../elsewhere.ts";
import type { Flusher } from "../flush/flusher.ts";
import type { LogTrimmer } from "../flush/log-trimmer.ts";
import { changedOptions } from "../schema/schema-change.ts";
import type { TableEntry } from "../catalog/live-tables.ts";
import type { GoneTables, TablesInForce } from "../catalog/tables-in-force.ts";
import type { CatalogPlan } from "../schema/catalog-plans.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";

/** What a change of tables touches. */
export interface TableChangesParts {
  readonly meta: MetaStore;
  readonly compactor: Compactor;
  readonly flusher: Flusher;
  readonly threads: ThreadHosts;
  readonly trimmer: LogTrimmer;
  readonly sure: SureSteps;
  readonly logger: Logger;
  /** Where the rows of tables are; undefined: here. */
  readonly elsewhere?: Pick<RowsElsewhere, "flush" | "truncate" | "timeBounds"> | undefined;
  /**
   * Takes away what the meta store has of the storage of dropped tables, and marks what has rows of dropped logical tables, where that did
   * not go with the drop. @throws DbError StorageUnavailable
   */
  forgetStorage(gone: readonly TableId[], unclean: ReadonlySet<Region>): Promise<void>;
}

type CatalogChanges = Pick<
  Catalog,
  "createDatabase" | "alterDatabase" | "dropDatabase" | "createTable" | "alterTable" | "dropTable" | "createView" | "dropView"
>;

/** See the file header. */
export class TableChanges implements CatalogChanges {
  private readonly tables: TablesInForce;
  private readonly meta: MetaStore;
  private readonly parts: TableChangesParts;
  /** What is left to do of tables that were dropped, by their ids. */
  private readonly leaving: Map<TableId, Promise<void>> = new Map();

  constructor(tables: TablesInForce, parts: TableChangesParts) {
    this.tables = tables;
    this.meta = parts.meta;
    this.parts = parts;
  }

  async createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean> {
    let isNew = true;
    failPoint("create.before-commit");
    const later = this.tables.make(() => {
      isNew = !ifNotExists || this.tables.schemas.database(name) === undefined;
      return isNew ? this.tables.plans.createDatabase(name, options).changes : undefined;
    });
    if (later !== undefined) await later;
    if (!isNew) return false;
    failPoint("create.after-commit");
    await this.meta.settled();
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    return this.drop(() => {
      if (ifExists && this.tables.schemas.database(name) === undefined) return undefined;
      return this.tables.plans.dropDatabase(name);
    });
  }

  async createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    const { database, name } = definition;
    let existing: Table | undefined;
    let id: TableId | undefined;
    failPoint("create.before-commit");
    const later = this.tables.make(() => {
      existing = ifNotExists ? this.tables.live.table(database, name) : undefined;
      if (existing !== undefined) return undefined;
      const plan = this.tables.planOf([{ kind: "create", definition }]);
      [id] = plan.tableIds;
      return plan.changes;
    });
    if (later !== undefined) await later;
    if (existing !== undefined) return existing;
    failPoint("create.after-commit");
    const table = this.tables.tableOfId(id, database, name);
    await this.meta.settled(); // Somebody may drop the table meanwhile.
    return table;
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    return this.drop(() => {
      if (ifExists && this.tables.schemas.schema(database, name) === undefined) return undefined;
      if ((this.tables.live.find(database, name)?.physical?.logicalCount ?? 0) > 0) {
        throw invalidArguments("Physical region is busy, there are still some logical regions using it");
      }
      return this.tables.plans.dropTable(database, name);
    });
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    failPoint("alter.before-commit");
    const later = this.tables.make(() => this.tables.plans.alterDatabase(name, options).changes);
    if (later !== undefined) await later;
    failPoint("alter.after-commit");
    await this.meta.settled();
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const old = this.tables.schemas.schema(database, name);
    // What it merged until now stays merged.
    if (old !== undefined && changesMerging(old, change)) await this.flush(old);
    const elsewhere = old === undefined ? undefined : await this.endElsewhere(old, change);
    failPoint(change.kind === "rename" ? "rename.before-commit" : "alter.before-commit");
    let id: TableId | undefined;
    const later = this.tables.make(() => {
      const plan = this.tables.planOf([
        { kind: "alter", database, table: name, change: behindRows(change, () => this.endOf(database, name, elsewhere)) },
      ]);
      [id] = plan.tableIds;
      return plan.changes;
    });
    if (later !== undefined) await later;
    failPoint(change.kind === "rename" ? "rename.after-commit" : "alter.after-commit");
    const table = this.tables.tableOfId(id, database, name);
    await this.meta.settled(); // Somebody may drop the table meanwhile.
    return table;
  }

  private async flush(schema: TableSchema): Promise<void> {
    const { elsewhere, flusher } = this.parts;
    if (elsewhere !== undefined) await elsewhere.flush(schema);
    else await flusher.flush(...this.tables.regionsOf(schema.database, schema.name));
  }

  /** What lies behind the newest row of a table: where rows are here, as it is now. */
  private endOf(database: string, name: string, elsewhere: bigint | undefined): bigint | undefined {
    return this.parts.elsewhere === undefined ? this.tables.live.table(database, name)?.timeBounds()?.end : elsewhere;
  }

  /** The same where rows are elsewhere, if the change needs it: as it is when they are asked, so that rows may come behind it meanwhile. */
  private async endElsewhere(schema: TableSchema, change: SchemaChange): Promise<bigint | undefined> {
    return changesSpread(change) ? (await this.parts.elsewhere?.timeBounds(schema))?.end : undefined;
  }

  async createView(definition: ViewDefinition, orReplace: boolean): Promise<void> {
    failPoint("create.before-commit");
    const later = this.tables.make(() => this.tables.plans.createView(definition, orReplace).changes);
    if (later !== undefined) await later;
    failPoint("create.after-commit");
    await this.meta.settled();
  }

  async dropView(database: string, name: string, ifExists: boolean): Promise<boolean> {
    let isThere = true;
    failPoint("drop.before-commit");
    const later = this.tables.make(() => {
      isThere = !ifExists || this.tables.schemas.view(database, name) !== undefined;
      return isThere ? this.tables.plans.dropView(database, name).changes : undefined;
    });
    if (later !== undefined) await later;
    if (!isThere) return false;
    failPoint("drop.after-commit");
    await this.meta.settled();
    return true;
  }

  /** Begins what is left to do of tables that nobody finds any more, whoever dropped them: their names may be taken again meanwhile. */
  gone(gone: GoneTables): void {
    const left = this.leave(gone);
    for (const id of gone.ids) this.leaving.set(id, left);
    const end = (): void => {
      for (const id of gone.ids) this.leaving.delete(id);
    };
    left.then(end, (error: unknown) => {
      end();
      // Who dropped them hears it too. What is left goes at the next start.
      this.parts.logger.warn({ tables: gone.ids.length, error: errorText(error) }, "cannot clean up after tables that were dropped");
    });
  }

  /** Drops what a plan names; false: there was nothing to drop. Resolves when what is left of it is gone too. */
  private async drop(plan: () => CatalogPlan | undefined): Promise<boolean> {
    let planned: CatalogPlan | undefined;
    failPoint("drop.before-commit");
    const later = this.tables.make(() => {
      planned = plan();
      return planned?.changes;
    });
    if (later !== undefined) await later;
    if (planned === undefined) return false;
    for (const id of planned.tableIds) await this.leaving.get(id);
    await this.meta.settled();
    return true;
  }

  private async leave({ entries, unclean }: GoneTables): Promise<void> {
    const { live } = this.tables;
    const { compactor } = this.parts;
    await this.meta.settled();
    for (const region of unclean) if (live.isLive(region)) compactor.poke(region);
    const regions = entries.map(({ table }) => table.region.schemaNow.id);
    const forgotten = this.parts.forgetStorage(regions, unclean);
    const isForgotten = await forgotten.then(
      () => true,
      () => false, // Told below, once memory is free.
    );
    // Rows of logical tables go with flushes and merges of their physical table.
    if (entries.length > 0) await this.letGo(entries, isForgotten);
    await forgotten;
  }

  /** @param deletes whether nothing names the files any more; else they stay until a start takes the entries away */
  private async letGo(entries: readonly TableEntry[], deletes: boolean): Promise<void> {
    const { flusher, threads, trimmer } = this.parts;
    await Promise.all(entries.map(({ table }) => threads.barrier(table.schema.id))); // Their memory comes back.
    await flusher.idle(); // A flush of one of them, if it runs, still reads its memory.
    for (const { table } of entries) {
      if (deletes) await flusher.forget(table.region);
      await table.region.close(deletes);
    }
    failPoint("drop.files-deleted");
    await trimmer.trim();
  }
}

/** A change of spread holds for times behind all rows as they are when it is made: some may have come while it waited. */
function behindRows(change: SchemaChange, endOf: () => bigint | undefined): SchemaChange {
  if (change.kind === "several") return { ...change, changes: change.changes.map((one) => behindRows(one, endOf)) };
  if (change.kind !== "set-spread") return change;
  const end = endOf();
  return end === undefined || end <= change.from ? change : { ...change, from: end };
}

/** Whether rows lie in other shards after a change. */
function changesSpread(change: SchemaChange): boolean {
  return change.kind === "several" ? change.changes.some(changesSpread) : change.kind === "set-spread";
}

/** Whether rows of equal tags and time are treated in another way after a change. */
function changesMerging(schema: TableSchema, change: SchemaChange): boolean {
  if (change.kind === "several") return change.changes.some((one) => changesMerging(schema, one));
  if (change.kind !== "set-options") return false;
  return mergeModeOf(schema) !== mergeModeOf({ options: changedOptions(schema.options, change.options) });
}
