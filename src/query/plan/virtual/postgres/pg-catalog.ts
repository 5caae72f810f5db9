/** `pg_catalog`: what clients of PostgreSQL ask about databases, tables, columns and types (contract query.md 3.3). */
import { INT64 } from "../../../../column/data-type.ts";
import type { NumberedObjects } from "../../../function/signature/environment.ts";
import type { BuiltInTable } from "../../common/computed-rows.ts";
import { type InformationRow, type InformationSources, type InformationTable, informationTable } from "../information-table.ts";
import { classTables } from "./pg-class.ts";
import { EMPTY_RELATIONS } from "./pg-empty.ts";
import { FIXED_TABLES } from "./pg-fixed.ts";
import { FUNCTION_RELATIONS } from "./pg-functions.ts";
import { keyRelations } from "./pg-keys.ts";
import { PgObjects } from "./pg-objects.ts";
import { PG_CATALOG, relationOid } from "./pg-oids.ts";
import { type PgRelation, pgRelations, type RelationSources } from "./pg-relations.ts";
import { SERVER_RELATIONS } from "./pg-server.ts";
import { TYPE_COLUMNS, typeRows } from "./pg-types.ts";

/** `pg_catalog` over the tables of a server. */
export interface PgCatalog {
  /** By their names in a plan, `pg_catalog.pg_class`. */
  readonly tables: ReadonlyMap<string, InformationTable>;
  /** What functions ask by number, for one statement. */
  readonly objects: (sources: RelationSources, database: string) => NumberedObjects;
}

/** Makes it. @param information tables of `information_schema` */
export function pgCatalog(information: () => readonly InformationTable[]): PgCatalog {
  const relations = (sources: RelationSources): Iterable<PgRelation> => pgRelations(sources, { information: information(), catalog: all });
  const each = (rowsOf: (relation: PgRelation, of: InformationSources) => Iterable<InformationRow>): InformationTable["rows"] =>
    function* (sources) {
      for (const relation of relations(sources)) yield* rowsOf(relation, sources);
    };
  const all: readonly InformationTable[] = [
    ...classTables(each),
    ...keyRelations(each),
    informationTable("pg_type", 0, TYPE_COLUMNS, typeRows),
    ...SERVER_RELATIONS,
    ...FUNCTION_RELATIONS,
    ...FIXED_TABLES,
    ...EMPTY_RELATIONS,
  ];
  return {
    tables: new Map(all.map((table) => [`${PG_CATALOG}.${table.name}`, table] as const)),
    objects: (sources, database) => new PgObjects(() => [...relations(sources)], database),
  };
}

/**
 * The relation that a name means on a connection of PostgreSQL: one of `pg_catalog`, or one that begins with `pg_` and says no database.
 *
 * @param tables of `pgCatalog`
 */
export function pgCatalogTable(name: readonly string[], tables: ReadonlyMap<string, InformationTable>): BuiltInTable | undefined {
  const [table = "", database] = name.toReversed();
  const isMeant = database === undefined ? table.startsWith("pg_") : database === PG_CATALOG;
  const key = `${PG_CATALOG}.${table}`;
  const found = isMeant ? tables.get(key) : undefined;
  if (found === undefined) return undefined;
  const hidden = [
    { name: "tableoid", type: INT64, value: relationOid(PG_CATALOG, table) },
    ...["xmin", "cmin", "xmax", "cmax"].map((name) => ({ name, type: INT64, value: 0 })),
  ];
  return { id: found.id, columns: found.columns, source: { kind: "information-schema", table: key }, hidden };
}
