/**
 * PromQL queries as text: what `format_query` and `parse_query` answer. No table is touched.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Expression } from "../../query/promql/syntax/ast.ts";
import { parsePromql } from "../../query/promql/syntax/parse.ts";
import { formatPromql } from "../../query/promql/syntax/printer.ts";
import { treeJson } from "../../query/promql/syntax/tree-json.ts";

/** The query over as many lines as it needs. Yields between steps of some ten ms. @throws DbError InvalidSyntax, InvalidArguments */
export function* formattedQuery(text: string): Generator<undefined, string> {
  const expression = yield* checkedQuery(text);
  return formatPromql(expression);
}

/** The query's tree as JSON text. Yields between steps of some ten ms. @throws DbError InvalidSyntax */
export function* queryTreeJson(text: string): Generator<undefined, string> {
  const expression = yield* checkedQuery(text);
  const tree = treeJson(expression);
  yield;
  return JSON.stringify(tree);
}

/** The query as a tree. Yields when it is read. @throws DbError InvalidSyntax */
export function* checkedQuery(text: string): Generator<undefined, Expression> {
  const parsed = parsePromql(text);
  if (!parsed.ok) throw new DbError(StatusCode.InvalidSyntax, parsed.problem.message);
  yield;
  return parsed.expression;
}
