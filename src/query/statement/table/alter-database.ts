/** ALTER DATABASE. */
import type { QueryContext } from "../../query-context.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { checkWritable } from "./create-table.ts";
import { changedDatabaseOptions } from "./changed-options.ts";

/** Changes options of a database. @throws DbError DatabaseNotFound, InvalidArguments */
export async function alterDatabase(
  statement: Extract<Statement, { kind: "alter-database" }>,
  context: QueryContext,
): Promise<StatementResult> {
  checkWritable(statement.name);
  await context.catalog.alterDatabase(statement.name, changedDatabaseOptions(statement.options));
  return NO_ROWS_CHANGED;
}
