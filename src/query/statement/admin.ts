/** ADMIN functions: what only the engine can do. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INT64 } from "../../column/data-type.ts";
import { nearestName } from "../function/registry.ts";
import { resolveName } from "../plan/source.ts";
import type { QueryContext } from "../query-context.ts";
import { printExpression } from "../sql/print.ts";
import type { Expression, Statement } from "../sql/ast.ts";
import type { StatementResult } from "../statement-result.ts";
import { rowsResult } from "./rows-result.ts";

type Admin = Extract<Statement, { kind: "admin" }>;
type Run = (args: readonly string[], context: QueryContext) => Promise<number>;

/** Functions by name: how many text arguments, what they do. */
const FUNCTIONS: Readonly<Record<string, { readonly args: number; readonly run: Run }>> = {
  flush_table: { args: 1, run: flushTable },
};

async function flushTable([name = ""]: readonly string[], context: QueryContext): Promise<number> {
  const { database, table } = resolveName(name.split("."), context.variables.database);
  await context.admin.flushTable(database, table);
  return 0;
}

/** Runs an ADMIN function: one row, one column named as the call prints. @throws DbError InvalidArguments, and those of the function */
export async function admin(statement: Admin, context: QueryContext): Promise<StatementResult> {
  const found = FUNCTIONS[statement.name];
  if (found === undefined) {
    const near = nearestName(statement.name, Object.keys(FUNCTIONS));
    throw new DbError(
      StatusCode.InvalidArguments,
      `Admin function not found: ${statement.name}${near === undefined ? "" : `. Did you mean '${near}'?`}`,
    );
  }
  if (statement.args.length !== found.args) {
    throw new DbError(
      StatusCode.InvalidArguments,
      `Failed to build admin function args: Expected ${found.args} args, but actual ${statement.args.length}`,
    );
  }
  const value = await found.run(statement.args.map(textArgument), context);
  const name = `ADMIN ${statement.name}(${statement.args.map(printExpression).join(", ")})`;
  return rowsResult([{ name, type: INT64 }], [[value]]);
}

function textArgument(expression: Expression): string {
  if (expression.kind === "string") return expression.value;
  if (expression.kind === "column" && expression.quoted) return expression.name.join(".");
  throw new DbError(StatusCode.InvalidArguments, `Failed to build admin function args: failed to cast ${printExpression(expression)}`);
}
