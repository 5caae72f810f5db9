/** `information_schema`: what the server and its catalogue hold (contract query.md 3). Columns without a truthful value are NULL. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch } from "../../../column/batch.ts";
import { catalogTables, mysqlColumnsTable, postgresColumnsTable } from "./catalog-tables.ts";
import { type BuiltInTable, batchOf } from "../common/computed-rows.ts";
import { EMPTY_TABLES } from "./empty-tables.ts";
import { type InformationSources, type InformationTable } from "./information-table.ts";
import { INFORMATION_SCHEMA } from "../../../table/reserved-names.ts";
import { KEY_TABLES } from "./key-tables.ts";
import { type PgCatalog, pgCatalog, pgCatalogTable } from "./postgres/pg-catalog.ts";
import { REGION_TABLES } from "./region-tables.ts";
import { SEMANTICS_TABLE } from "./semantics-table.ts";
import { SERVER_TABLES } from "./server-tables.ts";

export { INFORMATION_SCHEMA };

const OTHERS: readonly InformationTable[] = [...EMPTY_TABLES, ...KEY_TABLES, ...REGION_TABLES, ...SERVER_TABLES, SEMANTICS_TABLE];

const TABLES: ReadonlyMap<string, InformationTable> = new Map(
  [...catalogTables(OTHERS), ...OTHERS].map((table) => [table.name, table] as const),
);

const PG_CATALOG: PgCatalog = pgCatalog(() => [...TABLES.values()]);

/** What functions ask `pg_catalog` by number, for one statement. */
export const postgresObjects: PgCatalog["objects"] = PG_CATALOG.objects;

/** `columns` for connections of PostgreSQL, under a name that no client can spell. */
const POSTGRES_COLUMNS = "#columns";
const postgresColumns = postgresColumnsTable(required("columns"));

/** The same for connections of MySQL. */
const MYSQL_COLUMNS = "#mysql-columns";
const mysqlColumns = mysqlColumnsTable(required("columns"));

/** Tables of single protocols. */
const OF_PROTOCOLS: ReadonlyMap<string, InformationTable> = new Map([
  [POSTGRES_COLUMNS, postgresColumns.table],
  [MYSQL_COLUMNS, mysqlColumns],
]);

function required(name: string): InformationTable {
  const table = TABLES.get(name);
  if (table === undefined) throw new Error(`no table ${name} in information_schema`);
  return table;
}

/** A table of `information_schema` as connections of PostgreSQL see it, where that differs. */
export function postgresInformationTable(name: string): BuiltInTable | undefined {
  if (name !== "columns") return undefined;
  const { table, shown } = postgresColumns;
  return { id: table.id, columns: table.columns, shown, source: { kind: "information-schema", table: POSTGRES_COLUMNS } };
}

/** A table of `information_schema` as connections of MySQL see it, where that differs. */
export function mysqlInformationTable(name: string): BuiltInTable | undefined {
  if (name !== "columns") return undefined;
  return { id: mysqlColumns.id, columns: mysqlColumns.columns, source: { kind: "information-schema", table: MYSQL_COLUMNS } };
}

/** The relation of `pg_catalog` that a name means on a connection of PostgreSQL, or undefined. */
export function postgresRelation(name: readonly string[]): BuiltInTable | undefined {
  return pgCatalogTable(name, PG_CATALOG.tables);
}

/** Names of the tables, sorted. */
export function informationTableNames(): readonly string[] {
  return [...TABLES.keys()].sort();
}

/** What a table of `information_schema` has for columns, or undefined. */
export function informationTableNamed(name: string): InformationTable | undefined {
  return TABLES.get(name);
}

/** A table of `information_schema`, or undefined. */
export function informationTable(name: string): BuiltInTable | undefined {
  const table = TABLES.get(name);
  return table && { id: table.id, columns: table.columns, source: { kind: "information-schema", table: name } };
}

/** Its rows, computed when they are read. @throws DbError TableNotFound */
export function* informationRows(name: string, sources: InformationSources): Iterable<Batch> {
  const table = OF_PROTOCOLS.get(name) ?? TABLES.get(name) ?? PG_CATALOG.tables.get(name);
  if (table === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${INFORMATION_SCHEMA}.${name}`);
  const { columns, rows } = table;
  yield batchOf(
    columns,
    [...rows(sources)].map((row) => columns.map((column) => row[column.name])),
  );
}
