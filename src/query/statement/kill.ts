/** KILL: ends a statement that runs, by the id that SHOW PROCESSLIST lists. */
import type { QueryContext } from "../query-context.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../statement-result.ts";

/** Ends a statement; the count is 1 when there was one of that id. */
export async function kill({ id }: Extract<Statement, { kind: "kill" }>, { system }: QueryContext): Promise<StatementResult> {
  return { kind: "affected", rowCount: (await system?.kill(id)) === true ? 1 : 0 };
}
