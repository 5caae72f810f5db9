/** COMMENT ON TABLE, COLUMN and FLOW. */
import type { Statement } from "../sql/syntax/statement-ast.ts";
import { flowNotFound } from "./flow.ts";
import type { QueryContext } from "../query-context.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../statement-result.ts";
import { tableToChange } from "./table/table-to-change.ts";

/** Sets or removes a comment. @throws DbError TableNotFound, TableColumnNotFound, FlowNotFound */
export async function comment(statement: Extract<Statement, { kind: "comment" }>, context: QueryContext): Promise<StatementResult> {
  const { target, comment: text } = statement;
  if (target.kind === "flow") throw flowNotFound(target.name);
  const { database, table } = tableToChange(target.kind === "table" ? target.name : target.table, context);
  const { name } = table.schema;
  if (target.kind === "table") await context.catalog.alterTable(database, name, { kind: "set-options", options: { comment: text } });
  else await context.catalog.alterTable(database, name, { kind: "set-comment", column: target.column, comment: text });
  return NO_ROWS_CHANGED;
}
