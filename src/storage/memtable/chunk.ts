/**
 * A chunk: the rows that one request wrote to one table, column by column, as narrow as their values allow, in one piece of shared
 * memory. The same bytes are the payload of the log record (FORMAT.md) and what flush and scan workers read, so a row is copied once
 * between the decoder and the file.
 *
 * Sketch for a TSBS row (10 integers 0..100): 2 B series + 1 B time step + 10 x 1 B = 13 B in memory and in the log, of 347 B of text.
 */
import type { NumberArray } from "../../column/vector.ts";

/** Arrays that hold series numbers: two bytes while the table has fewer than 65,536 series. */
export type SeriesArray = Uint16Array | Uint32Array;

/** Values of one column of a chunk. Rows are in the order of the request; `validity` as in `column/vector.ts`. */
export type ChunkValues =
  | { readonly kind: "number"; readonly values: NumberArray; readonly validity: Uint8Array | undefined }
  | { readonly kind: "wide"; readonly values: BigInt64Array | BigUint64Array; readonly validity: Uint8Array | undefined }
  | { readonly kind: "time"; readonly base: bigint; readonly offsets: Float64Array; readonly validity: Uint8Array | undefined }
  | { readonly kind: "bytes"; readonly offsets: Uint32Array; readonly bytes: Uint8Array; readonly validity: Uint8Array | undefined }
  | RepeatedBytes;

/** Bytes that all rows of the chunk have: what a resource and a scope of OpenTelemetry say is the same in a whole request. */
export interface RepeatedBytes {
  readonly kind: "repeated";
  readonly bytes: Uint8Array;
  readonly validity: undefined;
}

/** One field column of a chunk. */
export interface ChunkColumn {
  /** Column id in the table's schema. */
  readonly columnId: number;
  readonly data: ChunkValues;
}

/** See the file header. Never changed once made. */
export interface Chunk {
  /** Of the request; later wins. */
  readonly sequence: number;
  readonly rowCount: number;
  readonly series: SeriesArray;
  /** Time of row i = `timeBase + BigInt(times[i]) * BigInt(timeScale)`, in the unit of the time index. */
  readonly timeBase: bigint;
  readonly timeScale: number;
  readonly times: Uint8Array | Uint16Array | Uint32Array | Float64Array;
  /** Largest element of `times`; the smallest is 0. */
  readonly timeSteps: number;
  readonly columns: readonly ChunkColumn[];
  /** Present: the chunk deletes rows older than itself (`delete-chunk.ts` says what its arrays mean then). */
  readonly deletes?: true;
  /** The shared memory that all arrays lie on, for the log. */
  readonly payload: Uint8Array;
}

/** Oldest time in the chunk. */
export function chunkMinTime(chunk: Chunk): bigint {
  return chunk.timeBase;
}

/** Newest time in the chunk. */
export function chunkMaxTime(chunk: Chunk): bigint {
  return chunk.timeBase + BigInt(chunk.timeSteps) * BigInt(chunk.timeScale);
}
