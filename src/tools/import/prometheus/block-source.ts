/**
 * A block of Prometheus: a folder with `meta.json`, `index` and `chunks/000001`, ….
 *
 *   index ─► series ─► chunks ─► samples ─► requests of remote write
 *
 * Places count chunks. Source of the format of chunk files: tsdb/docs/format/chunks.md of Prometheus.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../../../base/error.ts";
import { crc32c } from "../../../ingest/prometheus/read/read-series.ts";
import type { Source } from "../source.ts";
import { BlockIndex } from "./block-index.ts";
import { readChunk } from "./chunk.ts";
import type { Histograms } from "./histogram-chunk.ts";
import { type Label, SeriesPieces, seriesText } from "./series-pieces.ts";
import type { Samples } from "./xor-samples.ts";

/** Bytes that are read for a chunk at first: most have less. */
const CHUNK_READ_BYTES = 2048;
/** Longest chunk. Reason: a length that is wrong must not take all memory. */
const CHUNK_BYTES_MAX: number = 16 * 1024 * 1024;
/** A file of deletions that has none: magic, version, checksum. */
const NO_TOMBSTONES_BYTES = 9;

/** A block as a source. @throws Error for a folder that is none */
export function blockSource(folder: string, database: string, rowsMax: number): Source {
  const indexPath = join(folder, "index");
  const { size, mtimeMs } = statSync(indexPath);
  const index = new BlockIndex(indexPath, Bun.mmap(indexPath));
  const segments = new Segments(folder);
  let done = 0;
  return {
    name: folder,
    identity: `${size} ${mtimeMs}`,
    size: index.seriesEnd - index.seriesStart,
    progressOf: () => done,
    pieces: async function* (start) {
      let at = 0;
      const pieces = new SeriesPieces(database, rowsMax, start.at);
      for (const { labels, chunks, end } of index.series()) {
        for (const chunk of chunks) {
          if (at++ < start.at) continue;
          pieces.add(labels, valuesOf(segments, chunk, labels));
          const piece = pieces.isFull ? pieces.take(at) : undefined;
          if (piece !== undefined) yield piece;
        }
        done = end - index.seriesStart;
      }
      const piece = pieces.take(at);
      if (piece !== undefined) yield piece;
    },
    close: async () => segments.close(),
  };
}

/** Whether a folder is a block. */
export function isBlock(folder: string): boolean {
  return [join(folder, "meta.json"), join(folder, "index")].every((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Whether samples of a block were deleted and are still in it: they would be imported. */
export function hasTombstones(folder: string): boolean {
  return (statSync(join(folder, "tombstones"), { throwIfNoEntry: false })?.size ?? 0) > NO_TOMBSTONES_BYTES;
}

function valuesOf(
  segments: Segments,
  chunk: { readonly segment: number; readonly offset: number },
  labels: readonly Label[],
): Samples | Histograms {
  const { encoding, data, path } = segments.chunk(chunk.segment, chunk.offset);
  try {
    return readChunk(data, encoding);
  } catch (thrown) {
    const why = errorText(thrown);
    throw new Error(`cannot read ${path}: ${why}, at byte ${chunk.offset}, of ${seriesText(labels)}`, { cause: thrown });
  }
}

/** The files of chunks, each opened once. */
class Segments {
  private readonly folder: string;
  private readonly files: Map<number, number> = new Map();

  constructor(folder: string) {
    this.folder = folder;
  }

  chunk(segment: number, offset: number): { readonly encoding: number; readonly data: Uint8Array; readonly path: string } {
    const path = join(this.folder, "chunks", String(segment + 1).padStart(6, "0"));
    const damaged = (why: string): Error => new Error(`cannot read ${path}: ${why}, at byte ${offset}`);
    let bytes = this.read(segment, path, offset, CHUNK_READ_BYTES);
    let length = 0;
    let at = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || at > 5) throw damaged("no chunk begins there");
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    if (length > CHUNK_BYTES_MAX) throw damaged(`a chunk of ${length} bytes`);
    const whole = at + 1 + length + 4;
    if (bytes.length < whole) bytes = this.read(segment, path, offset, whole);
    if (bytes.length < whole) throw damaged("it is cut off");
    const summed = bytes.subarray(at, at + 1 + length);
    const sum = new DataView(bytes.buffer, bytes.byteOffset + at + 1 + length, 4).getUint32(0);
    if (crc32c(summed) !== sum) throw damaged("a wrong checksum");
    return { encoding: summed[0] as number, data: summed.subarray(1), path };
  }

  close(): void {
    for (const file of this.files.values()) closeSync(file);
    this.files.clear();
  }

  private read(segment: number, path: string, offset: number, length: number): Uint8Array {
    let file = this.files.get(segment);
    if (file === undefined) this.files.set(segment, (file = openSync(path, "r")));
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
  }
}
