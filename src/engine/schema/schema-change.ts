/**
 * What a schema is after a change, or why the change cannot be (contract query.md 1.5). Nothing is stored here.
 */
import { unreachable } from "../../base/assert.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, displayName, sameType } from "../../column/data-type.ts";
import { canRetype, retypeScalar } from "../../value/retype.ts";
import type {
  ColumnDefault,
  ColumnDefinition,
  ColumnPlace,
  ColumnSchema,
  NewColumn,
  SchemaChange,
  TableSchema,
} from "../../table/schema.ts";
import { columnNotFound, columnNamed } from "../../table/not-found.ts";
import { changedSpreads, SPREAD_OPTION } from "../../table/shards/spread.ts";
import { checkColumnName } from "./name-rules.ts";
import { checkTableName } from "../../table/names.ts";

/** A schema with the id that its next new column gets, which only grows. */
export interface VersionedSchema {
  readonly schema: TableSchema;
  readonly nextColumnId: number;
}

type ChangeOf<K extends SchemaChange["kind"]> = Extract<SchemaChange, { kind: K }>;

/** The schema after a change; its version is one higher. @throws DbError TableColumnNotFound, TableColumnExists, InvalidArguments */
export function changedSchema(entry: VersionedSchema, change: SchemaChange): VersionedSchema {
  const next = applied(entry, change);
  return { ...next, schema: { ...next.schema, version: entry.schema.version + 1 } };
}

function applied(entry: VersionedSchema, change: SchemaChange): VersionedSchema {
  switch (change.kind) {
    case "add-columns":
      return withColumns(entry, change.columns, change.ifNotExists);
    case "drop-columns":
      return withoutColumns(entry, change.names);
    case "change-type":
      return withType(entry, change);
    case "set-default":
      return withColumn(entry, defaulted(entry.schema, change));
    case "set-indexes": {
      const { indexes: _, ...column } = columnNamed(entry.schema, change.column);
      return withColumn(entry, change.indexes.length === 0 ? column : { ...column, indexes: change.indexes });
    }
    case "set-comment": {
      const { comment: _, ...column } = columnNamed(entry.schema, change.column);
      return withColumn(entry, change.comment === undefined ? column : { ...column, comment: change.comment });
    }
    case "set-options":
      return { ...entry, schema: { ...entry.schema, options: changedOptions(entry.schema.options, change.options) } };
    case "set-spread":
      return { ...entry, schema: spreadChanged(entry.schema, change) };
    case "rename": {
      checkTableName(change.name);
      if (change.name === entry.schema.name) {
        const { database, name } = entry.schema;
        throw new DbError(StatusCode.TableAlreadyExists, `Table already exists, table: greptime.${database}.${name}`);
      }
      const { isUnfinished: _, ...schema } = entry.schema;
      return { ...entry, schema: { ...schema, name: change.name } };
    }
    case "several":
      return change.changes.reduce(applied, entry);
    default:
      return unreachable(change);
  }
}

function spreadChanged(schema: TableSchema, { spread, from }: ChangeOf<"set-spread">): TableSchema {
  const { spreads: _, ...rest } = schema;
  const spreads = changedSpreads(schema, spread, from);
  const options = changedOptions(schema.options, { [SPREAD_OPTION]: spread === undefined ? undefined : String(spread) });
  return { ...rest, options, ...(spreads.length === 1 ? {} : { spreads }) };
}

/** Options after a change: undefined takes one away. */
export function changedOptions(
  options: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const changed = { ...options };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete changed[key];
    else changed[key] = value;
  }
  return changed;
}

/** Refuses too many columns. @throws DbError InvalidArguments */
export function checkColumnCount(table: string, count: number): void {
  if (count <= TABLE_COLUMNS_MAX) return;
  throw invalidArguments(
    `cannot give table ${table} ${count} columns: the limit is ${TABLE_COLUMNS_MAX}; use fewer distinct tag and field names`,
  );
}

/** Refuses names that are bad or used twice, and too many columns. @throws DbError InvalidArguments */
export function checkColumns(table: string, columns: readonly ColumnDefinition[]): void {
  checkColumnCount(table, columns.length);
  const names = new Set<string>();
  for (const { name } of columns) {
    checkColumnName(name);
    if (names.has(name)) throw invalidArguments(`cannot give table ${table} two columns of the name ${name}`);
    names.add(name);
  }
}

