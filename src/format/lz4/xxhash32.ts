/** xxHash32 with seed 0: the checksum of LZ4 frames. Source: github.com/Cyan4973/xxHash, doc/xxhash_spec.md. */

const PRIME1 = 0x9e37_79b1;
const PRIME2 = 0x85eb_ca77;
const PRIME3 = 0xc2b2_ae3d;
const PRIME4 = 0x27d4_eb2f;
const PRIME5 = 0x1656_67b1;

const rotated = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));
const round = (lane: number, word: number): number => Math.imul(rotated((lane + Math.imul(word, PRIME2)) | 0, 13), PRIME1);

/** The checksum, as an unsigned number. */
export function xxHash32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  let at = 0;
  let hash = PRIME5;
  if (length >= 16) {
    let [a, b, c, d] = [(PRIME1 + PRIME2) | 0, PRIME2 | 0, 0, -PRIME1 | 0];
    for (; at + 16 <= length; at += 16) {
      a = round(a, view.getUint32(at, true));
      b = round(b, view.getUint32(at + 4, true));
      c = round(c, view.getUint32(at + 8, true));
      d = round(d, view.getUint32(at + 12, true));
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= length; at += 4) hash = Math.imul(rotated((hash + Math.imul(view.getUint32(at, true), PRIME3)) | 0, 17), PRIME4);
  for (; at < length; at++) hash = Math.imul(rotated((hash + Math.imul(view.getUint8(at), PRIME5)) | 0, 11), PRIME1);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
