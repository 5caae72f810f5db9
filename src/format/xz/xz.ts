/** .xz for streams: pieces in, pieces out. Between chunks other tasks of the thread get a turn. */
import { crc32 } from "../../base/hash.ts";
import { ByteQueue } from "./byte-queue.ts";
import { CHECK_CRC32, checkOf, crcBytes, FILTER_LZMA2, FOOT_MAGIC, HEAD_MAGIC, numberBytes } from "./container.ts";
import { ChunkDecoder } from "./decode.ts";
import { SEGMENT_BYTES, SegmentEncoder } from "./encode.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Largest dictionary that is read: that of `xz -9`. Reason: it lies in memory. */
const DICTIONARY_BYTES_MAX: number = 64 * 1024 * 1024;
/** Most blocks of a stream. Reason: the index is checked against them. */
const BLOCKS_MAX = 1_000_000;
/** 4 MiB: (2 | 0) << (20 / 2 + 11). */
const DICTIONARY_CODE = 20;
const FLAGS: Uint8Array = Uint8Array.of(0, CHECK_CRC32);

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const padding = (length: number): Uint8Array => new Uint8Array((4 - (length % 4)) % 4);

/** Compressed pieces: one stream of one block. */
export async function* compressXz(bytes: Bytes): Bytes {
  yield Buffer.concat([HEAD_MAGIC, FLAGS, crcBytes(FLAGS)]);
  const header = Uint8Array.of(2, 0, FILTER_LZMA2, 1, DICTIONARY_CODE, 0, 0, 0);
  let packed = header.length + 4;
  let crc = 0;
  let total = 0;
  yield Buffer.concat([header, crcBytes(header)]);
  for await (const segment of segments(bytes)) {
    crc = crc32(segment, crc);
    total += segment.length;
    for (const piece of new SegmentEncoder(segment).chunks()) {
      packed += piece.length;
      yield piece;
      await turn();
    }
  }
  packed++;
  yield Buffer.concat([Uint8Array.of(0), padding(packed), new Uint8Array(Uint32Array.of(crc).buffer)]);
  packed += 4; // The check counts, the padding does not.
  const list = Uint8Array.from([0, ...numberBytes(1), ...numberBytes(packed), ...numberBytes(total)]);
  const index = Buffer.concat([list, padding(list.length)]);
  const foot = Buffer.concat([new Uint8Array(Uint32Array.of((index.length + 4) / 4 - 1).buffer), FLAGS]);
  yield Buffer.concat([index, crcBytes(index), crcBytes(foot), foot, FOOT_MAGIC]);
}

