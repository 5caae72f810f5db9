/**
 * Every limit of the server that no configuration key sets, in one place: unit, reason, error raised.
 * Configurable limits live in `config/` with their defaults.
 */
import { assert } from "./assert.ts";

/** Longest name of a database, table or column in bytes. Reason: names are in every catalog row. Error: InvalidArguments. */
export const NAME_BYTES_MAX = 1024;

/** Most databases. Reason: each is an entry in memory and in every list. Error: InvalidArguments. */
export const DATABASES_MAX = 10_000;

/** Most tables of one database. Reason: each costs some KiB of memory and files of its own. Error: InvalidArguments. */
export const TABLES_PER_DATABASE_MAX = 100_000;

/** Longest text of one field in bytes. Reason: a page of a column holds a value whole. Error: the line is refused. */
export const FIELD_TEXT_BYTES_MAX: number = 16 * 1024 * 1024;

/** Most columns of one table. Reason: each costs memory in every chunk and a column chunk in every file. Error: InvalidArguments. */
export const TABLE_COLUMNS_MAX = 4096;

/** Most shards that one table is spread over. Reason: each is a log stream, and a flush of its own. Error: InvalidArguments. */
export const TABLE_SPREAD_MAX = 1024;

/** Most changes of a table's spread. Reason: a write whose times cross them looks through them row by row. Error: InvalidArguments. */
export const TABLE_SPREAD_CHANGES_MAX = 64;

/** Longest tag set of one series in bytes, encoded. Reason: series keys stay in memory. Error: InvalidArguments. */
export const SERIES_KEY_BYTES_MAX = 65_535;

/** Most series of one table in one process. Reason: series numbers are u32 and each costs about 100 B. Error: RateLimited. */
export const SERIES_PER_TABLE_MAX = 16_777_216;

/**
 * Furthest that a time of a write lies from the base of its time vector, in units of the time index. Reason: any two times of a write
 * are then within 2^53 of each other, so that their difference is exact in a double.
 */
export const CHUNK_TIME_SPAN_MAX: number = 2 ** 52 - 1;

/**
 * Most writes that wait for the log's disk. Reason: each holds a request and its rows; a disk that hangs must not gather them without end.
 * Error: RateLimited.
 */
export const LOG_QUEUE_RECORDS_MAX = 16_384;

/**
 * Most writers of one log that a follower of it knows. Reason: each takes about 100 B in memory and 30 B where the state is saved, and
 * each process, and each lane of one that was silent for long, is a new one; a log has some hundred that write. Beyond it, the writer whose
 * last record lies furthest back is forgotten, and its later records pass for ones behind a gap. Error: none.
 */
export const LOG_WRITERS_MAX = 4096;

/** Most writers that wait for memory. Reason: each holds a request and its body. Error: RateLimited. */
export const WRITERS_WAITING_MAX = 4096;

/** Most data files open for reading at a time. Reason: a process may have 1,024 descriptors; others are opened again when read. */
export const OPEN_FILES_MAX = 512;

/** Most parameters of a prepared statement. Reason: the wire protocols count them in 16 bits. Error: InvalidSyntax. */
export const STATEMENT_PARAMETERS_MAX = 65_535;

/** Most bad lines an answer names. Reason: an answer must stay small. */
export const ERROR_LINES_MAX = 100;

/** Bad input quoted in an error is cut at this many characters. */
export const ERROR_QUOTE_CHARACTERS_MAX = 120;

/** Rows or ranges that one log record deletes; a DELETE of more makes several. Reason: memory, and what a crash may leave half done. */
export const DELETE_BATCH_ROWS = 65_536;

/**
 * Rows written to a table while a DELETE of it by fields runs, of which it is known which they are. Beyond it the DELETE scans once more.
 * Reason: 24 B each.
 */
export const OVERWRITES_WATCHED_MAX = 2_097_152;

/** Deleted ranges of one table in memory after which it is flushed. Reason: scans sort them, at about 50 B each while they do. */
export const DELETES_IN_MEMORY_MAX = 1_048_576;

/** Deepest nesting of an SQL expression. Reason: the parser and planner recurse. Error: InvalidSyntax. */
export const SQL_DEPTH_MAX = 500;

/** Longest PromQL query in UTF-16 units. Reason: it is parsed at once; escapes in strings take 0.1 µs each. Error: a parse error. */
export const PROMQL_CHARACTERS_MAX: number = 512 * 1024;

/**
 * Longest number or duration in a PromQL query, in characters. Reason: it is looked at in full; numbers are printed without an exponent,
 * which takes up to 345 characters, and what is printed must be read again. Error: a parse error.
 */
export const PROMQL_NUMBER_CHARACTERS_MAX = 512;

/** Most words, names and signs of a PromQL query. Reason: it is parsed at once, in some ten milliseconds. Error: a parse error. */
export const PROMQL_TOKENS_MAX = 65_536;

/** Deepest nesting of a PromQL query, and height of its tree. Reason: all passes recurse. Error: a parse error. */
export const PROMQL_DEPTH_MAX = 500;

