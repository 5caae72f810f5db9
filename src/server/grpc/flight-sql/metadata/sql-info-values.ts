/**
 * What the server says of itself and its SQL, entry by entry (`SqlInfo` of the protocol). `sql-info.test.ts` runs statements that show
 * what is claimed here.
 *
 * Numbers that bound something are 0 where nothing does, as ODBC has it.
 */
import { SqlInfo } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { NAME_BYTES_MAX, TABLE_COLUMNS_MAX } from "../../../../base/limits.ts";
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
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_NANOSECOND,
} from "../../../../column/data-type.ts";
import { functionsAbout, languageWords } from "../../../../query/language-facts.ts";
import { canCast } from "../../../../value/cast.ts";
import { PREPARED_IDLE_MS, PREPARED_PER_USER_MAX } from "../limits.ts";

/** A value by the child of the union that it lies in. */
export type InfoValue =
  | { readonly kind: "text"; readonly value: string | undefined }
  | { readonly kind: "flag"; readonly value: boolean }
  | { readonly kind: "count"; readonly value: number }
  /** Bits, or the number of one value of an enum. */
  | { readonly kind: "bits"; readonly value: number }
  | { readonly kind: "texts"; readonly value: readonly string[] }
  | { readonly kind: "conversions"; readonly value: ReadonlyMap<number, readonly number[]> };

/** Version of the columnar format that answers are written in. */
const ARROW_FORMAT_VERSION = "1.5.0";

const text = (value: string | undefined): InfoValue => ({ kind: "text", value });
const flag = (value: boolean): InfoValue => ({ kind: "flag", value });
const count = (value: number): InfoValue => ({ kind: "count", value });
const bits = (value: number): InfoValue => ({ kind: "bits", value });
const YES = flag(true);
const NO = flag(false);
const UNBOUNDED = count(0);
const NAME_MAX = count(NAME_BYTES_MAX);

/** Bits of values of an enum. */
const all = (...values: readonly number[]): InfoValue => bits(values.reduce((set, value) => set | (1 << value), 0));

/** A representative of each type of `SqlSupportsConvert` that there is here, by its number. */
const CONVERTED: ReadonlyMap<number, DataType> = new Map([
  [0, INT64],
  [1, BINARY],
  [2, BOOLEAN],
  [3, STRING],
  [4, DATE],
  [5, { kind: "decimal", precision: 38, scale: 10 }],
  [6, FLOAT64],
  [7, INT32],
  [10, BINARY],
  [11, STRING],
  [12, { kind: "decimal", precision: 38, scale: 10 }],
  [13, FLOAT32],
  [14, INT16],
  [15, TIME_NANOSECOND],
  [16, TIMESTAMP_NANOSECOND],
  [17, INT8],
  [18, BINARY],
  [19, STRING],
]);

function conversions(): InfoValue {
  const targets = [...CONVERTED];
  const value = new Map(
    targets.map(([from, type]) => [from, targets.filter(([, target]) => canCast(type, target)).map(([to]) => to)] as const),
  );
  return { kind: "conversions", value };
}

const texts = (value: readonly string[]): InfoValue => ({ kind: "texts", value });

/** Every entry. @param version of the server */
export function sqlInfoValues(version: string): ReadonlyMap<number, InfoValue> {
  return new Map<number, InfoValue>([
    ...serverValues(version),
    ...languageValues(),
    ...supportValues(),
    ...boundValues(),
    ...clientValues(),
  ]);
}

function serverValues(version: string): readonly (readonly [SqlInfo, InfoValue])[] {
  return [
    [SqlInfo.FLIGHT_SQL_SERVER_NAME, text("Varve")],
    [SqlInfo.FLIGHT_SQL_SERVER_VERSION, text(version)],
    [SqlInfo.FLIGHT_SQL_SERVER_ARROW_VERSION, text(ARROW_FORMAT_VERSION)],
    [SqlInfo.FLIGHT_SQL_SERVER_READ_ONLY, NO],
    [SqlInfo.FLIGHT_SQL_SERVER_SQL, YES],
    [SqlInfo.FLIGHT_SQL_SERVER_SUBSTRAIT, NO],
    [SqlInfo.FLIGHT_SQL_SERVER_SUBSTRAIT_MIN_VERSION, text(undefined)],
    [SqlInfo.FLIGHT_SQL_SERVER_SUBSTRAIT_MAX_VERSION, text(undefined)],
    [SqlInfo.FLIGHT_SQL_SERVER_TRANSACTION, bits(0)], // none
    [SqlInfo.FLIGHT_SQL_SERVER_CANCEL, YES],
    [SqlInfo.FLIGHT_SQL_SERVER_BULK_INGESTION, YES],
    [SqlInfo.FLIGHT_SQL_SERVER_INGEST_TRANSACTIONS_SUPPORTED, NO],
    [SqlInfo.FLIGHT_SQL_SERVER_STATEMENT_TIMEOUT, bits(PREPARED_IDLE_MS)],
    [SqlInfo.FLIGHT_SQL_SERVER_TRANSACTION_TIMEOUT, bits(0)],
  ];
}

