/** Where the batches of a line-protocol file begin and end. */

const WINDOW_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Cuts of a file into batches. */
export interface Batches {
  /** Batch `i` is bytes `[offsets[i], offsets[i + 1])`. */
  readonly offsets: readonly number[];
  readonly rows: number;
  readonly bytes: number;
}

/** Reads a file once and cuts it after every `rowsPerBatch` lines. Also brings the file into the page cache. */
export function findBatches(path: string, rowsPerBatch: number): Batches {
  const file = Bun.mmap(path);
  const offsets = [0];
  let rows = 0;
  // Windows keep positions below 2^31, which is as far as indexOf counts.
  for (let start = 0; start < file.length; start += WINDOW_BYTES) {
    const window = Buffer.from(file.buffer, file.byteOffset + start, Math.min(WINDOW_BYTES, file.length - start));
    for (let at = window.indexOf(LINE_FEED); at >= 0; at = window.indexOf(LINE_FEED, at + 1)) {
      rows++;
      if (rows % rowsPerBatch === 0) offsets.push(start + at + 1);
    }
  }
  if (offsets.at(-1) !== file.length) {
    offsets.push(file.length);
    if (file[file.length - 1] !== LINE_FEED) rows++;
  }
  return { offsets, rows, bytes: file.length };
}
