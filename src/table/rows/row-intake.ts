/** Rows of a client on their way into a table, many at a time: what COPY … FROM STDIN writes by. */
import type { ColumnHeader } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";

/** A column of the rows. */
export interface IntakeColumn extends ColumnHeader {
  /** Its values repeat: they may be handed over as a dictionary. */
  readonly isTag: boolean;
}

/** See the file header. Rows are durable in parts: those written before a failure stay. */
export interface RowIntake {
  /** The columns that rows have, in the order of their values; the others take their defaults. */
  readonly columns: readonly IntakeColumn[];
  /**
   * Takes rows; some of those taken may be written.
   *
   * @param vectors one a column, of `types`, which need not be the column's: values are cast, texts read in the session's time zone
   * @throws DbError InvalidArguments, EngineExecuteQuery for a value that is none of its column; those of `Writer.write`
   */
  add(vectors: readonly Vector[], types: readonly DataType[], rowCount: number): Promise<void>;
  /** Writes what is left. @returns how many rows were taken */
  finish(): Promise<number>;
  /** Rows that are durable. */
  readonly writtenRows: number;
  /** Gives back what it holds; also after a failure. */
  close(): Promise<void>;
}
