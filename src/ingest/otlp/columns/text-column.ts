/**
 * A column of texts that grows row by row, out of bytes and without a string a value. Values that many rows share are appended for all of
 * them at once: 0.6 us a thousand rows of 20 B where a copy a row takes 20 us.
 */
import { longer, longerBytes, resized } from "../../../base/bytes/longer-array.ts";
import { invalidArguments } from "../../../base/error.ts";
import type { BytesVector } from "../../../column/vector.ts";
import { RETAINED_BYTES_MAX } from "../limits.ts";
import { textOf } from "../text.ts";
import { textVector } from "./text-vector.ts";

/** Two lower-case digits a byte, the first one in the lower half. */
const HEX: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  const text = byte.toString(16).padStart(2, "0");
  return text.charCodeAt(0) | (text.charCodeAt(1) << 8);
});

/** Copies up to this length byte by byte: a native call takes as long as 60 bytes. */
const SHORT_BYTES = 64;

/** See the file header. */
export class TextColumn {
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  private used = 0;
  private offsets: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private rowCount = 0;
  /** Absent while no row is NULL. */
  private validity: Uint8Array<ArrayBuffer> | undefined;
  private bytesMax = 0;

  /** Bytes held. */
  get byteSize(): number {
    return this.bytes.byteLength + this.offsets.byteLength + (this.validity?.byteLength ?? 0);
  }

  /** Forgets the rows; keeps the memory unless it is large. `bytesMax`: bytes of all texts to come. */
  reset(bytesMax: number): void {
    this.used = 0;
    this.rowCount = 0;
    this.validity = undefined;
    this.bytesMax = bytesMax;
    if (this.byteSize <= RETAINED_BYTES_MAX) return;
    this.bytes = new Uint8Array(4096);
    this.offsets = new Uint32Array(1024);
  }

  /** Appends a row with the text `source[start, end)`. @throws DbError InvalidArguments when the column exceeds its limit */
  add(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.used + length > this.bytes.length) this.grow(length);
    const { bytes, used } = this;
    if (length > SHORT_BYTES) bytes.set(source.subarray(start, end), used);
    else for (let i = 0; i < length; i++) bytes[used + i] = source[start + i] as number;
    this.used = used + length;
    this.endRow();
  }

  /** Appends a row with `source[start, end)` in hexadecimal digits; a column takes either these or other texts. @throws DbError as `add` */
  addHex(source: Uint8Array, start: number, end: number): void {
    const length = 2 * (end - start);
    if (this.used + length > this.bytes.length) this.grow(length);
    const { bytes } = this;
    let to = this.used;
    for (let at = start; at < end; at++) {
      const digits = HEX[source[at] as number] as number;
      bytes[to] = digits & 0xff;
      bytes[to + 1] = digits >>> 8;
      to += 2;
    }
    this.used = to;
    this.endRow();
  }

  /** Appends a row that is NULL. */
  addNull(): void {
    this.repeat(undefined, 1);
  }

  /** Appends `count` rows with the same text, or NULL. @throws DbError as `add` */
  repeat(text: Uint8Array | undefined, count: number): void {
    if (count === 0) return;
    const first = this.rowCount;
    const last = first + count;
    if (last >= this.offsets.length) this.growRows(last);
    if (text === undefined) {
      if (this.validity === undefined) this.validity = new Uint8Array(this.offsets.length).fill(1, 0, first);
      this.validity.fill(0, first, last);
    } else this.validity?.fill(1, first, last);
    const length = text?.length ?? 0;
    const { offsets, used } = this;
    if (text !== undefined && length > 0) {
      if (used + length * count > this.bytes.length) this.grow(length * count);
      const { bytes } = this;
      const end = used + length * count;
      bytes.set(text, used);
      for (let done = length; used + done < end; done *= 2) bytes.copyWithin(used + done, used, Math.min(used + done, end - done));
    }
    for (let row = first, at = used; row < last; row++) {
      at += length;
      offsets[row + 1] = at;
    }
    this.used = used + length * count;
    this.rowCount = last;
  }

  /** The text of a row; "" where it is NULL. */
  textAt(row: number): string {
    return textOf(this.bytes, this.offsets[row] as number, this.offsets[row + 1] as number);
  }

  /** The rows; borrows the memory. What is no UTF-8 becomes U+FFFD. */
  vector(): BytesVector {
    return textVector(this.bytes, this.offsets, this.rowCount, this.validity);
  }

  private endRow(): void {
    const row = ++this.rowCount;
    if (row >= this.offsets.length) this.growRows(row);
    this.offsets[row] = this.used;
    if (this.validity !== undefined) this.validity[row - 1] = 1;
  }

  private growRows(rows: number): void {
    this.offsets = longer(this.offsets, rows + 1);
    if (this.validity !== undefined) this.validity = resized(this.validity, this.offsets.length);
  }

  private grow(count: number): void {
    const need = this.used + count;
    if (need > this.bytesMax) {
      const why = `a column of it takes more than ${this.bytesMax} bytes once what its records share is repeated for each of them`;
      throw invalidArguments(`cannot take the request: ${why}; send fewer records at a time`);
    }
    this.bytes = longerBytes(this.bytes, this.used, need, this.bytesMax);
  }
}
