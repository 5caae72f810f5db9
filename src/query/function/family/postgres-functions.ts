/**
 * Functions that clients of PostgreSQL call when they look around (contract query.md 2.5, 3.3). Everything belongs to one owner and is
 * visible; there are no expressions, constraints or comments in this catalog, which their functions answer with NULL.
 */
import { postgresSetting } from "../../postgres-settings.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import { elementsAt, elementType, firstSubscript, listOf, resultOf } from "../nested/parts.ts";
import { lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isString, typed } from "../signature/signature.ts";
import { quoteLiteral } from "../text/format-pattern.ts";
import { namesOf, quoteIdentifier } from "../text/identifier.ts";
import { textOf, type Value } from "../value/value.ts";

/** Who owns all relations, as `pg_class.relowner` says. */
const OWNER = "postgres";

/** Between `countMin` and `countMax` arguments of any types, whose values do not matter. */
function fixed(name: string, countMin: number, countMax: number, result: DataType, value: Value): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => (args.length >= countMin && args.length <= countMax ? { args, result } : undefined);
  return lenient(`${name}(value, …)`, resolve, () => value, { volatility: "stable" });
}

function currentSetting(name: string, missingIsNull: boolean, zone: string): Value {
  const key = name.toLowerCase();
  if (key === "timezone") return zone;
  const known = postgresSetting(key);
  if (known !== undefined) return known.value;
  if (missingIsNull) return undefined;
  throw new DbError(StatusCode.EngineExecuteQuery, `unrecognized configuration parameter "${name.slice(0, 80)}"`);
}

/** Settings that have an effect are those of the session: a function changes none of them. */
const WITH_EFFECT: ReadonlySet<string> = new Set(["bytea_output", "datestyle", "intervalstyle", "statement_timeout", "timezone"]);

/** What a setting without effect is set to. @throws DbError Unsupported where it has an effect; EngineExecuteQuery for an unknown one */
function keptSetting(name: string, value: string): string {
  const isUnknown = postgresSetting(name) === undefined && !name.includes(".");
  if (isUnknown) throw new DbError(StatusCode.EngineExecuteQuery, `unrecognized configuration parameter "${name.slice(0, 80)}"`);
  if (!WITH_EFFECT.has(name.toLowerCase())) return value;
  throw new DbError(StatusCode.Unsupported, `Not supported: set_config of ${name}; use SET ${name} = '${value.slice(0, 80)}'`);
}

const setConfigType: ScalarFunction["resolve"] = ([name, value, isLocal, ...rest]) => {
  const isText = (type: DataType | undefined): boolean => type?.kind === "string" || type?.kind === "null";
  const good = isText(name) && isText(value) && (isLocal?.kind === "boolean" || isLocal?.kind === "null") && rest.length === 0;
  return good ? { args: [STRING, STRING, BOOLEAN], result: STRING } : undefined;
};

const settingType: ScalarFunction["resolve"] = ([name, missing, ...rest]) => {
  if (rest.length > 0 || (name?.kind !== "string" && name?.kind !== "null")) return undefined;
  if (missing === undefined) return { args: [STRING], result: STRING };
  return missing.kind === "boolean" ? { args: [STRING, BOOLEAN], result: STRING } : undefined;
};

/** The first or last subscript of a list; NULL of an empty list and of other dimensions. */
function bound(name: string, of: (length: number, first: number) => number): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = ([list, dimension, ...rest]) => {
    const good = list !== undefined && elementType(list) !== undefined && rest.length === 0;
    return good && (dimension?.kind === "int" || dimension?.kind === "null") ? { args: [list, INT64], result: INT64 } : undefined;
  };
  return strict(`${name}(list, dimension)`, resolve, (args, call) => {
    const { length } = elementsAt(args, call, 0);
    return Number(args[1]) === 1 && length > 0 ? of(length, firstSubscript(call.type.args[0])) : undefined;
  });
}

/** What `pg_attrdef` and its like hold is text already. */
const expressionType: ScalarFunction["resolve"] = (args) =>
  args.length >= 2 && args.length <= 3 && isString(args[0]) ? { args: [STRING, ...args.slice(1)], result: STRING } : undefined;

/** Kinds of things that are asked whether they can be seen. */
const VISIBLE = [
  "type",
  "function",
  "operator",
  "opclass",
  "opfamily",
  "collation",
  "conversion",
  "ts_config",
  "ts_dict",
  "ts_parser",
  "ts_template",
  "statistics_obj",
];

const SIZE_UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** `8192 bytes`, `10 MB`: the next unit from ten thousand on, rounded. */
function prettySize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; Math.abs(size) >= 10_240 && unit < SIZE_UNITS.length - 1; unit++) size /= 1024;
  return `${Math.round(size)} ${SIZE_UNITS[unit]}`;
}

const numberType: ScalarFunction["resolve"] = ([size, ...rest]) =>
  rest.length === 0 && (size?.kind === "int" || size?.kind === "null") ? { args: [INT64], result: STRING } : undefined;

