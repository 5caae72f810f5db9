/**
 * OpenTSDB's put to a `WriteBatch`, in its JSON form and its telnet form.
 *
 *   body ─► JsonPut ─┐
 *   line ─► LinePut ─┴► Points (metric and tags → key) ─► MetricRows ─► WriteBatch
 *
 * A metric is a table: one STRING tag a tag, `greptime_value`, `greptime_timestamp` in milliseconds. See README.md.
 */
import { ERROR_LINES_MAX } from "../../base/limits.ts";
import { JsonError } from "../../format/json/scanner.ts";
import { SERIES_DICTIONARY_BYTES_MAX } from "../../table/series-dictionary.ts";
import { JsonPut } from "./json.ts";
import { LinePut } from "./line.ts";
import { Points } from "./points.ts";
import { type PointError, PutBodyError, type PutOptions, type PutResult } from "./types.ts";

export { type PointError, PutBodyError, type PutOptions, type PutResult } from "./types.ts";

/** Decodes the puts to one database on one thread. It keeps the series it has seen between requests. */
export class OpenTsdbDecoder {
  private readonly points: Points;
  private readonly json: JsonPut;
  private readonly lines: LinePut;

  /** @param dictionaryBytesMax bytes of raw series after which all are forgotten between two requests */
  constructor(dictionaryBytesMax: number = SERIES_DICTIONARY_BYTES_MAX) {
    this.points = new Points(dictionaryBytesMax);
    this.json = new JsonPut(this.points);
    this.lines = new LinePut(this.points);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.points.memoryBytes;
  }

  /**
   * Decodes a JSON body. The batch borrows the decoder's memory: it is valid until the next call. Bad points are in `errors`.
   *
   * @throws PutBodyError when the body is no put: nothing of it is kept
   */
  decode(bytes: Uint8Array, options: PutOptions): PutResult {
    const errors: PointError[] = [];
    let errorCount = 0;
    this.points.begin(options);
    try {
      this.json.read(bytes, (number, start, end, reason) => {
        if (errorCount++ < ERROR_LINES_MAX) errors.push({ number, start, end, reason });
      });
    } catch (error) {
      if (error instanceof JsonError) throw new PutBodyError(error.message, { cause: error });
      throw error;
    }
    return { ...this.taken(), errorCount, errors };
  }

  /** Starts a run of lines: `line` follows for each, then `taken`. */
  begin(options: PutOptions): void {
    this.points.begin(options);
  }

  /** Takes the line `bytes[start, end)`, which begins with the word `put`. Returns what is wrong with it, in OpenTSDB's words. */
  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    return this.lines.read(bytes, start, end);
  }

  /** The rows since `begin`; borrowed as those of `decode`. */
  taken(): Pick<PutResult, "batch" | "rowCount"> {
    const { dictionary, rowCount } = this.points;
    return { batch: { dictionary, tables: this.points.writes() }, rowCount };
  }
}
