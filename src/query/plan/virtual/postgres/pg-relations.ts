/** Relations as `pg_catalog` has them: tables, views and indexes, each with its number. */
import type { ColumnHeader } from "../../../../column/batch.ts";
import { type DataType, STRING } from "../../../../column/data-type.ts";
import type { Table } from "../../../../table/catalog.ts";
import { isInternalColumn } from "../../../../table/metric.ts";
import { INFORMATION_SCHEMA } from "../../../../table/reserved-names.ts";
import { type ColumnDefinition, mergeModeOf, type TableSchema } from "../../../../table/schema.ts";
import type { ViewInfo } from "../../../../table/view.ts";
import { defaultDisplay } from "../default-display.ts";
import { type InformationSources, type InformationTable, tablesOf } from "../information-table.ts";
import { NUMBERS } from "../numbers.ts";
import { oidOf, PG_CATALOG, relationOid } from "./pg-oids.ts";

/** A column of a relation. */
export interface RelationColumn extends ColumnHeader {
  readonly nullable: boolean;
  /** The expression of its default, as SQL. */
  readonly default?: string | undefined;
  readonly comment?: string | undefined;
}

/** An index: the key of a table, its time index, or what a column asks for. */
export interface RelationIndex {
  readonly oid: number;
  readonly name: string;
  /** As `pg_am.amname`. */
  readonly method: "btree" | "inverted" | "skipping" | "fulltext";
  readonly isUnique: boolean;
  /** Whether it is the key that rows are told apart by. */
  readonly isPrimary: boolean;
  /** Places of its columns among those of the table, counted from 1. */
  readonly columns: readonly number[];
}

/** A table or a view. */
export interface PgRelation {
  readonly oid: number;
  readonly database: string;
  readonly name: string;
  readonly kind: "r" | "v";
  readonly columns: readonly RelationColumn[];
  readonly indexes: readonly RelationIndex[];
  readonly table?: Table;
  readonly view?: ViewInfo;
  readonly comment?: string | undefined;
}

/** What a relation of `pg_catalog` or `information_schema` has for columns; those of user tables are their own. */
interface OwnTables {
  readonly information: readonly InformationTable[];
  readonly catalog: readonly InformationTable[];
}

/** What relations are read from. */
export type RelationSources = Pick<InformationSources, "catalog" | "viewTypes">;

/** Tables and views of users, and of the server. */
export function* pgRelations({ catalog, viewTypes }: RelationSources, own: OwnTables): Iterable<PgRelation> {
  for (const { name: database } of catalog.databases()) {
    for (const table of tablesOf(catalog, database)) yield tableRelation(table, database);
    for (const view of catalog.views(database)) yield viewRelation(view, viewTypes?.(view));
    if (database === "public") yield computed(database, { name: "numbers", columns: NUMBERS.columns }, "r");
    if (database === INFORMATION_SCHEMA) for (const table of own.information) yield computed(database, table, "v");
  }
  for (const table of own.catalog) yield computed(PG_CATALOG, table, "r");
}

function tableRelation(table: Table, database: string): PgRelation {
  const { schema } = table;
  const oid = oidOf(database, schema.name);
  const columns = schema.columns.filter(({ name }) => !isInternalColumn(schema, name));
  return {
    oid,
    database,
    name: schema.name,
    kind: "r",
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      nullable: column.nullable,
      default: defaultExpression(column),
      comment: column.comment,
    })),
    indexes: [...indexesOf(schema, columns)],
    table,
    comment: schema.options["comment"],
  };
}

function viewRelation(view: ViewInfo, types: readonly DataType[] | undefined): PgRelation {
  const columns = view.columns.map((name, i) => ({ name, type: types?.[i] ?? STRING, nullable: true }));
  return { oid: oidOf(view.database, view.name), database: view.database, name: view.name, kind: "v", columns, indexes: [], view };
}

function computed(database: string, { name, columns }: Pick<InformationTable, "name" | "columns">, kind: "r" | "v"): PgRelation {
  return { oid: relationOid(database, name), database, name, kind, columns, indexes: [] };
}

/** A default as an expression of PostgreSQL. */
function defaultExpression(column: ColumnDefinition): string | undefined {
  const shown = defaultDisplay(column);
  if (shown === undefined) return undefined;
  const isPlain = column.default?.kind === "now" || ["int", "float", "decimal", "boolean"].includes(column.type.kind);
  return isPlain ? shown : `'${shown.replaceAll("'", "''")}'`;
}

const METHODS = { "INVERTED INDEX": "inverted", "SKIPPING INDEX": "skipping", "FULLTEXT INDEX": "fulltext" } as const;

/** The key of a table, its time index and the indexes of its columns, in this order. */
function* indexesOf(schema: TableSchema, columns: readonly ColumnDefinition[]): Iterable<RelationIndex> {
  const placeOf = (name: string): number => columns.findIndex((column) => column.name === name) + 1;
  const index = (suffix: string, rest: Omit<RelationIndex, "oid" | "name">): RelationIndex => {
    const name = `${schema.name}_${suffix}`;
    return { oid: oidOf(schema.database, schema.name, name), name, ...rest };
  };
  const time = columns.findIndex(({ semantic }) => semantic === "timestamp") + 1;
  const tags = schema.primaryKey.map(placeOf).filter((place) => place > 0);
  // Rows of a table that is appended to are not told apart by anything.
  const isUnique = mergeModeOf(schema) !== "append";
  if (time > 0 && (isUnique || tags.length > 0))
    yield index(isUnique ? "pkey" : "key", { method: "btree", isUnique, isPrimary: isUnique, columns: [...tags, time] });
  if (time > 0) yield index("time_index", { method: "btree", isUnique: false, isPrimary: false, columns: [time] });
  for (const [i, column] of columns.entries()) {
    for (const [clause, method] of Object.entries(METHODS)) {
      const has = column.indexes?.some((each) => each.startsWith(clause)) === true;
      if (has) yield index(`${column.name}_${method}`, { method, isUnique: false, isPrimary: false, columns: [i + 1] });
    }
  }
}
