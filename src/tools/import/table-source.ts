/**
 * CSV, JSON lines and Parquet, plain or packed: read as COPY FROM reads them, sent as Arrow of the table's own types.
 *
 *   file ─► query/copy rows ─► values of the table's columns ─► Arrow stream ─► /v1/arrow/write
 *
 * Places are rows. To go on, rows before the place are read and left out.
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../../format/arrow/encode-stream.ts";
import { converterOf } from "../../query/copy/column-converter.ts";
import type { CopyOptions } from "../../query/copy/copy-options.ts";
import { fileRows } from "../../query/copy/file-reader.ts";
import type { FileRows } from "../../query/copy/file-rows.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { TableColumn } from "../common/table-facts.ts";
import type { Piece, Source, Start } from "./source.ts";

/** Bytes from which a piece is halved. Reason: the server takes up to 16 MiB as one write, whole or not at all. */
const PIECE_BYTES_MAX: number = 8 * 1024 * 1024;

/** Where rows go and how they are read. */
export interface TableTarget {
  readonly database: string;
  readonly table: string;
  /** The columns that the file has. */
  readonly columns: readonly TableColumn[];
  readonly options: CopyOptions;
  readonly rowsMax: number;
}

/** The rows of a file. @param rowCount of the file, where its format says so */
export function tableSource(file: OpenFile, identity: string, target: TableTarget, pace: Pace): Source {
  let readBytes = 0;
  const watched: OpenFile = {
    location: file.location,
    name: file.name,
    byteLength: file.byteLength,
    read: async (offset, length) => {
      readBytes = Math.max(readBytes, offset + length);
      return await file.read(offset, length);
    },
    close: () => file.close(),
  };
  return {
    name: file.location,
    identity,
    size: file.byteLength,
    progressOf: () => Math.min(readBytes, file.byteLength),
    pieces: (start) => piecesOf(watched, start, target, pace),
    close: () => file.close(),
  };
}

async function* piecesOf(file: OpenFile, start: Start, target: TableTarget, pace: Pace): AsyncGenerator<Piece> {
  const names = target.columns.map(({ name }) => name);
  let at = 0;
  for await (const rows of fileRows(file, names, target.options, pace)) {
    // Borders lie where they lay in an earlier run: blocks of a file are the same whenever it is read.
    for (let from = 0; from < rows.rowCount; from += target.rowsMax) {
      const to = Math.min(rows.rowCount, from + target.rowsMax);
      if (at + to <= start.at) continue;
      for (const piece of encoded(file, rows, from, to, at, target)) if (piece.to > start.at) yield piece;
    }
    at += rows.rowCount;
  }
}

/** Rows `[from, to)` of a block as pieces, one where they are not too long. @param before rows before the block */
function* encoded(file: OpenFile, rows: FileRows, from: number, to: number, before: number, target: TableTarget): Generator<Piece> {
  const body = arrowOf(target.columns, batchOf(file, rows, from, to, target));
  if (body.length > PIECE_BYTES_MAX && to - from > 1) {
    const middle = from + Math.floor((to - from) / 2);
    yield* encoded(file, rows, from, middle, before, target);
    yield* encoded(file, rows, middle, to, before, target);
    return;
  }
  const { database, table } = target;
  yield {
    from: before + from,
    to: before + to,
    rowCount: to - from,
    database,
    path: `/v1/arrow/write?table=${encodeURIComponent(table)}`,
    body,
    headers: { "content-type": "application/vnd.apache.arrow.stream" },
    place: rows.placeOf(from),
    context: {},
    tables: () => new Set([table]),
  };
}

/** A batch as a stream of its own. */
function arrowOf(headers: readonly ColumnHeader[], batch: Batch): Uint8Array {
  return Buffer.concat([encodeArrowSchema(headers), encodeArrowBatch(headers, batch, "lz4"), encodeArrowEnd()]);
}

function batchOf(file: OpenFile, rows: FileRows, from: number, to: number, { columns, options }: TableTarget): Batch {
  const vectors = columns.map((column, i): Vector => {
    const found = rows.columns[i];
    if (found === undefined) return vectorOf(column.type, new Array<Scalar>(to - from).fill(undefined));
    const values = new Array<Scalar>(to - from);
    let row = from;
    try {
      const convert = converterOf(found.type, column.type, options);
      for (; row < to; row++) values[row - from] = convert(found.values[row]);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      const message = `cannot read ${file.location}: ${rows.placeOf(row)}, column ${column.name}: ${thrown.message}`;
      throw invalidArguments(message, thrown);
    }
    return vectorOf(column.type, values);
  });
  return { rowCount: to - from, vectors };
}
