/**
 * Checks UTF-8 in place, without making a string. Source: The Unicode Standard, table 3-7 (well-formed byte sequences).
 */

/** Whether `bytes[start, end)` is well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const lead = bytes[at]!;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length === 0 || at + length > end) return false;
    const second = bytes[at + 1]!;
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return false;
    for (let i = 2; i < length; i++) {
      if ((bytes[at + i]! & 0xc0) !== 0x80) return false;
    }
    at += length;
  }
  return true;
}
