/**
 * Functions that clients of PostgreSQL call when they look around (contract query.md 2.5, 3.3). Everything belongs to one owner and is
 * visible; there are no expressions, constraints or comments in this catalog, which their functions answer with NULL.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, INT64, STRING } from "../../../column/data-type.ts";
import { elementsAt, elementType, listOf, resultOf } from "../nested/parts.ts";
import { lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { textOf, type Value } from "../value/value.ts";

/** Who owns all relations, as `pg_class.relowner` says. */
const OWNER = "postgres";

/** Between `countMin` and `countMax` arguments of any types, whose values do not matter. */
function fixed(name: string, countMin: number, countMax: number, result: DataType, value: Value): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => (args.length >= countMin && args.length <= countMax ? { args, result } : undefined);
  return lenient(`${name}(value, …)`, resolve, () => value, { volatility: "stable" });
}

/** Names of types by their numbers, as `pg_type` has them. */
const TYPE_NAMES: Readonly<Record<number, string>> = {
  16: "boolean",
  17: "bytea",
  18: '"char"',
  19: "name",
  20: "bigint",
  21: "smallint",
  23: "integer",
  25: "text",
  26: "oid",
  114: "json",
  700: "real",
  701: "double precision",
  1042: "character",
  1043: "character varying",
  1082: "date",
  1083: "time without time zone",
  1114: "timestamp without time zone",
  1184: "timestamp with time zone",
  1186: "interval",
  1700: "numeric",
  3802: "jsonb",
};

/** What `current_setting` knows. */
const SETTINGS: Readonly<Record<string, string>> = {
  search_path: "public",
  server_version: "16.3",
  server_version_num: "160003",
  server_encoding: "UTF8",
  client_encoding: "UTF8",
  standard_conforming_strings: "on",
  integer_datetimes: "on",
  max_identifier_length: "63",
};

function currentSetting(name: string, missingIsNull: boolean, zone: string): Value {
  const key = name.toLowerCase();
  if (key === "timezone") return zone;
  if (Object.hasOwn(SETTINGS, key)) return SETTINGS[key];
  if (missingIsNull) return undefined;
  throw new DbError(StatusCode.EngineExecuteQuery, `unrecognized configuration parameter "${name.slice(0, 80)}"`);
}

const settingType: ScalarFunction["resolve"] = ([name, missing, ...rest]) => {
  if (rest.length > 0 || (name?.kind !== "string" && name?.kind !== "null")) return undefined;
  if (missing === undefined) return { args: [STRING], result: STRING };
  return missing.kind === "boolean" ? { args: [STRING, BOOLEAN], result: STRING } : undefined;
};

/** The first or last subscript of a list, whose subscripts begin at 1; NULL of an empty list and of other dimensions. */
function bound(name: string, of: (length: number) => number): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = ([list, dimension, ...rest]) => {
    const good = list !== undefined && elementType(list) !== undefined && rest.length === 0;
    return good && (dimension?.kind === "int" || dimension?.kind === "null") ? { args: [list, INT64], result: INT64 } : undefined;
  };
  return strict(`${name}(list, dimension)`, resolve, (args, call) => {
    const { length } = elementsAt(args, call, 0);
    return Number(args[1]) === 1 && length > 0 ? of(length) : undefined;
  });
}

/** A name as SQL text: in quotes where it would not read back otherwise. */
const quoteIdent = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** The parts of a qualified name, folded as SQL does. @throws DbError EngineExecuteQuery for what is no name */
function namesOf(text: string): string[] {
  const parts: string[] = [];
  const part = /\s*(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))\s*(\.|$)/uy;
  for (let more = true; more; ) {
    const found = part.exec(text);
    if (found === null) throw new DbError(StatusCode.EngineExecuteQuery, `string is not a valid identifier: "${text.slice(0, 80)}"`);
    parts.push(found[1] === undefined ? (found[2] ?? "").toLowerCase() : found[1].replaceAll('""', '"'));
    more = found[3] === ".";
  }
  return parts;
}

const formatType: ScalarFunction["resolve"] = (args) => {
  const good = args.length >= 1 && args.length <= 2 && args.every((type) => type.kind === "int" || type.kind === "null");
  return good ? { args: args.map(() => INT64), result: STRING } : undefined;
};

/** The functions of this file. */
export const POSTGRES_FUNCTIONS: readonly ScalarFunction[] = [
  ...["session_user", "current_user"].map((name) => fixed(name, 0, 0, STRING, OWNER)),
  fixed("pg_get_userbyid", 1, 1, STRING, OWNER),
  fixed("pg_table_is_visible", 1, 1, BOOLEAN, true),
  fixed("pg_relation_is_publishable", 1, 1, BOOLEAN, false),
  fixed("pg_encoding_to_char", 1, 1, STRING, "UTF8"),
  fixed("pg_relation_size", 1, 2, INT64, 0),
  fixed("pg_total_relation_size", 1, 1, INT64, 0),
  fixed("pg_stat_get_numscans", 1, 1, INT64, 0),
  fixed("pg_my_temp_schema", 0, 0, INT64, 0),
  ...["pg_get_expr", "pg_get_constraintdef"].map((name) => fixed(name, 1, 3, STRING, undefined)),
  ...["pg_get_partkeydef", "pg_get_statisticsobjdef_columns"].map((name) => fixed(name, 1, 1, STRING, undefined)),
  ...["obj_description", "col_description", "shobj_description"].map((name) => fixed(name, 1, 2, STRING, undefined)),
  ...["has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_any_column_privilege"].map((name) =>
    fixed(name, 2, 3, BOOLEAN, true),
  ),
  lenient("format_type(oid[, modifier])", formatType, ([oid]) => (oid === undefined ? undefined : (TYPE_NAMES[Number(oid)] ?? "???"))),
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
  bound("array_lower", () => 1),
  bound("array_upper", (length) => length),
  strict("parse_ident(text)", typed(["text"], listOf(STRING)), ([name], call) => resultOf(call, namesOf(textOf(name)))),
  strict("quote_ident(text)", typed(["text"], STRING), ([name]) => quoteIdent(textOf(name))),
  strict(
    "current_setting(name[, missing_ok])",
    settingType,
    ([name, missing], { environment }) => currentSetting(textOf(name), missing === true, environment.timeZone),
    { volatility: "stable" },
  ),
];
