/** Options of COPY and of external tables (contract query.md 1.10): which there are, for which format, and what they may hold. */
import { DbError, errorText, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { COMPRESSIONS, type Compression, writtenCompression } from "./compression.ts";
import { PARALLELISM_MAX, PATTERN_CHARACTERS_MAX } from "./limits.ts";
import { TimePattern } from "./time-pattern.ts";

/** What files hold. */
export type FileFormat = "parquet" | "csv" | "json";

/** How times are written in text files, and read; undefined: as CAST does. */
export interface TimePatterns {
  readonly timestamp: TimePattern | undefined;
  readonly date: TimePattern | undefined;
  readonly time: TimePattern | undefined;
}

/** Options, checked. */
export interface CopyOptions {
  readonly format: FileFormat;
  /** As written: what they mean depends on the table and the session. */
  readonly startTime: string | undefined;
  readonly endTime: string | undefined;
  /** Which files of a folder. */
  readonly pattern: RegExp | undefined;
  readonly delimiter: string;
  readonly hasHeader: boolean;
  /** Undefined: none when writing, what the file is when reading. */
  readonly compression: Compression | "none" | undefined;
  readonly patterns: TimePatterns;
  readonly skipBadRecords: boolean;
  readonly strictHeaders: boolean;
  readonly inferRecordsMax: number;
  readonly continueOnError: boolean;
  readonly parallelism: number;
}

/** Other spellings. */
const SYNONYMS: Readonly<Record<string, string>> = {
  headers: "has_header",
  header: "has_header",
  compression: "compression_type",
};

const TEXT_KEYS: readonly string[] = ["compression_type", "timestamp_format", "date_format", "time_format", "skip_bad_records"];
const KEYS: Readonly<Record<FileFormat, readonly string[]>> = {
  parquet: [],
  csv: [...TEXT_KEYS, "delimiter", "has_header", "strict_headers", "schema_infer_max_record"],
  json: [...TEXT_KEYS, "schema_infer_max_record"],
};

/** Keys of every format, by what they are used for. */
const USE_KEYS: Readonly<Record<CopyUse, readonly string[]>> = {
  to: ["start_time", "end_time"],
  from: ["start_time", "end_time", "pattern"],
  "database-to": ["start_time", "end_time", "parallelism", "continue_on_error"],
  "database-from": ["start_time", "end_time", "parallelism", "continue_on_error"],
  external: ["pattern", "location"],
};

/** What options are for. */
export type CopyUse = "to" | "from" | "database-to" | "database-from" | "external";

const isWriting = (use: CopyUse): boolean => use === "to" || use === "database-to";

const INFER_RECORDS_DEFAULT = 1000;

/** The options of a statement. @throws DbError InvalidArguments, Unsupported */
export function copyOptions(given: Readonly<Record<string, string>>, use: CopyUse): CopyOptions {
  const options = new Map(Object.entries(given).map(([key, value]) => [canonical(key), value]));
  const format = formatOf(options.get("format"), use);
  const known = ["format", ...USE_KEYS[use], ...KEYS[format]];
  for (const key of options.keys()) {
    if (known.includes(key)) continue;
    const elsewhere = Object.values(KEYS).some((keys) => keys.includes(key)) ? ` for format ${format}` : "";
    throw invalidArguments(`Unrecognized copy option key: ${key}${elsewhere}; use one of ${known.join(", ")}`);
  }
  const flag = (key: string, fallback: boolean): boolean => booleanOf(key, options.get(key), fallback);
  return {
    format,
    startTime: options.get("start_time"),
    endTime: options.get("end_time"),
    pattern: patternOf(options.get("pattern")),
    delimiter: delimiterOf(options.get("delimiter")),
    hasHeader: flag("has_header", true),
    compression: compressionOf(options.get("compression_type"), use),
    patterns: {
      timestamp: timePattern("timestamp_format", options.get("timestamp_format"), use),
      date: timePattern("date_format", options.get("date_format"), use),
      time: timePattern("time_format", options.get("time_format"), use),
    },
    skipBadRecords: flag("skip_bad_records", false),
    strictHeaders: flag("strict_headers", false),
    inferRecordsMax: countOf("schema_infer_max_record", options.get("schema_infer_max_record"), INFER_RECORDS_DEFAULT, 1_000_000),
    continueOnError: flag("continue_on_error", false),
    parallelism: countOf("parallelism", options.get("parallelism"), 1, PARALLELISM_MAX),
  };
}

function canonical(key: string): string {
  const lower = key.toLowerCase();
  return SYNONYMS[lower] ?? lower;
}

function formatOf(text: string | undefined, use: CopyUse): FileFormat {
  const format = (text ?? "parquet").toLowerCase();
  if (format === "parquet" || format === "csv" || format === "json") return format;
  if (format === "orc") throw new DbError(StatusCode.Unsupported, "cannot copy: format 'orc' is not supported; use parquet, csv or json");
  throw invalidArguments(
    `Unsupported format: ${format.slice(0, 40)}; ${use === "external" ? "an external table has" : "use"} parquet, csv or json`,
  );
}

function booleanOf(key: string, text: string | undefined, fallback: boolean): boolean {
  if (text === undefined) return fallback;
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  throw invalidArguments(`Invalid copy option, key: ${key}, value: ${text.slice(0, 40)}; use 'true' or 'false'`);
}

function countOf(key: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1) return Math.min(Number(text), most);
  throw invalidArguments(`Invalid copy option, key: ${key}, value: ${text.slice(0, 40)}; use a whole number from 1 to ${most}`);
}

function patternOf(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  if (text.length > PATTERN_CHARACTERS_MAX)
    throw invalidArguments(`cannot use pattern: it is longer than ${PATTERN_CHARACTERS_MAX} characters`);
  try {
    return new RegExp(text, "u");
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArguments(`cannot use pattern '${text.slice(0, 80)}': ${why}`, cause);
  }
}

/** A character, or a number that is its code: 9 is a tab. */
function delimiterOf(text: string | undefined): string {
  if (text === undefined) return ",";
  const named = text === "\\t" ? "\t" : /^\d{1,3}$/.test(text) ? String.fromCharCode(Number(text)) : text;
  const code = named.charCodeAt(0);
  if (named.length === 1 && code > 0 && code < 128 && !/["\r\n]/.test(named)) return named;
  throw invalidArguments(
    `Invalid copy option, key: delimiter, value: ${text.slice(0, 40)}; use one ASCII character, or its code such as 9 for a tab`,
  );
}

function compressionOf(text: string | undefined, use: CopyUse): Compression | "none" | undefined {
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  if (lower === "none" || lower === "uncompressed" || lower === "") return "none";
  const found = COMPRESSIONS.find((name) => name === lower || (name === "gzip" && lower === "gz") || (name === "zstd" && lower === "zst"));
  if (found === undefined)
    throw invalidArguments(`Unsupported compression type: ${text.slice(0, 40)}; use ${COMPRESSIONS.join(", ")} or none`);
  return isWriting(use) ? writtenCompression(found) : found;
}

function timePattern(key: string, text: string | undefined, use: CopyUse): TimePattern | undefined {
  if (text === undefined) return undefined;
  const made = TimePattern.of(text, isWriting(use) ? "print" : "read");
  if (typeof made === "string") throw invalidArguments(`Invalid copy option, key: ${key}, value: ${text.slice(0, 80)}: ${made}`);
  return made;
}