function languageValues(): readonly (readonly [SqlInfo, InfoValue])[] {
  return [
    [SqlInfo.SQL_DDL_CATALOG, NO],
    [SqlInfo.SQL_DDL_SCHEMA, YES],
    [SqlInfo.SQL_DDL_TABLE, YES],
    [SqlInfo.SQL_IDENTIFIER_CASE, bits(3)], // lower case
    [SqlInfo.SQL_IDENTIFIER_QUOTE_CHAR, text('"')],
    [SqlInfo.SQL_QUOTED_IDENTIFIER_CASE, bits(0)], // kept and told apart, for which the enum has no value
    [SqlInfo.SQL_ALL_TABLES_ARE_SELECTABLE, YES],
    [SqlInfo.SQL_NULL_ORDERING, bits(0)], // high
    [SqlInfo.SQL_KEYWORDS, texts(languageWords())],
    [SqlInfo.SQL_NUMERIC_FUNCTIONS, texts(functionsAbout("numbers"))],
    [SqlInfo.SQL_STRING_FUNCTIONS, texts(functionsAbout("texts"))],
    [SqlInfo.SQL_SYSTEM_FUNCTIONS, texts(functionsAbout("session"))],
    [SqlInfo.SQL_DATETIME_FUNCTIONS, texts(functionsAbout("times"))],
    [SqlInfo.SQL_SEARCH_STRING_ESCAPE, text("\\")],
    [SqlInfo.SQL_EXTRA_NAME_CHARACTERS, text("")],
    [SqlInfo.SQL_SCHEMA_TERM, text("database")],
    [SqlInfo.SQL_PROCEDURE_TERM, text("procedure")],
    [SqlInfo.SQL_CATALOG_TERM, text("catalog")],
    [SqlInfo.SQL_CATALOG_AT_START, YES],
  ];
}

function supportValues(): readonly (readonly [SqlInfo, InfoValue])[] {
  return [
    [SqlInfo.SQL_SUPPORTS_COLUMN_ALIASING, YES],
    [SqlInfo.SQL_NULL_PLUS_NULL_IS_NULL, YES],
    [SqlInfo.SQL_SUPPORTS_CONVERT, conversions()],
    [SqlInfo.SQL_SUPPORTS_TABLE_CORRELATION_NAMES, YES],
    [SqlInfo.SQL_SUPPORTS_DIFFERENT_TABLE_CORRELATION_NAMES, NO],
    [SqlInfo.SQL_SUPPORTS_EXPRESSIONS_IN_ORDER_BY, YES],
    [SqlInfo.SQL_SUPPORTS_ORDER_BY_UNRELATED, YES],
    [SqlInfo.SQL_SUPPORTED_GROUP_BY, all(0, 1)],
    [SqlInfo.SQL_SUPPORTS_LIKE_ESCAPE_CLAUSE, YES],
    [SqlInfo.SQL_SUPPORTS_NON_NULLABLE_COLUMNS, YES],
    [SqlInfo.SQL_SUPPORTED_GRAMMAR, all(0)], // ODBC's minimum: the core has privileges and indexes of their own
    [SqlInfo.SQL_ANSI92_SUPPORTED_LEVEL, bits(0)], // the lowest level has transactions and privileges
    [SqlInfo.SQL_SUPPORTS_INTEGRITY_ENHANCEMENT_FACILITY, NO],
    [SqlInfo.SQL_OUTER_JOINS_SUPPORT_LEVEL, bits(2)], // full
    [SqlInfo.SQL_SCHEMAS_SUPPORTED_ACTIONS, bits(0)],
    [SqlInfo.SQL_CATALOGS_SUPPORTED_ACTIONS, bits(0)],
    [SqlInfo.SQL_SUPPORTED_POSITIONED_COMMANDS, bits(0)],
    [SqlInfo.SQL_SELECT_FOR_UPDATE_SUPPORTED, NO],
    [SqlInfo.SQL_STORED_PROCEDURES_SUPPORTED, NO],
    [SqlInfo.SQL_SUPPORTED_SUBQUERIES, all(0, 1, 2, 3)],
    [SqlInfo.SQL_CORRELATED_SUBQUERIES_SUPPORTED, YES],
    [SqlInfo.SQL_SUPPORTED_UNIONS, all(0, 1)],
  ];
}

