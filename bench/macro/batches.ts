/** Where the batches of a line-protocol file begin and end. */

import { closeSync, openSync, readSync } from "node:fs";

const WINDOW_BYTES = 16 * 1024 * 1024;
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
  const descriptor = openSync(path, "r");
  try {
    const window = Buffer.allocUnsafe(WINDOW_BYTES);
    const offsets = [0];
    let rows = 0;
    let bytes = 0;
    let last = LINE_FEED;
    // Windows, since a file of more than 4 GiB does not fit one array.
    for (let read = readSync(descriptor, window); read > 0; read = readSync(descriptor, window)) {
      const part = window.subarray(0, read);
      for (let at = part.indexOf(LINE_FEED); at >= 0; at = part.indexOf(LINE_FEED, at + 1)) {
        rows++;
        if (rows % rowsPerBatch === 0) offsets.push(bytes + at + 1);
      }
      bytes += read;
      last = part[read - 1] ?? last;
    }
    if (offsets.at(-1) !== bytes) {
      offsets.push(bytes);
      if (last !== LINE_FEED) rows++;
    }
    return { offsets, rows, bytes };
  } finally {
    closeSync(descriptor);
  }
}
