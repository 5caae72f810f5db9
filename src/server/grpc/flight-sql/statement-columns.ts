/** Which columns a statement gives, told before its rows are wanted. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import { givesRows, type ParameterValue, type PreparedQuery } from "../../../query/prepared-query.ts";

/** What is known of a statement's columns. */
export type StatementColumns =
  | { readonly kind: "none" }
  | { readonly kind: "known"; readonly columns: readonly ColumnHeader[] }
  /** Only running it tells, and it does something or is long: ADMIN, EXPLAIN ANALYZE, FETCH. */
  | { readonly kind: "unknown" };

/**
 * Columns of a statement as far as they can be told. Where planning leaves one open, it is begun with NULL for each value and left before a
 * row is read; the values may still tell otherwise.
 *
 * @throws DbError those of planning
 */
export async function statementColumns(query: PreparedQuery, db: Db, session: Session): Promise<StatementColumns> {
  const { statement, columns, parameters } = query;
  if (!givesRows(statement)) return { kind: "none" };
  if (columns !== undefined && columns.every(({ type }) => type.kind !== "null")) return { kind: "known", columns };
  const runs = statement.kind === "admin" || statement.kind === "fetch" || (statement.kind === "explain" && statement.analyze);
  if (runs) return columns === undefined ? { kind: "unknown" } : { kind: "known", columns };
  try {
    const values = parameters.map((type): ParameterValue => ({ type: type ?? { kind: "null" }, value: undefined }));
    return { kind: "known", columns: await columnsOfBegun(query, values, db, session) };
  } catch (thrown) {
    if (!(thrown instanceof DbError) || thrown.code === StatusCode.Internal || parameters.length === 0) throw thrown;
    return columns === undefined ? { kind: "unknown" } : { kind: "known", columns };
  }
}

async function columnsOfBegun(
  query: PreparedQuery,
  values: readonly ParameterValue[],
  db: Db,
  session: Session,
): Promise<readonly ColumnHeader[]> {
  for await (const result of db.execute(query, values, session)) {
    if (result.kind !== "rows") break;
    await result.batches[Symbol.asyncIterator]().return?.();
    return result.headers;
  }
  return [];
}
