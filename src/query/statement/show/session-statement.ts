/** USE, SET and SHOW VARIABLES: the state of a session. */
import { notSupported } from "../../plan/bind/plan-error.ts";
import { databaseNotFound } from "../../../table/not-found.ts";
import { parseTimeZone, timeZoneNamed } from "../../../base/text/time-zone.ts";
import { warn } from "../../connection.ts";
import type { QueryContext } from "../../query-context.ts";
import { dateStyleOf, flagOf, INTERVAL_STYLES, newSettings, oneOf, timeoutOf } from "../../session-settings.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { databaseIfThere, databaseNamed } from "../shared/database-named.ts";
import { rowsResult, textHeaders } from "../shared/rows-result.ts";

const TIME_ZONE_NAMES: readonly string[] = ["TIME_ZONE", "TIMEZONE", "@@TIME_ZONE", "@@SESSION.TIME_ZONE"];
const ENCODINGS: readonly string[] = ["UTF8", "UTF-8", "UNICODE"];

/** Changes the current database. @throws DbError DatabaseNotFound */
export function use(statement: Extract<Statement, { kind: "use" }>, context: QueryContext): StatementResult {
  context.variables.database = databaseNamed(statement.database, context.catalog);
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
      throw notSupported("SET to a value that is no literal");
  }
}

type SetVariable = Extract<Statement, { kind: "set-variable" }>;

/** Sets a variable of the session. @throws DbError InvalidArguments, Unsupported */
export function setVariable(statement: SetVariable, context: QueryContext): StatementResult {
  const name = statement.name.toUpperCase();
  const { variables } = context;
  const text = statement.value.kind === "default" ? undefined : textOf(statement.value);
  if (TIME_ZONE_NAMES.includes(name)) variables.timeZone = timeZoneNamed(text ?? "SYSTEM");
  else if (name === "SEARCH_PATH" && variables.connection?.protocol === "postgres") setSearchPath(text ?? "public", context);
  else if (!setSetting(name, text, context)) unknownVariable(name, context);
  return NO_ROWS_CHANGED;
}

/** The first name that is a database becomes the current one. */
function setSearchPath(text: string, { catalog, variables }: QueryContext): void {
  const names = text.split(",").map((part) => part.trim().replace(/^"(.*)"$/, "$1"));
  const found = names.map((name) => databaseIfThere(name, catalog)).find((name) => name !== undefined);
  if (found === undefined) throw databaseNotFound(text.slice(0, 80));
  variables.database = found;
}

/** Sets what `session-settings.ts` holds; false for another name. @param text undefined: the default */
function setSetting(name: string, text: string | undefined, { variables }: QueryContext): boolean {
  const settings = variables.settings ?? newSettings();
  const initial = newSettings();
  const protocol = variables.connection?.protocol;
  switch (name) {
    case "READ_PREFERENCE":
      if ((text ?? "leader").toLowerCase() !== "leader")
        throw notSupported(`Invalid read preference expr ${shown(text)} in set variable statement`);
      return true;
    case "CLIENT_ENCODING":
      if (!ENCODINGS.includes((text ?? "UTF8").toUpperCase()))
        throw notSupported(`Unsupported client encoding ${shown(text)} in set variable statement; texts are UTF8`);
      return true;
    case "BYTEA_OUTPUT":
      settings.byteaOutput = text === undefined ? initial.byteaOutput : oneOf("bytea_output", text, ["hex", "escape"]);
      break;
    case "DATESTYLE":
      Object.assign(settings, text === undefined ? dateStyleOf("ISO, MDY", initial) : dateStyleOf(text, settings));
      break;
    case "INTERVALSTYLE":
      settings.intervalStyle = text === undefined ? initial.intervalStyle : oneOf("intervalstyle", text, INTERVAL_STYLES);
      break;
    case "ALLOW_QUERY_FALLBACK":
      settings.allowQueryFallback = text === undefined ? initial.allowQueryFallback : flagOf("allow_query_fallback", text);
      break;
    case "MAX_EXECUTION_TIME":
      if (protocol !== "mysql") return false;
      settings.timeoutMillis = timeoutOf(text ?? "0", false);
      break;
    case "STATEMENT_TIMEOUT":
      if (protocol !== "postgres") return false;
      settings.timeoutMillis = timeoutOf(text ?? "0", true);
      break;
    default:
      return false;
  }
  variables.settings = settings;
  return true;
}

const shown = (text: string | undefined): string => (text ?? "").slice(0, 80);
/** Drivers set many variables when they connect, which must not fail; a request is told that nothing was set. */
function unknownVariable(name: string, { variables }: QueryContext): void {
  const text = `Unsupported set variable ${name}`;
  if (variables.connection === undefined) throw notSupported(text);
  warn(variables.connection, text);
}

/** Shows a variable: one column named in capitals. @throws DbError Unsupported */
export function showVariable(statement: Extract<Statement, { kind: "show-variable" }>, { variables }: QueryContext): StatementResult {
  const name = statement.name.toUpperCase();
  const settings = variables.settings ?? newSettings();
  const protocol = variables.connection?.protocol;
  const values: Readonly<Record<string, string | undefined>> = {
    TIME_ZONE: variables.timeZone,
    TIMEZONE: variables.timeZone,
    SYSTEM_TIME_ZONE: parseTimeZone("SYSTEM") ?? "UTC",
    READ_PREFERENCE: "LEADER",
    DATESTYLE: `${settings.dateStyle}, ${settings.dateOrder}`,
    INTERVALSTYLE: settings.intervalStyle,
    BYTEA_OUTPUT: settings.byteaOutput,
    ALLOW_QUERY_FALLBACK: String(settings.allowQueryFallback),
    CLIENT_ENCODING: "UTF8",
    MAX_EXECUTION_TIME: protocol === "postgres" ? undefined : String(settings.timeoutMillis),
    STATEMENT_TIMEOUT: protocol === "postgres" ? `${settings.timeoutMillis}ms` : undefined,
  };
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw notSupported(`Unsupported show variable ${name}`);
  return rowsResult(textHeaders(name), [[value]]);
}
