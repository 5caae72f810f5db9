/** CommandGetCatalogs, CommandGetDbSchemas, CommandGetTableTypes: names alone. */
import type { CommandGetDbSchemas } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { CATALOG_NAME } from "../../../../table/reserved-names.ts";
import type { AnswerTable } from "../flight-answer.ts";
import { type Ask, catalogRows, isOurCatalog, optional, required } from "./ask.ts";
import { TABLE_TYPES } from "./table-types.ts";

/** The one catalog. */
export function catalogs(): AnswerTable {
  return { fields: [required("catalog_name")], rows: [[CATALOG_NAME]] };
}

/** Kinds of tables, in order. */
export function tableTypes(): AnswerTable {
  return { fields: [required("table_type")], rows: TABLE_TYPES.map((type) => [type]) };
}

/** Databases. @throws DbError PermissionDenied while rows are read */
export function dbSchemas({ catalog, dbSchemaFilterPattern = "%" }: CommandGetDbSchemas, ask: Ask): AnswerTable {
  const text = "SELECT catalog_name, schema_name FROM information_schema.schemata WHERE schema_name LIKE $1 ORDER BY schema_name";
  const rows = isOurCatalog(catalog) ? catalogRows(text, [dbSchemaFilterPattern], ask) : [];
  return { fields: [optional("catalog_name"), required("db_schema_name")], rows };
}
