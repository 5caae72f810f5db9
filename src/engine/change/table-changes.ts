/**
 * Databases and tables that clients make, change and drop, and who waits for whom. Each change is one commit of the schema store and in
 * force at once; the call returns when it is durable.
 */
import { failPoint } from "../../base/process/fail-point.ts";
import { invalidArguments } from "../../base/error.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { mergeModeOf, type SchemaChange, type TableDefinition, type TableSchema } from "../../table/schema.ts";
import type { ViewDefinition } from "../../table/view.ts";
import type { Compactor } from "../compaction/compactor.ts";
import type { Flusher } from "../flush/flusher.ts";
import type { LogTrimmer } from "../flush/log-trimmer.ts";
import { changedOptions } from "../schema/schema-change.ts";
import type { TablesInForce } from "../catalog/tables-in-force.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";

/** What a change of tables touches. */
export interface TableChangesParts {
  readonly meta: MetaStore;
  readonly compactor: Compactor;
  readonly flusher: Flusher;
  readonly threads: ThreadHosts;
  readonly trimmer: LogTrimmer;
  readonly sure: SureSteps;
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

  constructor(tables: TablesInForce, parts: TableChangesParts) {
    this.tables = tables;
    this.meta = parts.meta;
    this.parts = parts;
  }

  async createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean> {
    if (ifNotExists && this.tables.schemas.database(name) !== undefined) return false;
    failPoint("create.before-commit");
    this.tables.schemas.createDatabase(name, options);
    failPoint("create.after-commit");
    this.tables.tellDatabases();
    await this.meta.settled();
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.tables.schemas.database(name) === undefined) return false;
    failPoint("drop.before-commit");
    const dropped = this.tables.schemas.dropDatabase(name);
    this.tables.tellDatabases();
    await this.removeTables(dropped);
    return true;
  }

  async createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    const existing = this.tables.live.table(definition.database, definition.name);
    if (existing !== undefined && ifNotExists) return existing;
    failPoint("create.before-commit");
    const table = this.tables.tableOfId(this.tables.applySteps([{ kind: "create", definition }]));
    failPoint("create.after-commit");
    await this.meta.settled(); // Somebody may drop the table meanwhile.
    return table;
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.tables.schemas.schema(database, name) === undefined) return false;
    if ((this.tables.live.find(database, name)?.physical?.logicalCount ?? 0) > 0) {
      throw invalidArguments("Physical region is busy, there are still some logical regions using it");
    }
    failPoint("drop.before-commit");
    await this.removeTables([this.tables.schemas.dropTable(database, name)]);
    return true;
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    failPoint("alter.before-commit");
    this.tables.schemas.alterDatabase(name, options);
    failPoint("alter.after-commit");
    this.tables.tellDatabases();
    await this.meta.settled();
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const old = this.tables.schemas.schema(database, name);
    // What it merged until now stays merged.
    if (old !== undefined && changesMerging(old, change)) await this.parts.flusher.flush(this.tables.regionOf(database, name));
    failPoint(change.kind === "rename" ? "rename.before-commit" : "alter.before-commit");
    const table = this.tables.tableOfId(this.tables.applySteps([{ kind: "alter", database, table: name, change }]));
    failPoint(change.kind === "rename" ? "rename.after-commit" : "alter.after-commit");
    await this.meta.settled(); // Somebody may drop the table meanwhile.
    return table;
  }

  async createView(definition: ViewDefinition, orReplace: boolean): Promise<void> {
    failPoint("create.before-commit");
    this.tables.schemas.createView(definition, orReplace);
    failPoint("create.after-commit");
    await this.meta.settled();
  }

  async dropView(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.tables.schemas.view(database, name) === undefined) return false;
    failPoint("drop.before-commit");
    this.tables.schemas.dropView(database, name);
    failPoint("drop.after-commit");
    await this.meta.settled();
    return true;
  }

  /** Forgets tables that the schema store has forgotten, all before the first wait: their names may be taken again meanwhile. */
  private async removeTables(schemas: readonly TableSchema[]): Promise<void> {
    const { live, feed } = this.tables;
    const { compactor, flusher, threads, trimmer } = this.parts;
    const { unclean, removed } = this.parts.sure.run("tables that were dropped are gone", () => {
      failPoint("drop.after-commit");
      const gone = {
        unclean: new Set(schemas.flatMap((schema) => live.removeLogical(schema) ?? [])),
        removed: schemas.flatMap((schema) => live.remove(schema) ?? []),
      };
      for (const { id } of schemas) feed.push({ kind: "dropped", tableId: id });
      return gone;
    });
    await this.meta.settled();
    for (const region of unclean) if (live.isLive(region)) compactor.poke(region);
    if (removed.length === 0) return; // Rows of logical tables go with flushes and merges of their physical table.
    await Promise.all(removed.map(({ table }) => threads.barrier(table.schema.id))); // Their memory comes back.
    await flusher.idle(); // A flush of one of them, if it runs, still reads its memory.
    for (const { table } of removed) {
      await flusher.forget(table.region);
      await table.region.close(true);
    }
    failPoint("drop.files-deleted");
    await trimmer.trim();
  }
}

/** Whether rows of equal tags and time are treated in another way after a change. */
function changesMerging(schema: TableSchema, change: SchemaChange): boolean {
  if (change.kind === "several") return change.changes.some((one) => changesMerging(schema, one));
  if (change.kind !== "set-options") return false;
  return mergeModeOf(schema) !== mergeModeOf({ options: changedOptions(schema.options, change.options) });
}
