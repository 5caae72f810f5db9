/**
 * Bytes of RowInsertRequests, RowDeleteRequests, InsertRequests and DeleteRequests to a `WriteBatch`. One decoder a database and thread,
 * which keeps the series it has seen. A message is taken whole or refused.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { field, ProtoReader, Wire } from "../../format/proto/reader.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { readColumnRequest } from "./column-request.ts";
import { decoding, type RowAction } from "./failure.ts";
import { TABLES_MAX } from "./limits.ts";
import { checkMessage } from "./request-table.ts";
import { readRowRequest } from "./row-request.ts";
import { SeriesKeys } from "./series-keys.ts";
import type { DecodedRows, DecodeOptions, RowMessage } from "./types.ts";

export type { DecodedRows, DecodeOptions, RowMessage } from "./types.ts";

const REQUEST = field(1, Wire.bytes);

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
    const { keys, reader } = this;
    const action: RowAction = kind.endsWith("deletes") ? "delete from" : "write to";
    const read = kind.startsWith("row_") ? readRowRequest : readColumnRequest;
    keys.begin();
    reader.open(bytes);
    return decoding(kind, () => {
      const tables: TableWrite[] = [];
      let [rowCount, tableCount, cells] = [0, 0, 0];
      while (reader.at < bytes.length) {
        const tag = reader.tag(bytes.length);
        if (tag !== REQUEST) {
          reader.skip(tag, bytes.length);
          continue;
        }
        if (tableCount++ === TABLES_MAX)
          throw new DbError(StatusCode.InvalidArguments, `cannot ${action} more than ${TABLES_MAX} tables a request; send several`);
        const table = read(reader, reader.lengthEnd(bytes.length), action, keys, options);
        if (table === undefined) continue;
        tables.push(...table.writes());
        rowCount += table.rowCount;
        cells += table.rowCount * table.columns.length;
        checkMessage(action, cells);
      }
      return { batch: { dictionary: keys.dictionary, tables }, rowCount };
    });
  }
}
