/** CREATE DATABASE and DROP DATABASE. */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { nameFlaw, shownName } from "../../../table/names.ts";
import { INFORMATION_SCHEMA } from "../../plan/virtual/information-schema.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { databaseOptions } from "./table-options.ts";

/** Names that the server itself uses. */
const RESERVED: readonly string[] = [INFORMATION_SCHEMA, "pg_catalog"];

/** Makes a database; the count is 1 when it is new. @throws DbError DatabaseAlreadyExists, InvalidArguments */
export async function createDatabase(
  statement: Extract<Statement, { kind: "create-database" }>,
  context: QueryContext,
): Promise<StatementResult> {
  const { name, ifNotExists } = statement;
  if (RESERVED.includes(name.toLowerCase())) throw invalidArguments(`Schema ${name} already exists`);
  const flaw = nameFlaw(name);
  if (flaw !== undefined) {
    throw invalidArguments(`Unexpected, violated: Invalid database name: ${shownName(name)}: ${flaw}`);
  }
  const created = await context.catalog.createDatabase(name, databaseOptions(statement.options), ifNotExists);
  return { kind: "affected", rowCount: created ? 1 : 0 };
}

/** Drops a database with all its tables. @throws DbError DatabaseNotFound, InvalidArguments */
export async function dropDatabase(
  statement: Extract<Statement, { kind: "drop-database" }>,
  context: QueryContext,
): Promise<StatementResult> {
  const { name, ifExists } = statement;
  if (name === context.variables.database) throw invalidArguments(`Schema \`${name}\` is in use`);
  if (RESERVED.includes(name.toLowerCase())) throw new DbError(StatusCode.Unsupported, `Schema \`${name}\` is read-only`);
  await context.catalog.dropDatabase(name, ifExists);
  return NO_ROWS_CHANGED;
}
