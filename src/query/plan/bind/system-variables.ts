/**
 * `@@name`: variables of a MySQL server that its clients ask for when they connect (contract query.md 4.1). Values are text. A scope, as in
 * `@@session.time_zone`, changes nothing, since no variable has one value for all sessions and another for this one.
 */
import { notSupported } from "./plan-error.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { nearestName } from "../../../base/text/nearest.ts";

/** What does not hang on the session. */
const FIXED: Readonly<Record<string, string>> = {
  auto_increment_increment: "1",
  autocommit: "1",
  character_set_client: "utf8",
  character_set_connection: "utf8",
  character_set_database: "utf8",
  character_set_results: "utf8",
  character_set_server: "utf8",
  character_set_system: "utf8",
  collation_connection: "utf8_bin",
  collation_database: "utf8_bin",
  collation_server: "utf8_bin",
  foreign_key_checks: "0",
  init_connect: "",
  interactive_timeout: "31536000",
  lower_case_table_names: "0",
  max_allowed_packet: "134217728",
  max_execution_time: "0",
  net_write_timeout: "31536000",
  performance_schema: "0",
  query_cache_size: "0",
  query_cache_type: "OFF",
  sql_mode: "ONLY_FULL_GROUP_BY STRICT_TRANS_TABLES NO_ZERO_IN_DATE NO_ZERO_DATE ERROR_FOR_DIVISION_BY_ZERO NO_ENGINE_SUBSTITUTION",
  sql_select_limit: "18446744073709551615",
  system_time_zone: "UTC",
  transaction_isolation: "REPEATABLE-READ",
  transaction_read_only: "0",
  tx_isolation: "REPEATABLE-READ",
  tx_read_only: "0",
  version: "8.4.2-GreptimeDB-1.3.0",
  version_comment: "GreptimeDB",
  wait_timeout: "31536000",
};

/** The value of a variable. @param name with its marks, lower case: `@@time_zone`. @throws DbError Unsupported for one that is unknown */
export function systemVariable(name: string, { timeZone }: Environment): string {
  const bare = name.replace(/^@@(?:(?:session|global|local)\.)?/, "");
  if (bare === "time_zone") return timeZone;
  const value = Object.hasOwn(FIXED, bare) ? FIXED[bare] : undefined;
  if (value !== undefined) return value;
  const near = nearestName(bare, [...Object.keys(FIXED), "time_zone"]);
  const hint = near === undefined ? "" : `\nDid you mean '@@${near}'?`;
  throw notSupported(`system variable ${name.slice(0, 80)}${hint}`);
}
