/** A place in [0, 1) for a text, evenly spread: which series `limit_ratio` keeps. */

/** See the file header. */
export function hashOf(text: string): number {
  return Number(BigInt.asUintN(64, BigInt(Bun.hash.xxHash64(text))) >> 11n) / 2 ** 53;
}