function withColumns(entry: VersionedSchema, added: readonly NewColumn[], ifNotExists: boolean): VersionedSchema {
  const { schema } = entry;
  const columns: ColumnSchema[] = [...schema.columns];
  const primaryKey = [...schema.primaryKey];
  let { nextColumnId } = entry;
  for (const { place, ifNotExists: ownIfNotExists, ...column } of added) {
    if (column.semantic === "timestamp") {
      throw invalidArguments(`cannot add time index ${column.name} to table ${schema.name}: it has one`);
    }
    if (columns.some(({ name }) => name === column.name)) {
      if (ownIfNotExists ?? ifNotExists) continue;
      throw new DbError(StatusCode.TableColumnExists, `Column ${column.name} already exists in table ${schema.name}`);
    }
    if (!column.nullable && isNull(column.default)) throw invalidAlter(schema, `no default value for column ${column.name}`);
    columns.splice(positionOf(schema.name, columns, place), 0, { ...column, id: nextColumnId++ });
    if (column.semantic === "tag") primaryKey.push(column.name);
  }
  checkColumns(schema.name, columns);
  return { schema: { ...schema, columns, primaryKey }, nextColumnId };
}

function positionOf(table: string, columns: readonly ColumnSchema[], place: ColumnPlace | undefined): number {
  if (place === undefined) return columns.length;
  if (place.kind === "first") return 0;
  const before = columns.findIndex(({ name }) => name === place.column);
  if (before < 0) throw columnNotFound(table, place.column);
  return before + 1;
}

function withoutColumns(entry: VersionedSchema, names: readonly string[]): VersionedSchema {
  const { schema } = entry;
  let columns = schema.columns;
  for (const name of names) {
    const column = columns.find((candidate) => candidate.name === name);
    if (column === undefined) throw columnNotFound(schema.name, name);
    if (column.semantic !== "field") {
      throw invalidArguments(`Not allowed to remove index column ${name} from table ${schema.name}`);
    }
    columns = columns.filter((candidate) => candidate !== column);
  }
  return { ...entry, schema: { ...schema, columns } };
}

/** The column under a new id, by which its values of the new type are told from those of the old one. */
function withType(entry: VersionedSchema, { column: name, type }: ChangeOf<"change-type">): VersionedSchema {
  const { schema, nextColumnId } = entry;
  const { indexes, hints: _, ...column } = columnNamed(schema, name);
  if (column.semantic === "tag") throw invalidAlter(schema, `Not allowed to change primary key index column '${name}'`);
  if (column.semantic === "timestamp") throw invalidAlter(schema, `Not allowed to change timestamp index column '${name}' datatype`);
  if (!canRetype(column.type, type)) {
    throw invalidAlter(schema, `column '${name}' cannot be cast automatically to type '${displayName(type)}'`);
  }
  if (!column.nullable) throw invalidAlter(schema, `column '${name}' must be nullable to ensure safe conversion.`);
  if (sameType(column.type, type)) return entry;
  const kept = indexes?.filter((index) => type.kind === "string" || !index.startsWith("FULLTEXT")) ?? [];
  const changed = withColumn(entry, {
    ...column,
    ...(kept.length === 0 ? {} : { indexes: kept }),
    ...(column.default === undefined ? {} : { default: retypedDefault(column.default, column.type, type) }),
    ...(column.initial === undefined ? {} : { initial: retypedDefault(column.initial, column.type, type) }),
    type,
    former: [...(column.former ?? []), { id: column.id, type: column.type }],
    id: nextColumnId,
  });
  return { ...changed, nextColumnId: nextColumnId + 1 };
}

/** A default under another type. `current_timestamp()` is one of timestamps only, and becomes NULL elsewhere. */
function retypedDefault(value: ColumnDefault, from: DataType, to: DataType): ColumnDefault {
  if (value.kind === "now") return to.kind === "timestamp" ? value : { kind: "literal", value: undefined };
  return { kind: "literal", value: retypeScalar(value.value, from, to) };
}

/** The column with another default. What older rows hold stays what it was. */
function defaulted(schema: TableSchema, change: ChangeOf<"set-default">): ColumnSchema {
  const { default: before, ...column } = columnNamed(schema, change.column);
  if (!column.nullable && column.semantic !== "timestamp") {
    if (change.default === undefined) throw invalidAlter(schema, `column ${column.name} is not nullable and \`default\` cannot be dropped`);
    if (isNull(change.default)) throw invalidArguments("Default value should not be null for non null column");
  }
  const initial = column.initial ?? before ?? { kind: "literal", value: undefined };
  return { ...column, initial, ...(change.default === undefined ? {} : { default: change.default }) };
}

function isNull(value: ColumnDefault | undefined): boolean {
  return value === undefined || (value.kind === "literal" && value.value === undefined);
}

/** The schema with a column in the place of the one of its name. */
function withColumn(entry: VersionedSchema, column: ColumnSchema): VersionedSchema {
  const columns = entry.schema.columns.map((old) => (old.name === column.name ? column : old));
  return { ...entry, schema: { ...entry.schema, columns } };
}

function invalidAlter({ name }: TableSchema, why: string): DbError {
  return invalidArguments(`Invalid alter table(${name}) request: ${why}`);
}
