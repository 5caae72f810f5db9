/**
 * One value of a column, from where it stands in the message to its cell: no object, and no string but for JSON. A value that its type
 * cannot hold comes back as the end of a sentence, since only the caller knows the row.
 */
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { utf8Text } from "../../base/bytes/utf8.ts";
import { type DataType, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { decimalMax } from "../../column/decimal.ts";
import { exactInteger } from "../../column/exact-integer.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { cellsOf, type FieldCells } from "../../table/field-cells.ts";
import { canonicalJson } from "../../value/json-text.ts";
import { type ColumnType, Encoding } from "./column-type.ts";
import { jsonOfMessage } from "./json-value.ts";

const TWO_32 = 0x1_0000_0000;
const DAY_SECONDS = 86_400;
/** Fields of a Value beside `string_value` that hold JSON. */
const BINARY_VALUE: number = field(12, Wire.bytes);
const JSON_VALUE: number = field(42, Wire.bytes);

/** Reads the value at the reader's place, behind its tag. @returns what is wrong with it. @throws ProtoError */
export function readValue(reader: ProtoReader, end: number, column: ColumnType, cells: FieldCells): string | undefined {
  switch (column.encoding) {
    case Encoding.float64:
      cells.setNumber(reader.double(end));
      return undefined;
    case Encoding.int64:
      reader.varint64(end);
      if (reader.isExact()) cells.setNumber(reader.signed());
      else cells.set(reader.signedBigInt());
      return undefined;
    case Encoding.text:
    case Encoding.bytes:
      return readBytes(reader, end, cells);
    case Encoding.small:
      return readSmall(reader, end, column.type, cells);
    case Encoding.float32:
      cells.setNumber(reader.view.getFloat32(reader.take(4, end), true));
      return undefined;
    case Encoding.boolean:
      reader.varint64(end);
      cells.setNumber(reader.low === 0 && reader.high === 0 ? 0 : 1);
      return undefined;
    case Encoding.uint64:
      reader.varint64(end);
      if (reader.high < 0x20_0000) cells.setNumber(reader.high * TWO_32 + reader.low);
      else cells.set((BigInt(reader.high) << 32n) | BigInt(reader.low));
      return undefined;
    case Encoding.time:
      reader.varint64(end);
      cells.set(reader.signedBigInt());
      return undefined;
    case Encoding.clock:
      return readClock(reader, end, column.type, cells);
    case Encoding.decimal:
      return readDecimal(reader, reader.lengthEnd(end), column.type, cells);
    case Encoding.vector:
      return readVector(reader, reader.lengthEnd(end), column.type, cells);
    case Encoding.json:
      return readJsonText(reader, reader.lengthEnd(end), cells);
  }
}

/** Reads a value of another field than that of the column's type: JSON has three. @returns what is wrong with it. @throws ProtoError */
export function readOtherValue(tag: number, reader: ProtoReader, end: number, column: ColumnType, cells: FieldCells): string | undefined {
  if (column.encoding === Encoding.json && tag === JSON_VALUE) return setJson(jsonOfMessage(reader, reader.lengthEnd(end)), cells);
  if (column.encoding === Encoding.json && tag === BINARY_VALUE) return readJsonText(reader, reader.lengthEnd(end), cells);
  return `it holds field ${tag >>> 3} of Value, its type's is field ${column.tag >>> 3}; send values of the type that the schema says`;
}

/** The value in `[start, end)` of the bytes that the reader has open, or what is wrong with it. @throws ProtoError */
export function scalarOf(
  reader: ProtoReader,
  start: number,
  end: number,
  column: ColumnType,
): { readonly ok: true; readonly value: Scalar } | { readonly ok: false; readonly why: string } {
  const { at } = reader;
  const cells = cellsOf("", column.type, { rows: 1 });
  reader.at = start;
  const why = readValue(reader, end, column, cells) ?? (reader.at === end ? undefined : "it holds more than one value");
  reader.at = at;
  return why === undefined ? { ok: true, value: scalarAt(cells.vector(0, 1), column.type, 0) } : { ok: false, why };
}

function readBytes(reader: ProtoReader, end: number, cells: FieldCells): string | undefined {
  const valueEnd = reader.lengthEnd(end);
  const start = reader.at;
  if (valueEnd - start > FIELD_TEXT_BYTES_MAX) return tooLong(valueEnd - start);
  cells.setBytes(reader.bytes, start, valueEnd);
  reader.at = valueEnd;
  return undefined;
}

function tooLong(bytes: number): string {
  return `its value has ${bytes} bytes, at most ${FIELD_TEXT_BYTES_MAX} are allowed`;
}

function readSmall(reader: ProtoReader, end: number, type: DataType, cells: FieldCells): string | undefined {
  reader.varint64(end);
  const isUnsigned = type.kind === "int" && !type.signed;
  const value = isUnsigned ? reader.low : reader.low | 0; // As every decoder does, the upper half is dropped.
  if (type.kind === "int" && type.bits < 32) {
    const most = isUnsigned ? 2 ** type.bits - 1 : 2 ** (type.bits - 1) - 1;
    const least = isUnsigned ? 0 : -most - 1;
    if (value > most || value < least) return `${value} is out of range: ${least} to ${most}`;
  }
  cells.setNumber(value);
  return undefined;
}

function readClock(reader: ProtoReader, end: number, type: DataType, cells: FieldCells): string | undefined {
  reader.varint64(end);
  const day = type.kind === "time" ? DAY_SECONDS * UNITS_PER_SECOND[type.unit] : 0;
  const value = reader.signed();
  if (!(value >= 0 && value < day)) return `${reader.signedBigInt()} is no time of day: 0 to ${day - 1}`;
  cells.set(value);
  return undefined;
}

function readDecimal(reader: ProtoReader, end: number, type: DataType, cells: FieldCells): string | undefined {
  let [high, low] = [0n, 0n];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.varint)) {
      reader.varint64(end);
      high = reader.signedBigInt();
    } else if (tag === field(2, Wire.varint)) {
      reader.varint64(end);
      low = BigInt.asUintN(64, reader.signedBigInt());
    } else reader.skip(tag, end);
  }
  const value = (high << 64n) | low;
  const digits = type.kind === "decimal" ? type.precision : 0;
  const most = decimalMax(digits);
  if (value > most || value < -most) return `its unscaled value ${value} has more than ${digits} digits`;
  cells.set(exactInteger(value));
  return undefined;
}

function readVector(reader: ProtoReader, end: number, type: DataType, cells: FieldCells): string | undefined {
  const dimension = type.kind === "vector" ? type.dimension : 0;
  const { at } = reader;
  if (end - at !== 4 * dimension) return `a VECTOR(${dimension}) takes ${4 * dimension} bytes, four a float; it has ${end - at}`;
  cells.set(reader.bytes.slice(at, end));
  reader.at = end;
  return undefined;
}

function readJsonText(reader: ProtoReader, end: number, cells: FieldCells): string | undefined {
  const { at } = reader;
  if (end - at > FIELD_TEXT_BYTES_MAX) return tooLong(end - at);
  const text = utf8Text(reader.bytes.subarray(at, end));
  reader.at = end;
  return text === undefined ? "it is no JSON text: its bytes are no UTF-8; send JSON as text" : setJson(text, cells);
}

function setJson(text: string, cells: FieldCells): string | undefined {
  const json = canonicalJson(text);
  if (!json.ok) return `it is no JSON: ${json.why} at character ${json.position}`;
  cells.set(json.text);
  return undefined;
}
