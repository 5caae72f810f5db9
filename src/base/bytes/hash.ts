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
