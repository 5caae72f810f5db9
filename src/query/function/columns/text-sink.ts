/** Texts of rows written one behind the other. */
import { longerBytes } from "../../../base/bytes/longer-array.ts";
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";

/** Texts up to this length are copied byte by byte: a native call takes as long as 60 bytes. */
const SHORT_BYTES = 64;
/** Most bytes of texts that are made for the rows of one batch. Reason: nobody counts them. The interpreter, which does, takes over. */
const SINK_BYTES_MAX: number = 32 * 1024 * 1024;

/** Takes the texts of rows in their order: `append` as often as a row needs, then `end`. */
export class TextSink {
  bytes: Uint8Array;
  /** Bytes written. */
  length = 0;
  /** Whether more than `SINK_BYTES_MAX` were asked for: what was made is no result then. */
  isFull = false;
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;
  private row = 0;

  /** @param room bytes that are likely to come */
  constructor(rowCount: number, room: number) {
    this.bytes = new Uint8Array(Math.min(room, SINK_BYTES_MAX));
    this.starts = new Uint32Array(rowCount);
    this.ends = new Uint32Array(rowCount);
  }

  /** Appends `source[from, to)` to the text of the row. */
  append(source: Uint8Array, from: number, to: number): void {
    const end = this.length + to - from;
    if (end > this.bytes.length && !this.grow(end)) return;
    const { bytes } = this;
    if (to - from > SHORT_BYTES) bytes.set(source.subarray(from, to), this.length);
    else for (let at = from, into = this.length; at < to; at++, into++) bytes[into] = source[at] as number;
    this.length = end;
  }

  /** Makes room for `count` bytes that the caller writes itself from `length` on; false: there is none. */
  reserve(count: number): boolean {
    const end = this.length + count;
    return end <= this.bytes.length || this.grow(end);
  }

  /** Ends the text of the row. */
  end(): void {
    const { row } = this;
    this.ends[row] = this.length;
    this.row = row + 1;
    if (row + 1 < this.starts.length) this.starts[row + 1] = this.length;
  }

  private grow(length: number): boolean {
    if (length > SINK_BYTES_MAX) {
      this.isFull = true;
      return false;
    }
    this.bytes = longerBytes(this.bytes, this.length, length, SINK_BYTES_MAX);
    return true;
  }

  /** What was written, once all rows are; undefined when it was too much. */
  texts(validity: Validity, ascii: boolean): Texts | undefined {
    if (this.isFull) return undefined;
    return { bytes: this.bytes, starts: this.starts, ends: this.ends, validity, ascending: true, ascii };
  }
}

/** Bytes of the texts of rows together. */
export function bytesOfRows({ starts, ends }: Texts, rowCount: number): number {
  let length = 0;
  for (let row = 0; row < rowCount; row++) length += (ends[row] as number) - (starts[row] as number);
  return length;
}
