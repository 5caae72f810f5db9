/** What readers of files hand on: rows, column by column, and where they stand. */
import type { Pace } from "../../base/scheduler/pace.ts";
import { type DbError, invalidArguments } from "../../base/error.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { OpenFile } from "../../table/file-access.ts";
import { type Bytes, compressionOfBytes, decompressed } from "./compression.ts";
import type { CopyOptions } from "./copy-options.ts";
import { READ_BYTES } from "./limits.ts";

/** Values of one column of a file. */
export interface FileColumn {
  /** Undefined: each value is of the type that it looks like, as in JSON. */
  readonly type: DataType | undefined;
  readonly values: readonly Scalar[];
  /** Whether a row leaves the column out, which is not the same as NULL. Not there: no row does. */
  readonly isAbsent?: (row: number) => boolean;
}

/** Some rows of a file. */
export interface FileRows {
  readonly rowCount: number;
  /** In the order of the names asked for; undefined where the file has no such column. */
  readonly columns: readonly (FileColumn | undefined)[];
  /** Where a row stands, for people: "line 12". */
  readonly placeOf: (row: number) => string;
}

/** A column of a file, as its schema or its first rows say. */
export interface FoundColumn {
  readonly name: string;
  readonly type: DataType;
}

/** The error of a file that cannot be read as what it should be. */
export function badFile(location: string, why: string, cause?: unknown): DbError {
  return invalidArguments(`cannot read '${location}': ${why}`, cause);
}

/** The bytes of a file, unpacked. */
export async function* bytesOf(file: OpenFile, options: Pick<CopyOptions, "compression">, pace: Pace): Bytes {
  let how = options.compression;
  if (how === undefined) {
    const head = await file.read(0, Math.min(16, file.byteLength));
    how = compressionOfBytes(head) ?? "none";
  }
  yield* how === "none" ? rawBytes(file) : decompressed(rawBytes(file), how, file.location, pace);
}

async function* rawBytes(file: OpenFile): Bytes {
  for (let at = 0; at < file.byteLength; at += READ_BYTES) yield await file.read(at, Math.min(READ_BYTES, file.byteLength - at));
}
