/** What Flight SQL calls the kinds of tables that `information_schema.tables` knows: JDBC's words, which tools filter by. */
import type { Scalar } from "../../../../column/vector.ts";
import { isInformationSchema } from "../../../../table/reserved-names.ts";

/** In the order that their list has. */
export const TABLE_TYPES: readonly string[] = ["LOCAL TEMPORARY", "SYSTEM TABLE", "TABLE", "VIEW"];

/** The kind of a table. @param type as `information_schema.tables` has it */
export function tableTypeOf(database: Scalar, type: Scalar): string {
  if (isInformationSchema(String(database))) return "SYSTEM TABLE";
  return type === "BASE TABLE" ? "TABLE" : String(type);
}
