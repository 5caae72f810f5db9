/** The chunk of a column, by what its values are: one place that knows which encoder takes what. */
import { PhysicalType } from "../schema/physical-type.ts";
import type { ChunkWriter, WrittenChunk } from "./chunk-writer.ts";
import type { ColumnInput } from "../types.ts";
import { writeBooleanChunk } from "./boolean-chunk.ts";
import { writeByteArrayChunk } from "./byte-array-chunk.ts";
import { writeCodedChunk } from "./coded-chunk.ts";
import { writeFixedBytesChunk } from "./fixed-bytes-chunk.ts";
import { writeFloatChunk } from "./float-chunk.ts";
import { writeIntegerChunk } from "./integer-chunk.ts";
import { writeTagChunk } from "./tag-chunk.ts";

/**
 * Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`.
 *
 * @throws DbError InvalidArguments when a page exceeds 1 GiB or seconds do not fit the stored unit
 */
export function writeChunk(chunk: ChunkWriter, input: ColumnInput, start: number, pageEnds: Uint32Array): WrittenChunk {
  const { type } = chunk.column;
  switch (input.kind) {
    case "runs":
      return writeTagChunk(chunk, input, start, pageEnds);
    case "bytes":
      if (chunk.physical === PhysicalType.FixedBytes) return writeFixedBytesChunk(chunk, input, start, pageEnds);
      return writeByteArrayChunk(chunk, input, start, pageEnds);
    case "coded":
      return writeCodedChunk(chunk, input, start, pageEnds);
    case "time":
    case "wide":
      return writeIntegerChunk(chunk, input, start, pageEnds);
    case "number":
      if (type.kind === "boolean") return writeBooleanChunk(chunk, input, start, pageEnds);
      if (type.kind === "float") return writeFloatChunk(chunk, input, start, pageEnds);
      return writeIntegerChunk(chunk, input, start, pageEnds);
  }
}
