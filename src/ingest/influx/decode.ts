/**
 * Line protocol to a `WriteBatch`: the way in for Telegraf, TSBS and most agents.
 *
 *   body ──► lines that end with LF ──► LineDecoder ──► TableBuilder ──► WriteBatch
 *            └ the rest, copied with an LF behind it ┘
 *
 * The decoder guesses that requests resemble each other: which series follows which, which field follows which, that values keep their
 * type and width. A right guess costs one comparison of bytes, word by word; a wrong one a hash. Nothing is allocated per row, and no
 * string is made for a name or tag that is known.
 *
 * cpu rows of decode.bench.ts (10 tags, 10 integers, 352 B), batches of 10,000 lines, one thread of an AMD EPYC, Bun 1.4.5:
 * 4.4 M rows/s warm, 1.0 M when every request is the decoder's first.
 *
 * A refused line leaves no trace but its entry in `errors`. Source of the grammar: the InfluxDB v2 line-protocol reference.
 */
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { Budget } from "./budget.ts";
import { DECODED_BYTES_MAX, FIELD_NAMES_MAX, IDLE_MILLIS, MEASUREMENTS_MAX, OBJECT_BYTES, RETAINED_BYTES_MAX } from "./limits.ts";
import { locateValues } from "./key-pattern.ts";
import { LineDecoder } from "./line-decoder.ts";
import { SeriesIndex } from "./series-index.ts";
import { TableBuilder } from "./table-builder.ts";
import type { DecodeOptions, DecodeResult } from "./types.ts";

export type { DecodeOptions, DecodeResult, LineError, Precision } from "./types.ts";

/**
 * Decodes the requests of one database on one thread. It keeps the series it has seen, and what follows what, between requests.
 */
export class InfluxDecoder {
  private readonly budget: Budget;
  private readonly tables: Map<string, TableBuilder> = new Map();
  private readonly series: SeriesIndex;
  private lines: LineDecoder | undefined;
  private readonly idleMillis: number;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a request came since the timer was set. */
  private isUsed = false;

  /**
   * @param dictionaryBytesMax bytes of raw series keys after which the dictionary is cleared between two requests
   * @param decodedBytesMax bytes of columns that one request may unfold to
   * @param idleMillis time without a request after which everything that is remembered goes
   */
  constructor(
    dictionaryBytesMax: number = SERIES_DICTIONARY_BYTES_MAX,
    decodedBytesMax: number = DECODED_BYTES_MAX,
    idleMillis: number = IDLE_MILLIS,
  ) {
    this.idleMillis = idleMillis;
    this.budget = new Budget(decodedBytesMax);
    this.series = new SeriesIndex(new SeriesDictionary(dictionaryBytesMax, locateValues), (table) => this.builderOf(table));
  }

  /** Bytes that are kept for the next request, nearly: series, columns, names. */
  get memoryBytes(): number {
    return this.budget.used + this.series.memoryBytes;
  }

  /**
   * Decodes one body. The batch borrows the decoder's memory: it is valid until the next call. `bytes` are not kept.
   *
   * Never throws on what a client can send; bad lines are in `errors`.
   */
  decode(bytes: Uint8Array, options: DecodeOptions): DecodeResult {
    this.tidy();
    this.isUsed = true;
    if (this.idleTimer === undefined) this.watch();
    this.lines ??= new LineDecoder(this.series, this.budget, options);
    const { lines } = this;
    lines.begin(options);
    const end = bytes.lastIndexOf(0x0a) + 1;
    const at = end === 0 ? 0 : lines.decode(bytes, 0, end, bytes.length);
    if (at < bytes.length) {
      const rest = new Uint8Array(bytes.length - at + 1);
      rest.set(bytes.subarray(at));
      rest[rest.length - 1] = 0x0a;
      lines.decode(rest, 0, rest.length, rest.length);
    }
    lines.close();
    const writes: TableWrite[] = [];
    for (const table of lines.touched) table.finish(writes);
    const { rowCount, errors } = lines;
    return {
      batch: { dictionary: this.series.dictionary, tables: writes },
      rowCount,
      lineCount: rowCount + errors.count,
      errorCount: errors.count,
      errors: errors.list,
    };
  }

  /** Keeps what the decoder remembers within its limits; between two requests, when no batch is out. */
  private tidy(): void {
    const { budget, series, tables } = this;
    if (tables.size >= MEASUREMENTS_MAX || budget.names > FIELD_NAMES_MAX / 2) {
      this.forget();
      return;
    }
    if (series.dictionary.full) series.clear();
    if (budget.used > RETAINED_BYTES_MAX) for (const table of tables.values()) table.shed();
  }

  private forget(): void {
    this.tables.clear();
    this.series.clear();
    this.budget.reset();
    this.lines = undefined; // It knows the tables of the last request.
  }

  /** Forgets everything once no request came for a while; a batch is long written by then. */
  private watch(): void {
    this.isUsed = false;
    this.idleTimer = setTimeout(() => {
      if (this.isUsed) {
        this.watch();
        return;
      }
      this.idleTimer = undefined;
      this.forget();
    }, this.idleMillis);
    this.idleTimer.unref();
  }

  private builderOf(table: string): TableBuilder | undefined {
    let builder = this.tables.get(table);
    if (builder === undefined) {
      if (this.tables.size >= 2 * MEASUREMENTS_MAX || !this.budget.take(OBJECT_BYTES)) return undefined;
      builder = new TableBuilder(table, this.budget);
      this.tables.set(table, builder);
    }
    return builder;
  }
}
