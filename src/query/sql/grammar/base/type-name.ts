/**
 * SQL spellings of types → `DataType` (contract query.md 1.3). Names are lower-case, without arguments.
 */
import * as types from "../../../../column/data-type.ts";
import type { DataType } from "../../../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX } from "../../../../column/decimal.ts";
import { NUMBERED_KINDS, type NumberedKind } from "../../../postgres-types.ts";

/** Why a spelling is not a type. `unsupported` names one that other servers have. */
export type TypeProblem = { readonly problem: "unknown" | "unsupported" | "arguments"; readonly why: string };

const DECIMAL_DEFAULT = { precision: 38, scale: 10 } as const;
const VECTOR_DIMENSION_MAX = 65_535;

const PLAIN: ReadonlyMap<string, DataType> = new Map(
  (
    [
      [types.BOOLEAN, "bool boolean"],
      [types.DATE, "date"],
      [types.INT64, "signed"],
      [types.UINT64, "unsigned"],
      [types.INTERVAL, "interval"],
      [types.JSON_TYPE, "json"],
      [types.JSON2, "json2"],
      [types.FLOAT32, "float4 float32 real"],
      [types.FLOAT64, "double float8 float64"],
      [types.UINT8, "uint8"],
      [types.UINT16, "uint16"],
      [types.UINT32, "uint32"],
      [types.UINT64, "uint64"],
      [types.TIMESTAMP_SECOND, "timestamp_s timestamp_sec timestampsecond"],
      [types.TIMESTAMP_MILLISECOND, "timestamp_ms timestampmillisecond"],
      [types.TIMESTAMP_MICROSECOND, "timestamp_us timestampmicrosecond"],
      [types.TIMESTAMP_NANOSECOND, "timestamp_ns timestampnanosecond"],
    ] as const
  ).flatMap(([type, names]) => names.split(" ").map((name) => [name, type] as const)),
);

/** Types whose length or display width is read and ignored. */
const SIZED: ReadonlyMap<string, DataType> = new Map(
  (
    [
      [types.STRING, "char character varchar nvarchar text string tinytext mediumtext longtext"],
      [types.STRING, "character_varying char_varying"],
      [types.BINARY, "binary varbinary blob bytea tinyblob mediumblob longblob"],
      [types.FLOAT32, "float"],
      [types.FLOAT64, "double_precision"],
    ] as const
  ).flatMap(([type, names]) => names.split(" ").map((name) => [name, type] as const)),
);

/** Whole numbers that take UNSIGNED and a display width. */
const WHOLE: ReadonlyMap<string, { readonly signed: DataType; readonly unsigned: DataType }> = new Map(
  (
    [
      [types.INT8, types.UINT8, "tinyint"],
      [types.INT16, types.UINT16, "smallint int2 int16"],
      [types.INT32, types.UINT32, "int integer int4 int32 mediumint"],
      [types.INT64, types.UINT64, "bigint int8 int64"],
    ] as const
  ).flatMap(([signed, unsigned, names]) => names.split(" ").map((name) => [name, { signed, unsigned }] as const)),
);

const TIMESTAMP_BY_PRECISION: ReadonlyMap<number, DataType> = new Map([
  [0, types.TIMESTAMP_SECOND],
  [3, types.TIMESTAMP_MILLISECOND],
  [6, types.TIMESTAMP_MICROSECOND],
  [9, types.TIMESTAMP_NANOSECOND],
]);

/** Types of expressions alone, by which clients of PostgreSQL ask about its catalogue; each is an object of its own. */
const CATALOG_TYPES: ReadonlyMap<string, DataType> = new Map([
  ["oid", { kind: "int", bits: 64, signed: true, oid: true }] as const,
  ...["xid", "xid8", "cid", ...NUMBERED_KINDS].map((name) => [name, { ...types.INT64 }] as const),
  ...["name", "bpchar", "cstring", "char_of_catalog", "int2vector", "oidvector", "sql_identifier", "character_data", "cardinal_number"].map(
    (name) => [name, { ...types.STRING }] as const,
  ),
]);
const kinds: ReadonlyMap<DataType | undefined, NumberedKind> = new Map(NUMBERED_KINDS.map((kind) => [CATALOG_TYPES.get(kind), kind]));
const catalogTypes: ReadonlySet<DataType> = new Set(CATALOG_TYPES.values());

/** Whether a type, as `typeNamed` gave it, is one that columns of tables do not have. */
export function isCatalogType(type: DataType): boolean {
  return catalogTypes.has(type);
}

