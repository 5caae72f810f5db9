/**
 * What changes of the catalogue are to its entries: computed on the schemas in force, stored and put in force by others. A plan whose
 * entries were not taken, since somebody else's were first, is made again on what is in force then.
 */
import type { Clock } from "../../base/clock.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { DATABASES_MAX, TABLES_PER_DATABASE_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type TableId, tableId } from "../../base/units.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import { isPhysicalTable } from "../../table/metric.ts";
import { tableNameKey } from "../../table/names.ts";
import { tableNotFound } from "../../table/not-found.ts";
import type { SchemaChange, TableDefinition, TableSchema } from "../../table/schema.ts";
import type { ViewDefinition, ViewInfo } from "../../table/view.ts";
import { encodeSchema, tableKey } from "./meta-codec.ts";
import { checkDatabaseName, checkFreeName } from "./name-rules.ts";
import { changedOptions, changedSchema, checkColumns } from "./schema-change.ts";
import { BUILT_IN_DATABASES, NEXT_TABLE, type SchemaStore, type StoredTable } from "./schema-store.ts";
import { viewEntry, viewRemoval } from "./view-entries.ts";

/** How much a catalog holds. */
export interface CatalogLimits {
  readonly databases: number;
  readonly tablesPerDatabase: number;
}

const LIMITS: CatalogLimits = { databases: DATABASES_MAX, tablesPerDatabase: TABLES_PER_DATABASE_MAX };

/** What a change is to the entries of the catalogue, and the tables that it makes, changes or drops, in order. */
export interface CatalogPlan {
  readonly changes: readonly MetaChange[];
  readonly tableIds: readonly TableId[];
}

/** See the file header. Changes nothing. */
export class CatalogPlans {
  private readonly schemas: SchemaStore;
  private readonly clock: Clock | undefined;
  private readonly limits: CatalogLimits;

  /** @param clock tells when tables are created; without one their schemas do not say */
  constructor(schemas: SchemaStore, clock?: Clock, limits: CatalogLimits = LIMITS) {
    this.schemas = schemas;
    this.clock = clock;
    this.limits = limits;
  }

  /** @throws DbError DatabaseAlreadyExists, Unexpected (a bad name), InvalidArguments (a system schema) */
  createDatabase(name: string, options: Readonly<Record<string, string>>): CatalogPlan {
    if (name === "information_schema" || name === "pg_catalog") {
      throw invalidArguments(`Schema ${name} already exists`);
    }
    if (this.schemas.database(name) !== undefined) {
      throw new DbError(StatusCode.DatabaseAlreadyExists, `Schema ${name} already exists`);
    }
    checkDatabaseName(name);
    const { databases } = this.limits;
    if (this.schemas.databaseCount >= databases) {
      throw invalidArguments(`cannot create database ${name}: there are ${databases}, which is the limit; drop some, or use tables`);
    }
    return databasePlan(name, options);
  }

  /** Removes a database, its views and its tables. @throws DbError DatabaseNotFound; InvalidArguments for one that belongs to the server */
  dropDatabase(name: string): CatalogPlan {
    this.schemas.databaseOf(name);
    if (BUILT_IN_DATABASES.includes(name)) {
      throw invalidArguments(`cannot drop database ${name}: it belongs to the server`);
    }
    // Physical tables come last: what their logical tables leave behind goes with them.
    const dropped = this.schemas.schemas(name);
    dropped.sort((a, b) => Number(isPhysicalTable(a)) - Number(isPhysicalTable(b)));
    const tableIds = dropped.map(({ id }) => id);
    const removals = [...this.schemas.views(name).map(viewRemoval), ...tableIds.map(removal)];
    return { changes: [...removals, { key: `database/${name}`, value: undefined }], tableIds };
  }

  /** @throws DbError DatabaseNotFound; InvalidArguments for one that belongs to the server and is not `public` */
  alterDatabase(name: string, changes: Readonly<Record<string, string | undefined>>): CatalogPlan {
    const { options } = this.schemas.databaseOf(name);
    if (BUILT_IN_DATABASES.includes(name) && name !== "public") {
      throw invalidArguments(`cannot alter database ${name}: it belongs to the server`);
    }
    return databasePlan(name, changedOptions(options, changes));
  }

  /** @throws DbError TableNotFound, DatabaseNotFound */
  dropTable(database: string, table: string): CatalogPlan {
    const { id } = this.schemas.entryOf(database, table).schema;
    return { changes: [removal(id)], tableIds: [id] };
  }

