/** CommandGetTables: tables and views of all databases, with their schemas where wanted. */
import type { CommandGetTables } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { BINARY } from "../../../../column/data-type.ts";
import type { Scalar } from "../../../../column/vector.ts";
import { encodeArrowSchema } from "../../../../format/arrow/encode-stream.ts";
import type { ArrowField } from "../../../../format/arrow/field-type.ts";
import { quotedName } from "../../../common/quoted-name.ts";
import type { AnswerTable } from "../flight-answer.ts";
import { type Ask, catalogRows, isOurCatalog, optional, required } from "./ask.ts";
import { columnMetadata } from "./column-metadata.ts";
import { tableTypeOf } from "./table-types.ts";

const TABLES = `SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables
  WHERE table_schema LIKE $1 AND table_name LIKE $2 ORDER BY table_schema, table_name, table_type`;

/** Tables that a command asks for. @throws DbError PermissionDenied while rows are read */
export function tables(command: CommandGetTables, ask: Ask): AnswerTable {
  const fields = [optional("catalog_name"), optional("db_schema_name"), required("table_name"), required("table_type")];
  if (command.includeSchema) fields.push(required("table_schema", BINARY));
  return { fields, rows: isOurCatalog(command.catalog) ? rowsOf(command, ask) : [] };
}

async function* rowsOf(command: CommandGetTables, ask: Ask): AsyncGenerator<readonly Scalar[]> {
  const { dbSchemaFilterPattern = "%", tableNameFilterPattern = "%", includeSchema } = command;
  const wanted = new Set(command.tableTypes);
  for await (const [catalog, database, table, kind] of catalogRows(TABLES, [dbSchemaFilterPattern, tableNameFilterPattern], ask)) {
    const type = tableTypeOf(database, kind);
    if (wanted.size > 0 && !wanted.has(type)) continue;
    const row = [catalog, database, table, type];
    yield includeSchema ? [...row, encodeArrowSchema(await columnsOf(String(database), String(table), ask))] : row;
  }
}

/** Columns of a table or a view. */
async function columnsOf(database: string, table: string, { db, session }: Ask): Promise<readonly ArrowField[]> {
  const there = { ...session, database };
  const metadata = (type: ArrowField["type"]): Pick<ArrowField, "metadata"> => ({ metadata: columnMetadata(database, table, type) });
  const stored = db.table(table, there);
  if (stored !== undefined) return stored.schema.columns.map(({ name, type, nullable }) => ({ name, type, nullable, ...metadata(type) }));
  try {
    const { columns = [] } = await db.prepare(`SELECT * FROM ${quotedName(database)}.${quotedName(table)}`, there);
    return columns.map(({ name, type }) => ({ name, type, ...metadata(type) }));
  } catch (thrown) {
    // A view over tables that are gone is listed as one without columns: one of them must not hide all the others.
    if (!(thrown instanceof DbError) || thrown.code === StatusCode.Internal || session.signal.aborted) throw thrown;
    return [];
  }
}
