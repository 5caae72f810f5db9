/**
 * What a request says of a column: ColumnSchema of rows, and the parts of a Column that say the same under other numbers. A client's
 * schema is small and comes once a table, so that this makes objects.
 */
import type { DataType } from "../../column/data-type.ts";
import { utf8Text } from "../../base/bytes/utf8.ts";
import { field, ProtoError, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { indexText } from "../../table/index-clause.ts";
import { nameFlaw } from "../../table/names.ts";
import type { ColumnDefinition, SemanticType } from "../../table/schema.ts";
import { indexRequestsOf } from "./column-indexes.ts";
import { type ColumnType, columnTypeOf, type TypeExtension } from "./column-type.ts";
import { invalidAt, type Place } from "./failure.ts";
import { OPTIONS_MAX } from "./limits.ts";

/** What was read of a column so far. */
export interface ReadColumn {
  name: string;
  type: number;
  semantic: number;
  extension: TypeExtension;
  options: Map<string, string>;
}

/** A column of a request. */
export interface RequestColumn {
  readonly name: string;
  readonly semantic: SemanticType;
  readonly type: ColumnType;
  /** As it is made where it does not exist. */
  readonly definition: ColumnDefinition;
}

const SEMANTICS: readonly SemanticType[] = ["tag", "field", "timestamp"];
/** Types that a series cannot be told apart by. */
const NO_TAG: ReadonlySet<DataType["kind"]> = new Set(["binary", "json", "vector"]);

/** A column of which nothing was read. */
export function newReadColumn(): ReadColumn {
  return { name: "", type: 0, semantic: 0, extension: {}, options: new Map() };
}

/** Reads a ColumnSchema. @throws ProtoError */
export function readColumnSchema(reader: ProtoReader, end: number): ReadColumn {
  const column = newReadColumn();
  while (reader.at < end) {
    const tag = reader.tag(end);
    switch (tag) {
      case field(1, Wire.bytes):
        column.name = readText(reader, end);
        break;
      case field(2, Wire.varint):
        column.type = reader.varint32(end);
        break;
      case field(3, Wire.varint):
        column.semantic = reader.varint32(end);
        break;
      case field(4, Wire.bytes):
        column.extension = readExtension(reader, reader.lengthEnd(end));
        break;
      case field(5, Wire.bytes):
        readOptions(reader, reader.lengthEnd(end), column.options);
        break;
      default:
        reader.skip(tag, end);
    }
  }
  return column;
}

/** Text of a field. @throws ProtoError for bytes that are no UTF-8 */
export function readText(reader: ProtoReader, end: number): string {
  const textEnd = reader.lengthEnd(end);
  const start = reader.at;
  const text = utf8Text(reader.bytes.subarray(start, textEnd));
  if (text === undefined) throw new ProtoError("text that is no UTF-8", start);
  reader.at = textEnd;
  return text;
}

/** Reads a ColumnDataTypeExtension. @throws ProtoError */
export function readExtension(reader: ProtoReader, end: number): TypeExtension {
  let extension: TypeExtension = {};
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.bytes)) {
      const [precision = 0, scale = 0] = readNumbers(reader, reader.lengthEnd(end), 2);
      extension = { decimal: { precision, scale } };
    } else if (tag === field(2, Wire.varint)) {
      reader.varint64(end);
      extension = { json: true };
    } else if (tag === field(3, Wire.bytes)) extension = { dimension: readNumbers(reader, reader.lengthEnd(end), 1)[0] ?? 0 };
    else reader.skip(tag, end);
  }
  return extension;
}

/** The first fields of a message of whole numbers of 32 bits. */
function readNumbers(reader: ProtoReader, end: number, count: number): number[] {
  const numbers: number[] = new Array<number>(count).fill(0);
  while (reader.at < end) {
    const tag = reader.tag(end);
    if ((tag & 7) !== Wire.varint || tag >>> 3 > count) {
      reader.skip(tag, end);
      continue;
    }
    reader.varint64(end);
    numbers[(tag >>> 3) - 1] = reader.low | 0;
  }
  return numbers;
}

/** Reads ColumnOptions. @throws ProtoError */
export function readOptions(reader: ProtoReader, end: number, options: Map<string, string>): void {
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag !== field(1, Wire.bytes)) {
      reader.skip(tag, end);
      continue;
    }
    if (options.size === OPTIONS_MAX) throw new ProtoError(`more than ${OPTIONS_MAX} options of a column`, reader.at);
    const entryEnd = reader.lengthEnd(end);
    const entry = ["", ""];
    while (reader.at < entryEnd) {
      const part = reader.tag(entryEnd);
      if (part === field(1, Wire.bytes)) entry[0] = readText(reader, entryEnd);
      else if (part === field(2, Wire.bytes)) entry[1] = readText(reader, entryEnd);
      else reader.skip(part, entryEnd);
    }
    options.set(entry[0] as string, entry[1] as string);
  }
}

/** The column that was read. @throws DbError InvalidArguments for one that cannot be */
export function requestColumn(read: ReadColumn, place: Place): RequestColumn {
  const { name } = read;
  const at = { ...place, column: name };
  const flaw = nameFlaw(name);
  if (flaw !== undefined) throw invalidAt(at, `it cannot be a column's name: ${flaw}`);
  const semantic = SEMANTICS[read.semantic];
  if (semantic === undefined) throw invalidAt(at, `semantic type ${read.semantic} is not known; use TAG, FIELD or TIMESTAMP`);
  const type = columnTypeOf(read.type, read.extension);
  if (typeof type === "string") throw invalidAt(at, type);
  if (semantic === "timestamp" && type.type.kind !== "timestamp")
    throw invalidAt(at, "the time index needs one of the TIMESTAMP types; send it as such, or mark the column FIELD");
  if (semantic === "tag" && NO_TAG.has(type.type.kind)) throw invalidAt(at, `a tag cannot be ${type.type.kind}; mark the column FIELD`);
  return { name, semantic, type, definition: definitionOf(read, semantic, type.type, at) };
}

function definitionOf({ name, options }: ReadColumn, semantic: SemanticType, type: DataType, at: Place): ColumnDefinition {
  const base = { name, type, semantic, nullable: semantic !== "timestamp" };
  if (options.size === 0) return base;
  const requests = indexRequestsOf(options);
  if (typeof requests === "string") throw invalidAt(at, requests);
  const indexes = requests.map(({ kind, options: given }) => indexText(base, kind, given));
  return indexes.length === 0 ? base : { ...base, indexes };
}
