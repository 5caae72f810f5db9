/**
 * What LZMA's encoder and decoder share: where each probability lies in one array, and how states follow each other.
 * Source: the LZMA specification of the LZMA SDK (public domain).
 */

/** Bits of the position that choose probabilities (pb), and bits of the byte before (lc), as `xz` has them; lp is 0. */
export const POSITION_BITS = 2;
export const CONTEXT_BITS = 3;
/** Their byte in a chunk's head: (pb * 5 + lp) * 9 + lc. */
export const PROPERTIES: number = POSITION_BITS * 45 + CONTEXT_BITS;

/** Places in the array of probabilities. */
export const IS_MATCH = 0;
export const IS_REP = 192;
export const IS_REP_0 = 204;
export const IS_REP_1 = 216;
export const IS_REP_2 = 228;
export const IS_REP_0_LONG = 240;
export const POSITION_SLOT = 432;
export const POSITION_SPECIAL = 688;
export const POSITION_ALIGN = 803;
export const MATCH_LENGTH = 819;
/** Of lengths: choice, choice 2, 16 trees of 8, 16 trees of 8, one of 256. */
export const LENGTH_LOW = 2;
export const LENGTH_MIDDLE = 130;
export const LENGTH_HIGH = 258;
export const REP_LENGTH = 1333;
export const LITERAL = 1847;
/** Probabilities of one literal context. */
export const LITERAL_SIZE = 0x300;

/** An even chance. */
const PROBABILITY_START = 1024;
/** Bits of a probability, and how fast it follows. */
export const PROBABILITY_BITS = 11;
export const ADAPT_SHIFT = 5;

/** Shortest match. */
export const MATCH_MIN = 2;
/** Longest match. */
export const MATCH_MAX = 273;

/** New probabilities. @param contextBits lc + lp */
export function newProbabilities(contextBits: number): Uint16Array {
  return new Uint16Array(LITERAL + (LITERAL_SIZE << contextBits)).fill(PROBABILITY_START);
}

/** The state after a literal. */
export function afterLiteral(state: number): number {
  return state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
}
/** The state after a match: like the ones below, what came last decides which probabilities come next. */
export const afterMatch = (state: number): number => (state < 7 ? 7 : 10);
/** After a match at an earlier distance. */
export const afterRep = (state: number): number => (state < 7 ? 8 : 11);
/** After one byte at the last distance. */
export const afterShortRep = (state: number): number => (state < 7 ? 9 : 11);
