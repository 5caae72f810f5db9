/**
 * Fast non-cryptographic hashes over bytes. Used for hash tables only; files and log records use CRC-32 (`crc32`).
 */

/** FNV-1a, 32 bits, over `bytes[start, end)`. Small and good enough for short names. Source: RFC 9923. */
export function fnv1a(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash >>> 0;
}

/** CRC-32 (ISO-HDLC, as in gzip) of `bytes`, continuing from `seed`. Returns 0..2^32-1. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  return Bun.hash.crc32(bytes, seed) as number;
}

/** A secret of the process, odd. */
function secret(): number {
  return crypto.getRandomValues(new Int32Array(1)).reduce((_, value) => value | 1, 1);
}

/** Begins the hashes of tables in memory: nobody outside can make keys that meet. */
export const HASH_SEED: number = secret();

/**
 * What a hash is multiplied by after each word. Without it whoever flips the highest bit of a word knows which bits of the next one undo
 * that, whatever the seed: texts of 160 bytes could be made of which a million meet.
 */
export const HASH_FACTOR: number = secret();

/** A signed 32-bit hash of `bytes[start, end)` for tables in memory, four bytes at a time; another in each process. */
export function bytesHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_SEED ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
    hash = Math.imul(hash ^ (low | (high << 16)), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), HASH_FACTOR);
  }
  let rest = 0;
  for (; at < end; at++) rest = (rest << 8) | (bytes[at] as number);
  hash = Math.imul(hash ^ rest, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
