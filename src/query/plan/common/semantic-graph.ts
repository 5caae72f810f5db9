/**
 * Names of the semantic graph in `greptime_private`: tables that clients of the interface know and that this server does not compute.
 * They are kept free, so that no new table can be taken for one of them.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { isGraphTable } from "../../../table/reserved-names.ts";

const DECLARED = "semantic_relationships_declared";

/** Refuses to read or change a table of the semantic graph. @throws DbError Unsupported */
export function checkNoGraphTable({ database, table }: { readonly database: string; readonly table: string }): void {
  if (!isGraphTable(database, table)) return;
  const what = table !== DECLARED ? `Table \`${table}\` is read-only` : `The definition of table \`${table}\` is managed by the server`;
  throw new DbError(
    StatusCode.Unsupported,
    `${what}; this server does not serve the semantic graph, so that there is nothing to read or change`,
  );
}
