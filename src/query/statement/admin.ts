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

/** Functions by name: how few and how many text arguments, what they do. */
const FUNCTIONS: Readonly<Record<string, { readonly args: readonly [min: number, max: number]; readonly run: Run }>> = {
  flush_table: { args: [1, 1], run: flushTable },
  compact_table: { args: [1, 3], run: compactTable },
};

async function flushTable([name = ""]: readonly string[], context: QueryContext): Promise<number> {
  const { database, table } = resolveName(name.split("."), context.variables.database);
  await context.admin.flushTable(database, table);
  return 0;
}

/** Merges the files of each window. The kinds and parameters that clients may name ask for the same thing here. */
async function compactTable([name = "", kind = "regular"]: readonly string[], context: QueryContext): Promise<number> {
  const isKnown = ["regular", "strict_window", "swcs"].includes(kind.toLowerCase());
  if (!isKnown) throw new DbError(StatusCode.InvalidArguments, `cannot compact ${name}: no kind ${kind}; use regular or strict_window`);
  const { database, table } = resolveName(name.split("."), context.variables.database);
  await context.admin.compactTable(database, table);
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
  const [min, max] = found.args;
  if (statement.args.length < min || statement.args.length > max) {
    throw new DbError(
      StatusCode.InvalidArguments,
      `Failed to build admin function args: Expected ${min} args, but actual ${statement.args.length}`,
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
