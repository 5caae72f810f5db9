/** Where the pages of a leaf end: pages begin with a row, and have about as many entries and bytes as those of other columns. */
import { PAGE_VALUE_BYTES_TARGET } from "../limits.ts";
import { cutPages } from "../writing/page-cut.ts";
import type { LeafRows } from "./shredder.ts";

/** Most entries of a page, but for a row that has more. */
export const PAGE_ENTRIES = 16_384;

/** Ends of the pages, ascending, as numbers of entries; the last is `entryCount`. */
export function cutEntries({ input, levels, entryCount }: LeafRows): Uint32Array {
  const { repetition } = levels;
  if (repetition === undefined) return cutPages([input], 0, entryCount, PAGE_ENTRIES, undefined);
  const offsets = input.kind === "bytes" ? input.offsets : undefined;
  const ends: number[] = [];
  let pageStart = 0;
  let rowStart = 0; // of the row that the entry belongs to
  for (let entry = 1; entry <= entryCount; entry++) {
    if (entry < entryCount && repetition[entry] !== 0) continue;
    // A row ends here. When it makes the page too large, the page ends before it.
    const bytes = offsets === undefined ? 0 : offsets[entry]! - offsets[pageStart]!;
    if (rowStart > pageStart && (entry - pageStart > PAGE_ENTRIES || bytes > PAGE_VALUE_BYTES_TARGET)) {
      ends.push(rowStart);
      pageStart = rowStart;
    }
    rowStart = entry;
  }
  if (entryCount > 0) ends.push(entryCount);
  return Uint32Array.from(ends);
}
