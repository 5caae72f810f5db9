import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** The error of a file whose bytes are not what we wrote: names the file and the byte, so that an operator can look there. */
export function corruption(fileName: string, offset: number, why: string): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot read Parquet file ${fileName} at byte ${offset}: ${why}`);
}
