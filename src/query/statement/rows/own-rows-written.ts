import { decodedAndWritten } from "../../../table/decoded-and-written.ts";
import type { WriteBatch, WriteResult } from "../../../table/write-batch.ts";
import type { QueryContext } from "../../query-context.ts";

/**
 * Writes rows of a statement, whose arrays are its own: they are written again where the table was changed meanwhile.
 *
 * @throws DbError of contract query.md 1.6
 */
export function ownRowsWritten(context: QueryContext, database: string, batch: WriteBatch): Promise<WriteResult> {
  const options = { autoCreate: false, tableOptions: {}, signal: context.signal };
  return decodedAndWritten(() => context.writer.write(database, batch, options));
}
