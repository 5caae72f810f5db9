/** CREATE DATABASE and DROP DATABASE. */
import { DbError } from "../../base/error.ts";
import { NAME_BYTES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INFORMATION_SCHEMA } from "../plan/virtual/information-schema.ts";
import type { QueryContext } from "../query-context.ts";
import type { Statement } from "../sql/statement-ast.ts";
import type { StatementResult } from "../statement-result.ts";
import { databaseOptions } from "./table-options.ts";

const DATABASE_NAME = /^[a-zA-Z_:-][a-zA-Z0-9_:.@#-]*$/;
/** Names that the server itself uses. */
const RESERVED: readonly string[] = [INFORMATION_SCHEMA, "pg_catalog"];

/** Makes a database; the count is 1 when it is new. @throws DbError DatabaseAlreadyExists, InvalidArguments, Unexpected */
export async function createDatabase(
  statement: Extract<Statement, { kind: "create-database" }>,
  context: QueryContext,
): Promise<StatementResult> {
  const { name, ifNotExists } = statement;
  if (RESERVED.includes(name)) throw new DbError(StatusCode.InvalidArguments, `Schema ${name} already exists`);
  if (!DATABASE_NAME.test(name) || Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw new DbError(StatusCode.Unexpected, `Unexpected, violated: Invalid database name: ${name}`);
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
  if (name === context.variables.database) throw new DbError(StatusCode.InvalidArguments, `Schema \`${name}\` is in use`);
  if (RESERVED.includes(name)) throw new DbError(StatusCode.Unsupported, `Schema \`${name}\` is read-only`);
  await context.catalog.dropDatabase(name, ifExists);
  return { kind: "affected", rowCount: 0 };
}
