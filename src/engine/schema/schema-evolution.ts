/**
 * What a batch needs that the catalog lacks: tables to create and columns to add, or the error when that is not allowed.
 */
import { presenceOf } from "../../column/coded-text.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, FLOAT64, INT64, sameType, sqlName, STRING } from "../../column/data-type.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { FieldWrite, TableWrite, WriteOptions } from "../../table/write-batch.ts";
import { checkColumnCount } from "./schema-change.ts";

/** Name of the time index of a table made by a write. */
export const DEFAULT_TIME_COLUMN = "greptime_timestamp";

/** Tag names of some keys, in order of first sight. */
export function tagNamesOf(dictionary: SeriesDictionary, keys: readonly number[]): string[] {
  const names = new Set<string>();
  let last: readonly string[] | undefined;
  for (const key of keys) {
    const { names: own } = dictionary.shapeOf(key);
    if (own === last) continue; // Keys of one shape share the list.
    last = own;
    for (const name of own) names.add(name);
  }
  return [...names];
}

/**
 * Columns for a table that does not exist: tags and fields of the first row, the time index, then what other rows add (ingest.md 1.5).
 *
 * @throws DbError InvalidArguments when a name stands for two columns
 */
export function columnsForNewTable(write: TableWrite, dictionary: SeriesDictionary, tagNames: readonly string[]): ColumnDefinition[] {
  const { shape } = write;
  if (shape !== undefined) return [...shape, ...missingColumns({ name: write.table, columns: shape }, tagNames, write.fields)];
  const firstTags = new Set(dictionary.shapeOf(write.keys[0] as number).names);
  const isFirst = (field: FieldWrite): boolean => field.vector.kind === "dictionary" || presenceOf(field.vector, 1)?.[0] !== 0;
  const time: ColumnDefinition = {
    name: DEFAULT_TIME_COLUMN,
    type: { kind: "timestamp", unit: write.timeUnit },
    semantic: "timestamp",
    nullable: false,
  };
  missingColumns({ name: write.table, columns: [time] }, tagNames, write.fields); // Refuses a name that is used twice.
  return [
    ...tagNames.filter((name) => firstTags.has(name)).map(tagColumn),
    ...write.fields.filter(isFirst).map(fieldColumn),
    time,
    ...tagNames.filter((name) => !firstTags.has(name)).map(tagColumn),
    ...write.fields.filter((field) => !isFirst(field)).map(fieldColumn),
  ];
}

/** What of a table's schema evolution looks at; also that of a table about to be created. */
export interface KnownColumns {
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
}

/**
 * Columns that a table lacks for these tags and fields, made as `shape` says.
 *
 * @throws DbError InvalidArguments when one has another type or role
 */
export function missingColumns(
  schema: KnownColumns,
  tagNames: readonly string[],
  fields: readonly FieldWrite[],
  shape: readonly ColumnDefinition[] = [],
): ColumnDefinition[] {
  // All of them would be columns. Said before a million names of a request are looked at one by one.
  checkColumnCount(schema.name, tagNames.length + fields.length);
  const missing: ColumnDefinition[] = [];
  const known = new Map(schema.columns.map((column) => [column.name, column]));
  const add = (column: ColumnDefinition): void => {
    const made = shape.find(
      ({ name, semantic, type }) =>
        name === column.name && semantic === column.semantic && (semantic === "tag" || sameType(type, column.type)),
    );
    missing.push(made ?? column);
    known.set(column.name, column);
  };
  for (const name of tagNames) {
    const column = known.get(name);
    if (column === undefined) add(tagColumn(name));
    else if (column.semantic !== "tag") throw conflict(schema, name, `a ${column.semantic} column`, "a tag");
  }
  for (const field of fields) {
    const column = known.get(field.name);
    if (column === undefined) add(fieldColumn(field));
    else if (column.semantic !== "field") throw conflict(schema, field.name, `a ${column.semantic} column`, "a field");
    else if (!sameType(column.type, field.type)) throw conflict(schema, field.name, sqlName(column.type), sqlName(field.type));
  }
  return missing;
}

/** BIGINT fields that these make DOUBLE (`FieldWrite.widens`); none where the write may not extend the table. */
export function widenedColumns(schema: KnownColumns, fields: readonly FieldWrite[], { autoCreate }: WriteOptions): readonly string[] {
  const asked = autoCreate ? fields.filter(({ widens, type }) => widens === true && sameType(type, FLOAT64)) : [];
  if (asked.length === 0) return [];
  const known = new Map(schema.columns.map((column) => [column.name, column]));
  return asked.flatMap(({ name }) => {
    const column = known.get(name);
    return column?.semantic === "field" && sameType(column.type, INT64) ? [name] : [];
  });
}

/** The columns once those are DOUBLE. */
export function withWidened({ name, columns }: KnownColumns, widened: readonly string[]): KnownColumns {
  return { name, columns: columns.map((column) => (widened.includes(column.name) ? { ...column, type: FLOAT64 } : column)) };
}

/** @throws DbError when columns would have to be added and the write may not do so */
export function checkMayExtend(schema: KnownColumns, missing: readonly ColumnDefinition[], options: WriteOptions): void {
  if (options.autoCreate || missing.length === 0) return;
  throw new DbError(
    StatusCode.TableColumnNotFound,
    `cannot write to table ${schema.name}: it has no column ${missing[0]?.name ?? ""}, and auto_create_table is off`,
  );
}

/** The error for a missing table that the write may not create. */
export function tableMissing(database: string, table: string, options: WriteOptions): DbError | undefined {
  if (options.autoCreate) return undefined;
  return new DbError(
    StatusCode.TableNotFound,
    `Table \`${table}\` does not exist, and \`auto_create_table\` hint is disabled (database ${database})`,
  );
}

function conflict(schema: KnownColumns, column: string, have: string, got: string): DbError {
  return invalidArguments(`cannot write to table ${schema.name}: column ${column} is ${have}; got ${got}`);
}

/** A tag as writes make it. */
export function tagColumn(name: string): ColumnDefinition {
  return { name, type: STRING, semantic: "tag", nullable: true };
}

function fieldColumn(field: { readonly name: string; readonly type: DataType }): ColumnDefinition {
  return { name: field.name, type: field.type, semantic: "field", nullable: true };
}
