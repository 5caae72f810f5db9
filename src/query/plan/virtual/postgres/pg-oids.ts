/**
 * Numbers of what `pg_catalog` lists: counted from 16384 on, in the order in which names are asked for, the same for a name as long as the
 * process lives (contract query.md 3.3). Some relations of `pg_catalog` have the numbers that they have on every server.
 */

const FIRST_OID = 16_384;
/** Most names. Reason: tables may come and go without end; then numbers begin anew. */
const NAMES_MAX = 1_000_000;

/** Name of the database that only connections of PostgreSQL see. */
export const PG_CATALOG = "pg_catalog";
/** Its number. */
export const PG_CATALOG_OID = 11;
/** Of who owns everything. */
export const OWNER_OID = 10;

const oids = new Map<string, number>();

/** The number of a database, of a relation of one, or of a part of that, such as an index. */
export function oidOf(database: string, relation?: string, part?: string): number {
  const key = JSON.stringify([database, relation, part]);
  const known = oids.get(key);
  if (known !== undefined) return known;
  if (oids.size >= NAMES_MAX) oids.clear();
  const oid = FIRST_OID + oids.size;
  oids.set(key, oid);
  return oid;
}

/** Relations that clients ask for by the number that they know. */
const FIXED: Readonly<Record<string, number>> = {
  pg_type: 1247,
  pg_attribute: 1249,
  pg_proc: 1255,
  pg_class: 1259,
  pg_authid: 1260,
  pg_auth_members: 1261,
  pg_database: 1262,
  pg_foreign_server: 1417,
  pg_user_mapping: 1418,
  pg_tablespace: 1213,
  pg_am: 2601,
  pg_amop: 2602,
  pg_amproc: 2603,
  pg_attrdef: 2604,
  pg_cast: 2605,
  pg_constraint: 2606,
  pg_conversion: 2607,
  pg_depend: 2608,
  pg_description: 2609,
  pg_index: 2610,
  pg_inherits: 2611,
  pg_language: 2612,
  pg_namespace: 2615,
  pg_opclass: 2616,
  pg_operator: 2617,
  pg_rewrite: 2618,
  pg_statistic: 2619,
  pg_trigger: 2620,
  pg_opfamily: 2753,
  pg_foreign_data_wrapper: 2328,
  pg_extension: 3079,
  pg_policy: 3256,
  pg_foreign_table: 3118,
  pg_statistic_ext: 3381,
  pg_collation: 3456,
  pg_event_trigger: 3466,
  pg_enum: 3501,
  pg_range: 3541,
  pg_ts_dict: 3600,
  pg_ts_parser: 3601,
  pg_ts_config: 3602,
  pg_ts_template: 3764,
};

/** The number of a relation. */
export function relationOid(database: string, name: string): number {
  return (database === PG_CATALOG ? FIXED[name] : undefined) ?? oidOf(database, name);
}

/** The number of a database. */
export function databaseOid(name: string): number {
  return name === PG_CATALOG ? PG_CATALOG_OID : oidOf(name);
}
