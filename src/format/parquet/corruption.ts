import { corrupted, type CorruptionKind, type DbError } from "../../base/error.ts";

/** The error of a file whose bytes are not what we wrote: names the file and the byte, so that an operator can look there. */
export function corruption(fileName: string, offset: number, why: string, kind: CorruptionKind = "structure"): DbError {
  return corrupted(`cannot read Parquet file ${fileName} at byte ${offset}: ${why}`, { file: fileName, offset, kind });
}
