/**
 * External tables (contract query.md 1.4): a schema over files outside the database. They have no rows of their own and are read only.
 */
import type { TableSchema } from "./schema.ts";

/** Engine of external tables. */
export const FILE_ENGINE = "file";

/** Option that names the files. A table of the file engine without it is an ordinary one. */
export const LOCATION_OPTION = "location";

/** Whether the rows of a table lie in files outside the database. */
export function isFileTable({ engine, options }: Pick<TableSchema, "engine" | "options">): boolean {
  return engine === FILE_ENGINE && options[LOCATION_OPTION] !== undefined;
}

/** Why such a table is not changed. */
export function fileTableRefusal(table: string): string {
  return `cannot change table ${table}: it is an external table, which is read-only; change its files, or drop it and create it again`;
}
