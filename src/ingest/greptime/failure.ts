/** Why a request is refused: what is wrong, where, and what to do. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ProtoError } from "../../format/proto/reader.ts";
import { shownName } from "../../table/names.ts";

/** What a request does with rows. */
export type RowAction = "write to" | "delete from";

/** The part of a request that an error is about; tables and columns by name, rows from 0. */
export interface Place {
  readonly action: RowAction;
  readonly table: string;
  readonly column?: string;
  readonly row?: number;
}

/** The error of something in a request. */
export function invalidAt({ action, table, column, row }: Place, why: string): DbError {
  const where = [column === undefined ? [] : `column ${shownName(column)}`, row === undefined ? [] : `row ${row}`].flat().join(", ");
  const text = `cannot ${action} table ${shownName(table)}: ${where === "" ? "" : `${where}: `}${why}`;
  return new DbError(StatusCode.InvalidArguments, text);
}

/** Runs a decoder over bytes of a client. @throws DbError InvalidArguments for bytes that are not the message */
export function decoding<T>(message: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw new DbError(StatusCode.InvalidArguments, `cannot read ${message}: ${error.message}`, { cause: error });
  }
}
