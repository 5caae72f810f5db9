/**
 * Loki's push to a `WriteBatch`: the way in for Promtail, Alloy, Vector, and loggers.
 *
 *   body ─► ProtobufPush ─┐
 *           JsonPush ─────┴► Streams (label set → key) ─► PushSink ─► LogRows ─► WriteBatch
 *
 * Lines and metadata go from the body's bytes to the columns' bytes; no string is made for them, nor for a stream that is known. The
 * columns are, in order: `greptime_timestamp`, `line`, `structured_metadata`, then one tag a label. See README.md.
 */
import { JsonError } from "../../format/json/scanner.ts";
import { ProtoError } from "../../format/proto/reader.ts";
import { SERIES_DICTIONARY_BYTES_MAX } from "../../table/series-dictionary.ts";
import { JsonPush } from "./json.ts";
import { ProtobufPush } from "./protobuf.ts";
import { PushSink } from "./push-sink.ts";
import { Streams } from "./streams.ts";
import { LokiBodyError, type LokiResult } from "./types.ts";

export { LokiBodyError, type LokiResult } from "./types.ts";

/** The forms of a body. */
export type LokiForm = "protobuf" | "json";

/** Decodes the pushes to one database on one thread. It keeps the streams it has seen between requests. */
export class LokiDecoder {
  private readonly sink: PushSink = new PushSink();
  private readonly streams: Streams;
  private readonly protobuf: ProtobufPush;
  private readonly json: JsonPush;

  /**
   * @param dictionaryBytesMax bytes of label sets after which all are forgotten between two requests
   * @param isForPipeline the rows become those of a pipeline, so that no label is in the way of a column
   */
  constructor(dictionaryBytesMax: number = SERIES_DICTIONARY_BYTES_MAX, isForPipeline = false) {
    this.streams = new Streams(dictionaryBytesMax, isForPipeline);
    this.protobuf = new ProtobufPush(this.sink, this.streams);
    this.json = new JsonPush(this.sink, this.streams);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.streams.dictionary.memoryBytes + this.sink.rows.byteSize;
  }

  /**
   * Decodes one body, out of its compression, to a table. The batch borrows the decoder's memory: it is valid until the next call.
   *
   * @throws LokiBodyError when the body is no push: nothing of it is kept
   * @throws DbError InvalidArguments when its columns exceed the limit
   */
  decode(bytes: Uint8Array, form: LokiForm, table: string): LokiResult {
    const { sink, streams } = this;
    streams.begin(table);
    sink.begin(bytes.length);
    try {
      if (form === "protobuf") this.protobuf.read(bytes);
      else this.json.read(bytes);
    } catch (error) {
      if (error instanceof JsonError || error instanceof ProtoError) throw new LokiBodyError(error.message, { cause: error });
      throw error;
    }
    return {
      batch: { dictionary: streams.dictionary, tables: sink.rows.writes(table) },
      rowCount: sink.rows.rowCount,
      skipped: sink.skipped.total,
      refused: sink.refused.total,
      unlabelled: sink.unlabelled.total,
    };
  }
}
