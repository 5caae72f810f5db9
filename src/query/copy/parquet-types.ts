/**
 * Types of foreign Parquet columns, and their stored values as values of these types.
 */
import type { SchemaElement } from "hyparquet";
import { parseFloat16 } from "hyparquet/src/convert.js";
import {
  BINARY,
  BOOLEAN,
  DATE,
  type DataType,
  FLOAT32,
  FLOAT64,
  INT32,
  INT64,
  JSON_TYPE,
  STRING,
  TIMESTAMP_NANOSECOND,
  type TimeUnit,
} from "../../column/data-type.ts";
import { strictUtf8 } from "../../base/bytes/utf8.ts";
import { exactInteger } from "../../column/exact-integer.ts";
import { intervalText } from "../../value/interval/interval-text.ts";
import type { Scalar } from "../../column/vector.ts";

const UNITS: Readonly<Record<"MILLIS" | "MICROS" | "NANOS", TimeUnit>> = {
  MILLIS: "millisecond",
  MICROS: "microsecond",
  NANOS: "nanosecond",
};

/** The type of a column that is no list, map or record; undefined for those, and for what is not known. */
export function typeOfElement(element: SchemaElement): DataType | undefined {
  if (element.num_children !== undefined || element.repetition_type === "REPEATED") return undefined;
  return annotated(element) ?? physical(element);
}

function annotated({ converted_type: converted, logical_type: logical, precision, scale = 0 }: SchemaElement): DataType | undefined {
  switch (logical?.type) {
    case "TIMESTAMP":
      return { kind: "timestamp", unit: UNITS[logical.unit] };
    case "TIME":
      return { kind: "time", unit: UNITS[logical.unit] };
    case "UUID":
      return STRING;
    case "FLOAT16":
      return FLOAT32;
    case "INTEGER":
      return integer(logical.bitWidth, logical.isSigned);
    case "JSON":
      return JSON_TYPE;
    case "STRING":
    case "ENUM":
      return STRING;
    case "DATE":
      return DATE;
    case "DECIMAL":
      return decimal(logical.precision, logical.scale);
    default:
      break;
  }
  switch (converted) {
    case "UTF8":
    case "ENUM":
    case "INTERVAL":
      return STRING;
    case "JSON":
      return JSON_TYPE;
    case "DATE":
      return DATE;
    case "DECIMAL":
      return decimal(precision, scale);
    case "TIMESTAMP_MILLIS":
    case "TIMESTAMP_MICROS":
      return { kind: "timestamp", unit: converted.endsWith("MILLIS") ? "millisecond" : "microsecond" };
    case "TIME_MILLIS":
    case "TIME_MICROS":
      return { kind: "time", unit: converted.endsWith("MILLIS") ? "millisecond" : "microsecond" };
    default: {
      const match = /^(U?)INT_(8|16|32|64)$/.exec(converted ?? "");
      return match === null ? undefined : integer(Number(match[2]), match[1] === "");
    }
  }
}

function integer(bits: number, signed: boolean): DataType | undefined {
  return bits === 8 || bits === 16 || bits === 32 || bits === 64 ? { kind: "int", bits, signed } : undefined;
}

function decimal(precision: number | undefined, scale: number): DataType | undefined {
  if (precision === undefined || precision < 1 || precision > 38 || scale < 0 || scale > precision) return undefined;
  return { kind: "decimal", precision, scale };
}

function physical({ type }: SchemaElement): DataType | undefined {
  switch (type) {
    case "BOOLEAN":
      return BOOLEAN;
    case "INT32":
      return INT32;
    case "INT64":
      return INT64;
    case "INT96":
      return TIMESTAMP_NANOSECOND;
    case "FLOAT":
      return FLOAT32;
    case "DOUBLE":
      return FLOAT64;
    case "BYTE_ARRAY":
    case "FIXED_LEN_BYTE_ARRAY":
      return BINARY;
    default:
      return undefined;
  }
}

/** What makes values of a column's type out of stored ones (`parquet/page-values.ts`). */
export function valueReader(element: SchemaElement, type: DataType): (stored: unknown) => Scalar {
  const isUuid = element.logical_type?.type === "UUID";
  const isHalf = element.logical_type?.type === "FLOAT16";
  const isInterval = element.converted_type === "INTERVAL";
  return (stored) => {
    if (stored === undefined || stored === null) return undefined;
    if (stored instanceof Uint8Array) {
      if (type.kind === "decimal") return exactInteger(bigEndian(stored));
      if (isUuid) return uuidText(stored);
      if (isHalf) return parseFloat16(stored);
      if (isInterval) return intervalOf(stored);
      return type.kind === "binary" ? stored : strictUtf8.decode(stored);
    }
    if (typeof stored === "bigint") return numberOf(stored, type);
    // 32 bits come signed.
    if (typeof stored === "number" && type.kind === "int" && !type.signed && stored < 0) return stored + 2 ** 32;
    return typeof stored === "number" || typeof stored === "boolean" ? stored : undefined;
  };
}

function numberOf(stored: bigint, type: DataType): Scalar {
  if (type.kind === "timestamp") return stored;
  return exactInteger(type.kind === "int" && !type.signed ? BigInt.asUintN(64, stored) : stored);
}

function bigEndian(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toHex()}`));
}

function uuidText(bytes: Uint8Array): string {
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Months, days and milliseconds, 32 bits each, as the text that intervals are in files. */
function intervalOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nanos = BigInt(view.getUint32(8, true)) * 1_000_000n;
  return intervalText({ months: view.getInt32(0, true), days: view.getInt32(4, true), nanos });
}
