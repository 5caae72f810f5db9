/** Flows: this server runs none, so that there is nothing to show and nothing to drop. CREATE FLOW is refused by the parser. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ObjectName, Statement } from "../sql/ast.ts";
import type { StatementResult } from "../statement-result.ts";

function notFound(name: ObjectName): DbError {
  return new DbError(StatusCode.FlowNotFound, `Flow not found: ${name.at(-1)}; this server runs no flows`);
}

/** @throws DbError FlowNotFound */
export function showCreateFlow(name: ObjectName): StatementResult {
  throw notFound(name);
}

/** @throws DbError FlowNotFound, unless IF EXISTS says otherwise */
export function dropFlow({ name, ifExists }: Extract<Statement, { kind: "drop-flow" }>): StatementResult {
  if (!ifExists) throw notFound(name);
  return { kind: "affected", rowCount: 0 };
}
