/**
 * Texts of one column as a vector. That they are UTF-8 is checked once a column, since a check a row costs more than decoding it.
 */
import { isUtf8 } from "node:buffer";
import type { BytesVector, Validity } from "../../../column/vector.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Row i of `rowCount` is `bytes[offsets[i], offsets[i + 1])`. What is no UTF-8 becomes U+FFFD; else the memory is borrowed. */
export function textVector(bytes: Uint8Array, offsets: Uint32Array, rowCount: number, validity: Validity): BytesVector {
  if (isText(bytes, offsets, rowCount)) return { kind: "bytes", offsets, bytes, validity };
  const parts: Uint8Array[] = [];
  const repaired = new Uint32Array(rowCount + 1);
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const source = bytes.subarray(offsets[row], offsets[row + 1]);
    const text = isUtf8(source) ? source : encoder.encode(decoder.decode(source));
    parts.push(text);
    length += text.length;
    repaired[row + 1] = length;
  }
  return { kind: "bytes", offsets: repaired, bytes: Buffer.concat(parts, length), validity };
}

/** Whether each row is UTF-8: all of them together are, and none begins inside a character. */
function isText(bytes: Uint8Array, offsets: Uint32Array, rowCount: number): boolean {
  const end = offsets[rowCount] as number;
  if (!isUtf8(bytes.subarray(0, end))) return false;
  for (let row = 1; row < rowCount; row++) {
    const start = offsets[row] as number;
    if (start < end && ((bytes[start] as number) & 0xc0) === 0x80) return false;
  }
  return true;
}
