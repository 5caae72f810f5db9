/** The database that a statement or a session names. */
import type { Catalog } from "../../../table/catalog.ts";
import { databaseNotFound } from "../../../table/not-found.ts";
import { INFORMATION_SCHEMA, isInformationSchema } from "../../../table/reserved-names.ts";

/** The name of a database as it is kept, or undefined when there is none. */
export function databaseIfThere(name: string, catalog: Catalog): string | undefined {
  if (isInformationSchema(name)) return INFORMATION_SCHEMA;
  return catalog.database(name) === undefined ? undefined : name;
}

/** The name of a database as it is kept. @throws DbError DatabaseNotFound */
export function databaseNamed(name: string, catalog: Catalog): string {
  const found = databaseIfThere(name, catalog);
  if (found !== undefined) return found;
  throw databaseNotFound(name);
}
