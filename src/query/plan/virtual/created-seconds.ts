import type { TableSchema } from "../../../table/schema.ts";

/** When a table was created, seconds since the epoch; NULL for tables that do not know. */
export function createdSeconds({ createdMillis }: Pick<TableSchema, "createdMillis">): bigint | undefined {
  return createdMillis === undefined ? undefined : BigInt(Math.floor(createdMillis / 1000));
}
