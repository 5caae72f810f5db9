/** Which database a client means, in every protocol that takes the name of one as text. */
import type { IngestDb } from "../../db/db.ts";
import { INFORMATION_SCHEMA, isInformationSchema } from "../../table/reserved-names.ts";

const DEFAULT_CATALOG = "greptime";

/** Whether a database exists. */
export function databaseExists(name: string, db: IngestDb): boolean {
  return db.hasDatabase(name);
}

/**
 * The database that a text names. One that exists verbatim wins; otherwise the text is `catalog-schema`, split at the first `-`. A text
 * with a foreign catalog is returned whole: no database has that name, and the error then shows what the client sent.
 */
export function databaseOf(text: string, db: IngestDb): string {
  if (isInformationSchema(text)) return INFORMATION_SCHEMA;
  const dash = text.indexOf("-");
  if (dash < 0 || databaseExists(text, db)) return text;
  if (text.slice(0, dash) !== DEFAULT_CATALOG) return text;
  return isInformationSchema(text.slice(dash + 1)) ? INFORMATION_SCHEMA : text.slice(dash + 1);
}
