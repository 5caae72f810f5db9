/**
 * Statements that clients of MySQL send when they connect and around transactions, and what they are answered without looking at what is
 * stored (contract query.md 4.1). Comments before a statement are left out already.
 */
import { parseTimeZone } from "../../base/text/time-zone.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { MESSAGE_BYTES_MAX } from "../wire/limits.ts";
import type { Talk } from "./talk.ts";

/** Rows that are made at once. */
export interface CannedRows {
  readonly headers: readonly ColumnHeader[];
  readonly rows: readonly (readonly Scalar[])[];
}

/** "done": an OK without more. */
export type CannedAnswer = "done" | CannedRows;

const SQL_MODE = "ONLY_FULL_GROUP_BY STRICT_TRANS_TABLES NO_ZERO_IN_DATE NO_ZERO_DATE ERROR_FOR_DIVISION_BY_ZERO NO_ENGINE_SUBSTITUTION";
/** Texts are UTF-8 and compare by their bytes. */
const CHARSET = "utf8mb4";
const COLLATION = "utf8mb4_bin";
const LONG_TIMEOUT = "31536000";
const ISOLATION = "REPEATABLE-READ";

/** Variables by name, without `@@` and the scope; others are `0`. */
const VARIABLES: Readonly<Record<string, string>> = {
  tx_isolation: ISOLATION,
  transaction_isolation: ISOLATION,
  transaction_read_only: "0",
  max_allowed_packet: "134217728",
  interactive_timeout: LONG_TIMEOUT,
  wait_timeout: LONG_TIMEOUT,
  net_write_timeout: LONG_TIMEOUT,
  version_comment: "GreptimeDB",
  auto_increment_increment: "1",
  character_set_client: CHARSET,
  character_set_connection: CHARSET,
  character_set_database: CHARSET,
  character_set_results: CHARSET,
  character_set_server: CHARSET,
  character_set_system: CHARSET,
  collation_connection: COLLATION,
  collation_database: COLLATION,
  collation_server: COLLATION,
  init_connect: "",
  license: "",
  local_infile: "1",
  sql_mode: SQL_MODE.replaceAll(" ", ","),
};

/** Beginnings of statements that are done by saying so. */
const DONE: readonly RegExp[] = [
  /^(?:begin|commit|rollback|start|savepoint|release)\b/i,
  /^set\s+(?:session\s+|global\s+|@@session\.|@@global\.|@@)?(?:names|character_set_results|net_\w+_timeout|foreign_key_checks)\b/i,
  /^set\s+(?:session\s+|global\s+|@@session\.|@@global\.|@@)?(?:autocommit|sql_log_bin|transaction|sql_mode|sql_select_limit)\b/i,
  /^set\s+(?:session\s+|global\s+|@@session\.|@@global\.|@@)?(?:profiling|sql_quote_show_create)\b/i,
  /^select\s+\$\$/i,
  /^(?:lock|unlock)\s+tables?\b/i,
  /^lock\s+binlog\s+for\s+backup\b/i,
  /^unlock\s+binlog\b/i,
  /^show\s+master\s+status\b/i,
  /^show\s+all\s+slaves\s+status\b/i,
  /^show\s+@@/i,
];

/** What is shown by tables that are always empty, or that another statement reads. */
const EMPTY: readonly (readonly [RegExp, columns: string])[] = [
  [/^show\s+plugins\s*$/i, "Name Status Type Library License"],
  [
    /^show\s+(?:full\s+)?triggers\b/i,
    "Trigger Event Table Statement Timing Created sql_mode Definer character_set_client collation_connection Database_Collation",
  ],
  [
    /^select\s+logfile_group_name\b[\s\S]*\binformation_schema\.files\b/i,
    "LOGFILE_GROUP_NAME FILE_NAME TOTAL_EXTENTS INITIAL_SIZE ENGINE EXTRA",
  ],
];

