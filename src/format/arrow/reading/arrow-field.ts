/** Fields of an Arrow schema: how their values lie in buffers, and what they are here. */
import type { DataType, TimeUnit } from "../../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX } from "../../../column/decimal.ts";
import { malformed, unsupported } from "./arrow-failure.ts";
import type { FlatTable } from "./flat-table.ts";

/** How the values of a column lie. Numbers are bits of a value, but for `fixed`, which has bytes, and the items of a list. */
export type ArrowShape =
  | { readonly kind: "null" }
  | { readonly kind: "bits" }
  | { readonly kind: "float16" }
  | { readonly kind: "date64" }
  | { readonly kind: "view" }
  | { readonly kind: "struct" }
  | { readonly kind: "map" }
  | { readonly kind: "runs" }
  | { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: "float"; readonly bits: 32 | 64 }
  | { readonly kind: "time"; readonly bits: 32 | 64; readonly unit: TimeUnit }
  | { readonly kind: "times" }
  | { readonly kind: "decimal"; readonly bits: 32 | 64 | 128 | 256 }
  | { readonly kind: "interval"; readonly unit: "months" | "day-time" | "month-day-nano" }
  /** `wide`: offsets of 64 bits. */
  | { readonly kind: "bytes"; readonly wide: boolean }
  | { readonly kind: "fixed"; readonly width: number }
  | { readonly kind: "list"; readonly wide: boolean }
  | { readonly kind: "fixed-list"; readonly size: number };

/** How a column is encoded by a dictionary. */
export interface ArrowDictionary {
  readonly id: bigint;
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

/** A column, or what one is made of. */
export interface ArrowField {
  readonly name: string;
  /** With the names of what it is in, for errors: `tags.item`. */
  readonly path: string;
  readonly type: DataType;
  readonly shape: ArrowShape;
  /** Of the values: where a dictionary has them these are its. */
  readonly children: readonly ArrowField[];
  readonly dictionary: ArrowDictionary | undefined;
  /** What `greptime:` metadata says of it, by key without that prefix; absent: nothing. */
  readonly marks: ReadonlyMap<string, string> | undefined;
}

/** Metadata that is ours; what else clients note of a field is passed over. */
const MARK_PREFIX = "greptime:";

/**
 * Fields of a schema, those within others too, with the notes on them, and how deep these may lie.
 * Reason: bytes may say that a field is in many.
 */
const FIELDS_MAX = 10_000;
const DEPTH_MAX = 16;

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];
const INTERVAL_UNITS = ["months", "day-time", "month-day-nano"] as const;

/** The columns of a `Schema` table. @throws DbError InvalidArguments, Unsupported (names the column) */
export function readFields(schema: FlatTable): readonly ArrowField[] {
  if (schema.i16(0, 0) !== 0) throw unsupported("numbers with the highest byte first");
  return new FieldReader().children(schema, 1, "", 0);
}

/** What a type is made of. */
interface Typed {
  readonly shape: ArrowShape;
  readonly type: DataType;
}

class FieldReader {
  private count = 0;

  children(parent: FlatTable, slot: number, path: string, depth: number): readonly ArrowField[] {
    const vector = parent.vector(slot, 4);
    this.take(vector.count);
    return Array.from({ length: vector.count }, (_, i) => this.field(parent.tableOf(vector, i), path, depth));
  }

  private field(table: FlatTable, parent: string, depth: number): ArrowField {
    const name = table.text(0);
    const path = parent === "" ? name : `${parent}.${name}`;
    if (depth > DEPTH_MAX) throw malformed(`fields lie more than ${DEPTH_MAX} deep in each other`);
    const children = this.children(table, 5, path, depth + 1);
    const parameters = table.table(3);
    if (parameters === undefined) throw malformed(`column ${path} has no type`);
    const typed = typeOf(table.u8(2, 0), parameters, children, path);
    const encoding = table.table(4);
    return { name, path, ...typed, children, dictionary: encoding && dictionaryOf(encoding, path), marks: this.marks(table) };
  }

  /** Values of other keys are never looked at: they may be longer than any name. */
  private marks(field: FlatTable): ReadonlyMap<string, string> | undefined {
    const vector = field.vector(6, 4);
    if (vector.count === 0) return undefined;
    this.take(vector.count);
    const marks = new Map<string, string>();
    for (let i = 0; i < vector.count; i++) {
      const note = field.tableOf(vector, i);
      const key = note.text(0);
      if (key.startsWith(MARK_PREFIX)) marks.set(key.slice(MARK_PREFIX.length), note.text(1));
    }
    return marks;
  }

  private take(count: number): void {
    this.count += count;
    if (this.count > FIELDS_MAX) throw malformed(`a schema has more than ${FIELDS_MAX} fields and notes on them`);
  }
}

function dictionaryOf(encoding: FlatTable, path: string): ArrowDictionary {
  const index = encoding.table(1);
  return { id: encoding.i64(0), ...(index === undefined ? { bits: 32, signed: true } : integer(index, path)) };
}

function integer(parameters: FlatTable, path: string): { readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean } {
  const bits = parameters.i32(0, 0);
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) throw malformed(`column ${path} has integers of ${bits} bits`);
  return { bits, signed: parameters.u8(1, 0) !== 0 };
}

function unitOf(parameters: FlatTable, absent: number, path: string): TimeUnit {
  const unit = UNITS[parameters.i16(0, absent)];
  if (unit === undefined) throw malformed(`column ${path} has no unit of time`);
  return unit;
}

