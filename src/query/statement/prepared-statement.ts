/** PREPARE, EXECUTE and DEALLOCATE: prepared statements with a name, of one connection (contract query.md 4.1). */
import { assert } from "../../base/assert.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { connectionFor } from "../connection.ts";
import { PREPARED_MAX } from "../kept-statements.ts";
import { bindConstant } from "../plan/bind/bind.ts";
import { environmentOf } from "../plan/common/planner.ts";
import { placeholdersOf, prepareQuery } from "./prepare-query.ts";
import type { PreparedQuery } from "../prepared-query.ts";
import type { QueryContext } from "../query-context.ts";
import type { Expression } from "../sql/syntax/ast.ts";
import type { PreparedStatement, Statement } from "../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../statement-result.ts";

type Of<K extends PreparedStatement["kind"]> = Extract<PreparedStatement, { kind: K }>;

const NESTED: ReadonlySet<Statement["kind"]> = new Set(["prepare", "execute", "deallocate"]);

/** Prepares a statement; one of that name is replaced. @throws DbError InvalidSyntax, InvalidArguments, those of `prepareQuery` */
export async function prepare({ name, text, prepared: tree }: Of<"prepare">, context: QueryContext): Promise<StatementResult> {
  const { prepared } = connectionFor("PREPARE", context.variables.connection);
  assert(tree !== undefined, "the text of a PREPARE is parsed with its own");
  const query = await prepareQuery(tree, text, context);
  if (prepared.size >= PREPARED_MAX && !prepared.has(name))
    throw invalidArguments(`cannot prepare ${name}: the connection has ${PREPARED_MAX} prepared statements; deallocate one`);
  if (NESTED.has(query.statement.kind))
    throw invalidArguments(`cannot prepare ${name}: it prepares, runs or deallocates a prepared statement itself`);
  if (!prepared.set(name, query, text)) {
    const why = `cannot prepare ${name}: there is no memory for one more statement on this connection; deallocate some (memory.limit)`;
    throw new DbError(StatusCode.RuntimeResourcesExhausted, why);
  }
  return NO_ROWS_CHANGED;
}

/** Runs a prepared statement with values. @param execute runs its statement in the context of its values */
export async function executePrepared(
  { name, values }: Of<"execute">,
  context: QueryContext,
  execute: (statement: Statement, context: QueryContext) => Promise<StatementResult>,
): Promise<StatementResult> {
  const query = preparedNamed(name, "EXECUTE", context);
  const environment = environmentOf(context.clock, context.variables);
  const given = values.map((value) => {
    const { type, value: constant } = bindConstant(asText(value), environment);
    return { type, value: constant };
  });
  if (query.parameters.length === 0 && given.length === 0) return execute(query.statement, context);
  const placeholders = placeholdersOf(query, given, environment.timeZone);
  return execute(query.statement, { ...context, variables: { ...context.variables, placeholders } });
}

/** Among values, a double-quoted name is text. */
function asText(value: Expression): Expression {
  const isText = value.kind === "column" && value.quoted && value.name.length === 1;
  return isText ? { kind: "string", value: value.name[0] ?? "", span: value.span } : value;
}

/** Forgets a prepared statement, or all. @throws DbError InvalidArguments when there is none of that name */
export function deallocate({ name }: Of<"deallocate">, context: QueryContext): StatementResult {
  const { prepared } = connectionFor("DEALLOCATE", context.variables.connection);
  if (name === undefined) prepared.clear();
  else {
    preparedNamed(name, "DEALLOCATE", context);
    prepared.delete(name);
  }
  return NO_ROWS_CHANGED;
}

function preparedNamed(name: string, keyword: string, { variables }: QueryContext): PreparedQuery {
  const query = connectionFor(keyword, variables.connection).prepared.get(name);
  if (query === undefined) throw invalidArguments(`Prepared statement ${name} is not found`);
  return query;
}
