/** Messages inside a message, where a visitor moves the reader. */
import type { ProtoReader } from "../../format/proto/reader.ts";

/**
 * Calls `visit` with the extent of each length-delimited field `wanted` (a tag) of the message at `[start, end)` of the open body.
 * @throws ProtoError when a length leaves the message
 */
export function eachField(
  reader: ProtoReader,
  start: number,
  end: number,
  wanted: number,
  visit: (start: number, end: number) => void,
): void {
  for (let at = start; at < end; ) {
    reader.at = at;
    const tag = reader.tag(end);
    if (tag === wanted) {
      const stop = reader.lengthEnd(end);
      visit(reader.at, stop);
      at = stop;
    } else {
      reader.skip(tag, end);
      at = reader.at;
    }
  }
}