/** @param number of the union `Type` in Schema.fbs */
function typeOf(number: number, parameters: FlatTable, children: readonly ArrowField[], path: string): Typed {
  switch (number) {
    case 1:
      return { shape: { kind: "null" }, type: { kind: "null" } };
    case 2: {
      const int = integer(parameters, path);
      return { shape: { kind: "int", ...int }, type: { kind: "int", ...int } };
    }
    case 3:
      return floatOf(parameters.i16(0, 0), path);
    case 4:
    case 5:
    case 19:
    case 20:
      return { shape: { kind: "bytes", wide: number >= 19 }, type: { kind: number === 5 || number === 20 ? "string" : "binary" } };
    case 6:
      return { shape: { kind: "bits" }, type: { kind: "boolean" } };
    case 7:
      return decimalOf(parameters, path);
    case 8: // the default is milliseconds
      return { shape: parameters.i16(0, 1) === 0 ? { kind: "int", bits: 32, signed: true } : { kind: "date64" }, type: { kind: "date" } };
    case 9: {
      const unit = unitOf(parameters, 1, path);
      const bits = parameters.i32(1, 32);
      if (bits !== (unit === "second" || unit === "millisecond" ? 32 : 64)) throw malformed(`column ${path} has times of ${bits} bits`);
      return { shape: { kind: "time", bits, unit }, type: { kind: "time", unit } };
    }
    case 10: // instants, whatever zone they are to be shown in
      return { shape: { kind: "times" }, type: { kind: "timestamp", unit: unitOf(parameters, 0, path) } };
    case 11:
      return intervalOf(parameters.i16(0, 0), path);
    case 15: {
      const width = parameters.i32(0, 0);
      if (width < 0) throw malformed(`column ${path} has values of ${width} bytes`);
      return { shape: { kind: "fixed", width }, type: { kind: "binary" } };
    }
    case 18:
      return { shape: { kind: "times" }, type: { kind: "duration", unit: unitOf(parameters, 1, path) } };
    case 22:
      return runsOf(children, path);
    case 23:
    case 24:
      return { shape: { kind: "view" }, type: { kind: number === 24 ? "string" : "binary" } };
    default:
      return nestedOf(number, parameters, children, path);
  }
}

function floatOf(precision: number, path: string): Typed {
  if (precision === 0) return { shape: { kind: "float16" }, type: { kind: "float", bits: 32 } };
  if (precision !== 1 && precision !== 2) throw malformed(`column ${path} has no precision of floats`);
  const bits = precision === 1 ? 32 : 64;
  return { shape: { kind: "float", bits }, type: { kind: "float", bits } };
}

function decimalOf(parameters: FlatTable, path: string): Typed {
  const [precision, scale, bits] = [parameters.i32(0, 0), parameters.i32(1, 0), parameters.i32(2, 128)];
  if (bits !== 32 && bits !== 64 && bits !== 128 && bits !== 256) throw malformed(`column ${path} has decimals of ${bits} bits`);
  if (precision < 1) throw malformed(`column ${path} has decimals of ${precision} digits`);
  if (precision > DECIMAL_DIGITS_MAX || scale < 0 || scale > precision)
    throw unsupported(`column ${path}: decimal(${precision}, ${scale}); up to ${DECIMAL_DIGITS_MAX} digits with a scale among them are`);
  return { shape: { kind: "decimal", bits }, type: { kind: "decimal", precision, scale } };
}

function intervalOf(number: number, path: string): Typed {
  const unit = INTERVAL_UNITS[number];
  if (unit === undefined) throw malformed(`column ${path} has no unit of intervals`);
  return { shape: { kind: "interval", unit }, type: { kind: "interval" } };
}

/** Runs of equal values: where they end, and the values. */
function runsOf(children: readonly ArrowField[], path: string): Typed {
  const [ends, values] = children;
  if (children.length !== 2 || ends?.shape.kind !== "int" || ends.dictionary !== undefined || values === undefined)
    throw malformed(`column ${path} has no ends of its runs, or no values`);
  return { shape: { kind: "runs" }, type: values.type };
}

function nestedOf(number: number, parameters: FlatTable, children: readonly ArrowField[], path: string): Typed {
  const [only] = children;
  switch (number) {
    case 13: {
      const fields = children.map(({ name, type }) => ({ name, type }));
      return { shape: { kind: "struct" }, type: { kind: "struct", fields } };
    }
    case 12:
    case 16:
    case 21: {
      if (only === undefined || children.length !== 1) throw malformed(`column ${path} has ${children.length} fields for its elements`);
      const type: DataType = { kind: "list", element: only.type };
      if (number !== 16) return { shape: { kind: "list", wide: number === 21 }, type };
      const size = parameters.i32(0, 0);
      if (size < 0) throw malformed(`column ${path} has lists of ${size} elements`);
      return { shape: { kind: "fixed-list", size }, type };
    }
    case 17: {
      const [key, value] = only?.children ?? [];
      if (children.length !== 1 || only?.shape.kind !== "struct" || key === undefined || value === undefined || only.children.length !== 2)
        throw malformed(`column ${path} has no keys and values`);
      return { shape: { kind: "map" }, type: { kind: "map", key: key.type, value: value.type } };
    }
    case 14:
      throw unsupported(`column ${path}: a union; send a column for each of its types`);
    case 25:
    case 26:
      throw unsupported(`column ${path}: a list view; send it as a list`);
    default:
      throw unsupported(`column ${path}: type ${number}`);
  }
}
