/** Arrow streams that clients send by DoPut. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";

/** A column of a stream. */
export interface InputColumn extends ColumnHeader {
  /** Its values come as a dictionary and codes. */
  readonly isDictionary?: boolean;
}

/** A stream whose schema has come. */
export interface ArrowInput {
  readonly columns: readonly InputColumn[];
  /** Valid until the next one is asked for. @throws DbError InvalidArguments for bytes that are no Arrow */
  readonly batches: AsyncIterable<Batch>;
}
