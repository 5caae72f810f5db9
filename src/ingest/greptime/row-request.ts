/**
 * RowInsertRequest and RowDeleteRequest: a schema and rows of Values. Rows are gone over twice: once for their number and lengths, which
 * the memory of their cells is taken by, and once for their values, in blocks (value-block.ts).
 */
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { invalidAt, type Place, type RowAction } from "./failure.ts";
import { COLUMNS_MAX, STEP_ROWS } from "./limits.ts";
import { checkAgainstSchema, RequestTable } from "./request-table.ts";
import { type ReadColumn, readColumnSchema, readText, type RequestColumn, requestColumn } from "./schema-reader.ts";
import type { SeriesKeys } from "./series-keys.ts";
import type { DecodeOptions } from "./types.ts";
import { findTags, type Flaw, readFields, readTimes, ValueBlock } from "./value-block.ts";

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

/** Reads one table's request, in steps. @returns undefined without rows. @throws DbError InvalidArguments, ProtoError */
export function* readRowRequest(
  reader: ProtoReader,
  end: number,
  action: RowAction,
  keys: SeriesKeys,
  options: DecodeOptions,
): Generator<void, RequestTable | undefined> {
  const found = yield* find(reader, end, action);
  const place: Place = { action, table: found.table };
  if (found.rowCount === 0) return undefined;
  const columns = found.columns.map((column) => requestColumn(column, place));
  if (found.shortest < VALUE_BYTES_MIN * columns.length) {
    const why = `it has fewer values than the schema has columns (${columns.length}); send an empty Value for NULL`;
    throw invalidAt({ ...place, row: found.shortestRow }, why);
  }
  const table = new RequestTable(place, columns, found.rowCount, keys);
  checkAgainstSchema(place, columns, options.database, options.schemas);
  yield* new RowReader(reader, table, keys).read(found.places);
  return table;
}

/** Goes over a request once: names, schema, and how many rows there are. */
function* find(reader: ProtoReader, end: number, action: RowAction): Generator<void, RowsFound> {
  const found: RowsFound = { table: "", columns: [], places: [], rowCount: 0, shortest: Number.POSITIVE_INFINITY, shortestRow: 0 };
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === FIRST) found.table = readText(reader, end);
    else if (tag === SECOND) {
      const rowsEnd = reader.lengthEnd(end);
      found.places.push({ start: reader.at, end: rowsEnd });
      while (reader.at < rowsEnd) {
        findRows(reader, rowsEnd, found, action);
        yield;
      }
    } else reader.skip(tag, end);
  }
  return found;
}

/** Goes over some parts of Rows. */
function findRows(reader: ProtoReader, end: number, found: RowsFound, action: RowAction): void {
  for (let part = 0; part < STEP_ROWS && reader.at < end; part++) {
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

/** Reads the rows of one table. */
class RowReader {
  private readonly reader: ProtoReader;
  private readonly table: RequestTable;
  private readonly keys: SeriesKeys;
  private readonly block: ValueBlock;
  /** Where the places of the tags begin in a row of the block. */
  private readonly tagPlaces: Int32Array;

  constructor(reader: ProtoReader, table: RequestTable, keys: SeriesKeys) {
    const { columns } = table;
    this.reader = reader;
    this.table = table;
    this.keys = keys;
    this.block = new ValueBlock(columns.length, table.rowCount);
    this.tagPlaces = Int32Array.from(columns.flatMap(({ semantic }, i) => (semantic === "tag" ? [2 * i] : [])));
  }

  *read(places: RowsFound["places"]): Generator<void> {
    const { reader, block } = this;
    const { at } = reader;
    for (const { start, end } of places) {
      reader.at = start;
      while (reader.at < end) {
        const tag = reader.tag(end);
        if (tag !== SECOND) {
          reader.skip(tag, end);
          continue;
        }
        this.find(reader.lengthEnd(end), block.rowCount++);
        if (block.rowCount < block.rowsMax) continue;
        this.values();
        yield;
      }
    }
    if (block.rowCount > 0) this.values();
    reader.at = at;
  }

  /** Finds the values of a row. */
  private find(end: number, row: number): void {
    const { reader, block } = this;
    const { places, stride } = block;
    const { bytes } = reader;
    const stop = (row + 1) * stride;
    let to = row * stride;
    let { at } = reader;
    while (at < end) {
      const length = bytes[at + 1] as number;
      let start = at + 2;
      // Nearly all values are short; for the others the reader says what is wrong with them.
      if (bytes[at] === FIRST && length < 0x80 && start + length <= end) at = start + length;
      else {
        reader.at = at;
        const tag = reader.tag(end);
        if (tag !== FIRST) {
          reader.skip(tag, end);
          at = reader.at;
          continue;
        }
        at = reader.lengthEnd(end);
        start = reader.at;
      }
      if (to === stop) throw this.wrong(row, `it has more values than the schema has columns (${stride / 2})`);
      places[to] = start;
      places[to + 1] = at;
      to += 2;
    }
    reader.at = end;
    if (to < stop) throw this.wrong(row, `it has ${(to - row * stride) / 2} values, the schema has ${stride / 2} columns`);
  }

  /** Reads the values that were found. */
  private values(): void {
    const { reader, block, table, tagPlaces, keys } = this;
    const { at } = reader;
    for (const [i, column] of table.columns.entries()) {
      const flaw = this.column(i, column);
      if (flaw !== undefined) throw invalidAt({ ...table.place, column: column.name, row: flaw.row }, flaw.why);
    }
    const { places, stride, firstRow, rowCount } = block;
    for (let row = 0; row < rowCount; row++) {
      const key = keys.keyOf(table.tags, reader, places, row * stride, tagPlaces, table.place, firstRow + row);
      table.keys[firstRow + row] = key;
    }
    block.next();
    reader.at = at;
  }

  private column(index: number, { semantic, type }: RequestColumn): Flaw | undefined {
    const { reader, block, table } = this;
    const cells = table.cells[index];
    if (cells !== undefined) return readFields(reader, block, index, type, cells, table.row);
    return semantic === "tag" ? findTags(reader, block, index, type) : readTimes(reader, block, index, type, table.times);
  }

  private wrong(row: number, why: string): Error {
    return invalidAt({ ...this.table.place, row: this.block.firstRow + row }, why);
  }
}
