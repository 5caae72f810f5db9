/** What a schema tells of a column besides its type (`ARROW:FLIGHT:SQL:…`): how JDBC's getColumns is answered. */
import { type DataType, sqlName } from "../../../../column/data-type.ts";
import { CATALOG_NAME } from "../../../../table/reserved-names.ts";
import { typeFacts } from "./type-facts.ts";

/** Metadata of a column of a table. */
export function columnMetadata(database: string, table: string, type: DataType): Readonly<Record<string, string>> {
  const { size, scale, isCaseSensitive } = typeFacts(type);
  return {
    "ARROW:FLIGHT:SQL:CATALOG_NAME": CATALOG_NAME,
    "ARROW:FLIGHT:SQL:DB_SCHEMA_NAME": database,
    "ARROW:FLIGHT:SQL:TABLE_NAME": table,
    "ARROW:FLIGHT:SQL:TYPE_NAME": sqlName(type),
    ...(size === undefined ? {} : { "ARROW:FLIGHT:SQL:PRECISION": String(size) }),
    ...(scale === undefined ? {} : { "ARROW:FLIGHT:SQL:SCALE": String(scale) }),
    "ARROW:FLIGHT:SQL:IS_AUTO_INCREMENT": "0",
    "ARROW:FLIGHT:SQL:IS_CASE_SENSITIVE": isCaseSensitive ? "1" : "0",
    "ARROW:FLIGHT:SQL:IS_READ_ONLY": "0",
    "ARROW:FLIGHT:SQL:IS_SEARCHABLE": "1",
  };
}
