/**
 * A column of JSON texts: each row is what the sink was given since the row before it.
 */
import { longer } from "../../../base/bytes/longer-array.ts";
import type { ProtoReader } from "../../../format/proto/reader.ts";
import type { BytesVector } from "../../../column/vector.ts";
import { JsonSink } from "../json-sink.ts";
import { RETAINED_BYTES_MAX } from "../limits.ts";
import { textVector } from "./text-vector.ts";

/** See the file header. Its size is bounded by the body: a byte of it becomes at most six. */
export class JsonColumn {
  sink: JsonSink;
  private offsets: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private rowCount = 0;
  private readonly reader: ProtoReader;

  constructor(reader: ProtoReader) {
    this.reader = reader;
    this.sink = new JsonSink(reader);
  }

  /** Bytes held. */
  get byteSize(): number {
    return this.sink.bytes.byteLength + this.offsets.byteLength;
  }

  /** Where the text of the row that is being written starts. */
  get start(): number {
    return this.offsets[this.rowCount] as number;
  }

  /** Forgets the rows; keeps the memory unless it is large. */
  reset(): void {
    this.rowCount = 0;
    this.sink.reset();
    if (this.byteSize <= RETAINED_BYTES_MAX) return;
    this.sink = new JsonSink(this.reader);
    this.offsets = new Uint32Array(1024);
  }

  /** Takes back what was written since the last row. */
  cut(): void {
    this.sink.used = this.start;
  }

  /** Ends the row. */
  end(): void {
    const row = ++this.rowCount;
    if (row >= this.offsets.length) this.offsets = longer(this.offsets);
    this.offsets[row] = this.sink.used;
  }

  /** The rows; borrows the memory. What is no UTF-8 becomes U+FFFD. */
  vector(): BytesVector {
    return textVector(this.sink.bytes, this.offsets, this.rowCount, undefined);
  }
}
