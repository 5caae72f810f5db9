/** What the decoder of the native interface takes and gives. */
import type { SchemaLookup, WriteBatch } from "../../table/write-batch.ts";

/** Where rows of a request go. */
export interface DecodeOptions {
  readonly database: string;
  /** What tables have already: a column of another type or role is refused with its row's table and its own name. */
  readonly schemas: SchemaLookup;
}

/** The rows of one message. */
export interface DecodedRows {
  /** Valid until the decoder is used again. */
  readonly batch: WriteBatch;
  /** Rows of all tables, as sent. */
  readonly rowCount: number;
  /** Tag sets among them that the decoder had not seen. */
  readonly newKeyCount: number;
}

/** The four messages with rows. */
export type RowMessage = "row_inserts" | "row_deletes" | "inserts" | "deletes";
