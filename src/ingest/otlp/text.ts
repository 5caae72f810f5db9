/**
 * Text of protobuf messages: bytes that should be UTF-8, and identifiers as hexadecimal digits.
 */

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

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

/** `bytes[start, end)` in lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("hex");
}
