/**
 * RowInsertRequest and RowDeleteRequest: a schema and rows of Values. Rows are gone over twice: once for their number and lengths, which
 * the memory of their cells is taken by, and once for their values.
 */
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import type { ColumnType } from "./column-type.ts";
import { invalidAt, type Place, type RowAction } from "./failure.ts";
import { COLUMNS_MAX } from "./limits.ts";
import { checkAgainstSchema, RequestTable } from "./request-table.ts";
import { type ReadColumn, readColumnSchema, readText, requestColumn } from "./schema-reader.ts";
import type { SeriesKeys } from "./series-keys.ts";
import type { DecodeOptions } from "./types.ts";
import { readOtherValue, readValue } from "./value-reader.ts";

const FIRST = field(1, Wire.bytes);
const SECOND = field(2, Wire.bytes);
/** Bytes of a Value of a row, at least: its tag and its length. */
const VALUE_BYTES_MIN = 2;

/** What a request says before its rows are read. */
interface RowsFound {
  table: string;
  readonly columns: ReadColumn[];
  /** Where the messages Rows lie; there is one. */
  readonly places: { readonly start: number; readonly end: number }[];
  rowCount: number;
  /** Bytes of the shortest row, and its number. */
  shortest: number;
  shortestRow: number;
}

/** Reads one table's request. @returns undefined without rows. @throws DbError InvalidArguments, ProtoError */
export function readRowRequest(
  reader: ProtoReader,
  end: number,
  action: RowAction,
  keys: SeriesKeys,
  options: DecodeOptions,
): RequestTable | undefined {
  const found = find(reader, end, action);
  const place: Place = { action, table: found.table };
  if (found.rowCount === 0) return undefined;
  const columns = found.columns.map((column) => requestColumn(column, place));
  if (found.shortest < VALUE_BYTES_MIN * columns.length) {
    const why = `it has fewer values than the schema has columns (${columns.length}); send an empty Value for NULL`;
    throw invalidAt({ ...place, row: found.shortestRow }, why);
  }
  const table = new RequestTable(place, columns, found.rowCount, keys);
  checkAgainstSchema(place, columns, options.database, options.schemas);
  new RowReader(reader, table, keys).read(found.places);
  return table;
}

/** Goes over a request once: names, schema, and how many rows there are. */
function find(reader: ProtoReader, end: number, action: RowAction): RowsFound {
  const found: RowsFound = { table: "", columns: [], places: [], rowCount: 0, shortest: Number.POSITIVE_INFINITY, shortestRow: 0 };
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === FIRST) found.table = readText(reader, end);
    else if (tag === SECOND) {
      const rowsEnd = reader.lengthEnd(end);
      found.places.push({ start: reader.at, end: rowsEnd });
      findRows(reader, rowsEnd, found, action);
    } else reader.skip(tag, end);
  }
  return found;
}

function findRows(reader: ProtoReader, end: number, found: RowsFound, action: RowAction): void {
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === SECOND) {
      const rowEnd = reader.lengthEnd(end);
      const length = rowEnd - reader.at;
      if (length < found.shortest) {
        found.shortest = length;
        found.shortestRow = found.rowCount;
      }
      found.rowCount++;
      reader.at = rowEnd;
    } else if (tag === FIRST) {
      if (found.columns.length === COLUMNS_MAX)
        throw invalidAt({ action, table: found.table }, `the request has more than ${COLUMNS_MAX} columns`);
      found.columns.push(readColumnSchema(reader, reader.lengthEnd(end)));
    } else reader.skip(tag, end);
  }
}

/** What a column of a row is. */
const Role = { field: 0, tag: 1, time: 2 } as const;

/** Reads the rows of one table. */
class RowReader {
  private readonly reader: ProtoReader;
  private readonly table: RequestTable;
  private readonly keys: SeriesKeys;
  private readonly roles: Uint8Array;
  private readonly types: readonly ColumnType[];
  /** Places of the tags of the row being read. */
  private readonly spans: Int32Array;

