/**
 * InsertRequest and DeleteRequest: columns, each with the values that are not NULL and a bit a row that says which rows are. The time index
 * has a value in every row, so that its values are counted to know how many rows there really are.
 */
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { Encoding } from "./column-type.ts";
import { invalidAt, type Place, type RowAction } from "./failure.ts";
import { COLUMNS_MAX } from "./limits.ts";
import { checkAgainstSchema, checkCells, RequestTable } from "./request-table.ts";
import {
  newReadColumn,
  type ReadColumn,
  readExtension,
  readOptions,
  readText,
  type RequestColumn,
  requestColumn,
} from "./schema-reader.ts";
import type { SeriesKeys } from "./series-keys.ts";
import type { DecodeOptions } from "./types.ts";
import { readOtherValue, readValue } from "./value-reader.ts";

/** Where something lies. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** A column as it was found, before its values are read. */
interface FoundColumn {
  readonly read: ReadColumn;
  values: Range[];
  mask: Range;
}

const NOWHERE: Range = { start: 0, end: 0 };

/** Reads one table's request. @returns undefined without rows. @throws DbError InvalidArguments, ProtoError */
export function readColumnRequest(
  reader: ProtoReader,
  end: number,
  action: RowAction,
  keys: SeriesKeys,
  options: DecodeOptions,
): RequestTable | undefined {
  let [name, rowCount] = ["", 0];
  const found: FoundColumn[] = [];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.bytes)) name = readText(reader, end);
    else if (tag === field(3, Wire.bytes)) {
      if (found.length === COLUMNS_MAX) throw invalidAt({ action, table: name }, `the request has more than ${COLUMNS_MAX} columns`);
      found.push(findColumn(reader, reader.lengthEnd(end)));
    } else if (tag === field(4, Wire.varint)) rowCount = reader.varint32(end);
    else reader.skip(tag, end);
  }
  if (rowCount === 0 && found.length === 0) return undefined;
  const place: Place = { action, table: name };
  const columns = found.map(({ read }) => requestColumn(read, place));
  const { at } = reader;
  checkRowCount(reader, place, columns, found, rowCount);
  const table = new RequestTable(place, columns, rowCount, keys);
  checkAgainstSchema(place, columns, options.database, options.schemas);
  new ColumnReader(reader, table, found).read(keys);
  reader.at = at;
  return rowCount === 0 ? undefined : table;
}

function findColumn(reader: ProtoReader, end: number): FoundColumn {
  const found: FoundColumn = { read: newReadColumn(), values: [], mask: NOWHERE };
  const { read } = found;
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.bytes)) read.name = readText(reader, end);
    else if (tag === field(2, Wire.varint)) read.semantic = reader.varint32(end);
    else if (tag === field(3, Wire.bytes)) found.values.push(range(reader, end));
    else if (tag === field(4, Wire.bytes)) found.mask = range(reader, end);
    else if (tag === field(5, Wire.varint)) read.type = reader.varint32(end);
    else if (tag === field(6, Wire.bytes)) read.extension = readExtension(reader, reader.lengthEnd(end));
    else if (tag === field(7, Wire.bytes)) readOptions(reader, reader.lengthEnd(end), read.options);
    else reader.skip(tag, end);
  }
  return found;
}

/** Moves over a length-delimited value. */
function range(reader: ProtoReader, end: number): Range {
  const valueEnd = reader.lengthEnd(end);
  const start = reader.at;
  reader.at = valueEnd;
  return { start, end: valueEnd };
}

/** A row count that bytes do not stand for is refused before memory is taken for it. */
function checkRowCount(
  reader: ProtoReader,
  place: Place,
  columns: readonly RequestColumn[],
  found: readonly FoundColumn[],
  rowCount: number,
): void {
  const time = columns.findIndex(({ semantic }) => semantic === "timestamp");
  const values = found[time]?.values ?? [];
  let bytes = 0;
  for (const { start, end } of values) bytes += end - start;
  checkCells(place, rowCount, 1);
  if (time >= 0 && rowCount > bytes) {
    const why = `row_count is ${rowCount}, but the time index has values of ${bytes} bytes; every row needs a time`;
    throw invalidAt({ ...place, column: columns[time]?.name ?? "" }, why);
  }
  reader.at = values[0]?.start ?? reader.at;
}