const pidType: ScalarFunction["resolve"] = ([pid, ...rest]) =>
  rest.length === 0 && (pid?.kind === "int" || pid?.kind === "null") ? { args: [INT64], result: listOf(INT64) } : undefined;

/** The functions of this file. */
export const POSTGRES_FUNCTIONS: readonly ScalarFunction[] = [
  fixed("pg_get_userbyid", 1, 1, STRING, OWNER),
  fixed("pg_relation_is_publishable", 1, 1, BOOLEAN, false),
  fixed("pg_encoding_to_char", 1, 1, STRING, "UTF8"),
  fixed("pg_indexes_size", 1, 1, INT64, 0),
  fixed("pg_tablespace_location", 1, 1, STRING, ""),
  fixed("pg_char_to_encoding", 1, 1, INT64, 6),
  fixed("getdatabaseencoding", 0, 0, STRING, "UTF8"),
  fixed("pg_is_in_recovery", 0, 0, BOOLEAN, false),
  fixed("pg_postmaster_start_time", 0, 0, TIMESTAMP_NANOSECOND, undefined),
  fixed("txid_current", 0, 0, INT64, 0),
  fixed("pg_advisory_unlock_all", 0, 0, STRING, ""),
  fixed("inet_server_addr", 0, 0, STRING, undefined),
  fixed("inet_server_port", 0, 0, INT64, undefined),
  fixed("inet_client_addr", 0, 0, STRING, undefined),
  fixed("pg_stat_get_numscans", 1, 1, INT64, 0),
  ...VISIBLE.map((what) => fixed(`pg_${what}_is_visible`, 1, 1, BOOLEAN, true)),
  strict("pg_blocking_pids(pid)", pidType, (_, call) => resultOf(call, [])),
  fixed("pg_my_temp_schema", 0, 0, INT64, 0),
  lenient("pg_get_expr(expression, relation[, pretty])", expressionType, ([expression]) => expression),
  ...["pg_get_ruledef", "pg_get_triggerdef"].map((name) => fixed(name, 1, 2, STRING, undefined)),
  fixed("pg_get_function_sqlbody", 1, 1, STRING, undefined),
  fixed("pg_get_function_arg_default", 2, 2, STRING, undefined),
  fixed("pg_get_partition_constraintdef", 1, 1, STRING, undefined),
  fixed("pg_stat_get_last_autoanalyze_time", 1, 1, TIMESTAMP_NANOSECOND, undefined),
  ...["pg_get_serial_sequence", "pg_describe_object"].map((name) => fixed(name, 2, 3, STRING, undefined)),
  ...["pg_get_partkeydef", "pg_get_statisticsobjdef_columns"].map((name) => fixed(name, 1, 1, STRING, undefined)),
  ...[
    "table",
    "schema",
    "database",
    "any_column",
    "function",
    "type",
    "language",
    "tablespace",
    "sequence",
    "foreign_data_wrapper",
    "server",
  ].map((what) => fixed(`has_${what}_privilege`, 2, 3, BOOLEAN, true)),
  fixed("has_column_privilege", 3, 4, BOOLEAN, true),
  fixed("pg_has_role", 2, 3, BOOLEAN, true),
  fixed("row_security_active", 1, 1, BOOLEAN, false),
  strict(
    "current_schemas(implicit)",
    ([implicit, ...rest]) =>
      rest.length === 0 && (implicit?.kind === "boolean" || implicit?.kind === "null")
        ? { args: [BOOLEAN], result: listOf(STRING) }
        : undefined,
    ([implicit], call) => {
      const hidden = implicit === true ? ["information_schema", "pg_catalog", "greptime_private"] : [];
      return resultOf(call, [call.environment.database, ...hidden]);
    },
    { volatility: "stable" },
  ),
  bound("array_lower", (_, first) => first),
  bound("array_upper", (length, first) => length - 1 + first),
  strict("parse_ident(text)", typed(["text"], listOf(STRING)), ([name], call) => resultOf(call, namesOf(textOf(name)))),
  strict("pg_size_pretty(bytes)", numberType, ([size]) => prettySize(Number(size))),
  strict("quote_literal(value)", typed(["text"], STRING), ([text]) => quoteLiteral(textOf(text))),
  lenient("quote_nullable(value)", typed(["text"], STRING), ([text]) => (text === undefined ? "NULL" : quoteLiteral(textOf(text)))),
  strict("quote_ident(text)", typed(["text"], STRING), ([name]) => quoteIdentifier(textOf(name))),
  strict("set_config(name, value, is_local)", setConfigType, ([name, value]) => keptSetting(textOf(name), textOf(value)), {
    volatility: "stable",
  }),
  strict(
    "current_setting(name[, missing_ok])",
    settingType,
    ([name, missing], { environment }) => currentSetting(textOf(name), missing === true, environment.timeZone),
    { volatility: "stable" },
  ),
];
