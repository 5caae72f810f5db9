/** Types of columns and parameters as PostgreSQL numbers them (contract query.md 4.2). */
import { unreachable } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  displayName,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INTERVAL,
  JSON_TYPE,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MICROSECOND,
} from "../../column/data-type.ts";

/** Numbers of types, those of `pg_type`. */
export const Oid = {
  Bool: 16,
  Bytea: 17,
  Char: 18,
  Name: 19,
  Int8: 20,
  Int2: 21,
  Int2vector: 22,
  Int4: 23,
  Text: 25,
  Oid: 26,
  Oidvector: 30,
  Json: 114,
  Float4: 700,
  Float8: 701,
  Unknown: 705,
  Bpchar: 1042,
  Varchar: 1043,
  Date: 1082,
  Time: 1083,
  Timestamp: 1114,
  Timestamptz: 1184,
  Interval: 1186,
  Timetz: 1266,
  Numeric: 1700,
  Uuid: 2950,
  Jsonb: 3802,
} as const;

/** The array type of each type that has one. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [Oid.Bool, 1000],
  [Oid.Bytea, 1001],
  [Oid.Char, 1002],
  [Oid.Name, 1003],
  [Oid.Int8, 1016],
  [Oid.Int2, 1005],
  [Oid.Int4, 1007],
  [Oid.Text, 1009],
  [Oid.Oid, 1028],
  [Oid.Json, 199],
  [Oid.Float4, 1021],
  [Oid.Float8, 1022],
  [Oid.Bpchar, 1014],
  [Oid.Varchar, 1015],
  [Oid.Date, 1182],
  [Oid.Time, 1183],
  [Oid.Timestamp, 1115],
  [Oid.Timestamptz, 1185],
  [Oid.Interval, 1187],
  [Oid.Numeric, 1231],
  [Oid.Uuid, 2951],
  [Oid.Jsonb, 3807],
]);

const ELEMENTS: ReadonlyMap<number, number> = new Map([...ARRAYS].map(([element, array]) => [array, element]));

/** Bytes of values of fixed length; others have none. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [Oid.Bool, 1],
  [Oid.Char, 1],
  [Oid.Name, 64],
  [Oid.Int8, 8],
  [Oid.Int2, 2],
  [Oid.Int4, 4],
  [Oid.Oid, 4],
  [Oid.Float4, 4],
  [Oid.Float8, 8],
  [Oid.Date, 4],
  [Oid.Time, 8],
  [Oid.Timestamp, 8],
  [Oid.Timestamptz, 8],
  [Oid.Interval, 16],
  [Oid.Uuid, 16],
]);

/** Bytes of a header of numeric's type modifier. */
const MODIFIER_BASE = 4;

/** The element's type of an array type; undefined for a type that is none. */
export function elementOid(oid: number): number | undefined {
  return ELEMENTS.get(oid);
}

/** `pg_type.typlen`: -1 for values of any length, -2 for those that a zero byte ends. */
export function sizeOf(oid: number): number {
  return oid === Oid.Unknown ? -2 : (SIZES.get(oid) ?? -1);
}

/** `atttypmod` of a type. */
export function modifierOf(type: DataType): number {
  return type.kind === "decimal" ? ((type.precision << 16) | type.scale) + MODIFIER_BASE : -1;
}

/** The number of a column's type. @throws DbError Unsupported for lists of lists */
export function oidOf(type: DataType): number {
  switch (type.kind) {
    case "null":
      return Oid.Unknown;
    case "boolean":
      return Oid.Bool;
    case "int":
      return integerOid(type);
    case "float":
      return type.bits === 32 ? Oid.Float4 : Oid.Float8;
    case "string":
      return Oid.Varchar;
    case "binary":
    case "vector":
      return Oid.Bytea;
    case "date":
      return Oid.Date;
    case "timestamp":
      return Oid.Timestamp;
    case "time":
      return Oid.Time;
    case "duration":
    case "interval":
      return Oid.Interval;
    case "decimal":
      return Oid.Numeric;
    case "json":
    case "struct":
    case "map":
      return Oid.Json;
    case "list":
      return type.vector === undefined ? listOid(type.element) : type.vector === "int2vector" ? Oid.Int2vector : Oid.Oidvector;
    default:
      return unreachable(type);
  }
}

function integerOid({ bits, signed, oid }: Extract<DataType, { kind: "int" }>): number {
  if (oid === true) return Oid.Oid;
  if (bits === 64) return signed ? Oid.Int8 : Oid.Numeric;
  if (bits === 32) return signed ? Oid.Int4 : Oid.Int8;
  if (bits === 16) return signed ? Oid.Int2 : Oid.Int4;
  return Oid.Int2;
}

const TEXT_ARRAY = 1009;

function listOid(element: DataType): number {
  // text[], which clients know before they have looked up any type: asyncpg looks types up by queries that answer with one.
  if (element.kind === "null" || element.kind === "string") return TEXT_ARRAY;
  const array = element.kind === "list" ? undefined : ARRAYS.get(oidOf(element));
  if (array !== undefined) return array;
  const what = displayName({ kind: "list", element });
  throw new DbError(StatusCode.Unsupported, `Not supported: a column of type ${what}; make a text of it with array_to_string`);
}

/** The numbers that a client may give a parameter, and what its values then are. */
const PARAMETERS: ReadonlyMap<number, DataType> = new Map<number, DataType>([
  [Oid.Bool, BOOLEAN],
  [Oid.Bytea, BINARY],
  [Oid.Char, STRING],
  [Oid.Name, STRING],
  [Oid.Int8, INT64],
  [Oid.Int2, INT16],
  [Oid.Int4, INT32],
  [Oid.Text, STRING],
  [Oid.Oid, INT64],
  [Oid.Json, JSON_TYPE],
  [Oid.Float4, FLOAT32],
  [Oid.Float8, FLOAT64],
  [Oid.Unknown, STRING],
  [Oid.Bpchar, STRING],
  [Oid.Varchar, STRING],
  [Oid.Date, DATE],
  [Oid.Time, TIME_NANOSECOND],
  [Oid.Timestamp, TIMESTAMP_MICROSECOND],
  [Oid.Timestamptz, TIMESTAMP_MICROSECOND],
  [Oid.Interval, INTERVAL],
  [Oid.Numeric, { kind: "decimal", precision: 38, scale: 10 }],
  [Oid.Uuid, STRING],
  [Oid.Jsonb, JSON_TYPE],
]);

/** What values of a type are here; undefined for a type that is not known. */
export function parameterType(oid: number): DataType | undefined {
  const element = ELEMENTS.get(oid);
  if (element === undefined) return PARAMETERS.get(oid);
  const type = PARAMETERS.get(element);
  return type && { kind: "list", element: type };
}
