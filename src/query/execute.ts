/**
 * The entry of the query layer: runs syntax trees against a context. One `case` a statement; the work is in `statement/` and `exec/`.
 */
import { unreachable } from "../base/assert.ts";
import { type ExecOptions, select } from "./exec/select.ts";
import type { QueryContext } from "./query-context.ts";
import type { Statement } from "./sql/ast.ts";
import { admin } from "./statement/admin.ts";
import { alterDatabase } from "./statement/alter-database.ts";
import { alterTable } from "./statement/alter-table.ts";
import { comment } from "./statement/comment.ts";
import { copy } from "./statement/copy.ts";
import { createDatabase, dropDatabase } from "./statement/create-database.ts";
import { createTableLike } from "./statement/create-table-like.ts";
import { createTable, dropTable } from "./statement/create-table.ts";
import { deleteFrom } from "./statement/delete.ts";
import { explain } from "./statement/explain.ts";
import { createExternalTable } from "./statement/external-table.ts";
import { insert } from "./statement/insert.ts";
import { setVariable, showVariable, use } from "./statement/session-statement.ts";
import { showDatabases, showTables } from "./statement/show.ts";
import { describe, showCreateDatabase, showCreateTable } from "./statement/show-create.ts";
import { kill } from "./statement/kill.ts";
import { dropFlow, showCreateFlow } from "./statement/flow.ts";
import { showListing } from "./statement/show-listing.ts";
import { createView, dropView, showCreateView } from "./statement/view.ts";
import { truncate } from "./statement/truncate.ts";
import type { StatementResult } from "./statement-result.ts";

export type { ExecOptions } from "./exec/select.ts";

/**
 * Runs one statement. A SELECT is planned now and runs while its batches are read; everything else is done when the promise resolves.
 *
 * @throws DbError
 */
export async function executeStatement(statement: Statement, context: QueryContext, options: ExecOptions = {}): Promise<StatementResult> {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
      return select(statement, context, options);
    case "insert":
      return insert(statement, context, options);
    case "delete":
      return deleteFrom(statement, context, options);
    case "create-table":
      return createTable(statement, context);
    case "create-external-table":
      return createExternalTable(statement, context);
    case "copy":
      return copy(statement, context, options);
    case "drop-table":
      return dropTable(statement, context);
    case "create-table-like":
      return createTableLike(statement, context);
    case "drop-flow":
      return dropFlow(statement);
    case "create-view":
      return createView(statement, context);
    case "drop-view":
      return dropView(statement, context);
    case "create-database":
      return createDatabase(statement, context);
    case "drop-database":
      return dropDatabase(statement, context);
    case "alter-table":
      return alterTable(statement, context);
    case "alter-database":
      return alterDatabase(statement, context);
    case "truncate":
      return truncate(statement, context);
    case "comment":
      return comment(statement, context);
    case "show-databases":
    case "show-tables":
    case "show-create-table":
    case "show-create-database":
    case "show-create-view":
    case "show-create-flow":
    case "show-listing":
    case "show-variable":
      return show(statement, context);
    case "kill":
      return kill(statement, context);
    case "describe":
      return describe(statement, context);
    case "use":
      return use(statement, context);
    case "set-variable":
      return setVariable(statement, context);
    case "admin":
      return admin(statement, context);
    case "explain":
      return explain(statement, context, options);
    default:
      return unreachable(statement);
  }
}

function show(
  statement: Extract<Statement, { kind: `show-${string}` }>,
  context: QueryContext,
): StatementResult | Promise<StatementResult> {
  switch (statement.kind) {
    case "show-databases":
      return showDatabases(statement, context);
    case "show-tables":
      return showTables(statement, context);
    case "show-create-table":
      return showCreateTable(statement, context);
    case "show-create-database":
      return showCreateDatabase(statement, context);
    case "show-create-view":
      return showCreateView(statement.name, context);
    case "show-create-flow":
      return showCreateFlow(statement.name);
    case "show-listing":
      return showListing(statement, context);
    case "show-variable":
      return showVariable(statement, context);
  }
}

/** Whether a statement only reads, for permissions: SELECT, SHOW, DESCRIBE, and EXPLAIN of these (contract http.md 5.7). */
export function isReadOnly(statement: Statement): boolean {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
    case "show-databases":
    case "show-tables":
    case "show-create-table":
    case "show-create-database":
    case "show-create-view":
    case "show-create-flow":
    case "show-listing":
    case "show-variable":
    case "describe":
      return true;
    case "explain":
      return !statement.analyze || isReadOnly(statement.statement);
    default:
      return false;
  }
}
