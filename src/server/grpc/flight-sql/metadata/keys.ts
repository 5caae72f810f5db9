/**
 * CommandGetPrimaryKeys: what rows of a table are told apart by, tags and time, as the PostgreSQL server tells it; tables that are appended
 * to have none. CommandGetExportedKeys, CommandGetImportedKeys and CommandGetCrossReference: there are no foreign keys.
 */
import type { CommandGetPrimaryKeys } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { INT32, UINT8 } from "../../../../column/data-type.ts";
import type { Scalar } from "../../../../column/vector.ts";
import { mergeModeOf, timeIndexOf } from "../../../../table/schema.ts";
import { CATALOG_NAME } from "../../../../table/reserved-names.ts";
import type { AnswerTable } from "../flight-answer.ts";
import { type Ask, isOurCatalog, optional, required } from "./ask.ts";

/** Name of the constraint, as `information_schema.table_constraints` has it. */
const KEY_NAME = "PRIMARY";

const KEY_FIELDS = [
  optional("catalog_name"),
  optional("db_schema_name"),
  required("table_name"),
  required("column_name"),
  optional("key_name"),
  required("key_sequence", INT32),
];

/** The key of each table of that name. @throws DbError PermissionDenied */
export function primaryKeys({ catalog, dbSchema, table }: CommandGetPrimaryKeys, { db, session }: Ask): AnswerTable {
  if (!isOurCatalog(catalog)) return { fields: KEY_FIELDS, rows: [] };
  const names = db.databases().map(({ name }) => name);
  const databases = names.filter((name) => dbSchema === undefined || name === dbSchema).toSorted();
  const rows: Scalar[][] = [];
  for (const database of databases) {
    const schema = db.table(table, { ...session, database })?.schema;
    if (schema === undefined || mergeModeOf(schema) === "append") continue;
    const columns = [...schema.primaryKey, timeIndexOf(schema).name];
    for (const [i, column] of columns.entries()) rows.push([CATALOG_NAME, database, table, column, KEY_NAME, i + 1]);
  }
  return { fields: KEY_FIELDS, rows };
}

/** Foreign keys: none. */
export function foreignKeys(): AnswerTable {
  const side = (which: string) => [
    optional(`${which}_catalog_name`),
    optional(`${which}_db_schema_name`),
    required(`${which}_table_name`),
    required(`${which}_column_name`),
  ];
  const rules = [required("update_rule", UINT8), required("delete_rule", UINT8)];
  const names = [optional("fk_key_name"), optional("pk_key_name")];
  return { fields: [...side("pk"), ...side("fk"), required("key_sequence", INT32), ...names, ...rules], rows: [] };
}
