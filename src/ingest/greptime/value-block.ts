/**
 * Values of some rows of a request: first where each of them lies, then a column at a time, so that each loop reads one type. A row of ten
 * columns takes 140 ns; value by value it took 235 (decode.bench.ts).
 *
 *   places   row 0 │ start end │ start end │ …        a pair a column: what a Value holds, its tag included; empty for NULL
 *            row 1 │ start end │ start end │ …
 */
import type { ProtoReader } from "../../format/proto/reader.ts";
import type { Cells, RowCount } from "../../table/field-cells.ts";
import { type ColumnType, Encoding } from "./column-type.ts";
import { BLOCK_CELLS } from "./limits.ts";
import type { RowTimes } from "./row-times.ts";
import { readOtherValue, readValue } from "./value-reader.ts";

/** What is wrong with a row. */
export interface Flaw {
  readonly row: number;
  readonly why: string;
}

/** Longest varint that is read without the reader: 28 bits. */
const SHORT_VARINT_BYTES = 4;
const NULL_TIME = "the time index is NULL; every row needs a time";
const SEVERAL = "it holds more than one value";

/** See the file header. */
export class ValueBlock {
  /** Rows that it has room for. */
  readonly rowsMax: number;
  /** Numbers a row. */
  readonly stride: number;
  readonly places: Int32Array;
  /** Rows before it. */
  firstRow = 0;
  rowCount = 0;

  /** @param rowCount of the request */
  constructor(columnCount: number, rowCount: number) {
    this.stride = 2 * columnCount;
    this.rowsMax = Math.min(rowCount, Math.max(1, Math.floor(BLOCK_CELLS / columnCount)));
    this.places = new Int32Array(this.stride * this.rowsMax);
  }

  /** Begins anew behind the rows that it has. */
  next(): void {
    this.firstRow += this.rowCount;
    this.rowCount = 0;
  }
}

/** Reads the values of a field into its cells. @returns the first row that has none of its type. @throws ProtoError */
export function readFields(
  reader: ProtoReader,
  block: ValueBlock,
  column: number,
  type: ColumnType,
  cells: Cells,
  count: RowCount,
): Flaw | undefined {
  switch (type.encoding) {
    case Encoding.float64:
      return readDoubles(reader, block, column, type, cells, count);
    case Encoding.int64:
      return readIntegers(reader, block, column, type, cells, count);
    case Encoding.text:
      return readTexts(reader, block, column, type, cells, count);
    default:
      return readOthers(reader, block, column, type, cells, count);
  }
}

function readDoubles(
  reader: ProtoReader,
  block: ValueBlock,
  column: number,
  type: ColumnType,
  cells: Cells,
  count: RowCount,
): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  const { bytes, view } = reader;
  const { tag } = type;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const start = places[at] as number;
    const end = places[at + 1] as number;
    if (start === end) continue;
    count.rows = firstRow + i + 1;
    if (end - start === 9 && bytes[start] === tag) cells.setNumber(view.getFloat64(start + 1, true));
    else {
      const why = readOne(reader, start, end, type, cells);
      if (why !== undefined) return { row: firstRow + i, why };
    }
  }
  return undefined;
}

function readIntegers(
  reader: ProtoReader,
  block: ValueBlock,
  column: number,
  type: ColumnType,
  cells: Cells,
  count: RowCount,
): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  const { bytes } = reader;
  const { tag } = type;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const start = places[at] as number;
    const end = places[at + 1] as number;
    if (start === end) continue;
    count.rows = firstRow + i + 1;
    if (end - start <= 1 + SHORT_VARINT_BYTES && bytes[start] === tag) {
      let value = 0;
      let from = start + 1;
      for (let shift = 0; from < end; shift += 7) {
        const byte = bytes[from++] as number;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      if (from === end && (bytes[end - 1] as number) < 0x80 && end > start + 1) {
        cells.setNumber(value);
        continue;
      }
    }
    const why = readOne(reader, start, end, type, cells);
    if (why !== undefined) return { row: firstRow + i, why };
  }
  return undefined;
}

function readTexts(
  reader: ProtoReader,
  block: ValueBlock,
  column: number,
  type: ColumnType,
  cells: Cells,
  count: RowCount,
): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  const { bytes } = reader;
  const { tag } = type;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const start = places[at] as number;
    const end = places[at + 1] as number;
    if (start === end) continue;
    count.rows = firstRow + i + 1;
    // Short ones: their length is one byte, and all that is left.
    if (end - start < 0x82 && bytes[start] === tag && bytes[start + 1] === end - start - 2) cells.setBytes(bytes, start + 2, end);
    else {
      const why = readOne(reader, start, end, type, cells);
      if (why !== undefined) return { row: firstRow + i, why };
    }
  }
  return undefined;
}

function readOthers(
  reader: ProtoReader,
  block: ValueBlock,
  column: number,
  type: ColumnType,
  cells: Cells,
  count: RowCount,
): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const start = places[at] as number;
    const end = places[at + 1] as number;
    if (start === end) continue;
    count.rows = firstRow + i + 1;
    const why = readOne(reader, start, end, type, cells);
    if (why !== undefined) return { row: firstRow + i, why };
  }
  return undefined;
}

function readOne(reader: ProtoReader, start: number, end: number, type: ColumnType, cells: Cells): string | undefined {
  reader.at = start;
  const given = reader.tag(end);
  const why = given === type.tag ? readValue(reader, end, type, cells) : readOtherValue(given, reader, end, type, cells);
  return why ?? (reader.at === end ? undefined : SEVERAL);
}

/** Reads the time index. @returns the first row that has none. @throws ProtoError */
export function readTimes(reader: ProtoReader, block: ValueBlock, column: number, type: ColumnType, times: RowTimes): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const row = firstRow + i;
    const end = places[at + 1] as number;
    reader.at = places[at] as number;
    if (reader.at === end) return { row, why: NULL_TIME };
    const given = reader.tag(end);
    if (given !== type.tag) return { row, why: otherField(given, type) };
    reader.varint64(end);
    const why = reader.at === end ? times.set(row, reader.high, reader.low) : SEVERAL;
    if (why !== undefined) return { row, why };
  }
  return undefined;
}

/** Moves the places of tags behind the tags of their fields; a start of -1 is NULL. @returns the first row with another type */
export function findTags(reader: ProtoReader, block: ValueBlock, column: number, type: ColumnType): Flaw | undefined {
  const { places, stride, rowCount, firstRow } = block;
  const { bytes } = reader;
  for (let i = 0, at = 2 * column; i < rowCount; i++, at += stride) {
    const start = places[at] as number;
    const end = places[at + 1] as number;
    if (start === end) {
      places[at] = -1;
      places[at + 1] = -1;
    } else if (bytes[start] === type.tag) places[at] = start + 1;
    else {
      reader.at = start;
      const given = reader.tag(end);
      if (given !== type.tag) return { row: firstRow + i, why: otherField(given, type) };
      places[at] = reader.at;
    }
  }
  return undefined;
}

function otherField(given: number, { tag }: ColumnType): string {
  return `it holds field ${given >>> 3} of Value, its type's is field ${tag >>> 3}`;
}