const BEGINS = /^(?:begin|start\s+transaction)\b/i;
const ENDS = /^(?:commit|rollback)\b(?!\s+(?:work\s+)?(?:to|and\s+chain)\b)/i;

/** Whether a transaction runs behind a statement; undefined where the statement changes nothing about that. */
export function transactionAfter(text: string): boolean | undefined {
  if (BEGINS.test(text)) return true;
  return ENDS.test(text) ? false : undefined;
}

/** Shown as a name and a value. */
const SHOWN: Readonly<Record<string, string>> = { sql_mode: SQL_MODE, lower_case_table_names: "0" };

const SELECT_VARIABLES = /^select\s+(@@[\s\S]*?)(?:\s+limit\s+\d+)?\s*$/i;
const VARIABLE = /^(@@(?:(?:session|global|local)\.)?([a-z_]\w*))(?:\s+(?:as\s+)?(?:`([^`]+)`|'([^']+)'|"([^"]+)"|([a-z_]\w*)))?$/i;
const SHOW_VARIABLES = /^show\s+(?:session\s+|global\s+)?variables(?:\s+(?:like\s+(?:'([^']*)'|"([^"]*)")|where\b[\s\S]*))?\s*$/i;
const TIME_DIFFERENCE = /^select\s+timediff\(\s*now\(\s*\)\s*,\s*utc_timestamp\(\s*\)\s*\)\s*$/i;

/** Characters that are looked at: canned statements are short. */
const CHARACTERS_MAX = 16 * 1024;

/** The answer to a statement; undefined for one that is the database's. */
export function cannedAnswer(text: string, talk: Talk): CannedAnswer | undefined {
  if (text.length > CHARACTERS_MAX || /^insert\b/i.test(text)) return undefined;
  if (DONE.some((pattern) => pattern.test(text))) return "done";
  const [, empty] = EMPTY.find(([pattern]) => pattern.test(text)) ?? [];
  if (empty !== undefined) return { headers: empty.split(" ").map((name) => ({ name, type: STRING })), rows: [] };
  if (TIME_DIFFERENCE.test(text)) return textRow(["timediff(now(),utc_timestamp())"], ["00:00:00"]);
  const shown = SHOW_VARIABLES.exec(text);
  if (shown !== null) return shownVariable((shown[1] ?? shown[2] ?? "").toLowerCase());
  const [, list] = SELECT_VARIABLES.exec(text) ?? [];
  return list === undefined ? undefined : selectedVariables(list, talk);
}

function shownVariable(name: string): CannedRows {
  const value = Object.hasOwn(SHOWN, name) ? SHOWN[name] : undefined;
  return textRow(["Variable_name", "Value"], value === undefined ? ["", ""] : [name, value]);
}

function selectedVariables(list: string, talk: Talk): CannedRows | undefined {
  const items = list.split(",").map((item) => VARIABLE.exec(item.trim()));
  if (items.some((item) => item === null)) return undefined;
  // What clients size their packets by is what the server takes.
  if (/^@@max_allowed_packet$/i.test(list.trim()))
    return { headers: [{ name: "@@max_allowed_packet", type: INT64 }], rows: [[MESSAGE_BYTES_MAX]] };
  const names = items.map((item) => item?.[3] ?? item?.[4] ?? item?.[5] ?? item?.[6] ?? item?.[1]?.toLowerCase() ?? "");
  return textRow(
    names,
    items.map((item) => valueOf(item?.[2]?.toLowerCase() ?? "", talk)),
  );
}

function valueOf(name: string, { session: { timeZone, settings }, isAutocommit }: Talk): string {
  if (name === "autocommit") return isAutocommit ? "1" : "0";
  if (name === "time_zone") return timeZone;
  if (name === "system_time_zone") return parseTimeZone("SYSTEM") ?? "UTC";
  if (name === "max_execution_time") return String(settings.timeoutMillis);
  return (Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined) ?? "0";
}

function textRow(names: readonly string[], row: readonly string[]): CannedRows {
  return { headers: names.map((name) => ({ name, type: STRING })), rows: [row] };
}
