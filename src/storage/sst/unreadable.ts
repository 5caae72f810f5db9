import { corrupted, type DbError, errorText } from "../../base/error.ts";

/** The error of a data file whose own sections make no sense; those of the store and of Parquet name the file and the byte already. */
export function unreadable(file: string, error: unknown): DbError {
  return corrupted(`cannot read data file ${file}: ${errorText(error)}`, { file, offset: undefined, kind: "structure" }, error);
}
