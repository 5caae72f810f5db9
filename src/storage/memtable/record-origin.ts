/**
 * Who wrote a record, and where it stands in what that writer wrote: what the head of a record begins with. By it a reader takes the rows
 * of each record once, though records are missing, late or there twice, and knows what series numbers mean (`engine/log/writers.ts`).
 */
import type { WriterId } from "../../base/units.ts";

/** See the file header. All are whole numbers below 2^53. */
export interface RecordOrigin {
  readonly writer: WriterId;
  /** 1, 2, 3, … of the records of this writer. One number stands for the same rows, however often they are sent. */
  readonly number: number;
  /** From 1; rises whenever the writer begins its definitions anew. In a log on a local disk: the file that the record is in. */
  readonly segment: number;
  /** The writer's catalogue had come this far when it wrote: the tables and columns that the record names were there. */
  readonly catalogVersion: number;
}
