/**
 * InsertRequest and DeleteRequest: columns, each with the values that are not NULL and a bit a row that says which rows are. The time index
 * has a value in every row, so that its values are counted to know how many rows there really are.
 */
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { Encoding } from "./column-type.ts";
import { invalidAt, type Place, type RowAction } from "./failure.ts";
import { COLUMNS_MAX, STEP_ROWS } from "./limits.ts";
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

/** Reads one table's request, in steps. @returns undefined without rows. @throws DbError InvalidArguments, ProtoError */
export function* readColumnRequest(
  reader: ProtoReader,
  end: number,
  action: RowAction,
  keys: SeriesKeys,
  options: DecodeOptions,
): Generator<void, RequestTable | undefined> {
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
  yield* new ColumnReader(reader, table, found).read(keys);
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
  /** Where the tags of a row lie: a pair each. */
  private readonly spans: Int32Array;
  private readonly stride: number;

  constructor(reader: ProtoReader, table: RequestTable, found: readonly FoundColumn[]) {
    const { rowCount, tags, place } = table;
    this.reader = reader;
    this.table = table;
    this.found = found;
    checkCells(place, rowCount, tags.columns.length);
    this.stride = 2 * tags.columns.length;
    this.spans = new Int32Array(this.stride * rowCount).fill(-1);
  }

  *read(keys: SeriesKeys): Generator<void> {
    const { table, found, reader, spans, stride } = this;
    const { rowCount, tags, place } = table;
    let spanAt = 0;
    for (const [i, { semantic }] of table.columns.entries()) {
      yield* this.column(i, found[i] as FoundColumn, spanAt);
      if (semantic === "tag") spanAt += 2;
    }
    const offsets = Int32Array.from(tags.columns, (_, i) => 2 * i);
    for (let from = 0; from < rowCount; from += STEP_ROWS) {
      const to = Math.min(rowCount, from + STEP_ROWS);
      for (let row = from; row < to; row++) table.keys[row] = keys.keyOf(tags, reader, spans, row * stride, offsets, place, row);
      yield;
    }
  }

  /** The values of one column, each to the next row that is not NULL. */
  private *column(index: number, found: FoundColumn, spanAt: number): Generator<void> {
    const { reader, table } = this;
    const { type } = table.columns[index] as RequestColumn;
    const rows = new MaskedRows(reader.bytes, found.mask, table.rowCount);
    const packedTag = (type.tag & 7) === Wire.bytes ? 0 : (type.tag & ~7) | Wire.bytes;
    for (const { start, end } of found.values) {
      reader.at = start;
      while (reader.at < end) {
        const tag = reader.tag(end);
        if (tag === packedTag) {
          const runEnd = reader.lengthEnd(end);
          while (reader.at < runEnd) {
            this.values(index, type.tag, runEnd, true, rows, spanAt);
            yield;
          }
        } else {
          this.values(index, tag, end, false, rows, spanAt);
          yield;
        }
      }
    }
    const missing = rows.next();
    if (missing >= 0) throw this.wrong(index, missing, "it has fewer values than rows that are not NULL in its null_mask");
  }

  /** Reads some values: of a packed run, or such as follow each other, each behind its tag, the first of which is read. */
  private values(index: number, tag: number, end: number, isPacked: boolean, rows: MaskedRows, spanAt: number): void {
    const { reader, table } = this;
    const { bytes } = reader;
    const { type, semantic } = table.columns[index] as RequestColumn;
    if (isPacked && semantic === "field" && type.encoding === Encoding.float64) this.doubles(index, end, rows);
    for (let n = 0; n < STEP_ROWS && reader.at < end; n++) {
      if (n > 0 && !isPacked) {
        // Tags of one byte: others come back by the caller.
        if (bytes[reader.at] !== tag || tag > 0x7f) return;
        reader.at++;
      }
      const row = rows.next();
      if (row < 0) throw this.wrong(index, undefined, `it has more values than rows that are not NULL; row_count is ${table.rowCount}`);
      const from = reader.at;
      const why = semantic === "field" ? this.cell(index, tag, end, row) : this.keyPart(index, tag, end, row);
      if (why !== undefined) throw this.wrong(index, row, why);
      if (semantic !== "tag") continue;
      this.spans[row * this.stride + spanAt] = from;
      this.spans[row * this.stride + spanAt + 1] = reader.at;
    }
  }

  /** Reads doubles of a packed run while all rows have one. */
  private doubles(index: number, end: number, rows: MaskedRows): void {
    const { reader, table } = this;
    const cells = table.cells[index];
    const { view, at } = reader;
    const count = Math.min((end - at) >>> 3, rows.dense);
    if (cells === undefined || count <= 0) return;
    const first = rows.take(count);
    for (let i = 0; i < count; i++) {
      table.row.rows = first + i + 1;
      cells.setNumber(view.getFloat64(at + 8 * i, true));
    }
    reader.at = at + 8 * count;
  }

  private cell(index: number, tag: number, end: number, row: number): string | undefined {
    const { reader, table } = this;
    const { type } = table.columns[index] as RequestColumn;
    table.row.rows = row + 1;
    const cells = table.cells[index];
    if (cells === undefined) return "it has no cells";
    if (tag === type.tag) return readValue(reader, end, type, cells);
    if (type.encoding === Encoding.json && tag === field(42, Wire.bytes))
      return "json_values are not supported; send JSON in string_values";
    return readOtherValue(tag, reader, end, type, cells);
  }

  /** A tag or a time. */
  private keyPart(index: number, tag: number, end: number, row: number): string | undefined {
    const { reader, table } = this;
    const { type, semantic } = table.columns[index] as RequestColumn;
    if (tag !== type.tag) return `it has field ${tag >>> 3} of Values, its type's is field ${type.tag >>> 3}`;
    if (semantic === "tag") {
      reader.skip(tag, end);
      return undefined;
    }
    reader.varint64(end);
    return table.times.set(row, reader.high, reader.low);
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
  private readonly bits: number;
  private row = -1;

  constructor(bytes: Uint8Array, mask: Range, rowCount: number) {
    this.bytes = bytes;
    this.mask = mask;
    this.rowCount = rowCount;
    this.bits = (mask.end - mask.start) * 8;
  }

  /** Rows that are left and all have a value; 0 where a mask may say otherwise. */
  get dense(): number {
    return this.bits === 0 ? this.rowCount - this.row - 1 : 0;
  }

  /** Takes so many of `dense`. @returns the first */
  take(count: number): number {
    const first = this.row + 1;
    this.row += count;
    return first;
  }

  /** The next row that is not NULL, or -1. */
  next(): number {
    const { bytes, mask, rowCount, bits } = this;
    let row = this.row + 1;
    while (row < rowCount && row < bits && (((bytes[mask.start + (row >>> 3)] as number) >>> (row & 7)) & 1) === 1) row++;
    this.row = row;
    return row < rowCount ? row : -1;
  }
}
