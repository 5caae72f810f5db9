/** A batch of several tables of which some were refused. */
import { DbError } from "../base/error.ts";

/** Some tables of a batch were refused; the rows of the others are durable. Code and text are those of the refusals. */
export class PartlyWritten extends DbError {
  /** Rows that were taken. */
  readonly rowCount: number;
  /** Rows that were not. */
  readonly refusedRows: number;

  constructor(refusal: DbError, rowCount: number, refusedRows: number) {
    super(refusal.code, `${refusal.message} (${refusedRows} rows are refused, ${rowCount} of other tables are written)`, {
      cause: refusal,
    });
    this.rowCount = rowCount;
    this.refusedRows = refusedRows;
  }
}

/** What of a write was refused while the rest of it is durable; undefined: nothing. @throws DbError when nothing was written */
export async function refusedPart(writing: Promise<unknown>): Promise<PartlyWritten | undefined> {
  try {
    await writing;
    return undefined;
  } catch (error) {
    if (error instanceof PartlyWritten) return error;
    throw error;
  }
}