  /** @throws DbError DatabaseNotFound, TableAlreadyExists, InvalidArguments */
  createView(definition: ViewDefinition, orReplace: boolean): CatalogPlan {
    const { database, name } = definition;
    const old = this.schemas.view(database, name);
    this.schemas.databaseOf(database);
    if (this.schemas.schema(database, name) !== undefined) throw alreadyExists("Table", database, name);
    if (old !== undefined && !orReplace) throw alreadyExists("View", database, name);
    checkFreeName(database, name);
    if (old === undefined) this.checkTableCount(definition, new Map());
    const fresh = this.schemas.freshTableId;
    const view: ViewInfo = { ...definition, id: old?.id ?? tableId(fresh) };
    const next = old === undefined ? fresh + 1 : this.schemas.nextTableId;
    return { changes: [viewEntry(view), { key: NEXT_TABLE, value: next }], tableIds: [] };
  }

  /** @throws DbError TableNotFound */
  dropView(database: string, name: string): CatalogPlan {
    const view = this.schemas.view(database, name);
    if (view === undefined) throw tableNotFound(database, name);
    return { changes: [viewRemoval(view)], tableIds: [] };
  }

  /** Gives a logical table another id, by which its rows are another table's, and so gone. @throws DbError TableNotFound */
  renumber(database: string, table: string): CatalogPlan {
    const entry = this.schemas.entryOf(database, table);
    const id = this.schemas.freshTableId;
    const schema: TableSchema = { ...entry.schema, id: tableId(id), version: entry.schema.version + 1 };
    const changes = [removal(entry.schema.id), this.stored({ ...entry, schema }), { key: NEXT_TABLE, value: id + 1 }];
    return { changes, tableIds: [schema.id] };
  }

  /** Creations and changes, all or none. @throws DbError */
  steps(steps: readonly SchemaStep[]): CatalogPlan {
    const changed = new Map<string, StoredTable>();
    let nextTable = steps.some(({ kind }) => kind === "create") ? this.schemas.freshTableId : this.schemas.nextTableId;
    const results: StoredTable[] = [];
    for (const step of steps) {
      if (step.kind === "create") this.checkTableCount(step.definition, changed);
      if (step.kind === "create") checkNewHere(step.definition, changed);
      const next = step.kind === "create" ? this.created(step.definition, nextTable++) : this.altered(step, changed);
      if (step.kind === "alter" && next.schema.name !== step.table) this.checkFree(next.schema, changed);
      changed.set(tableNameKey(next.schema.database, step.kind === "alter" ? step.table : next.schema.name), next);
      results.push(next);
    }
    const changes: MetaChange[] = [...changed.values()].map((stored) => this.stored(stored));
    if (nextTable !== this.schemas.nextTableId) changes.push({ key: NEXT_TABLE, value: nextTable });
    return { changes, tableIds: results.map(({ schema }) => schema.id) };
  }

  private stored(table: StoredTable): MetaChange {
    const change = { key: tableKey(table.schema.id), value: encodeSchema(table.schema, table.nextColumnId) };
    this.schemas.planned(change, table);
    return change;
  }

  private checkTableCount({ database, name }: Pick<TableDefinition, "database" | "name">, changed: ReadonlyMap<string, StoredTable>): void {
    const { tablesPerDatabase } = this.limits;
    let count = this.schemas.tableCount(database) + this.schemas.viewCount(database);
    if (count + changed.size < tablesPerDatabase) return;
    for (const { schema } of changed.values()) if (schema.database === database && schema.version === 1) count++;
    if (count < tablesPerDatabase) return;
    throw invalidArguments(
      `cannot create table ${name}: database ${database} has ${tablesPerDatabase} tables, which is the limit; ` +
        "drop some, or tell them apart by a tag",
    );
  }

  private created(definition: TableDefinition, id: number): StoredTable {
    this.schemas.databaseOf(definition.database);
    if (this.schemas.schema(definition.database, definition.name) !== undefined)
      throw alreadyExists("Table", definition.database, definition.name);
    if (this.schemas.view(definition.database, definition.name) !== undefined) {
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

  private altered(step: AlterStep, changed: ReadonlyMap<string, StoredTable>): StoredTable {
    const entry = changed.get(tableNameKey(step.database, step.table)) ?? this.schemas.entryOf(step.database, step.table);
    return changedSchema(entry, step.change);
  }

  /** The new name of a table is one that no table has. */
  private checkFree({ database, name }: TableSchema, changed: ReadonlyMap<string, StoredTable>): void {
    checkFreeName(database, name);
    const isTaken =
      this.schemas.schema(database, name) !== undefined ||
      changed.has(tableNameKey(database, name)) ||
      this.schemas.view(database, name) !== undefined;
    if (!isTaken) return;
    throw new DbError(StatusCode.TableAlreadyExists, `Table already exists, table: greptime.${database}.${name}`);
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

function databasePlan(name: string, options: Readonly<Record<string, string>>): CatalogPlan {
  return { changes: [{ key: `database/${name}`, value: { options: { ...options } } }], tableIds: [] };
}

function removal(id: TableId): MetaChange {
  return { key: tableKey(id), value: undefined };
}

/** One transaction does not make two tables of one name. @throws DbError TableAlreadyExists */
function checkNewHere({ database, name }: TableDefinition, changed: ReadonlyMap<string, StoredTable>): void {
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
