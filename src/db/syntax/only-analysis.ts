import { invalidArguments } from "../../base/error.ts";
import type { Statement } from "../../query/sql/syntax/statement-ast.ts";

/** The statement of a text that is one EXPLAIN ANALYZE VERBOSE, as text or as JSON. @throws DbError InvalidArguments for any other */
export function onlyAnalysis(statements: readonly Statement[]): Statement {
  const [statement, ...others] = statements;
  if (statement?.kind === "explain" && statement.analyze && statement.verbose && others.length === 0) return statement;
  throw invalidArguments("cannot stream figures of this text: it must be exactly one EXPLAIN ANALYZE VERBOSE [FORMAT JSON] statement");
}
