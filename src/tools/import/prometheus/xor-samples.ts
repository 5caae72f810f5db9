/**
 * Reads XOR chunks of Prometheus: what `ingest/prometheus/read/xor-chunk.ts` writes.
 *
 *   count u16 BE | time zigzag | value 64 bits | delta varint, xor | double delta, xor | ...
 *
 * Source: tsdb/docs/format/chunks.md of Prometheus. Values stay as the two halves of their bits, since a NaN's bits mean something (a
 * series that ended).
 */

import { ChangedBits, ChunkBits } from "./chunk-bits.ts";

/** Samples of one series. */
export interface Samples {
  readonly count: number;
  /** Milliseconds. */
  readonly times: Float64Array;
  /** Halves of the bits of the values. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

const TWO_32 = 2 ** 32;
/** Bits of a double delta, by how many ones stand before them. */
const DELTA_BITS = [0, 14, 17, 20, 64] as const;

/** The samples of a chunk. @throws Error for bytes that are no chunk */
export function readXorChunk(bytes: Uint8Array): Samples {
  if (bytes.length < 2) throw new Error("a chunk of less than two bytes");
  const count = ((bytes[0] as number) << 8) | (bytes[1] as number);
  // A sample takes two bits at least.
  if (count > bytes.length * 4) throw new Error(`a chunk of ${bytes.length} bytes with ${count} samples`);
  const bits = new ChunkBits(bytes, 16);
  const times = new Float64Array(count);
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  const change = new ChangedBits();
  let [time, delta] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (i === 0) {
      time = bits.zigzag();
      high[0] = bits.take(32);
      low[0] = bits.take(32);
    } else {
      delta = i === 1 ? bits.varint() : delta + doubleDelta(bits);
      time += delta;
      change.read(bits);
      low[i] = ((low[i - 1] as number) ^ change.low) >>> 0;
      high[i] = ((high[i - 1] as number) ^ change.high) >>> 0;
    }
    if (!Number.isSafeInteger(time)) throw new Error("a chunk with a time beyond 2^53 milliseconds");
    times[i] = time;
  }
  return { count, times, low, high };
}

function doubleDelta(bits: ChunkBits): number {
  let ones = 0;
  while (ones < 4 && bits.take(1) === 1) ones++;
  const size = DELTA_BITS[ones] as number;
  if (size === 0) return 0;
  if (size < 64) {
    const value = bits.take(size);
    return value > 2 ** (size - 1) ? value - 2 ** size : value;
  }
  const upper = bits.take(32) | 0;
  return upper * TWO_32 + bits.take(32);
}
