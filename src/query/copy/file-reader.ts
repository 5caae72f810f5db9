/** Files of any known format as rows, and the columns that they have. */
import type { Pace } from "../../base/scheduler/pace.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { CopyOptions } from "./copy-options.ts";
import { csvColumns, csvRows } from "./decode-csv.ts";
import { jsonColumns, jsonRows } from "./decode-json.ts";
import { parquetColumns, parquetRows } from "./decode-parquet.ts";
import type { FileRows, FoundColumn } from "./file-rows.ts";

/**
 * The rows of a file: values of the columns asked for, in their order.
 *
 * @throws DbError InvalidArguments naming the file and, where there is one, the line
 */
export function fileRows(file: OpenFile, names: readonly string[], options: CopyOptions, pace: Pace): AsyncIterable<FileRows> {
  switch (options.format) {
    case "csv":
      return csvRows(file, names, options, pace);
    case "json":
      return jsonRows(file, names, options, pace);
    case "parquet":
      return parquetRows(file, names);
  }
}

/** The columns of a file, from its schema or its first records. @throws DbError InvalidArguments */
export function fileColumns(file: OpenFile, options: CopyOptions, pace: Pace): Promise<readonly FoundColumn[]> {
  switch (options.format) {
    case "csv":
      return csvColumns(file, options, pace);
    case "json":
      return jsonColumns(file, options, pace);
    case "parquet":
      return parquetColumns(file);
  }
}
