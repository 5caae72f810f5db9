/**
 * The entry of the query layer: runs syntax trees against a context. One `case` a statement; the work is in `statement/` and `exec/`.
 */
import { unreachable } from "../base/assert.ts";
import { type ExecOptions, select } from "./statement/shared/select.ts";
import type { QueryContext } from "./query-context.ts";
import type { Tql } from "./sql/syntax/ast.ts";
import type { CursorStatement, PreparedStatement, Statement } from "./sql/syntax/statement-ast.ts";
import { admin } from "./statement/admin.ts";
import { alterDatabase } from "./statement/table/alter-database.ts";
import { alterTable } from "./statement/table/alter-table.ts";
import { comment } from "./statement/comment.ts";
import { copy } from "./statement/rows/copy.ts";
import { createDatabase, dropDatabase } from "./statement/table/create-database.ts";
import { createTableAs } from "./statement/rows/create-table-as.ts";
import { createTableLike } from "./statement/table/create-table-like.ts";
import { createTable, dropTable } from "./statement/table/create-table.ts";
import { closeCursor, declareCursor, fetchCursor } from "./statement/cursor.ts";
import { deleteFrom } from "./statement/rows/delete.ts";
import { explain } from "./statement/show/explain.ts";
import { createExternalTable } from "./statement/table/external-table.ts";
import { insert } from "./statement/rows/insert.ts";
import { deallocate, executePrepared, prepare } from "./statement/prepared-statement.ts";
import { setVariable, showVariable, use } from "./statement/show/session-statement.ts";
import { showDatabases, showTables } from "./statement/show/show.ts";
import { describe, showCreateDatabase, showCreateTable } from "./statement/show/show-create.ts";
import { kill } from "./statement/kill.ts";
import { changeFlow, showCreateFlow } from "./statement/flow.ts";
import { showListing } from "./statement/show/show-listing.ts";
import { createView, dropView, showCreateView } from "./statement/view.ts";
import { truncate } from "./statement/table/truncate.ts";
import { update } from "./statement/rows/update.ts";
import type { StatementResult } from "./statement-result.ts";

export type { ExecOptions } from "./statement/shared/select.ts";

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
    case "tql":
      return tql(statement, context, options);
    case "insert":
      return insert(statement, context, options);
    case "delete":
      return deleteFrom(statement, context, options);
    case "update":
      return update(statement, context, options);
    case "create-table":
    case "create-table-as":
    case "create-table-like":
    case "create-external-table":
    case "drop-table":
      return madeOrDropped(statement, context, options);
    case "copy":
      return copy(statement, context, options);
    case "create-flow":
    case "drop-flow":
      return changeFlow(statement, context);
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
    case "describe":
      return describe(statement, context);
    case "admin":
    case "use":
    case "set-variable":
    case "kill":
    case "declare-cursor":
    case "fetch":
    case "close-cursor":
    case "prepare":
    case "execute":
    case "deallocate":
      return inSession(statement, context, options);
    case "explain":
      return explain(statement, context, options);
    default:
      return unreachable(statement);
  }
}

/** Statements that make a table, or end one. */
function madeOrDropped(
  statement: Extract<Statement, { kind: `create-${string}table${string}` | "drop-table" }>,
  context: QueryContext,
  options: ExecOptions,
): Promise<StatementResult> {
  switch (statement.kind) {
    case "create-table":
      return createTable(statement, context);
    case "create-table-as":
      return createTableAs(statement, context, options);
    case "create-table-like":
      return createTableLike(statement, context);
    case "create-external-table":
      return createExternalTable(statement, context);
    case "drop-table":
      return dropTable(statement, context);
  }
}

/** TQL EXPLAIN and TQL ANALYZE are EXPLAIN of TQL EVAL. */
function tql(statement: Tql, context: QueryContext, options: ExecOptions): StatementResult | Promise<StatementResult> {
  const { mode, verbose, format, span } = statement;
  if (mode === "eval") return select(statement, context, options);
  const query: Statement = { ...statement, mode: "eval" };
  return explain({ kind: "explain", analyze: mode === "analyze", verbose, format, statement: query, span }, context, options);
}

/** Statements about the server, the session and the connection. */
function inSession(
  statement: PreparedStatement | CursorStatement | Extract<Statement, { kind: "admin" | "use" | "set-variable" | "kill" }>,
  context: QueryContext,
  options: ExecOptions,
): StatementResult | Promise<StatementResult> {
  switch (statement.kind) {
    case "admin":
      return admin(statement, context);
    case "use":
      return use(statement, context);
    case "set-variable":
      return setVariable(statement, context);
    case "kill":
      return kill(statement, context);
    case "declare-cursor":
      return declareCursor(statement, context, options);
    case "fetch":
      return fetchCursor(statement, context);
    case "close-cursor":
      return closeCursor(statement, context);
    case "prepare":
      return prepare(statement, context);
    case "execute":
      return executePrepared(statement, context, (inner, own) => executeStatement(inner, own, options));
    case "deallocate":
      return deallocate(statement, context);
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
