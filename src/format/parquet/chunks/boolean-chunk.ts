/** Column chunks of booleans: RLE of one bit, after its length in four bytes. */
import type { NumberVector } from "../../../column/vector.ts";
import { type ChunkWriter, noBounds, type WrittenChunk } from "./chunk-writer.ts";
import { denseInts } from "./dense-rows.ts";
import { encodeHybrid } from "../encodings/rle-bit-packed.ts";
import { Encoding } from "../page/page-header.ts";
import { encodeBound } from "../page/statistics.ts";

/** Writes the chunk of rows `[start, last of pageEnds)`, one page up to each of `pageEnds`. Any value but 0 is true. */
export function writeBooleanChunk(chunk: ChunkWriter, input: NumberVector, start: number, pageEnds: Uint32Array): WrittenChunk {
  const { values, physical } = chunk;
  let bits = new Uint8Array(0);
  let chunkHas = 0;
  let from = start;
  for (const end of pageEnds) {
    const nullCount = chunk.definitionLevels(input.validity, from, end);
    const count = end - from - nullCount;
    const dense = denseInts(input.values, nullCount === 0 ? undefined : input.validity, from, end);
    if (bits.length < count) bits = new Uint8Array(end - from);
    let has = 0; // 1 = some false, 2 = some true
    for (let i = 0; i < count; i++) {
      const bit = dense[i] === 0 ? 0 : 1;
      bits[i] = bit;
      has |= 1 << bit;
    }
    values.u32(0);
    encodeHybrid(values, bits, count, 1);
    values.view.setUint32(0, values.length - 4, true);
    const bounds = boundsOf(has, physical);
    chunk.dataPage({ rowCount: end - from, nullCount, encoding: Encoding.Rle, values: values.bytes(), bounds });
    chunkHas |= has;
    from = end;
  }
  return chunk.finish({ ...boundsOf(chunkHas, physical), exact: chunkHas !== 0 });
}

function boundsOf(has: number, physical: ChunkWriter["physical"]): typeof noBounds {
  if (has === 0) return noBounds;
  return { min: encodeBound(physical, (has & 1) === 0 ? 1 : 0), max: encodeBound(physical, (has & 2) === 0 ? 0 : 1) };
}
