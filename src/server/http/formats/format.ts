/**
 * The result formats of `/v1/sql`: what each is called and what it is given (contract http.md 2.3).
 */
import type { ArrowCompression } from "../../../format/arrow/encode-stream.ts";
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import type { StatementResult } from "../../../query/statement-result.ts";

/** What a format may want to know besides the results. */
export interface FormatOptions {
  /** Most rows of each result; undefined = all. */
  readonly limit: number | undefined;
  /** Unit of timestamps in `influxdb_v1`; undefined = the unit of their column. */
  readonly epoch: TimeUnit | undefined;
  /** Compression of Arrow bodies. */
  readonly compression: ArrowCompression;
  /** Lets others have a turn while rows are printed. */
  readonly pace: Pace;
  /** Whole milliseconds since the request came in. */
  elapsedMillis(): number;
}

/** One way to print the results of a request. */
export interface ResultFormat {
  /** Value of `x-greptime-format`. */
  readonly label: string;
  readonly contentType: string;
  /**
   * Prints results as they come. Each result is read to its end, or its iterator returned, before the next is asked for.
   * What is yielded is valid until the next is asked for. Errors of the statements pass through.
   */
  encode(results: AsyncIterable<StatementResult>, options: FormatOptions): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

const encoder = new TextEncoder();

/** UTF-8 of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}
