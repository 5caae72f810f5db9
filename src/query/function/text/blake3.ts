/**
 * The BLAKE3 digest, plain hashing with 256 bits of output: chunks of 1 KiB make leaves of a binary tree, whose root is the digest.
 *
 *          root
 *         /    \
 *     parent   chunk 2     left sub-trees hold as many chunks as a power of two below the whole does
 *     /    \
 * chunk 0  chunk 1
 *
 * Source: https://github.com/BLAKE3-team/BLAKE3-specs (O'Connor, Aumasson, Neves, Wilcox-O'Hearn: "BLAKE3", 2020), §2.
 */

const CHUNK_BYTES = 1024;
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;

/** The initial chaining value: that of SHA-256. */
const START: readonly number[] = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
/** Where each word of a block goes between rounds. */
const PERMUTATION: readonly number[] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/** Columns, then diagonals, of the state as a square of 16 words. */
const MIXES: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];
const ROUNDS = 7;

/** What the last compression of a node takes; the root is compressed with one flag more. */
interface Node {
  readonly chaining: readonly number[];
  readonly words: readonly number[];
  readonly counter: number;
  readonly length: number;
  readonly flags: number;
}

/** The digest of bytes, 32 bytes. */
export function blake3(bytes: Uint8Array): Uint8Array {
  const root = nodeOf(bytes, 0);
  const words = compressed({ ...root, flags: root.flags | ROOT, counter: 0 });
  const digest = new Uint8Array(DIGEST_BYTES);
  const view = new DataView(digest.buffer);
  for (const [i, word] of words.entries()) view.setUint32(i * 4, word >>> 0, true);
  return digest;
}

/** The node above bytes whose first chunk has number `first`. */
function nodeOf(bytes: Uint8Array, first: number): Node {
  if (bytes.length <= CHUNK_BYTES) return chunkNode(bytes, first);
  const chunks = Math.ceil(bytes.length / CHUNK_BYTES);
  const left = 2 ** Math.floor(Math.log2(chunks - 1));
  const at = left * CHUNK_BYTES;
  const words = [...compressed(nodeOf(bytes.subarray(0, at), first)), ...compressed(nodeOf(bytes.subarray(at), first + left))];
  return { chaining: START, words, counter: 0, length: BLOCK_BYTES, flags: PARENT };
}

function chunkNode(bytes: Uint8Array, counter: number): Node {
  const blocks = Math.max(Math.ceil(bytes.length / BLOCK_BYTES), 1);
  let chaining = START;
  for (let block = 0; ; block++) {
    const part = bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    const isLast = block === blocks - 1;
    const flags = (block === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END : 0);
    const node: Node = { chaining, words: wordsOf(part), counter, length: part.length, flags };
    if (isLast) return node;
    chaining = compressed(node);
  }
}

/** 16 words of a block, zeros behind its end. */
function wordsOf(part: Uint8Array): readonly number[] {
  const padded = new Uint8Array(BLOCK_BYTES);
  padded.set(part);
  const view = new DataView(padded.buffer);
  return Array.from({ length: 16 }, (_, i) => view.getUint32(i * 4, true));
}

/** The eight words that a node hands on. */
function compressed({ chaining, words, counter, length, flags }: Node): readonly number[] {
  const state = Uint32Array.from([...chaining, ...START.slice(0, 4), counter, Math.floor(counter / 2 ** 32), length, flags]);
  let block = words;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, places] of MIXES.entries()) mix(state, places, block[2 * i] ?? 0, block[2 * i + 1] ?? 0);
    const before = block;
    block = PERMUTATION.map((from) => before[from] ?? 0);
  }
  return Array.from({ length: 8 }, (_, i) => (state[i] ?? 0) ^ (state[i + 8] ?? 0));
}

function mix(state: Uint32Array, [a, b, c, d]: readonly [number, number, number, number], x: number, y: number): void {
  const at = (place: number): number => state[place] ?? 0;
  const turned = (value: number, by: number): number => (value >>> by) | (value << (32 - by));
  state[a] = at(a) + at(b) + x;
  state[d] = turned(at(d) ^ at(a), 16);
  state[c] = at(c) + at(d);
  state[b] = turned(at(b) ^ at(c), 12);
  state[a] = at(a) + at(b) + y;
  state[d] = turned(at(d) ^ at(a), 8);
  state[c] = at(c) + at(d);
  state[b] = turned(at(b) ^ at(c), 7);
}
