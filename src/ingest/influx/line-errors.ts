/**
 * Collects refused lines; those beyond the limit are only counted.
 */
import { ERROR_LINES_MAX, ERROR_QUOTE_CHARACTERS_MAX } from "../../base/limits.ts";
import type { Failure } from "./failure.ts";
import type { LineError } from "./types.ts";

const lossy = new TextDecoder();

export class LineErrors {
  count = 0;
  list: LineError[] = [];

  /** Forgets all. Results handed out keep their list. */
  begin(): void {
    this.count = 0;
    this.list = [];
  }

  /** Notes the line `bytes[start, end)`, line end included, which `failure` describes. */
  add(line: number, bytes: Uint8Array, start: number, end: number, failure: Failure): void {
    this.count++;
    if (this.list.length >= ERROR_LINES_MAX) return;
    let stop = end;
    if (stop > start && bytes[stop - 1] === 0x0a) stop--;
    if (stop > start && bytes[stop - 1] === 0x0d) stop--;
    // A character is at most four bytes.
    const text = lossy.decode(bytes.subarray(start, Math.min(stop, start + 4 * ERROR_QUOTE_CHARACTERS_MAX)));
    this.list.push({ line, text: cut(text), reason: failure.describe(bytes) });
  }
}

/** The first characters of a text, never half a surrogate pair. */
function cut(text: string): string {
  if (text.length <= ERROR_QUOTE_CHARACTERS_MAX) return text;
  const last = text.charCodeAt(ERROR_QUOTE_CHARACTERS_MAX - 1);
  const half = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, half ? ERROR_QUOTE_CHARACTERS_MAX - 1 : ERROR_QUOTE_CHARACTERS_MAX);
}
