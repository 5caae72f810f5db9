/** What only a table can do. */
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { invalidArguments } from "../../../base/error.ts";
import { type ResolvedName } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";

/** Refuses what only a table can do when the name is that of a view. @throws DbError InvalidArguments */
export function checkNoView(name: ResolvedName, verb: string, { catalog }: QueryContext, hint = ""): void {
  if (catalog.view(name.database, name.table) === undefined) return;
  throw invalidArguments(`cannot ${verb} ${CATALOG_NAME}.${name.database}.${name.table}: it is a view${hint}`);
}
