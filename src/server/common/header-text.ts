/** Texts in headers. The runtime gives a character a byte; what clients send as UTF-8 is UTF-8 again here. */

import { utf8Text } from "../../base/bytes/utf8.ts";

/** A header's value, such as a name; bytes that are not UTF-8 stay a character each. Null when it is absent. */
export function headerTextOf(headers: Headers, name: string): string | null {
  const value = headers.get(name);
  if (value === null || !/[\x80-\xff]/.test(value)) return value;
  return utf8Text(Buffer.from(value, "latin1")) ?? value;
}
