/**
 * What the line-protocol decoder takes and gives.
 */
import type { SchemaLookup, WriteBatch } from "../../table/write-batch.ts";

/** Unit of the timestamps in a request. */
export type Precision = "ns" | "us" | "ms" | "s" | "m" | "h";

/** A line that was refused. */
export interface LineError {
  /** Number of the physical line on which it starts; the first is 1. */
  readonly line: number;
  /** The line as sent, cut at 120 characters. Bytes that are not UTF-8 show as U+FFFD. */
  readonly text: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** How to read one request. */
export interface DecodeOptions {
  readonly database: string;
  readonly precision: Precision;
  /** Time of lines without one, in nanoseconds since 1970; it is truncated to `precision`. */
  readonly defaultTimeNanos: bigint;
  readonly schemas: SchemaLookup;
  /** Name of the time index of tables made on the way; no tag or field may have it. */
  readonly timeColumn: string;
  /** Whether a measurement may be a table; lines of others are refused. Absent: all may be. Asked once a measurement and request. */
  readonly acceptsTable?: (name: string) => boolean;
}

/** Rows and refused lines of one request. `rowCount + errorCount === lineCount`. */
export interface DecodeResult {
  /** Borrowed: valid until the next `decode` of the same decoder. */
  readonly batch: WriteBatch;
  readonly rowCount: number;
  /** Lines that are neither blank nor comments. */
  readonly lineCount: number;
  readonly errorCount: number;
  /** The first `ERROR_LINES_MAX` refused lines, in the order of the request. */
  readonly errors: readonly LineError[];
}