/** Reads the columns of one table. */
class ColumnReader {
  private readonly reader: ProtoReader;
  private readonly table: RequestTable;
  private readonly found: readonly FoundColumn[];

  constructor(reader: ProtoReader, table: RequestTable, found: readonly FoundColumn[]) {
    this.reader = reader;
    this.table = table;
    this.found = found;
  }

  read(keys: SeriesKeys): void {
    const { table, found, reader } = this;
    const { rowCount, tags, place } = table;
    const stride = 2 * tags.columns.length;
    checkCells(place, rowCount, tags.columns.length);
    const spans = new Int32Array(stride * rowCount).fill(-1);
    let tag = 0;
    for (const [i, { semantic }] of table.columns.entries()) {
      this.column(i, found[i] as FoundColumn, spans, 2 * tag, stride);
      if (semantic === "tag") tag++;
    }
    for (let row = 0; row < rowCount; row++) table.keys[row] = keys.keyOf(tags, reader, spans, row * stride, place, row);
  }

  /** The values of one column, each to the next row that is not NULL. */
  private column(index: number, found: FoundColumn, spans: Int32Array, spanAt: number, stride: number): void {
    const { reader, table } = this;
    const { type, semantic } = table.columns[index] as RequestColumn;
    const rows = new MaskedRows(reader.bytes, found.mask, table.rowCount);
    const packedTag = (type.tag & ~7) | Wire.bytes;
    const isPacked = (type.tag & 7) !== Wire.bytes;
    for (const { start, end } of found.values) {
      reader.at = start;
      while (reader.at < end) {
        const tag = reader.tag(end);
        const isRun = isPacked && tag === packedTag;
        const runEnd = isRun ? reader.lengthEnd(end) : end;
        do {
          if (isRun && reader.at === runEnd) break;
          const row = rows.next();
          if (row < 0) throw this.wrong(index, undefined, `it has more values than rows that are not NULL; row_count is ${table.rowCount}`);
          const from = reader.at;
          const why = this.value(index, isRun ? type.tag : tag, runEnd, row);
          if (why !== undefined) throw this.wrong(index, row, why);
          if (semantic === "tag") {
            spans[row * stride + spanAt] = from;
            spans[row * stride + spanAt + 1] = reader.at;
          }
        } while (isRun);
      }
    }
    const missing = rows.next();
    if (missing >= 0) throw this.wrong(index, missing, "it has fewer values than rows that are not NULL in its null_mask");
  }

  private value(index: number, tag: number, end: number, row: number): string | undefined {
    const { reader, table } = this;
    const { type, semantic } = table.columns[index] as RequestColumn;
    if (semantic !== "field") {
      if (tag !== type.tag) return `it has field ${tag >>> 3} of Values, its type's is field ${type.tag >>> 3}`;
      if (semantic === "tag") {
        reader.skip(tag, end);
        return undefined;
      }
      reader.varint64(end);
      return table.times.set(row, reader.high, reader.low);
    }
    table.row.rows = row + 1;
    const cells = table.cells[index];
    if (cells === undefined) return "it has no cells";
    if (tag === type.tag) return readValue(reader, end, type, cells);
    if (type.encoding === Encoding.json && tag === field(42, Wire.bytes))
      return "json_values are not supported; send JSON in string_values";
    return readOtherValue(tag, reader, end, type, cells);
  }

  private wrong(index: number, row: number | undefined, why: string): Error {
    const { place, columns } = this.table;
    return invalidAt({ ...place, column: columns[index]?.name ?? "", ...(row === undefined ? {} : { row }) }, why);
  }
}

/** The rows that a null_mask leaves, in order. */
class MaskedRows {
  private readonly bytes: Uint8Array;
  private readonly mask: Range;
  private readonly rowCount: number;
  private row = -1;

  constructor(bytes: Uint8Array, mask: Range, rowCount: number) {
    this.bytes = bytes;
    this.mask = mask;
    this.rowCount = rowCount;
  }

  /** The next row that is not NULL, or -1. */
  next(): number {
    const { bytes, mask, rowCount } = this;
    const bits = (mask.end - mask.start) * 8;
    let row = this.row + 1;
    while (row < rowCount && row < bits && (((bytes[mask.start + (row >>> 3)] as number) >>> (row & 7)) & 1) === 1) row++;
    this.row = row;
    return row < rowCount ? row : -1;
  }
}
