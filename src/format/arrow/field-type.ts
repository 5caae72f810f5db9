/**
 * The Arrow type of each data type. JSON and intervals travel as text, vectors as binary (README.md).
 */
import type { ColumnHeader } from "../../column/batch.ts";
import type { DataType, TimeUnit } from "../../column/data-type.ts";
import type { FlatBufferWriter, TableField } from "./flatbuffer.ts";

/** How the values of a column lie in buffers. */
export type ArrowLayout = "null" | "bits" | "int8" | "int16" | "int32" | "int64" | "float32" | "float64" | "decimal" | "bytes" | "nested";

/** Numbers of the union `Type` in Schema.fbs. */
const TYPE = {
  Null: 1,
  Int: 2,
  FloatingPoint: 3,
  Binary: 4,
  Utf8: 5,
  Bool: 6,
  Decimal: 7,
  Date: 8,
  Time: 9,
  Timestamp: 10,
  List: 12,
  Struct: 13,
  Map: 17,
  Duration: 18,
} as const;

const UNIT: Readonly<Record<TimeUnit, number>> = { second: 0, millisecond: 1, microsecond: 2, nanosecond: 3 };

const INT_LAYOUT: Readonly<Record<8 | 16 | 32 | 64, ArrowLayout>> = { 8: "int8", 16: "int16", 32: "int32", 64: "int64" };

/** Layout of the buffers of a column. */
export function layoutOf(type: DataType): ArrowLayout {
  switch (type.kind) {
    case "null":
      return "null";
    case "boolean":
      return "bits";
    case "int":
      return INT_LAYOUT[type.bits];
    case "float":
      return type.bits === 32 ? "float32" : "float64";
    case "date":
      return "int32";
    case "time":
      return timeBits(type.unit) === 32 ? "int32" : "int64";
    case "timestamp":
    case "duration":
      return "int64";
    case "decimal":
      return "decimal";
    case "string":
    case "binary":
    case "interval":
    case "json":
    case "vector":
      return "bytes";
    case "list":
    case "struct":
    case "map":
      return "nested";
  }
}

/** Arrow keeps seconds and milliseconds of a day in 32 bits, finer units in 64. */
function timeBits(unit: TimeUnit): 32 | 64 {
  return unit === "second" || unit === "millisecond" ? 32 : 64;
}

/** Number of the type in the union, and its parameters. */
function parametersOf(type: DataType): readonly [number, readonly TableField[]] {
  switch (type.kind) {
    case "null":
      return [TYPE.Null, []];
    case "boolean":
      return [TYPE.Bool, []];
    case "int":
      return [
        TYPE.Int,
        [
          { slot: 0, kind: "i32", value: type.bits },
          { slot: 1, kind: "u8", value: type.signed ? 1 : 0 },
        ],
      ];
    case "float":
      return [TYPE.FloatingPoint, [{ slot: 0, kind: "i16", value: type.bits === 32 ? 1 : 2 }]];
    case "date":
      return [TYPE.Date, [{ slot: 0, kind: "i16", value: 0 }]]; // 0 = days; the default would be milliseconds
    case "time":
      return [
        TYPE.Time,
        [
          { slot: 0, kind: "i16", value: UNIT[type.unit] }, // the default would be milliseconds
          { slot: 1, kind: "i32", value: timeBits(type.unit) },
        ],
      ];
    case "decimal":
      return [
        TYPE.Decimal,
        [
          { slot: 0, kind: "i32", value: type.precision },
          { slot: 1, kind: "i32", value: type.scale },
          { slot: 2, kind: "i32", value: 128 },
        ],
      ];
    case "timestamp":
      return [TYPE.Timestamp, [{ slot: 0, kind: "i16", value: UNIT[type.unit] }]];
    case "duration":
      return [TYPE.Duration, [{ slot: 0, kind: "i16", value: UNIT[type.unit] }]];
    case "binary":
    case "vector":
      return [TYPE.Binary, []];
    case "string":
    case "interval":
    case "json":
      return [TYPE.Utf8, []];
    case "list":
      return [TYPE.List, []];
    case "struct":
      return [TYPE.Struct, []];
    case "map":
      return [TYPE.Map, [{ slot: 0, kind: "u8", value: 0 }]]; // keys in any order
  }
}

/** A field below another one, or a column. */
interface Field {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The fields that the values of a type are made of, under the names that Arrow libraries use. */
function childrenOf(type: DataType): readonly Field[] {
  switch (type.kind) {
    case "list":
      return [{ name: "item", type: type.element, nullable: true }];
    case "struct":
      return type.fields.map((field) => ({ ...field, nullable: true }));
    case "map": {
      const entry: DataType = {
        kind: "struct",
        fields: [
          { name: "key", type: type.key },
          { name: "value", type: type.value },
        ],
      };
      return [{ name: "entries", type: entry, nullable: false }];
    }
    default:
      return [];
  }
}

/** A column as a schema tells it. */
export interface ArrowField extends ColumnHeader {
  /** Absent: it may be NULL. */
  readonly nullable?: boolean;
  /** What readers may know besides. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Writes a `Field` and returns its position. */
export function writeField(writer: FlatBufferWriter, { nullable = true, ...field }: ArrowField): number {
  return fieldAt(writer, { ...field, nullable }, false);
}

/** @param inMap whether the parent is a map, whose keys are never NULL */
function fieldAt(writer: FlatBufferWriter, { name, type, nullable, metadata = {} }: Field, inMap: boolean): number {
  const [number, parameters] = parametersOf(type);
  const below = childrenOf(type).map((field, i) =>
    fieldAt(writer, inMap && i === 0 ? { ...field, nullable: false } : field, type.kind === "map"),
  );
  const nameAt = writer.text(name);
  const children = writer.offsets(below);
  const typeAt = writer.table(parameters);
  const pairs = Object.entries(metadata).map(([key, value]) => keyValue(writer, key, value));
  const metadataAt: readonly TableField[] = pairs.length === 0 ? [] : [{ slot: 6, kind: "offset", value: writer.offsets(pairs) }];
  return writer.table([
    { slot: 0, kind: "offset", value: nameAt },
    { slot: 1, kind: "u8", value: nullable ? 1 : 0 },
    { slot: 2, kind: "u8", value: number },
    { slot: 3, kind: "offset", value: typeAt },
    { slot: 5, kind: "offset", value: children },
    ...metadataAt,
  ]);
}

/** Writes a `KeyValue`. */
function keyValue(writer: FlatBufferWriter, key: string, value: string): number {
  const keyAt = writer.text(key);
  const valueAt = writer.text(value);
  return writer.table([
    { slot: 0, kind: "offset", value: keyAt },
    { slot: 1, kind: "offset", value: valueAt },
  ]);
}