/** Which numbers a type, as `typeNamed` gave it, is for: `regclass`; undefined: it is another type. */
export function numberedKindOf(type: DataType): NumberedKind | undefined {
  return kinds.get(type);
}

/** Spellings that name a type which columns and expressions do not have. */
const UNSUPPORTED: ReadonlySet<string> = new Set("timetz array struct map enum uuid duration".split(" "));

/**
 * The type that a spelling names.
 *
 * @param name lower-case, words joined by `_`: `double_precision`
 * @param args numbers in parentheses, empty when there are none
 * @param unsigned whether UNSIGNED follows
 */
export function typeNamed(name: string, args: readonly number[], unsigned: boolean): DataType | TypeProblem {
  const whole = WHOLE.get(name);
  if (whole !== undefined) return args.length > 1 ? tooMany(name, args) : unsigned ? whole.unsigned : whole.signed;
  if (unsigned) return { problem: "arguments", why: `type ${name} cannot be UNSIGNED` };
  const sized = SIZED.get(name);
  if (sized !== undefined) return args.length > 1 ? tooMany(name, args) : sized;
  const plain = PLAIN.get(name);
  if (plain !== undefined) return args.length > 0 ? tooMany(name, args) : plain;
  switch (name) {
    case "timestamp":
    case "timestamptz":
    case "datetime":
      return timestamp(name, args);
    case "time":
      return clockTime(args);
    case "decimal":
    case "numeric":
    case "dec":
      return decimal(name, args);
    case "vector":
      return vector(args);
    default: {
      const ofCatalog = CATALOG_TYPES.get(name);
      if (ofCatalog !== undefined) return args.length > 0 ? tooMany(name, args) : ofCatalog;
      if (UNSUPPORTED.has(name)) return { problem: "unsupported", why: `type ${name.toUpperCase()}` };
      return { problem: "unknown", why: `unknown type '${name}'` };
    }
  }
}

/** The type of `TIMESTAMP '…'`: as fine as the fraction written, at least milliseconds, so that no digit is lost. */
export function timestampLiteralType(text: string): DataType {
  const digits = /:\d{1,2}\.(\d+)/.exec(text)?.[1]?.length ?? 0;
  if (digits > 6) return types.TIMESTAMP_NANOSECOND;
  return digits > 3 ? types.TIMESTAMP_MICROSECOND : types.TIMESTAMP_MILLISECOND;
}

function tooMany(name: string, args: readonly number[]): TypeProblem {
  return { problem: "arguments", why: `type ${name} does not take (${args.join(", ")})` };
}

function timestamp(name: string, args: readonly number[]): DataType | TypeProblem {
  if (args.length > 1) return tooMany(name, args);
  const precision = args[0] ?? (name === "datetime" ? 6 : 3);
  const type = TIMESTAMP_BY_PRECISION.get(precision);
  return type ?? { problem: "arguments", why: `${name}(${precision}) must have precision 0, 3, 6 or 9` };
}

/** TIME is as fine as times get; TIME(0), (3), (6) and (9) choose a unit. */
function clockTime(args: readonly number[]): DataType | TypeProblem {
  if (args.length > 1) return tooMany("time", args);
  const point = TIMESTAMP_BY_PRECISION.get(args[0] ?? 9);
  if (point?.kind === "timestamp") return { kind: "time", unit: point.unit };
  return { problem: "arguments", why: `time(${args.join(", ")}) must have precision 0, 3, 6 or 9` };
}

function decimal(name: string, args: readonly number[]): DataType | TypeProblem {
  if (args.length > 2) return tooMany(name, args);
  const precision = args[0] ?? DECIMAL_DEFAULT.precision;
  const scale = args[1] ?? (args.length === 0 ? DECIMAL_DEFAULT.scale : 0);
  if (precision < 1 || precision > DECIMAL_DIGITS_MAX) {
    return { problem: "arguments", why: `${name} precision must be 1 to ${DECIMAL_DIGITS_MAX}, not ${precision}` };
  }
  if (scale > precision) return { problem: "arguments", why: `${name} scale ${scale} must not exceed precision ${precision}` };
  return { kind: "decimal", precision, scale };
}

function vector(args: readonly number[]): DataType | TypeProblem {
  const dimension = args[0];
  if (dimension === undefined || args.length > 1) return { problem: "arguments", why: "type vector needs one dimension: VECTOR(n)" };
  if (dimension < 1 || dimension > VECTOR_DIMENSION_MAX) {
    return { problem: "arguments", why: `vector dimension must be 1 to ${VECTOR_DIMENSION_MAX}, not ${dimension}` };
  }
  return { kind: "vector", dimension };
}
