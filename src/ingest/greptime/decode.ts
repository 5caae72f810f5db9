/**
 * Bytes of RowInsertRequests, RowDeleteRequests, InsertRequests and DeleteRequests to a `WriteBatch`. One decoder a database and thread,
 * which keeps the series it has seen. A message is taken whole or refused.
 */
import { DbError } from "../../base/error.ts";
import { atOnce } from "../../base/scheduler/pace.ts";
import { StatusCode } from "../../base/status-code.ts";
import { field, ProtoError, ProtoReader, Wire } from "../../format/proto/reader.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { readColumnRequest } from "./column-request.ts";
import { readable, type RowAction } from "./failure.ts";
import { TABLES_MAX } from "./limits.ts";
import { checkMessage } from "./request-table.ts";
import { readRowRequest } from "./row-request.ts";
import { SeriesKeys } from "./series-keys.ts";
import type { DecodedRows, DecodeOptions, RowMessage } from "./types.ts";

export type { DecodedRows, DecodeOptions, RowMessage } from "./types.ts";

const REQUEST = field(1, Wire.bytes);
/** Of InsertRequest and DeleteRequest. */
const COLUMN = field(3, Wire.bytes);
const ROW_COUNT = field(4, Wire.varint);

/** See the file header. */
export class GreptimeDecoder {
  private readonly keys: SeriesKeys = new SeriesKeys();
  private readonly reader: ProtoReader = new ProtoReader();

  /** Bytes kept between requests, nearly. */
  get memoryBytes(): number {
    return this.keys.memoryBytes;
  }

  /**
   * The rows of a message. `bytes` are borrowed until it returns, the result until the next call.
   *
   * @throws DbError InvalidArguments that names table, column and row
   */
  decode(kind: RowMessage, bytes: Uint8Array, options: DecodeOptions): DecodedRows {
    return atOnce(this.steps(kind, bytes, options));
  }

  /** As `decode`, in steps of some milliseconds at most. The decoder works on nothing else until the last, and `bytes` are borrowed. */
  *steps(kind: RowMessage, bytes: Uint8Array, options: DecodeOptions): Generator<void, DecodedRows> {
    const { keys, reader } = this;
    const action: RowAction = kind.endsWith("deletes") ? "delete from" : "write to";
    const read = kind.startsWith("row_") ? readRowRequest : readColumnRequest;
    keys.begin();
    reader.open(bytes);
    try {
      const tables: TableWrite[] = [];
      let [rowCount, newKeyCount, tableCount, cells] = [0, 0, 0, 0];
      while (reader.at < bytes.length) {
        const tag = reader.tag(bytes.length);
        if (tag !== REQUEST) {
          reader.skip(tag, bytes.length);
          continue;
        }
        if (tableCount++ === TABLES_MAX)
          throw new DbError(StatusCode.InvalidArguments, `cannot ${action} more than ${TABLES_MAX} tables a request; send several`);
        const table = yield* read(reader, reader.lengthEnd(bytes.length), action, keys, options);
        yield;
        if (table === undefined) continue;
        for (const write of table.writes()) {
          tables.push(write);
          yield;
        }
        rowCount += table.rowCount;
        newKeyCount += table.newKeyCount;
        cells += table.rowCount * table.columns.length;
        checkMessage(action, cells);
      }
      return { batch: { dictionary: keys.dictionary, tables }, rowCount, newKeyCount };
    } catch (thrown) {
      throw readable(kind, thrown);
    }
  }
}

/** Cells that a message of columns says that it unfolds to: what it claims, which its decoder checks. 0 where rows stand for themselves. */
export function claimedCells(kind: RowMessage, bytes: Uint8Array): number {
  if (kind.startsWith("row_")) return 0;
  const reader = new ProtoReader();
  reader.open(bytes);
  let cells = 0;
  try {
    while (reader.at < bytes.length) {
      const tag = reader.tag(bytes.length);
      if (tag === REQUEST) cells += claimedBy(reader, reader.lengthEnd(bytes.length));
      else reader.skip(tag, bytes.length);
    }
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error; // The decoder says what is wrong, and where.
  }
  return cells;
}

function claimedBy(reader: ProtoReader, end: number): number {
  let [rows, columns] = [0, 0];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === ROW_COUNT) rows = reader.varint32(end);
    else reader.skip(tag, end);
    if (tag === COLUMN) columns++;
  }
  return rows * columns;
}
