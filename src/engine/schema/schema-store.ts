/**
 * Databases, schemas and views in force, in memory. They follow the entries of the catalogue: whoever made a change, it comes into force
 * by what it is to the entries (catalog-plans.ts), and in no other way.
 */
import type { DatabaseInfo } from "../../table/catalog.ts";
import { assert } from "../../base/assert.ts";
import type { MetaChange, MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import { physicalTableOf } from "../../table/metric.ts";
import { tableNameKey } from "../../table/names.ts";
import { databaseNotFound, tableNotFound } from "../../table/not-found.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { ViewInfo } from "../../table/view.ts";
import { decodeSchema, numberOf } from "./meta-codec.ts";
import { ViewEntries } from "./view-entries.ts";

/** Databases that exist on every server. */
export const BUILT_IN_DATABASES: readonly string[] = ["greptime_private", "information_schema", "public"];
/** Entry with the least id that no table or view ever had. */
export const NEXT_TABLE = "next/table";
/** Ids below are those of tables that the server computes (contract query.md 3.2); directories of older servers have tables there too. */
const FIRST_TABLE_ID = 1024;

/** A table as its entry has it. */
export interface StoredTable {
  readonly schema: TableSchema;
  readonly nextColumnId: number;
}

interface DatabaseEntry {
  info: DatabaseInfo;
  readonly tables: Map<string, StoredTable>;
}

/** What changed, for those who have tables open. */
export type CatalogEffect =
  /** A new table, or a new version of one. */
  | { readonly kind: "put"; readonly schema: TableSchema }
  | { readonly kind: "dropped"; readonly schema: TableSchema }
  /** A logical table that was emptied: it has another id. */
  | { readonly kind: "renumbered"; readonly old: TableSchema; readonly schema: TableSchema }
  | { readonly kind: "databases" };

/** See the file header. Entries are only read when it is made. */
export class SchemaStore {
  private readonly entries: Map<string, DatabaseEntry> = new Map();
  /** By the key of their entry. */
  private readonly tables: Map<string, StoredTable> = new Map();
  private readonly viewEntries: ViewEntries;
  /** What entries say that were planned in this process: they need not be read. 4,000 new tables in one batch: 8 % of its CPU time. */
  private readonly plannedTables: WeakMap<MetaChange, StoredTable> = new WeakMap();
  private nextTable = 1;
  private followed: number;

  /**
   * Loads all databases, schemas and views.
   *
   * @param version of the entries: how many changes have made them
   * @throws DbError StorageUnavailable
   */
  constructor(meta: Pick<MetaStore, "get" | "list">, version = 0) {
    this.followed = version;
    for (const name of BUILT_IN_DATABASES) this.putDatabase(name, {});
    for (const { key, value } of meta.list("database/")) this.putDatabase(nameOf(key), value);
    for (const { key, value } of meta.list("table/")) this.putTable(key, decodeSchema(key, value));
    this.viewEntries = new ViewEntries(meta);
    this.nextTable = numberOf(NEXT_TABLE, meta.get(NEXT_TABLE) ?? 1);
  }

  /** How many changes have come into force, those that made the entries it began with among them where they were counted. */
  get version(): number {
    return this.followed;
  }

  /** Ids of tables from this one on were never given out. */
  get nextTableId(): number {
    return this.nextTable;
  }

  /** The id that the next table gets. Not `nextTableId`: what a lost meta store did not give out must be told from what it did. */
  get freshTableId(): number {
    return Math.max(FIRST_TABLE_ID, this.nextTable);
  }

  databases(): DatabaseInfo[] {
    return [...this.entries.values()].map(({ info }) => info).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  database(name: string): DatabaseInfo | undefined {
    return this.entries.get(name)?.info;
  }

  /** Schemas of a database; none when it does not exist. */
  schemas(database: string): TableSchema[] {
    return [...(this.entries.get(database)?.tables.values() ?? [])].map(({ schema }) => schema);
  }

  /** How many tables a database has. */
  tableCount(database: string): number {
    return this.entries.get(database)?.tables.size ?? 0;
  }

  /** Schemas of all databases. */
  allSchemas(): TableSchema[] {
    return [...this.entries.keys()].flatMap((name) => this.schemas(name));
  }

  schema(database: string, table: string): TableSchema | undefined {
    return this.entries.get(database)?.tables.get(table)?.schema;
  }

  /** The table whose entry has a key. */
  schemaOfKey(key: string): TableSchema | undefined {
    return this.tables.get(key)?.schema;
  }

  get databaseCount(): number {
    return this.entries.size;
  }

  /** Views of a database, by name. */
  views(database: string): readonly ViewInfo[] {
    return this.viewEntries.list(database);
  }

  view(database: string, name: string): ViewInfo | undefined {
    return this.viewEntries.find(database, name);
  }

  /** How many views a database has. */
  viewCount(database: string): number {
    return this.viewEntries.count(database);
  }

  /** @throws DbError DatabaseNotFound */
  databaseOf(name: string): DatabaseInfo {
    return this.entryOfDatabase(name).info;
  }

  /** @throws DbError DatabaseNotFound, TableNotFound */
  entryOf(database: string, table: string): StoredTable {
    const entry = this.entryOfDatabase(database).tables.get(table);
    if (entry === undefined) throw tableNotFound(database, table);
    return entry;
  }

  /** Says what an entry will say, should it be followed. */
  planned(change: MetaChange, table: StoredTable): void {
    this.plannedTables.set(change, table);
  }

  /** Puts a change in force, whoever made it: all that was taken, in the order in which it was. One call is one version. */
  follow(changes: readonly MetaChange[]): CatalogEffect[] {
    this.followed++;
    const effects: CatalogEffect[] = [];
    /** Places in `effects` of tables that went, by name. */
    const gone = new Map<string, number>();
    for (const change of changes) {
      const { key, value } = change;
      const kind = key.slice(0, key.indexOf("/") + 1);
      if (key === NEXT_TABLE) this.nextTable = numberOf(key, value ?? 1);
      else if (kind === "view/") this.viewEntries.follow(key, value);
      else if (kind === "database/") {
        if (value === undefined) this.dropDatabase(nameOf(key));
        else this.putDatabase(nameOf(key), value);
        effects.push({ kind: "databases" });
      } else if (kind === "table/" && value === undefined) {
        const schema = this.dropTable(key);
        if (schema === undefined) continue;
        gone.set(tableNameKey(schema.database, schema.name), effects.length);
        effects.push({ kind: "dropped", schema });
      } else if (kind === "table/" && value !== undefined) {
        const schema = this.putTable(key, this.plannedTables.get(change) ?? decodeSchema(key, value));
        const place = gone.get(tableNameKey(schema.database, schema.name));
        const before = place === undefined ? undefined : effects[place];
        const isEmptied = before?.kind === "dropped" && physicalTableOf(schema) !== undefined;
        if (isEmptied && place !== undefined) effects[place] = { kind: "renumbered", old: before.schema, schema };
        else effects.push({ kind: "put", schema });
      }
    }
    return effects;
  }

  private putDatabase(name: string, value: MetaValue): void {
    const options = (value as { readonly options?: Readonly<Record<string, string>> } | null)?.options ?? {};
    const known = this.entries.get(name);
    if (known === undefined) this.entries.set(name, { info: { name, options }, tables: new Map() });
    else known.info = { name, options };
  }

  private dropDatabase(name: string): void {
    const tables = this.entries.get(name)?.tables.size ?? 0;
    assert(tables === 0, `tables of a database go before it; got ${name} with ${tables}`);
    this.entries.delete(name);
    this.viewEntries.forget(name);
  }

  private putTable(key: string, entry: StoredTable): TableSchema {
    const { database, name } = entry.schema;
    const former = this.tables.get(key)?.schema.name;
    const { tables } = this.entryOfDatabase(database);
    if (former !== undefined && former !== name) tables.delete(former);
    tables.set(name, entry);
    this.tables.set(key, entry);
    return entry.schema;
  }

  private dropTable(key: string): TableSchema | undefined {
    const schema = this.tables.get(key)?.schema;
    if (schema === undefined) return undefined;
    this.tables.delete(key);
    this.entries.get(schema.database)?.tables.delete(schema.name);
    return schema;
  }

  private entryOfDatabase(name: string): DatabaseEntry {
    const entry = this.entries.get(name);
    if (entry === undefined) throw databaseNotFound(name);
    return entry;
  }
}

/** What stands behind the first `/` of a key. */
function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
