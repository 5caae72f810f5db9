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

/** What is to be told of an error of a decoder: of bytes that are not the message, InvalidArguments. */
export function readable(message: string, thrown: unknown): unknown {
  if (!(thrown instanceof ProtoError)) return thrown;
  return new DbError(StatusCode.InvalidArguments, `cannot read ${message}: ${thrown.message}`, { cause: thrown });
}
