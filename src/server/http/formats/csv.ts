/**
 * CSV (RFC 4180): CRLF after each record, quotes only where needed, NULL as an empty field.
 */
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { displayName } from "../../../column/data-type.ts";
import { CSV_DIALECT, CSV_SINGLE_DIALECT } from "../../common/kernels/cell-column.ts";
import type { RowLayout } from "../../common/kernels/interleave.ts";
import { csvText } from "../../common/kernels/write-text.ts";
import { type ResultFormat, utf8 } from "./format.ts";
import { allColumns, printRows } from "./row-stream.ts";
import { singleResult } from "./single-result.ts";

function layoutOf(columnCount: number): RowLayout {
  return { before: Array.from({ length: columnCount }, (_, index) => utf8(index === 0 ? "" : ",")), after: utf8("\r\n") };
}

function headLine(fields: readonly string[]): Uint8Array<ArrayBuffer> {
  return utf8(`${fields.map((field) => csvText(field)).join(",")}\r\n`);
}

async function* csvRows(
  headers: readonly ColumnHeader[],
  batches: AsyncIterable<Batch>,
  heads: { readonly names: boolean; readonly types: boolean },
  limit: number | undefined,
  pace: Pace,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (heads.names) yield headLine(headers.map((header) => header.name));
  if (heads.types) yield headLine(headers.map((header) => displayName(header.type)));
  const dialect = headers.length === 1 ? CSV_SINGLE_DIALECT : CSV_DIALECT;
  yield* printRows(headers, batches, allColumns(headers.length), dialect, layoutOf(headers.length), limit, { rows: 0 }, pace);
}

/** A CSV format with or without lines of names and types. */
function csvFormat(heads: { readonly names: boolean; readonly types: boolean }): ResultFormat {
  return {
    label: "csv",
    contentType: "text/csv; charset=utf-8",
    encode: (results, options) =>
      singleResult(results, "csv", async function* (result) {
        if (result.kind === "affected") yield utf8(`${result.rowCount}\n`);
        else yield* csvRows(result.headers, result.batches, heads, options.limit, options.pace);
      }),
  };
}

/** `csv`. */
export const csv: ResultFormat = csvFormat({ names: false, types: false });
/** `csvWithNames`. */
export const csvWithNames: ResultFormat = csvFormat({ names: true, types: false });
/** `csvWithNamesAndTypes`. */
export const csvWithNamesAndTypes: ResultFormat = csvFormat({ names: true, types: true });
