/**
 * Settings as PostgreSQL's clients know them, for SHOW, `pg_settings` and `current_setting`: what they are unless a session sets them.
 * Those that `session-settings.ts` holds, and the time zone, have an effect; the others are kept and shown, since drivers and tools set
 * them when they connect and expect them to be there.
 */

/** A setting. */
interface PostgresSetting {
  readonly name: string;
  readonly value: string;
  readonly description: string;
  /** Whether SET is refused. */
  readonly isFixed: boolean;
}

const setting = (name: string, value: string, description: string): PostgresSetting => ({ name, value, description, isFixed: false });
const fixed = (name: string, value: string, description: string): PostgresSetting => ({ name, value, description, isFixed: true });

/** What clients take the server for. */
export const POSTGRES_VERSION = "16.3";

/** Every setting, in the order of names. */
export const POSTGRES_SETTINGS: readonly PostgresSetting[] = [
  setting("application_name", "", "Name of the application, as the client says it."),
  setting("backslash_quote", "safe_encoding", "Has no effect: a backslash is a character."),
  setting("bytea_output", "hex", "How binary values are written."),
  setting("check_function_bodies", "on", "Has no effect: there are no functions to create."),
  setting("client_encoding", "UTF8", "Texts are UTF-8."),
  setting("client_min_messages", "notice", "Has no effect: all notices are sent."),
  setting("constraint_exclusion", "partition", "Has no effect."),
  setting("cursor_tuple_fraction", "0.1", "Has no effect."),
  setting("DateStyle", "ISO, MDY", "How dates and times are written."),
  setting("default_table_access_method", "heap", "Has no effect."),
  setting("default_tablespace", "", "Has no effect: there are no tablespaces."),
  setting("default_text_search_config", "pg_catalog.simple", "Has no effect."),
  setting("default_transaction_deferrable", "off", "Has no effect: there are no transactions."),
  setting("default_transaction_isolation", "read committed", "Has no effect: there are no transactions."),
  setting("default_transaction_read_only", "off", "Has no effect: there are no transactions."),
  setting("escape_string_warning", "on", "Has no effect."),
  setting("extra_float_digits", "1", "Has no effect: floats are written with the shortest digits that read back."),
  setting("idle_in_transaction_session_timeout", "0", "Has no effect: there are no transactions."),
  setting("idle_session_timeout", "0", "Has no effect."),
  fixed("in_hot_standby", "off", "There is no standby."),
  fixed("integer_datetimes", "on", "Times are whole microseconds in binary."),
  setting("IntervalStyle", "iso_8601", "How intervals are written."),
  fixed("is_superuser", "on", "Whether the account may do everything."),
  setting("jit", "off", "Has no effect."),
  fixed("lc_collate", "C", "Texts are ordered by code point."),
  setting("lc_ctype", "C", "Letters are those of Unicode."),
  setting("lc_messages", "C", "Messages are English."),
  setting("lc_monetary", "C", "Has no effect."),
  setting("lc_numeric", "C", "Has no effect."),
  setting("lc_time", "C", "Names of days and months are English."),
  setting("lock_timeout", "0", "Has no effect: there are no locks."),
  setting("log_min_messages", "warning", "Has no effect."),
  setting("maintenance_work_mem", "65536", "Has no effect."),
  fixed("max_connections", "4096", "Most connections at a time."),
  fixed("max_identifier_length", "63", "What clients reckon with; names may be longer."),
  fixed("max_index_keys", "32", "What clients reckon with."),
  setting("password_encryption", "scram-sha-256", "How clients hash passwords."),
  setting("quote_all_identifiers", "off", "Has no effect."),
  setting("row_security", "on", "Has no effect: there are no policies of rows."),
  setting("search_path", "public", "The current database."),
  fixed("server_encoding", "UTF8", "Texts are UTF-8."),
  fixed("server_version", POSTGRES_VERSION, "The version of PostgreSQL that the server speaks like."),
  fixed("server_version_num", "160003", "The same as a number."),
  setting("session_authorization", "", "Name of the account."),
  setting("session_replication_role", "origin", "Has no effect."),
  setting("standard_conforming_strings", "on", "A backslash in a text is a character."),
  setting("statement_timeout", "0", "Longest run of a statement; the server's own limit counts too."),
  setting("synchronize_seqscans", "on", "Has no effect."),
  setting("synchronous_commit", "on", "Has no effect: wal.sync says when writes are durable."),
  setting("temp_tablespaces", "", "Has no effect: there are no tablespaces."),
  setting("TimeZone", "UTC", "Time zone of the session."),
  setting("timezone_abbreviations", "Default", "Has no effect."),
  setting("transaction_deferrable", "off", "Has no effect: there are no transactions."),
  setting("transaction_isolation", "read committed", "Has no effect: there are no transactions."),
  setting("transaction_read_only", "off", "Has no effect: there are no transactions."),
  setting("work_mem", "4096", "Has no effect: query.memory_limit says what a query may hold."),
  setting("xmloption", "content", "Has no effect."),
];

const BY_NAME: ReadonlyMap<string, PostgresSetting> = new Map(POSTGRES_SETTINGS.map((each) => [each.name.toLowerCase(), each]));

/** A setting by its name in letters of any size. */
export function postgresSetting(name: string): PostgresSetting | undefined {
  return BY_NAME.get(name.toLowerCase());
}
