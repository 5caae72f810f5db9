/**
 * A column of texts that is filled row by row. Bytes that are no UTF-8 are found once a column, not once a row.
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import { isUtf8 } from "node:buffer";
import { invalidArguments } from "../../base/error.ts";
import { longer } from "../../base/bytes/longer-array.ts";
import type { BytesVector } from "../../column/vector.ts";
import { RETAINED_BYTES_MAX } from "./limits.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** See the file header. A decoder reserves room, writes to `bytes` from `used` on, and says with `end` that the row ends at `used`. */
export class TextColumn {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  used = 0;
  private offsets: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private rowCount = 0;

  /** Bytes held. */
  get byteSize(): number {
    return this.bytes.byteLength + this.offsets.byteLength;
  }

  /** Forgets the rows; keeps the memory unless it is large. */
  reset(): void {
    this.used = 0;
    this.rowCount = 0;
    if (this.byteSize <= RETAINED_BYTES_MAX) return;
    this.bytes = new Uint8Array(4096);
    this.offsets = new Uint32Array(1024);
  }

  /** Makes room for `count` more bytes. @throws DbError InvalidArguments when the column would exceed `bytesMax` */
  reserve(count: number, bytesMax: number): void {
    const need = this.used + count;
    if (need <= this.bytes.length) return;
    if (need > bytesMax) throw invalidArguments(`cannot take the push: a column of it exceeds ${bytesMax} bytes`);
    this.bytes = longerBytes(this.bytes, this.used, need, bytesMax);
  }

  /** Appends `source[start, end)`. Room must be reserved. */
  copy(source: Uint8Array, start: number, end: number): void {
    const { bytes, used } = this;
    const length = end - start;
    if (length > 96) bytes.set(source.subarray(start, end), used);
    else for (let i = 0; i < length; i++) bytes[used + i] = source[start + i] as number; // A native call costs about 50 ns.
    this.used = used + length;
  }

  /** Ends the row. */
  end(): void {
    const row = ++this.rowCount;
    if (row >= this.offsets.length) this.offsets = longer(this.offsets);
    this.offsets[row] = this.used;
  }

  /** The rows; borrows the memory. What is no UTF-8 becomes U+FFFD. */
  vector(): BytesVector {
    if (!this.isText()) this.repair();
    return { kind: "bytes", offsets: this.offsets, bytes: this.bytes, validity: undefined };
  }

  /** Whether each row is UTF-8: all of them together are, and none begins inside a character. */
  private isText(): boolean {
    const { bytes, offsets, rowCount, used } = this;
    if (!isUtf8(bytes.subarray(0, used))) return false;
    for (let row = 1; row < rowCount; row++) {
      const start = offsets[row] as number;
      if (start < used && ((bytes[start] as number) & 0xc0) === 0x80) return false;
    }
    return true;
  }

  private repair(): void {
    const { bytes, offsets, rowCount } = this;
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let row = 0, start = 0; row < rowCount; row++) {
      const end = offsets[row + 1] as number;
      const source = bytes.subarray(start, end);
      const text = isUtf8(source) ? source : encoder.encode(decoder.decode(source));
      parts.push(text);
      length += text.length;
      start = end;
      offsets[row + 1] = length;
    }
    const repaired = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      repaired.set(part, at);
      at += part.length;
    }
    this.bytes = repaired;
    this.used = length;
  }
}
