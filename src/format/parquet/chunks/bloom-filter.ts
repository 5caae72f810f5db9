/**
 * Split-block bloom filters: 32-byte blocks of eight words; a value sets one bit in each word of one block.
 *
 *   hash    xxHash64, seed 0, of the plain bytes of the value
 *   block   (upper 32 bits × block count) >> 32
 *   bit i   (lower 32 bits × salt[i]) >> 27
 *
 *   | header: byte length, algorithm, hash, compression | blocks |
 *
 * Source: Apache Parquet, BloomFilter.md.
 */
import type { TextTable } from "../../../column/text-table.ts";
import { corruption } from "../corruption.ts";
import { BLOOM_BYTES_MAX } from "../limits.ts";
import { ThriftReader, ThriftWriter } from "../thrift/thrift-compact.ts";

const SALT: Uint32Array = Uint32Array.of(0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31);

const BLOCK_BYTES = 32;

/** Bits a distinct value gets: about 1 % false positives. */
const BITS_A_VALUE = 10.5;

/** The filter of `count` values, header included. `value` may be asked for an index once and only borrows its answer. */
export function bloomFilterOf(count: number, value: (index: number) => Uint8Array): Uint8Array<ArrayBuffer> {
  const words = newBlocks(count);
  for (let i = 0; i < count; i++) addHash(words, Bun.hash.xxHash64(value(i)));
  return withHeader(words);
}

/**
 * As `bloomFilterOf`, of all texts but NULL. They are hashed in a piece of memory of their length, since a view a text is garbage of 100 B
 * and more: with a million of them it was most of what a flush took.
 */
export function bloomFilterOfTexts({ size, bytes, starts }: TextTable): Uint8Array<ArrayBuffer> {
  const words = newBlocks(size - 1);
  const pieces: (Uint8Array | undefined)[] = [];
  for (let code = 1; code < size; code++) {
    const start = starts[code]!;
    const length = starts[code + 1]! - start;
    if (length > PIECE_BYTES_MAX) {
      addHash(words, Bun.hash.xxHash64(bytes.subarray(start, start + length)));
      continue;
    }
    while (pieces.length <= length) pieces.push(undefined);
    const piece = pieces[length] ?? new Uint8Array(length);
    pieces[length] = piece;
    for (let i = 0; i < length; i++) piece[i] = bytes[start + i]!;
    addHash(words, Bun.hash.xxHash64(piece));
  }
  return withHeader(words);
}

/** Texts up to this long are copied to be hashed. */
const PIECE_BYTES_MAX = 256;

function newBlocks(count: number): Uint32Array<ArrayBuffer> {
  const wanted = Math.ceil((count * BITS_A_VALUE) / 8 / BLOCK_BYTES);
  const blockCount = Math.max(1, Math.min(BLOOM_BYTES_MAX / BLOCK_BYTES, 2 ** Math.ceil(Math.log2(Math.max(1, wanted)))));
  return new Uint32Array(blockCount * 8);
}

/** A hash, and its lower and upper half: taken from memory, since arithmetic would make four more bigints. */
const hashed = new BigUint64Array(1);
const halves = new Uint32Array(hashed.buffer);

function addHash(words: Uint32Array, hash: bigint): void {
  hashed[0] = hash;
  const low = halves[0]!;
  const block = Math.floor((halves[1]! * (words.length / 8)) / 0x1_0000_0000);
  for (let j = 0; j < 8; j++) words[block * 8 + j] = words[block * 8 + j]! | bitOf(low, j);
}

function withHeader(words: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const writer = new ThriftWriter();
  writer.open();
  writer.i32(1, words.byteLength);
  for (const id of [2, 3, 4]) {
    // Split-block, xxHash and uncompressed are each the first member of their union.
    writer.struct(id);
    writer.struct(1);
    writer.close();
    writer.close();
  }
  writer.close();
  writer.out.raw(new Uint8Array(words.buffer));
  return writer.out.bytes();
}

/** Bytes of a block: one decides on a value. */
export const BLOOM_BLOCK_BYTES: number = BLOCK_BYTES;

/** What is asked of filters for one value: upper and lower half of its hash. */
export interface BloomHash {
  readonly high: number;
  readonly low: number;
}

/** The hash of a value (UTF-8 or binary). */
export function bloomHash(value: Uint8Array): BloomHash {
  const hash = Bun.hash.xxHash64(value);
  return { high: Number(hash >> 32n), low: Number(hash & 0xffff_ffffn) };
}

/** Where the blocks of a filter lie within it. */
export interface BloomBlocks {
  readonly offset: number;
  readonly count: number;
}

/** Reads the header of a filter. @throws DbError StorageUnavailable when the filter is damaged */
export function bloomBlocks(filter: Uint8Array): BloomBlocks {
  const reader = new ThriftReader(filter, 0, "(bloom filter)", 0);
  let byteLength = -1;
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) byteLength = reader.size();
    else reader.skip();
  }
  const left = filter.length - reader.offset;
  if (byteLength !== left || byteLength % BLOCK_BYTES !== 0 || byteLength === 0) {
    throw corruption("(bloom filter)", reader.offset, `a filter of ${byteLength} bytes in ${left}`);
  }
  return { offset: reader.offset, count: byteLength / BLOCK_BYTES };
}

/** Offset within the filter of the block that decides on a value. */
export function bloomBlockAt({ offset, count }: BloomBlocks, { high }: BloomHash): number {
  return offset + Math.floor((high * count) / 0x1_0000_0000) * BLOCK_BYTES;
}

/** Whether the block of a value has its bits. False means that the chunk certainly does not hold the value. */
export function bloomBlockHolds(block: Uint8Array, { low }: BloomHash): boolean {
  const view = new DataView(block.buffer, block.byteOffset, BLOCK_BYTES);
  for (let j = 0; j < 8; j++) if ((view.getUint32(j * 4, true) & bitOf(low, j)) === 0) return false;
  return true;
}

/**
 * Whether a chunk may hold `value` (UTF-8 or binary). False means that it certainly does not.
 *
 * @param filter the bytes of `ColumnChunk.bloom`
 * @throws DbError StorageUnavailable when the filter is damaged
 */
export function bloomMayContain(filter: Uint8Array, value: Uint8Array): boolean {
  const hash = bloomHash(value);
  const at = bloomBlockAt(bloomBlocks(filter), hash);
  return bloomBlockHolds(filter.subarray(at, at + BLOCK_BYTES), hash);
}

function bitOf(low: number, word: number): number {
  return 1 << (Math.imul(low, SALT[word]!) >>> 27);
}
