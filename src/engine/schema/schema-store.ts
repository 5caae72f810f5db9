/**
 * Databases and schemas: the ones in force, in memory, and their entries in the meta store. Every change is one commit, made before the
 * new schema is used.
 */
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { DATABASES_MAX, TABLES_PER_DATABASE_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import type { MetaChange, MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { DatabaseInfo } from "../../table/catalog.ts";
import { databaseNotFound, tableNotFound } from "../../table/not-found.ts";
import { isPhysicalTable, physicalTableOf } from "../../table/metric.ts";
import type { SchemaChange, TableDefinition, TableSchema } from "../../table/schema.ts";
import type { ViewDefinition, ViewInfo } from "../../table/view.ts";
import { decodeSchema, encodeSchema, fileKey, flushedKey, numberOf, tableKey, uncleanKey } from "./meta-codec.ts";
import { checkDatabaseName, checkFreeName } from "./name-rules.ts";
import { changedOptions, changedSchema, checkColumns } from "./schema-change.ts";
import { ViewEntries } from "./view-entries.ts";
import { tableNameKey } from "../../table/names.ts";

/** Databases that exist on every server. */
const BUILT_IN_DATABASES: readonly string[] = ["greptime_private", "information_schema", "public"];
const NEXT_TABLE = "next/table";
const NEXT_FILE = "next/file";
/** Ids below are those of tables that the server computes (contract query.md 3.2); directories of older servers have tables there too. */
const FIRST_TABLE_ID = 1024;
/** File ids taken from the meta store at a time; the rest of a block is lost at a restart. */
const FILE_ID_BLOCK = 1024;

/** How much a catalog holds. */
export interface CatalogLimits {
  readonly databases: number;
  readonly tablesPerDatabase: number;
}

const LIMITS: CatalogLimits = { databases: DATABASES_MAX, tablesPerDatabase: TABLES_PER_DATABASE_MAX };

interface TableEntry {
  schema: TableSchema;
  nextColumnId: number;
}

interface DatabaseEntry {
  info: DatabaseInfo;
  readonly tables: Map<string, TableEntry>;
}

/** See the file header. What it answers comes from memory; the meta store is only read when it is made. */
export class SchemaStore {
  private readonly meta: MetaStore;
  private readonly limits: CatalogLimits;
  private readonly clock: Clock | undefined;
  private readonly entries: Map<string, DatabaseEntry> = new Map();
  private readonly viewEntries: ViewEntries;
  private nextTable = 1;
  private nextFile = 1;
  private fileIdsEnd = 1;

  /**
   * Loads all databases and schemas.
   *
   * @param clock tells when tables are created; without one their schemas do not say
   * @throws DbError StorageUnavailable
   */
  constructor(meta: MetaStore, limits: CatalogLimits = LIMITS, clock?: Clock) {
    this.meta = meta;
    this.limits = limits;
    this.clock = clock;
    for (const name of BUILT_IN_DATABASES) this.entries.set(name, { info: { name, options: {} }, tables: new Map() });
    for (const { key, value } of meta.list("database/")) {
      const name = key.slice("database/".length);
      const options = (value as { readonly options?: Readonly<Record<string, string>> } | null)?.options ?? {};
      this.entries.set(name, { info: { name, options }, tables: new Map() });
    }
    for (const { key, value } of meta.list("table/")) {
      const entry = decodeSchema(key, value);
      this.databaseOf(entry.schema.database).tables.set(entry.schema.name, entry);
    }
    this.viewEntries = new ViewEntries(meta);
    this.nextTable = numberOf(NEXT_TABLE, meta.get(NEXT_TABLE) ?? 1);
    this.nextFile = numberOf(NEXT_FILE, meta.get(NEXT_FILE) ?? 1);
    this.fileIdsEnd = this.nextFile;
  }

  /** Ids of tables from this one on were never given out. */
  get nextTableId(): number {
    return this.nextTable;
  }

  /** Ids of files from this one on were never given out by an earlier process. */
  get nextFileId(): number {
    return this.fileIdsEnd;
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

  /** @throws DbError DatabaseAlreadyExists, Unexpected (a bad name), InvalidArguments (a system schema) */
  createDatabase(name: string, options: Readonly<Record<string, string>>): void {
    if (name === "information_schema" || name === "pg_catalog") {
      throw invalidArguments(`Schema ${name} already exists`);
    }
    if (this.entries.has(name)) throw new DbError(StatusCode.DatabaseAlreadyExists, `Schema ${name} already exists`);
    checkDatabaseName(name);
    const { databases } = this.limits;
    if (this.entries.size >= databases) {
      throw invalidArguments(`cannot create database ${name}: there are ${databases}, which is the limit; drop some, or use tables`);
    }
    this.meta.commit([{ key: `database/${name}`, value: { options: { ...options } } }]);
    this.entries.set(name, { info: { name, options }, tables: new Map() });
  }

  /**
   * Forgets a database and its tables; returns their schemas, so that their data can go.
   *
   * @throws DbError DatabaseNotFound; InvalidArguments for one that belongs to the server
   */
  dropDatabase(name: string): TableSchema[] {
    const entry = this.databaseOf(name);
    if (BUILT_IN_DATABASES.includes(name)) {
      throw invalidArguments(`cannot drop database ${name}: it belongs to the server`);
    }
    // Physical tables come last: what their logical tables leave behind goes with them.
    const dropped = [...entry.tables.values()].map(({ schema }) => schema);
    dropped.sort((a, b) => Number(isPhysicalTable(a)) - Number(isPhysicalTable(b)));
    const removals = [...this.viewEntries.removals(name), ...dropped.flatMap((schema) => this.removal(schema))];
    this.meta.commit([{ key: `database/${name}`, value: undefined }, ...removals]);
    this.entries.delete(name);
    this.viewEntries.forget(name);
    return dropped;
  }

  /** @throws DbError DatabaseNotFound; InvalidArguments for one that belongs to the server and is not `public` */
  alterDatabase(name: string, changes: Readonly<Record<string, string | undefined>>): void {
    const entry = this.databaseOf(name);
    if (BUILT_IN_DATABASES.includes(name) && name !== "public") {
      throw invalidArguments(`cannot alter database ${name}: it belongs to the server`);
    }
    const options = changedOptions(entry.info.options, changes);
    this.meta.commit([{ key: `database/${name}`, value: { options: { ...options } } }]);
    entry.info = { name, options };
  }

  /** @throws DbError DatabaseNotFound, TableAlreadyExists, InvalidArguments */
  createTable(definition: TableDefinition): TableSchema {
    return this.applyAll([{ kind: "create", definition }])[0] as TableSchema;
  }

  /** Forgets a table with all its entries. @throws DbError TableNotFound */
  dropTable(database: string, table: string): TableSchema {
    const { schema } = this.entryOf(database, table);
    this.meta.commit(this.removal(schema));
    this.databaseOf(database).tables.delete(table);
    return schema;
  }

  /** Views of a database, by name. */
  views(database: string): readonly ViewInfo[] {
    return this.viewEntries.list(database);
  }

  view(database: string, name: string): ViewInfo | undefined {
    return this.viewEntries.find(database, name);
  }

  /** @throws DbError DatabaseNotFound, TableAlreadyExists, InvalidArguments */
  createView(definition: ViewDefinition, orReplace: boolean): void {
    const { database, name } = definition;
    const old = this.viewEntries.find(database, name);
    if (this.databaseOf(database).tables.has(name)) throw alreadyExists("Table", database, name);
    if (old !== undefined && !orReplace) throw alreadyExists("View", database, name);
    checkFreeName(database, name);
    if (old === undefined) this.checkTableCount(definition, new Map());
    const fresh = this.freshTableId;
    const view: ViewInfo = { ...definition, id: old?.id ?? tableId(fresh) };
    const next = old === undefined ? fresh + 1 : this.nextTable;
    this.meta.commit([this.viewEntries.entryOf(view), { key: NEXT_TABLE, value: next }]);
    this.nextTable = next;
    this.viewEntries.set(view);
  }

  /** @throws DbError TableNotFound */
  dropView(database: string, name: string): void {
    const view = this.viewEntries.find(database, name);
    if (view === undefined) throw tableNotFound(database, name);
    this.meta.commit([this.viewEntries.removalOf(view)]);
    this.viewEntries.delete(view);
  }

  /** Gives a logical table another id, by which its rows are another table's, and so gone. @throws DbError TableNotFound */
  renumber(database: string, table: string): TableSchema {
    const entry = this.entryOf(database, table);
    const id = this.freshTableId;
    const schema: TableSchema = { ...entry.schema, id: tableId(id), version: entry.schema.version + 1 };
    this.meta.commit([
      ...this.removal(entry.schema),
      { key: tableKey(schema.id), value: encodeSchema(schema, entry.nextColumnId) },
      { key: NEXT_TABLE, value: id + 1 },
    ]);
    this.nextTable = id + 1;
    entry.schema = schema;
    return schema;
  }

  /** Applies creations and changes in one commit and returns the new schemas in order. @throws DbError; then nothing changed */
  applyAll(steps: readonly SchemaStep[]): TableSchema[] {
    const changed = new Map<string, TableEntry>();
    let nextTable = steps.some(({ kind }) => kind === "create") ? this.freshTableId : this.nextTable;
    const results: TableEntry[] = [];
    for (const step of steps) {
      if (step.kind === "create") this.checkTableCount(step.definition, changed);
      if (step.kind === "create") checkNewHere(step.definition, changed);
      const next = step.kind === "create" ? this.created(step.definition, nextTable++) : this.altered(step, changed);
      if (step.kind === "alter" && next.schema.name !== step.table) this.checkFree(next.schema, changed);
      changed.set(tableNameKey(next.schema.database, step.kind === "alter" ? step.table : next.schema.name), next);
      results.push(next);
    }
    const changes: MetaChange[] = [...changed.values()].map(({ schema, nextColumnId }) => ({
      key: tableKey(schema.id),
      value: encodeSchema(schema, nextColumnId),
    }));
    if (nextTable !== this.nextTable) changes.push({ key: NEXT_TABLE, value: nextTable });
    this.meta.commit(changes);
    this.nextTable = nextTable;
    for (const [key, entry] of changed) {
      const { tables } = this.databaseOf(entry.schema.database);
      const name = key.slice(key.indexOf("\0") + 1);
      if (name !== entry.schema.name) tables.delete(name);
      tables.set(entry.schema.name, entry);
    }
    return results.map(({ schema }) => schema);
  }

  /** The first of `count` ids for data files, never given out before. @throws DbError StorageUnavailable */
  takeFileIds(count: number): number {
    if (this.nextFile + count > this.fileIdsEnd) {
      const end = this.nextFile + Math.max(count, FILE_ID_BLOCK);
      this.meta.commit([{ key: NEXT_FILE, value: end }]);
      this.fileIdsEnd = end;
    }
    const first = this.nextFile;
    this.nextFile += count;
    return first;
  }

  /** Gives back the ids of `[first, end)`, which nobody used. They are lost when others were given out since. */
  returnFileIds(first: number, end: number): void {
    assert(first <= end && end <= this.nextFile, `ids below ${this.nextFile}; got ${first} to ${end}`);
    if (end === this.nextFile) this.nextFile = first;
  }

  /** The id that the next table gets. Not `nextTable`: what a lost meta store did not give out must be told from what it did. */
  private get freshTableId(): number {
    return Math.max(FIRST_TABLE_ID, this.nextTable);
  }

  private checkTableCount({ database, name }: Pick<TableDefinition, "database" | "name">, changed: ReadonlyMap<string, TableEntry>): void {
    const { tablesPerDatabase } = this.limits;
    let count = (this.entries.get(database)?.tables.size ?? 0) + this.viewEntries.count(database);
    if (count + changed.size < tablesPerDatabase) return;
    for (const { schema } of changed.values()) if (schema.database === database && schema.version === 1) count++;
    if (count < tablesPerDatabase) return;
    throw invalidArguments(
      `cannot create table ${name}: database ${database} has ${tablesPerDatabase} tables, which is the limit; ` +
        "drop some, or tell them apart by a tag",
    );
  }

  private created(definition: TableDefinition, id: number): TableEntry {
    const database = this.databaseOf(definition.database);
    if (database.tables.has(definition.name)) throw alreadyExists("Table", definition.database, definition.name);
    if (this.view(definition.database, definition.name) !== undefined) {
      throw alreadyExists("View", definition.database, definition.name);
    }
    if (definition.database === "information_schema") {
      throw new DbError(StatusCode.Unsupported, "Schema `information_schema` is read-only");
    }
    checkFreeName(definition.database, definition.name);
    checkColumns(definition.name, definition.columns);
    checkKey(definition);
    const columns = definition.columns.map((column, c) => ({ ...column, id: c + 1 }));
    const created = this.clock === undefined ? {} : { createdMillis: this.clock.nowMillis() };
    return { schema: { ...definition, id: tableId(id), version: 1, ...created, columns }, nextColumnId: columns.length + 1 };
  }

  private altered(step: AlterStep, changed: ReadonlyMap<string, TableEntry>): TableEntry {
    const entry = changed.get(tableNameKey(step.database, step.table)) ?? this.entryOf(step.database, step.table);
    return changedSchema(entry, step.change);
  }

  /** The new name of a table is one that no table has. */
  private checkFree({ database, name }: TableSchema, changed: ReadonlyMap<string, TableEntry>): void {
    checkFreeName(database, name);
    const isTaken =
      this.databaseOf(database).tables.has(name) || changed.has(tableNameKey(database, name)) || this.view(database, name) !== undefined;
    if (!isTaken) return;
    throw new DbError(StatusCode.TableAlreadyExists, `Table already exists, table: greptime.${database}.${name}`);
  }

  private databaseOf(name: string): DatabaseEntry {
    const entry = this.entries.get(name);
    if (entry === undefined) throw databaseNotFound(name);
    return entry;
  }

  private entryOf(database: string, table: string): TableEntry {
    const entry = this.databaseOf(database).tables.get(table);
    if (entry === undefined) throw tableNotFound(database, table);
    return entry;
  }

  private removal(schema: TableSchema): MetaChange[] {
    const gone: MetaChange = { key: tableKey(schema.id), value: undefined };
    const physical = physicalTableOf(schema);
    if (physical !== undefined) {
      const carrier = this.schema(schema.database, physical);
      return carrier === undefined ? [gone] : [gone, { key: uncleanKey(carrier.id), value: true }];
    }
    const files = this.meta.list(fileKey(schema.id)).map(({ key }): MetaChange => ({ key, value: undefined }));
    return [
      gone,
      { key: flushedKey(schema.id), value: undefined },
      ...(isPhysicalTable(schema) ? [{ key: uncleanKey(schema.id), value: undefined }] : []),
      ...files,
    ];
  }
}

/** A change of an existing table. */
export interface AlterStep {
  readonly kind: "alter";
  readonly database: string;
  readonly table: string;
  readonly change: SchemaChange;
}

/** One step of a schema transaction. */
export type SchemaStep = { readonly kind: "create"; readonly definition: TableDefinition } | AlterStep;

function alreadyExists(what: "Table" | "View", database: string, name: string): DbError {
  return new DbError(StatusCode.TableAlreadyExists, `${what} already exists: \`greptime.${database}.${name}\``);
}

/** One transaction does not make two tables of one name. @throws DbError TableAlreadyExists */
function checkNewHere({ database, name }: TableDefinition, changed: ReadonlyMap<string, TableEntry>): void {
  if (changed.has(tableNameKey(database, name))) throw alreadyExists("Table", database, name);
}

/** One time index; the primary key is exactly the tags. */
function checkKey({ name, columns, primaryKey }: TableDefinition): void {
  const times = columns.filter(({ semantic }) => semantic === "timestamp").length;
  if (times !== 1) throw invalidArguments(`cannot create table ${name}: it has ${times} time indexes; give it one`);
  const tags = columns.filter(({ semantic }) => semantic === "tag").map((column) => column.name);
  const isKey = new Set(primaryKey).size === primaryKey.length && tags.length === primaryKey.length;
  if (isKey && tags.every((tag) => primaryKey.includes(tag))) return;
  throw invalidArguments(`cannot create table ${name}: its primary key (${primaryKey.join(", ")}) is not its tags (${tags.join(", ")})`);
}
