/**
 * The hash that says where rows lie. It is the same on every machine and in every version, for ever: rows that exist would not be found
 * again with another one. So it has no seed of the process, and the vectors of its test are never changed.
 *
 *   tag set   mixed(sum modulo 2^32 of its tags' hashes): in any order, and a tag that does not count adds nothing
 *   tag       murmur3(UTF-8 bytes of its text, seed: id of its column)
 *   table     mixed(its id)
 *
 * `murmur3` is MurmurHash3_x86_32 and `mixed` its finalizer (Austin Appleby, public domain). Whoever picks their values on purpose can make
 * them meet in one shard, where they would be with one value as well; tables in memory use hashes that nobody outside knows.
 */

/** The finalizer of MurmurHash3: every bit of a word changes half of those of the result, and no two words have one result. Signed. */
export function mixed(word: number): number {
  let hash = word;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** MurmurHash3_x86_32 of `bytes[start, end)`, signed. */
export function murmur3(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed | 0;
  let at = start;
  for (const last = start + ((end - start) & ~3); at < last; at += 4) {
    const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    const word = low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    hash ^= scrambled(word);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let shift = 0; at < end; at++, shift += 8) rest |= (bytes[at] as number) << shift;
  return mixed(hash ^ scrambled(rest) ^ (end - start));
}

function scrambled(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

const encoder = new TextEncoder();
/** Bytes of texts up to a third as many characters. */
let scratch = new Uint8Array(3 * 1024);

/** As `murmur3`, of the UTF-8 bytes of a text. A lone surrogate counts as U+FFFD, which it becomes wherever it is stored. */
export function textHash(text: string, seed: number): number {
  if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 6);
  return murmur3(scratch, 0, encoder.encodeInto(text, scratch).written, seed);
}

/**
 * A hash, as an unsigned number, modulo a divisor of at most 2^14. By whole numbers of 31 bits: the remainder of what exceeds them is one
 * of doubles, which takes longer.
 */
export function remainder(hash: number, divisor: number): number {
  return ((hash >>> 16) * (0x1_0000 % divisor) + (hash & 0xffff)) % divisor;
}
