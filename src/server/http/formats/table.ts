/**
 * A box drawn around the rows, for people at a terminal. Widths depend on every row, so the whole table is held before it is printed;
 * `TABLE_TEXT_BYTES_MAX` bounds it.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import { CellColumn, JSON_DIALECT } from "../../common/kernels/cell-column.ts";
import { type ResultFormat, utf8 } from "./format.ts";
import { singleResult } from "./single-result.ts";

/** Most bytes of cell text in one table. Reason: it is held in memory. Error: RuntimeResourcesExhausted. */
const TABLE_TEXT_BYTES_MAX: number = 64 * 1024 * 1024;

/** Lines that one chunk of output holds. */
const CHUNK_LINES = 1024;

const decoder = new TextDecoder();

interface TableColumn {
  readonly name: string;
  readonly cells: string[];
  /** Byte length of each cell. */
  readonly sizes: number[];
  width: number;
}

/** Reads at most `limit` rows into columns of text. */
async function readTable(result: StatementResult & { kind: "rows" }, limit: number | undefined): Promise<TableColumn[]> {
  const columns = result.headers.map(({ name }): TableColumn => ({ name, cells: [], sizes: [], width: Buffer.byteLength(name) }));
  const printers = result.headers.map(({ type }) => new CellColumn(type, JSON_DIALECT));
  let rows = 0;
  let bytes = 0;
  for await (const batch of result.batches) {
    const rowCount = limit === undefined ? batch.rowCount : Math.min(batch.rowCount, limit - rows);
    for (const [position, vector] of batch.vectors.entries()) {
      const column = columns[position];
      const printer = printers[position];
      if (column === undefined || printer === undefined || rowCount === 0) continue;
      printer.encode(vector, rowCount);
      bytes += readColumn(printer, column, rowCount);
      if (bytes > TABLE_TEXT_BYTES_MAX) {
        throw new DbError(
          StatusCode.RuntimeResourcesExhausted,
          `cannot print the result as a table: it holds more than ${TABLE_TEXT_BYTES_MAX} bytes of text; ask for csv or add a LIMIT`,
        );
      }
    }
    rows += rowCount;
    if (limit !== undefined && rows >= limit) break;
  }
  return columns;
}

function readColumn(printer: CellColumn, column: TableColumn, rowCount: number): number {
  let bytes = 0;
  for (let row = 0; row < rowCount; row++) {
    const start = printer.starts[row] ?? 0;
    const end = printer.ends[row] ?? 0;
    column.cells.push(decoder.decode(printer.bytes.subarray(start, end)));
    column.sizes.push(end - start);
    if (end - start > column.width) column.width = end - start;
    bytes += end - start;
  }
  return bytes;
}

async function* drawTable(columns: readonly TableColumn[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const top = columns.map(({ name, width }) => `─${name}${"─".repeat(width - Buffer.byteLength(name))}─`);
  const bottom = columns.map(({ width }) => "─".repeat(width + 2));
  yield utf8(`┌${top.join("┬")}┐\n`);
  const rowCount = columns[0]?.cells.length ?? 0;
  for (let start = 0; start < rowCount; start += CHUNK_LINES) {
    let lines = "";
    for (let row = start; row < Math.min(start + CHUNK_LINES, rowCount); row++) {
      for (const { cells, sizes, width } of columns) lines += `│ ${cells[row] ?? ""}${" ".repeat(width - (sizes[row] ?? 0))} `;
      lines += "│\n";
    }
    yield utf8(lines);
  }
  yield utf8(`└${bottom.join("┴")}┘\n`);
}

/** `table`. */
export const table: ResultFormat = {
  label: "table",
  contentType: "text/plain; charset=utf-8",
  encode: (results, options) =>
    singleResult(results, "table", async function* (result) {
      if (result.kind === "affected") yield utf8(`${result.rowCount}\n`);
      else yield* drawTable(await readTable(result, options.limit));
    }),
};