/**
 * Most characters of the regular expressions of a PromQL query that are more than a list of texts. Reason: compiling takes 3 µs each.
 * Error: a parse error.
 */
export const PROMQL_REGEX_CHARACTERS_MAX = 8192;

/** Longest PromQL query as it is printed, in characters. Reason: indentation grows with depth. Error: InvalidArguments. */
export const PROMQL_PRINTED_CHARACTERS_MAX: number = 16 * 1024 * 1024;

/**
 * Most UNION, INTERSECT and EXCEPT of one SQL text. Reason: passes over plans recurse, and each query is planned before anything runs.
 * Error: InvalidSyntax.
 */
export const SET_OPERATIONS_MAX = 1000;

/** Most joins, and most commas, of one FROM. Reason: passes recurse, and each join has all columns before it. Error: InvalidSyntax. */
export const JOINS_MAX = 200;

/** Most columns that a SELECT gives. Reason: each costs an expression and a vector in every batch. Error: PlanQuery. */
export const SELECT_COLUMNS_MAX = 4096;

/** Longest SQL text in bytes. Error: InvalidSyntax. */
export const SQL_BYTES_MAX: number = 16 * 1024 * 1024;

/** Largest list, struct or map of an expression in bytes. Reason: it is held and copied whole. Error: RuntimeResourcesExhausted. */
export const NESTED_BYTES_MAX: number = 64 * 1024 * 1024;

/** Most elements of a list. Reason: functions take lists apart in memory, at 16 to 100 B each. Error: RuntimeResourcesExhausted. */
export const NESTED_PARTS_MAX = 4_000_000;

/**
 * Bytes of all lists, or characters of all texts, that are computed for one column in one batch of rows. Reason: batches are held whole.
 * Error: RuntimeResourcesExhausted.
 */
export const NESTED_BATCH_BYTES_MAX: number = 256 * 1024 * 1024;

/** Most grouping sets of one GROUP BY. Reason: CUBE of n keys stands for 2^n, each of which sees every row. Error: InvalidSyntax. */
export const GROUPING_SETS_MAX = 4096;

/**
 * Most keys of all grouping sets of one GROUP BY together, a key once in each set that has it: CUBE of 12 has 24,576. Reason: ROLLUP of n
 * keys has n² / 2, which are held while planned and looked at for each batch of rows. Error: InvalidSyntax.
 */
export const GROUPING_SET_KEYS_MAX = 65_536;

/** Most keys of one GROUP BY. Reason: each is a generated loop, a table of codes and a vector of each batch. Error: PlanQuery. */
export const GROUP_KEYS_MAX = 1024;

/**
 * Most different windows of one SELECT; any number of calls share one. Reason: each is an operator that holds and sorts all rows, with the
 * columns of all before it. Error: PlanQuery.
 */
export const WINDOWS_MAX = 200;

/** Longest text of a log filter in characters. Reason: it comes in a request body. Error: InvalidArguments. */
export const LOG_FILTER_CHARACTERS_MAX = 4096;

/** Largest configuration file in bytes. Error: ConfigError at start. */
export const CONFIG_FILE_BYTES_MAX: number = 1024 * 1024;

/** Largest account file in bytes, about 50,000 accounts. Reason: it is read whole, on every change. Error: InvalidArguments. */
export const USER_FILE_BYTES_MAX: number = 4 * 1024 * 1024;

/** Most iterations a stored password may ask for. Reason: each login costs them. Error: the entry is malformed. */
export const PASSWORD_ITERATIONS_MAX = 1_000_000;

/** Longest salt of a stored password in bytes. Error: the entry is malformed. */
export const PASSWORD_SALT_BYTES_MAX = 1024;

/** Most logins remembered so that their password need not be derived again. Oldest go first. */
export const LOGIN_CACHE_ENTRIES_MAX = 1024;

/** Passwords being derived at once. Reason: they share a thread pool with the log's syncs, which must not wait. */
export const LOGIN_CHECKS_RUNNING_MAX = 1;

/** Most logins waiting for their password to be derived. Error: RateLimited. */
export const LOGIN_CHECKS_WAITING_MAX = 256;

/** Instructions of one compiled regular expression from outside: a character of a text may touch all of them. Its text is in the error. */
export const LINEAR_REGEX_PROGRAM_MAX = 5000;

/** Most backups at once. Reason: each keeps files and log in place that the server would delete. Error: RateLimited. */
export const BACKUPS_AT_ONCE_MAX = 4;

/** How long a backup that nobody renews is kept. Reason: whoever asked for it may be gone, and the disk fills up. */
export const BACKUP_LEASE_MILLIS = 60_000;

assert(SELECT_COLUMNS_MAX >= TABLE_COLUMNS_MAX, "SELECT * of any table is served");
assert(2 * CHUNK_TIME_SPAN_MAX <= Number.MAX_SAFE_INTEGER, "differences of a write's times are exact doubles");

/**
 * Times that a body is decoded when tables that it writes to keep being made or changed. Reason: each takes a whole change. Error:
 * RegionBusy, 503.
 */
export const DECODE_ROUNDS_MAX = 8;