function boundValues(): readonly (readonly [SqlInfo, InfoValue])[] {
  return [
    [SqlInfo.SQL_MAX_BINARY_LITERAL_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_MAX_CHAR_LITERAL_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_MAX_COLUMN_NAME_LENGTH, NAME_MAX],
    [SqlInfo.SQL_MAX_COLUMNS_IN_GROUP_BY, UNBOUNDED],
    [SqlInfo.SQL_MAX_COLUMNS_IN_INDEX, UNBOUNDED],
    [SqlInfo.SQL_MAX_COLUMNS_IN_ORDER_BY, UNBOUNDED],
    [SqlInfo.SQL_MAX_COLUMNS_IN_SELECT, UNBOUNDED],
    [SqlInfo.SQL_MAX_COLUMNS_IN_TABLE, count(TABLE_COLUMNS_MAX)],
    [SqlInfo.SQL_MAX_CONNECTIONS, UNBOUNDED],
    [SqlInfo.SQL_MAX_CURSOR_NAME_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_MAX_INDEX_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_DB_SCHEMA_NAME_LENGTH, NAME_MAX],
    [SqlInfo.SQL_MAX_PROCEDURE_NAME_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_MAX_CATALOG_NAME_LENGTH, NAME_MAX],
    [SqlInfo.SQL_MAX_ROW_SIZE, UNBOUNDED],
    [SqlInfo.SQL_MAX_ROW_SIZE_INCLUDES_BLOBS, YES],
    [SqlInfo.SQL_MAX_STATEMENT_LENGTH, UNBOUNDED],
    [SqlInfo.SQL_MAX_STATEMENTS, count(PREPARED_PER_USER_MAX)],
    [SqlInfo.SQL_MAX_TABLE_NAME_LENGTH, NAME_MAX],
    [SqlInfo.SQL_MAX_TABLES_IN_SELECT, UNBOUNDED],
    [SqlInfo.SQL_MAX_USERNAME_LENGTH, UNBOUNDED],
  ];
}

/** Transactions, of which there are none, and what JDBC asks of results. */
function clientValues(): readonly (readonly [SqlInfo, InfoValue])[] {
  const forwardOnly = all(1);
  const readOnly = all(1);
  return [
    [SqlInfo.SQL_DEFAULT_TRANSACTION_ISOLATION, count(0)], // none; arrow-java reads it as a count
    [SqlInfo.SQL_TRANSACTIONS_SUPPORTED, NO],
    [SqlInfo.SQL_SUPPORTED_TRANSACTIONS_ISOLATION_LEVELS, all(0)], // "none" is one
    [SqlInfo.SQL_DATA_DEFINITION_CAUSES_TRANSACTION_COMMIT, NO],
    [SqlInfo.SQL_DATA_DEFINITIONS_IN_TRANSACTIONS_IGNORED, NO],
    [SqlInfo.SQL_SUPPORTED_RESULT_SET_TYPES, forwardOnly],
    [SqlInfo.SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_UNSPECIFIED, bits(0)],
    [SqlInfo.SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_FORWARD_ONLY, readOnly],
    [SqlInfo.SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_SCROLL_SENSITIVE, bits(0)],
    [SqlInfo.SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_SCROLL_INSENSITIVE, bits(0)],
    [SqlInfo.SQL_BATCH_UPDATES_SUPPORTED, YES],
    [SqlInfo.SQL_SAVEPOINTS_SUPPORTED, NO],
    [SqlInfo.SQL_NAMED_PARAMETERS_SUPPORTED, NO],
    [SqlInfo.SQL_LOCATORS_UPDATE_COPY, NO],
    [SqlInfo.SQL_STORED_FUNCTIONS_USING_CALL_SYNTAX_SUPPORTED, NO],
  ];
}