/** Pieces joined and cut to segments. */
async function* segments(bytes: Bytes): Bytes {
  let segment = new Uint8Array(SEGMENT_BYTES);
  let filled = 0;
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      const take = Math.min(piece.length - at, SEGMENT_BYTES - filled);
      segment.set(piece.subarray(at, at + take), filled);
      at += take;
      filled += take;
      if (filled < SEGMENT_BYTES) continue;
      yield segment;
      segment = new Uint8Array(SEGMENT_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield segment.subarray(0, filled);
}

/** Unpacked pieces; streams one behind the other are one. @throws Error that says what is wrong */
export async function* decompressXz(bytes: Bytes): Bytes {
  const input = new ByteQueue(bytes);
  try {
    do yield* stream(input);
    while (await hasMore(input));
  } finally {
    await input.close();
  }
}

/** Whether another stream follows, behind zeros. */
async function hasMore(input: ByteQueue): Promise<boolean> {
  while (!(await input.isAtEnd())) {
    if ((await input.peek()) !== 0) return true;
    if ((await input.take(4)).some((byte) => byte !== 0)) throw new Error("bytes follow its end");
  }
  return false;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

async function* stream(input: ByteQueue): Bytes {
  const head = await input.take(12);
  if (!same(head.subarray(0, 6), HEAD_MAGIC)) throw new Error("it does not begin as .xz files do");
  const flags = head.slice(6, 8);
  if (!same(crcBytes(flags), head.subarray(8)) || flags[0] !== 0) throw new Error("its header is damaged");
  const blocks: number[] = [];
  while ((await input.peek()) !== 0) {
    if (blocks.length >= 2 * BLOCKS_MAX) throw new Error(`it has more than ${BLOCKS_MAX} blocks`);
    const start = input.position;
    const dictionaryBytes = await blockHeader(input);
    const check = checkOf((flags[1] ?? 0) & 15);
    let total = 0;
    for await (const piece of chunks(input, dictionaryBytes)) {
      check.update(piece);
      total += piece.length;
      yield piece;
    }
    const length = input.position - start;
    await input.take(padding(length).length);
    const wanted = check.digest();
    if (!same(await input.take(wanted.length), wanted)) throw new Error("the check of a block is wrong");
    blocks.push(length + wanted.length, total);
  }
  await readIndex(input, blocks, flags);
}

/** Reads the head of a block; gives the size of its dictionary. */
async function blockHeader(input: ByteQueue): Promise<number> {
  const length = ((await input.peek()) + 1) * 4;
  const header = await input.take(length);
  if (!same(crcBytes(header.subarray(0, length - 4)), header.subarray(length - 4))) throw new Error("the head of a block is damaged");
  const flags = header[1] ?? 0;
  let at = 2;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = header[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 || scale > 2 ** 42) return value;
    }
  };
  if ((flags & 0x40) !== 0) number(); // Sizes, which the index tells again.
  if ((flags & 0x80) !== 0) number();
  if ((flags & 3) !== 0 || number() !== FILTER_LZMA2 || number() !== 1) throw new Error("it uses other filters than LZMA2");
  const code = header[at] ?? 0;
  const dictionaryBytes = (2 | (code & 1)) * 2 ** ((code >> 1) + 11);
  if (code > 40 || dictionaryBytes > DICTIONARY_BYTES_MAX) {
    throw new Error(`its dictionary has ${dictionaryBytes} bytes, at most ${DICTIONARY_BYTES_MAX} are read`);
  }
  return dictionaryBytes;
}

async function* chunks(input: ByteQueue, dictionaryBytes: number): Bytes {
  const decoder = new ChunkDecoder(dictionaryBytes);
  for (let isFirst = true; ; isFirst = false) {
    const control = (await input.take(1))[0] ?? 0;
    if (control === 0) return;
    const resets = control >= 0xe0 || control === 1;
    if (isFirst && !resets) throw new Error("its first chunk has no dictionary");
    if (resets) decoder.resetDictionary();
    if (control < 0x80) {
      if (control > 2) throw new Error("a chunk is of no known kind");
      const [high = 0, low = 0] = await input.take(2);
      yield decoder.stored(await input.take(high * 256 + low + 1)).slice();
      continue;
    }
    const [a = 0, b = 0, c = 0, d = 0] = await input.take(4);
    const unpacked = (control & 31) * 65_536 + a * 256 + b + 1;
    if (control >= 0xc0) decoder.resetState((await input.take(1))[0] ?? 0);
    else if (control >= 0xa0) decoder.resetState();
    yield decoder.packed(await input.take(c * 256 + d + 1), unpacked).slice();
    await turn();
  }
}

async function readIndex(input: ByteQueue, blocks: readonly number[], flags: Uint8Array): Promise<void> {
  const wanted = [0, ...numberBytes(blocks.length / 2), ...blocks.flatMap(numberBytes)];
  const index = Buffer.concat([Uint8Array.from(wanted), padding(wanted.length)]);
  if (!same(await input.take(index.length), index)) throw new Error("its index does not fit its blocks");
  if (!same(await input.take(4), crcBytes(index))) throw new Error("its index is damaged");
  const foot = await input.take(12);
  const size = new DataView(foot.buffer, foot.byteOffset, 12).getUint32(4, true);
  const isGood =
    same(crcBytes(foot.slice(4, 10)), foot.subarray(0, 4)) && same(foot.subarray(8, 10), flags) && same(foot.subarray(10), FOOT_MAGIC);
  if (!isGood || (size + 1) * 4 !== index.length + 4) throw new Error("its end is damaged");
}
