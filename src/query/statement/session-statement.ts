/** USE, SET and SHOW VARIABLES: the state of a session. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { parseTimeZone } from "../function/time/time-zone.ts";
import { INFORMATION_SCHEMA } from "../plan/virtual/information-schema.ts";
import type { QueryContext } from "../query-context.ts";
import type { Expression, Statement } from "../sql/ast.ts";
import type { StatementResult } from "../statement-result.ts";
import { rowsResult, textHeaders } from "./rows-result.ts";

const TIME_ZONE_NAMES: readonly string[] = ["TIME_ZONE", "TIMEZONE", "@@TIME_ZONE", "@@SESSION.TIME_ZONE"];
/** Variables that may be set to anything, without an effect here. */
const IGNORED: readonly string[] = ["BYTEA_OUTPUT", "DATESTYLE", "INTERVALSTYLE", "ALLOW_QUERY_FALLBACK", "CLIENT_ENCODING"];

/** Changes the current database. @throws DbError DatabaseNotFound */
export function use(statement: Extract<Statement, { kind: "use" }>, context: QueryContext): StatementResult {
  const { database } = statement;
  if (context.catalog.database(database) === undefined && database !== INFORMATION_SCHEMA) {
    throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${database}`);
  }
  context.variables.database = database;
  return rowsResult([], []);
}

/** The text of a value of SET: a literal, or a bare word. */
function textOf(value: Expression): string {
  switch (value.kind) {
    case "string":
      return value.value;
    case "number":
      return value.text;
    case "boolean":
      return String(value.value);
    case "column":
      return value.name.join(".");
    case "unary":
      return `${value.operator}${textOf(value.operand)}`;
    default:
      throw new DbError(StatusCode.Unsupported, "Not supported: SET to a value that is no literal");
  }
}

/** Sets a variable of the session. @throws DbError InvalidArguments, Unsupported */
export function setVariable(statement: Extract<Statement, { kind: "set-variable" }>, context: QueryContext): StatementResult {
  const name = statement.name.toUpperCase();
  const text = textOf(statement.value);
  if (TIME_ZONE_NAMES.includes(name)) {
    const zone = parseTimeZone(text);
    if (zone === undefined)
      throw new DbError(
        StatusCode.InvalidArguments,
        `Invalid timezone string ${text.slice(0, 80)}: use a name such as Asia/Shanghai or an offset such as +08:00`,
      );
    context.variables.timeZone = zone;
  } else if (name === "READ_PREFERENCE") {
    if (text.toLowerCase() !== "leader")
      throw new DbError(StatusCode.Unsupported, `Invalid read preference expr ${text.slice(0, 80)} in set variable statement`);
  } else if (!IGNORED.includes(name)) {
    throw new DbError(StatusCode.Unsupported, `Not supported: Unsupported set variable ${statement.name.toUpperCase()}`);
  }
  return { kind: "affected", rowCount: 0 };
}

/** Shows a variable: one column named in capitals. @throws DbError Unsupported */
export function showVariable(statement: Extract<Statement, { kind: "show-variable" }>, context: QueryContext): StatementResult {
  const name = statement.name.toUpperCase();
  const values: Readonly<Record<string, string>> = {
    TIME_ZONE: context.variables.timeZone,
    TIMEZONE: context.variables.timeZone,
    SYSTEM_TIME_ZONE: parseTimeZone("SYSTEM") ?? "UTC",
    READ_PREFERENCE: "LEADER",
    DATESTYLE: "ISO, MDY",
    INTERVALSTYLE: "iso_8601",
    MAX_EXECUTION_TIME: "0",
  };
  const value = values[name];
  if (value === undefined) throw new DbError(StatusCode.Unsupported, `Not supported: Unsupported show variable ${name}`);
  return rowsResult(textHeaders(name), [[value]]);
}
