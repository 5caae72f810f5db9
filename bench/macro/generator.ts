/** Writes a data set to a file of line protocol, so that the load generator only has to send slices of it. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { type Dataset, FIELDS, STEP_SECONDS } from "./dataset.ts";
import { hostTags, linePrefix } from "./hosts.ts";
import { ROW_BYTES_BESIDE_PREFIX_MAX, type RowWriter, writeRows } from "./kernels/row-writer.ts";
import { normalTable, seededRandom } from "./random.ts";

const CHUNK_BYTES = 8 * 1024 * 1024;

/** What was generated. */
export interface Generated {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Calls `write` with consecutive pieces of the data set's line protocol, each a whole number of lines.
 * A piece is borrowed: it is valid until `write` returns. Returns the number of bytes.
 */
export function generate(dataset: Dataset, write: (piece: Uint8Array) => void): number {
  const writer = newRowWriter(dataset);
  const prefixBytesMax = writer.prefixes.reduce((max, prefix) => Math.max(max, prefix.length), 0);
  const rowBytesMax = prefixBytesMax + ROW_BYTES_BESIDE_PREFIX_MAX;
  const out = new Uint8Array(Math.max(CHUNK_BYTES, rowBytesMax));
  const rowsAtOnce = Math.floor(out.length / rowBytesMax);
  let used = 0;
  let bytes = 0;
  let left = dataset.rows;
  for (let step = 0; left > 0; step++) {
    const timeText = new TextEncoder().encode(`${dataset.startSeconds + step * STEP_SECONDS}000000000\n`);
    const hosts = Math.min(dataset.hosts, left);
    left -= hosts;
    for (let host = 0; host < hosts; ) {
      const room = Math.floor((out.length - used) / rowBytesMax);
      if (room === 0) {
        write(out.subarray(0, used));
        used = 0;
        continue;
      }
      const end = Math.min(hosts, host + Math.min(room, rowsAtOnce));
      const after = writeRows(writer, out, used, host, end, timeText);
      bytes += after - used;
      used = after;
      host = end;
    }
  }
  if (used > 0) write(out.subarray(0, used));
  return bytes;
}

/** Writes the data set to `path`, replacing what is there. */
export function generateFile(dataset: Dataset, path: string): Generated {
  const file = openSync(path, "w");
  try {
    const bytes = generate(dataset, (piece) => {
      for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done);
    });
    fdatasyncSync(file); // Otherwise the kernel writes it back while a server under test syncs its log.
    return { path, rows: dataset.rows, bytes };
  } finally {
    closeSync(file);
  }
}

function newRowWriter(dataset: Dataset): RowWriter {
  const encoder = new TextEncoder();
  const labels = [...FIELDS.map((field, i) => `${i === 0 ? " " : "i,"}${field}=`), "i "];
  const labelOffsets = new Uint32Array(labels.length + 1);
  for (const [i, label] of labels.entries()) labelOffsets[i + 1] = labelOffsets[i]! + label.length;
  const random = seededRandom(dataset.seed ^ 0x5eed);
  return {
    prefixes: hostTags(dataset).map((values) => encoder.encode(linePrefix(values))),
    labels: encoder.encode(labels.join("")),
    labelOffsets,
    values: Float64Array.from({ length: dataset.hosts * FIELDS.length }, () => random.next() * 100),
    normal: normalTable(),
    random: random.below(0x7fffffff) + 1,
  };
}
