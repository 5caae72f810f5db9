/**
 * Numbers of relations and databases in `pg_catalog`: counted from 16384 on, in the order in which names are asked for, the same for a name
 * as long as the process lives (contract query.md 3.3).
 */

const FIRST_OID = 16_384;
/** Most names. Reason: tables may come and go without end; then numbers begin anew. */
const NAMES_MAX = 1_000_000;

/** Number of `pg_catalog` itself. */
export const PG_CATALOG_OID = 11;
/** Of who owns everything. */
export const OWNER_OID = 10;

const oids = new Map<string, number>();

/** The number of a database, or of a table or view of one. */
export function oidOf(database: string, relation?: string): number {
  const key = JSON.stringify([database, relation]);
  const known = oids.get(key);
  if (known !== undefined) return known;
  if (oids.size >= NAMES_MAX) oids.clear();
  const oid = FIRST_OID + oids.size;
  oids.set(key, oid);
  return oid;
}
