/** A chunk of Prometheus by its encoding. */
import { FLOAT_HISTOGRAMS, type Histograms, readHistogramChunk, WHOLE_HISTOGRAMS } from "./histogram-chunk.ts";
import { readXorChunk, type Samples } from "./xor-samples.ts";

const XOR = 1;

/** The samples or histograms of a chunk. @throws Error for an encoding that is not known, and for bytes that are no chunk */
export function readChunk(data: Uint8Array, encoding: number): Samples | Histograms {
  if (encoding === XOR) return readXorChunk(data);
  if (encoding === WHOLE_HISTOGRAMS || encoding === FLOAT_HISTOGRAMS) return readHistogramChunk(data, encoding === FLOAT_HISTOGRAMS);
  throw new Error(`chunks of encoding ${encoding} are not known`);
}
