/** `pg_catalog`: what clients of PostgreSQL ask about databases, tables, columns and types (contract query.md 3.3). */
import type { BuiltInTable } from "../../common/computed-rows.ts";
import type { InformationTable } from "../information-table.ts";
import { EMPTY_RELATIONS } from "./pg-empty.ts";
import { FIXED_TABLES } from "./pg-fixed.ts";
import { relationTables } from "./pg-relations.ts";

/** Name of the database, which only connections of PostgreSQL have. */
const PG_CATALOG = "pg_catalog";

/** Its tables by their names in a plan, `pg_catalog.pg_class`. @param information tables of `information_schema` */
export function pgCatalogTables(information: () => readonly InformationTable[]): ReadonlyMap<string, InformationTable> {
  const tables = [...relationTables(information), ...FIXED_TABLES, ...EMPTY_RELATIONS];
  return new Map(tables.map((table) => [`${PG_CATALOG}.${table.name}`, table] as const));
}

/**
 * The relation that a name means on a connection of PostgreSQL: one of `pg_catalog`, or one that begins with `pg_` and says no database.
 *
 * @param tables of `pgCatalogTables`
 */
export function pgCatalogTable(name: readonly string[], tables: ReadonlyMap<string, InformationTable>): BuiltInTable | undefined {
  const [table = "", database] = name.toReversed();
  const isMeant = database === undefined ? table.startsWith("pg_") : database === PG_CATALOG;
  const key = `${PG_CATALOG}.${table}`;
  const found = isMeant ? tables.get(key) : undefined;
  return found && { id: found.id, columns: found.columns, source: { kind: "information-schema", table: key } };
}
