/** Names of types as `arrow_typeof` prints and `arrow_cast` reads them. */
import { BINARY, BOOLEAN, type DataType, DATE, INTERVAL, NULL, NUMBER_TYPES, STRING, type TimeUnit } from "../../../column/data-type.ts";

const UNIT_NAMES = { second: "s", millisecond: "ms", microsecond: "µs", nanosecond: "ns" } as const;

/** The Arrow name of a type: "Int64", "Utf8", "Timestamp(ns)". */
export function arrowName(type: DataType): string {
  switch (type.kind) {
    case "string":
      return "Utf8";
    case "date":
      return "Date32";
    case "timestamp":
      return `Timestamp(${UNIT_NAMES[type.unit]})`;
    case "int":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "float":
      return `Float${type.bits}`;
    case "decimal":
      return `Decimal128(${type.precision}, ${type.scale})`;
    case "time":
      return `Time${type.unit === "second" || type.unit === "millisecond" ? 32 : 64}(${UNIT_NAMES[type.unit]})`;
    case "duration":
      return `Duration(${UNIT_NAMES[type.unit]})`;
    case "interval":
      return "Interval(MonthDayNano)";
    case "json":
    case "vector":
      return "Binary";
    case "null":
      return "Null";
    case "list":
      return `List(${arrowName(type.element)})`;
    case "struct":
      return `Struct(${type.fields.map((field) => `${JSON.stringify(field.name)}: ${arrowName(field.type)}`).join(", ")})`;
    case "map": {
      const entries = `Struct("key": non-null ${arrowName(type.key)}, "value": ${arrowName(type.value)})`;
      return `Map("entries": non-null ${entries}, unsorted)`;
    }
    default:
      return type.kind.charAt(0).toUpperCase() + type.kind.slice(1);
  }
}

const PLAIN: Readonly<Record<string, DataType>> = {
  null: NULL,
  boolean: BOOLEAN,
  ...NUMBER_TYPES,
  utf8: STRING,
  largeutf8: STRING,
  utf8view: STRING,
  binary: BINARY,
  largebinary: BINARY,
  binaryview: BINARY,
  date32: DATE,
  "interval(monthdaynano)": INTERVAL,
};

const UNITS: Readonly<Record<string, TimeUnit>> = {
  s: "second",
  second: "second",
  ms: "millisecond",
  millisecond: "millisecond",
  us: "microsecond",
  µs: "microsecond",
  μs: "microsecond",
  microsecond: "microsecond",
  ns: "nanosecond",
  nanosecond: "nanosecond",
};

/** Longest name of a type in characters. Reason: lists of lists of … recurse. */
const NAME_LENGTH_MAX = 1000;

/** The type of an Arrow name, or undefined. Zones other than none are refused, since times have none here. */
export function arrowTypeNamed(name: string): DataType | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined;
  const list = /^\s*(?:Large)?List\s*\(\s*(?:nullable\s+)?(.*)\)\s*$/is.exec(name);
  if (list !== null) {
    const element = arrowTypeNamed(list[1] ?? "");
    return element && { kind: "list", element };
  }
  const text = name.toLowerCase().replaceAll(/\s+/g, "");
  const plain = Object.hasOwn(PLAIN, text) ? PLAIN[text] : undefined;
  if (plain !== undefined) return plain;
  const decimal = /^decimal(?:32|64|128)\((\d{1,2}),(\d{1,2})\)$/.exec(text);
  if (decimal !== null) {
    const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
    return precision >= 1 && precision <= 38 && scale <= precision ? { kind: "decimal", precision, scale } : undefined;
  }
  const timed = /^(timestamp|time32|time64|duration)\(([^,)]+)(,none)?\)$/.exec(text);
  const unit = timed === null || !Object.hasOwn(UNITS, timed[2] ?? "") ? undefined : UNITS[timed[2] ?? ""];
  if (timed === null || unit === undefined || (timed[3] !== undefined && timed[1] !== "timestamp")) return undefined;
  if (timed[1] === "timestamp" || timed[1] === "duration") return { kind: timed[1], unit };
  const coarse = unit === "second" || unit === "millisecond";
  return coarse === (timed[1] === "time32") ? { kind: "time", unit } : undefined;
}
