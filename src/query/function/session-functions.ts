/** Functions that tell about the session and the server. */
import { type DataType, INT64, NULL, STRING } from "../../column/data-type.ts";
import { alias, lenient, type ScalarFunction } from "./scalar-function.ts";
import { constant } from "./signature.ts";

/** What `version()` answers over HTTP and gRPC. */
const VERSION = "1.3.0";

const database = lenient("database()", constant(STRING), (_, call) => call.environment.database, { volatility: "stable" });
const schema = alias("current_schema", database);

/** The functions of this file. */
export const SESSION_FUNCTIONS: readonly ScalarFunction[] = [
  database,
  schema,
  alias("current_database", database),
  lenient("version()", constant(STRING), () => VERSION, { volatility: "stable" }),
  lenient("timezone()", constant(STRING), (_, call) => call.environment.timeZone, { volatility: "stable" }),
  lenient("read_preference()", constant(STRING), () => "LEADER", { volatility: "stable" }),
  lenient("pg_backend_pid()", constant(INT64), () => process.pid, { volatility: "stable" }),
  lenient(
    "arrow_typeof(value)",
    (args) => (args.length === 1 ? { args, result: STRING } : undefined),
    (_, call) => arrowName(call.type.args[0]),
  ),
];

const ARROW_UNIT = { second: "s", millisecond: "ms", microsecond: "µs", nanosecond: "ns" } as const;

function arrowName(type: DataType = NULL): string {
  switch (type.kind) {
    case "string":
      return "Utf8";
    case "date":
      return "Date32";
    case "timestamp":
      return `Timestamp(${ARROW_UNIT[type.unit]})`;
    case "int":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "float":
      return `Float${type.bits}`;
    case "decimal":
      return `Decimal128(${type.precision}, ${type.scale})`;
    case "time":
      return `Time${type.unit === "second" || type.unit === "millisecond" ? 32 : 64}(${ARROW_UNIT[type.unit]})`;
    case "duration":
      return `Duration(${ARROW_UNIT[type.unit]})`;
    case "json":
    case "vector":
      return "Binary";
    case "null":
      return "Null";
    default:
      return type.kind.charAt(0).toUpperCase() + type.kind.slice(1);
  }
}
