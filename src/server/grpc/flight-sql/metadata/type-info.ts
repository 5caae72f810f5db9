/** CommandGetXdbcTypeInfo: the types that columns of a table may have, in the numbers of JDBC and ODBC. */
import {
  type CommandGetXdbcTypeInfo,
  Nullable,
  Searchable,
  XdbcDatetimeSubcode,
  XdbcDataType,
} from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  JSON_TYPE,
  sqlName,
  STRING,
  type TimeUnit,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
} from "../../../../column/data-type.ts";
import { encodeNested } from "../../../../column/nested.ts";
import type { Scalar } from "../../../../column/vector.ts";
import type { AnswerTable } from "../flight-answer.ts";
import { optional, required } from "./ask.ts";
import { typeFacts } from "./type-facts.ts";

const TEXTS: DataType = { kind: "list", element: STRING };
const DECIMAL_MAX: DataType = { kind: "decimal", precision: 38, scale: 38 };
const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];

const FIELDS = [
  required("type_name"),
  required("data_type", INT32),
  optional("column_size", INT32),
  optional("literal_prefix"),
  optional("literal_suffix"),
  optional("create_params", TEXTS),
  required("nullable", INT32),
  required("case_sensitive", BOOLEAN),
  required("searchable", INT32),
  optional("unsigned_attribute", BOOLEAN),
  required("fixed_prec_scale", BOOLEAN),
  optional("auto_increment", BOOLEAN),
  optional("local_type_name"),
  optional("minimum_scale", INT32),
  optional("maximum_scale", INT32),
  required("sql_data_type", INT32),
  optional("datetime_subcode", INT32),
  optional("num_prec_radix", INT32),
  optional("interval_precision", INT32),
];

/** A type of columns with its number. */
interface ListedType {
  readonly type: DataType;
  readonly number: XdbcDataType;
  /** Absent: as SHOW CREATE TABLE writes it. */
  readonly name?: string;
  readonly parameters?: readonly string[];
}

const LISTED: readonly ListedType[] = [
  { type: BOOLEAN, number: XdbcDataType.XDBC_BIT },
  { type: INT8, number: XdbcDataType.XDBC_TINYINT },
  { type: UINT8, number: XdbcDataType.XDBC_TINYINT },
  { type: INT16, number: XdbcDataType.XDBC_SMALLINT },
  { type: UINT16, number: XdbcDataType.XDBC_SMALLINT },
  { type: INT32, number: XdbcDataType.XDBC_INTEGER },
  { type: UINT32, number: XdbcDataType.XDBC_INTEGER },
  { type: INT64, number: XdbcDataType.XDBC_BIGINT },
  { type: UINT64, number: XdbcDataType.XDBC_BIGINT },
  { type: FLOAT32, number: XdbcDataType.XDBC_REAL },
  { type: FLOAT64, number: XdbcDataType.XDBC_DOUBLE },
  { type: DECIMAL_MAX, number: XdbcDataType.XDBC_DECIMAL, name: "DECIMAL", parameters: ["precision", "scale"] },
  { type: STRING, number: XdbcDataType.XDBC_VARCHAR },
  { type: JSON_TYPE, number: XdbcDataType.XDBC_LONGVARCHAR },
  { type: BINARY, number: XdbcDataType.XDBC_VARBINARY },
  { type: { kind: "vector", dimension: 1 }, number: XdbcDataType.XDBC_BINARY, name: "VECTOR", parameters: ["dimension"] },
  { type: DATE, number: XdbcDataType.XDBC_DATE },
  ...UNITS.map((unit): ListedType => ({ type: { kind: "timestamp", unit }, number: XdbcDataType.XDBC_TIMESTAMP })),
];

const nameOf = ({ name, type }: ListedType): string => name ?? sqlName(type);

/** Types of a number, or all, by number and name. */
export function typeInfo({ dataType }: CommandGetXdbcTypeInfo): AnswerTable {
  const wanted = LISTED.filter(({ number }) => dataType === undefined || number === dataType);
  const sorted = wanted.toSorted((a, b) => a.number - b.number || (nameOf(a) < nameOf(b) ? -1 : 1));
  return { fields: FIELDS, rows: sorted.map(rowOf) };
}

/** What is written before and after a constant of a type. */
function literalMarks({ kind }: DataType): readonly [string | undefined, string | undefined] {
  if (kind === "binary") return ["X'", "'"];
  const isText = kind === "string" || kind === "json" || kind === "vector" || kind === "date" || kind === "timestamp";
  return isText ? ["'", "'"] : [undefined, undefined];
}

/** Number and subcode without the precision of dates and times. */
function generalNumbers({ type, number }: ListedType): readonly [number, number | undefined] {
  if (type.kind === "date") return [XdbcDataType.XDBC_DATETIME, XdbcDatetimeSubcode.XDBC_SUBCODE_DATE];
  if (type.kind === "timestamp") return [XdbcDataType.XDBC_DATETIME, XdbcDatetimeSubcode.XDBC_SUBCODE_TIMESTAMP];
  return [number, undefined];
}

function rowOf(listed: ListedType): readonly Scalar[] {
  const { type, number, parameters } = listed;
  const { size, scale, isCaseSensitive } = typeFacts(type);
  const isExact = type.kind === "int" || type.kind === "decimal";
  const isNumber = isExact || type.kind === "float";
  const isUnsigned = type.kind === "int" ? !type.signed : isNumber ? false : undefined;
  const [general, subcode] = generalNumbers(listed);
  return [
    nameOf(listed),
    number,
    size,
    ...literalMarks(type),
    parameters === undefined ? undefined : encodeNested({ kind: "list", element: STRING }, parameters),
    Nullable.NULLABILITY_NULLABLE,
    isCaseSensitive,
    isCaseSensitive ? Searchable.FULL : Searchable.BASIC,
    isUnsigned,
    false,
    isNumber ? false : undefined,
    undefined,
    type.kind === "decimal" ? 0 : scale,
    scale,
    general,
    subcode,
    isExact ? 10 : type.kind === "float" ? 2 : undefined,
    undefined,
  ];
}