  constructor(reader: ProtoReader, table: RequestTable, keys: SeriesKeys) {
    this.reader = reader;
    this.table = table;
    this.keys = keys;
    this.roles = Uint8Array.from(table.columns, ({ semantic }) =>
      semantic === "tag" ? Role.tag : semantic === "timestamp" ? Role.time : Role.field,
    );
    this.types = table.columns.map(({ type }) => type);
    this.spans = new Int32Array(2 * table.tags.columns.length);
  }

  read(places: RowsFound["places"]): void {
    const { reader } = this;
    const { at } = reader;
    let row = 0;
    for (const { start, end } of places) {
      reader.at = start;
      while (reader.at < end) {
        const tag = reader.tag(end);
        if (tag === SECOND) this.row(reader.lengthEnd(end), row++);
        else reader.skip(tag, end);
      }
    }
    reader.at = at;
  }

  private row(end: number, row: number): void {
    const { reader, table, roles, types, spans } = this;
    const { cells, row: count } = table;
    const columnCount = types.length;
    count.rows = row + 1;
    let column = 0;
    let tagAt = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== FIRST) {
        reader.skip(tag, end);
        continue;
      }
      const valueEnd = reader.lengthEnd(end);
      if (column === columnCount) throw this.wrong(row, undefined, `it has more values than the schema has columns (${columnCount})`);
      const role = roles[column];
      if (role === Role.tag) {
        this.tag(valueEnd, tagAt, column, row);
        tagAt += 2;
      } else if (role === Role.time) this.time(valueEnd, column, row);
      else if (reader.at < valueEnd) {
        const type = types[column] as ColumnType;
        const own = cells[column];
        const given = reader.tag(valueEnd);
        if (own !== undefined) {
          const why = given === type.tag ? readValue(reader, valueEnd, type, own) : readOtherValue(given, reader, valueEnd, type, own);
          if (why !== undefined) throw this.wrong(row, column, why);
        }
        if (reader.at !== valueEnd) throw this.wrong(row, column, "it holds more than one value");
      }
      column++;
    }
    if (column < columnCount) throw this.wrong(row, undefined, `it has ${column} values, the schema has ${columnCount} columns`);
    table.keys[row] = this.keys.keyOf(table.tags, reader, spans, 0, table.place, row);
  }

  /** Notes where a tag's value lies. */
  private tag(valueEnd: number, tagAt: number, column: number, row: number): void {
    const { reader, spans } = this;
    if (reader.at === valueEnd) {
      spans[tagAt] = -1;
      spans[tagAt + 1] = -1;
      return;
    }
    const given = reader.tag(valueEnd);
    const { tag } = this.types[column] as ColumnType;
    if (given !== tag) throw this.wrong(row, column, `it holds field ${given >>> 3} of Value, its type's is field ${tag >>> 3}`);
    spans[tagAt] = reader.at;
    spans[tagAt + 1] = valueEnd;
    reader.at = valueEnd;
  }

  private time(valueEnd: number, column: number, row: number): void {
    const { reader } = this;
    if (reader.at === valueEnd) throw this.wrong(row, column, "the time index is NULL; every row needs a time");
    const given = reader.tag(valueEnd);
    const { tag } = this.types[column] as ColumnType;
    if (given !== tag) throw this.wrong(row, column, `it holds field ${given >>> 3} of Value, its type's is field ${tag >>> 3}`);
    reader.varint64(valueEnd);
    if (reader.at !== valueEnd) throw this.wrong(row, column, "it holds more than one value");
    const why = this.table.times.set(row, reader.high, reader.low);
    if (why !== undefined) throw this.wrong(row, column, why);
  }

  private wrong(row: number, column: number | undefined, why: string): Error {
    const { place, columns } = this.table;
    const name = column === undefined ? undefined : columns[column]?.name;
    return invalidAt({ ...place, row, ...(name === undefined ? {} : { column: name }) }, why);
  }
}
