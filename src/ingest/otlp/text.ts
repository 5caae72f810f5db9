/**
 * Text of protobuf messages: bytes that should be UTF-8, and identifiers as hexadecimal digits.
 */
import { isUtf8 } from "node:buffer";
import type { FieldCells } from "../../table/row-collector.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const DIGITS = "0123456789abcdef";
const HEX: Uint8Array = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const scratch = new Uint8Array(128);

/** The text of `bytes[start, end)`; what is no UTF-8 becomes U+FFFD. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= 24) {
    let text = "";
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x80) return decoder.decode(bytes.subarray(start, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** Sets a cell to the text of `bytes[start, end)` without a string, but where it is no UTF-8. */
export function setText(cells: FieldCells, bytes: Uint8Array, start: number, end: number): void {
  let at = start;
  while (at < end && (bytes[at] as number) < 0x80) at++;
  if (at === end || isUtf8(bytes.subarray(start, end))) cells.setBytes(bytes, start, end);
  else cells.set(decoder.decode(bytes.subarray(start, end)));
}

/** Sets a cell to `bytes[start, end)` in lower-case hexadecimal digits. */
export function setHex(cells: FieldCells, bytes: Uint8Array, start: number, end: number): void {
  const length = end - start;
  if (length * 2 > scratch.length) {
    cells.set(hexOf(bytes, start, end));
    return;
  }
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i] as number;
    scratch[2 * i] = HEX[byte >>> 4] as number;
    scratch[2 * i + 1] = HEX[byte & 15] as number;
  }
  cells.setBytes(scratch, 0, length * 2);
}

/** `bytes[start, end)` in lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("hex");
}
