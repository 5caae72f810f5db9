/** Files of any known format as rows, and the columns that they have. */
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
export function fileRows(file: OpenFile, names: readonly string[], options: CopyOptions): AsyncIterable<FileRows> {
  switch (options.format) {
    case "csv":
      return csvRows(file, names, options);
    case "json":
      return jsonRows(file, names, options);
    case "parquet":
      return parquetRows(file, names);
  }
}

/** The columns of a file, from its schema or its first records. @throws DbError InvalidArguments */
export function fileColumns(file: OpenFile, options: CopyOptions): Promise<readonly FoundColumn[]> {
  switch (options.format) {
    case "csv":
      return csvColumns(file, options);
    case "json":
      return jsonColumns(file, options);
    case "parquet":
      return parquetColumns(file);
  }
}
