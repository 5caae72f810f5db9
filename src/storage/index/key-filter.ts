/**
 * Filters over 64-bit keys: split-block Bloom filters, 32 bytes a block, eight bits a key. "No" is certain, "yes" may be wrong.
 *
 *   x, y    the key's halves, mixed
 *   block   floor(x × blocks / 2^32)
 *   bit j   (y × salt[j]) >> 27, one in each of the eight words
 *
 * Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2009), in the form that Parquet uses.
 */
import { finished } from "./key-hash.ts";
import { KEY_BITS_MAX, KEY_BITS_MIN } from "./limits.ts";
import type { PairSet } from "./pair-set.ts";

const SALT: Uint32Array = Uint32Array.of(0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31);
const WORDS = 8;

/** Bytes of a block: the length of a filter is a multiple of it. */
export const BLOCK_BYTES = 32;

/** Bits that each key gets so that about this share of absent keys passes. */
function bitsPerKey(falsePositiveRate: number): number {
  const bits = -8 / Math.log1p(-(falsePositiveRate ** (1 / 8)));
  return Math.min(KEY_BITS_MAX, Math.max(KEY_BITS_MIN, bits));
}

/** The filter of the keys in the set; of none, one block that nothing passes. */
export function buildFilter(keys: PairSet, falsePositiveRate: number): Uint8Array<ArrayBuffer> {
  const blocks = Math.max(1, Math.ceil((keys.count * bitsPerKey(falsePositiveRate)) / (BLOCK_BYTES * 8)));
  const words = new Uint32Array(blocks * WORDS);
  const { highs, lows, count } = keys;
  for (let i = 0; i < count; i++) {
    const x = mixHigh(highs[i]!, lows[i]!);
    const y = mixLow(highs[i]!, lows[i]!);
    const at = Math.floor((x * blocks) / 0x1_0000_0000) * WORDS;
    for (let j = 0; j < WORDS; j++) words[at + j] = words[at + j]! | (1 << (Math.imul(y, SALT[j]!) >>> 27));
  }
  return new Uint8Array(words.buffer);
}

/** Whether a key may be among those that the filter was built of. `filter` is not empty and has a whole number of blocks. */
export function mayHold(filter: Uint8Array, high: number, low: number): boolean {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.length);
  const at = Math.floor((mixHigh(high, low) * (filter.length / BLOCK_BYTES)) / 0x1_0000_0000) * BLOCK_BYTES;
  const y = mixLow(high, low);
  for (let j = 0; j < WORDS; j++) {
    if ((view.getUint32(at + j * 4, true) & (1 << (Math.imul(y, SALT[j]!) >>> 27))) === 0) return false;
  }
  return true;
}

function mixHigh(high: number, low: number): number {
  return finished(low ^ Math.imul(high, 0x9e3779b1));
}

function mixLow(high: number, low: number): number {
  return finished(high ^ Math.imul(low, 0x85ebca77) ^ 0x165667b1);
}
