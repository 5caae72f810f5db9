/** A label set's text written as bytes from values that are bytes: the same as `encodeLabels` makes, without a string. */
import { longerBytes } from "../../base/bytes/longer-array.ts";

/** See the file header. `bytes[0, length)` is the text. */
export class LabelSetBytes {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(512);
  length = 0;

  /**
   * Appends a label. Labels come by ascending column id.
   *
   * @param head the column id in base 36 and a colon, ASCII
   * @returns false when the value `source[start, end)` is not ASCII, so that its length in UTF-16 units is another: `encodeLabels` knows it
   */
  add(head: Uint8Array, source: Uint8Array, start: number, end: number): boolean {
    const count = end - start;
    const need = this.length + head.length + DIGITS_MAX + count;
    if (need > this.bytes.length) this.bytes = longerBytes(this.bytes, this.length, need * 2);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < head.length; i++) bytes[at++] = head[i]!;
    at = writeBase36(bytes, at, count);
    bytes[at++] = COLON;
    let bits = 0;
    for (let i = start; i < end; i++) {
      const byte = source[i]!;
      bits |= byte;
      bytes[at++] = byte;
    }
    this.length = at;
    return bits < 0x80;
  }
}

const COLON = 0x3a;
/** Digits of a 32-bit number in base 36, and a colon. */
const DIGITS_MAX = 8;

function writeBase36(bytes: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 36; rest = Math.floor(rest / 36)) digits++;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const digit = rest % 36;
    bytes[i] = digit < 10 ? 0x30 + digit : 0x57 + digit; // '0'..'9', 'a'..'z'
    rest = Math.floor(rest / 36);
  }
  return at + digits;
}
