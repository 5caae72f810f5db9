/**
 * Names and tag values as people wrote them: a backslash before ',', '=' or ' ' goes away, every other backslash stays.
 */

import { strictUtf8 } from "../../base/bytes/utf8.ts";

/** The text of `bytes[start, end)`, which is well-formed UTF-8. `equals` is false in a measurement, where `\=` keeps its backslash. */
export function unescapeName(bytes: Uint8Array, start: number, end: number, equals = true): string {
  let escapes = 0;
  for (let i = start; i + 1 < end; i++) if (isEscape(bytes[i]!, bytes[i + 1]!, equals)) escapes++;
  if (escapes === 0) return strictUtf8.decode(bytes.subarray(start, end));
  const plain = new Uint8Array(end - start - escapes);
  let length = 0;
  for (let i = start; i < end; i++) {
    if (i + 1 < end && isEscape(bytes[i]!, bytes[i + 1]!, equals)) continue;
    plain[length++] = bytes[i]!;
  }
  return strictUtf8.decode(plain);
}

function isEscape(byte: number, follower: number, equals: boolean): boolean {
  return byte === 0x5c && (follower === 0x2c || follower === 0x20 || (equals && follower === 0x3d));
}
