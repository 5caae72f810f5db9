/**
 * LZ4 frames (FORMAT.md): one block after another, each on its own or with the 64 KiB before it. Read with every bound checked; written
 * with independent blocks of 4 MiB and no checksum of the content, as Arrow's libraries do.
 */
import { decodeBlock, encodeBlock, Lz4Error } from "./block.ts";
import { xxHash32 } from "./xxhash32.ts";

const MAGIC = 0x184d2204;
const SKIPPABLE = 0x184d2a50;
const VERSION = 0x40;
const INDEPENDENT = 0x20;
const BLOCK_CHECKSUM = 0x10;
const CONTENT_SIZE = 0x08;
const CONTENT_CHECKSUM = 0x04;
const DICTIONARY = 0x01;
/** High bit of a block's length: its bytes are as they are. */
const STORED = 0x8000_0000;
/** Largest blocks by their code in the frame's head. */
const BLOCK_BYTES: readonly number[] = [0, 0, 0, 0, 64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024];
const WRITTEN_CODE = 7;

/**
 * Decodes frames, one behind another, into bytes of a known number.
 *
 * @throws Lz4Error for what is no frame, is damaged, or does not give exactly `length` bytes
 */
export function decodeLz4Frames(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  // A sequence of 255s makes 255 bytes of one: no memory is taken because of a lie.
  if (length > bytes.length * 255) throw new Lz4Error(`${bytes.length} bytes cannot decode to ${length}`);
  const output = new Uint8Array(length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let used = 0;
  while (at < bytes.length) {
    if (at + 8 <= bytes.length && (view.getUint32(at, true) & 0xffff_fff0) >>> 0 === SKIPPABLE) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    ({ at, used } = decodeFrame(bytes, view, at, output, used));
  }
  if (at > bytes.length) throw new Lz4Error("a skippable frame ends behind the bytes");
  if (used !== length) throw new Lz4Error(`${used} bytes were decoded where ${length} were announced`);
  return output;
}

interface Place {
  readonly at: number;
  readonly used: number;
}

function decodeFrame(bytes: Uint8Array, view: DataView, from: number, output: Uint8Array, start: number): Place {
  const head = readHead(bytes, view, from);
  let { at } = head;
  let used = start;
  for (;;) {
    need(bytes, at, 4);
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const blockLength = word & ~STORED;
    if (blockLength > head.blockMax) throw new Lz4Error(`a block of ${blockLength} bytes where ${head.blockMax} are the most`);
    need(bytes, at, blockLength);
    const block = bytes.subarray(at, at + blockLength);
    // Copies reach back into this frame only, and into this block only where blocks are independent.
    const window = head.isIndependent ? used : start;
    if ((word & STORED) === 0) used = decodeBlock(block, output, used, window);
    else {
      if (used + blockLength > output.length) throw new Lz4Error(`more than the ${output.length} bytes that were announced`);
      output.set(block, used);
      used += blockLength;
    }
    at += blockLength;
    if (head.hasBlockChecksums) {
      need(bytes, at, 4);
      if (view.getUint32(at, true) !== xxHash32(block)) throw new Lz4Error("a block's checksum is another");
      at += 4;
    }
  }
  if (head.hasContentChecksum) {
    need(bytes, at, 4);
    if (view.getUint32(at, true) !== xxHash32(output.subarray(start, used))) throw new Lz4Error("the content's checksum is another");
    at += 4;
  }
  if (head.contentSize !== undefined && head.contentSize !== BigInt(used - start)) throw new Lz4Error("the content has another size");
  return { at, used };
}

function readHead(bytes: Uint8Array, view: DataView, from: number) {
  need(bytes, from, 7);
  if (view.getUint32(from, true) !== MAGIC) throw new Lz4Error("no LZ4 frame begins here");
  const flags = view.getUint8(from + 4);
  const sizes = view.getUint8(from + 5);
  if ((flags & 0xc0) !== VERSION || (flags & 0x02) !== 0) throw new Lz4Error("a version of LZ4 frames that is not known");
  if ((flags & DICTIONARY) !== 0) throw new Lz4Error("LZ4 dictionaries are not supported");
  const blockMax = BLOCK_BYTES[(sizes >> 4) & 7] ?? 0;
  if (blockMax === 0 || (sizes & 0x8f) !== 0) throw new Lz4Error("a size of blocks that is not known");
  let at = from + 6;
  let contentSize: bigint | undefined;
  if ((flags & CONTENT_SIZE) !== 0) {
    need(bytes, at, 9);
    contentSize = view.getBigUint64(at, true);
    at += 8;
  }
  if (bytes[at] !== ((xxHash32(bytes.subarray(from + 4, at)) >> 8) & 0xff)) throw new Lz4Error("the checksum of a frame's head is another");
  return {
    at: at + 1,
    blockMax,
    contentSize,
    isIndependent: (flags & INDEPENDENT) !== 0,
    hasBlockChecksums: (flags & BLOCK_CHECKSUM) !== 0,
    hasContentChecksum: (flags & CONTENT_CHECKSUM) !== 0,
  };
}

function need(bytes: Uint8Array, at: number, count: number): void {
  if (at + count > bytes.length) throw new Lz4Error(`the frame ends at byte ${bytes.length}, in the middle`);
}

/** Bytes that a frame of so many takes at most. */
export function lz4FrameBytes(length: number): number {
  return 7 + length + Math.ceil(length / BLOCK_BYTES[WRITTEN_CODE]!) * 4 + 4;
}

/**
 * One frame of some bytes. Blocks that do not get shorter are stored as they are.
 *
 * @param output where it goes, `lz4FrameBytes` long
 * @returns the part of it that is used
 */
export function encodeLz4Frame<B extends ArrayBufferLike>(bytes: Uint8Array, output: Uint8Array<B>): Uint8Array<B> {
  const blockMax = BLOCK_BYTES[WRITTEN_CODE]!;
  const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
  view.setUint32(0, MAGIC, true);
  output[4] = VERSION | INDEPENDENT;
  output[5] = WRITTEN_CODE << 4;
  output[6] = (xxHash32(output.subarray(4, 6)) >> 8) & 0xff;
  let used = 7;
  for (let from = 0; from < bytes.length; from += blockMax) {
    const block = bytes.subarray(from, from + blockMax);
    const packed = encodeBlock(block, output.subarray(used + 4, used + 4 + block.length - 1));
    if (packed === undefined) output.set(block, used + 4);
    view.setUint32(used, packed ?? block.length + STORED, true);
    used += 4 + (packed ?? block.length);
  }
  view.setUint32(used, 0, true);
  return output.subarray(0, used + 4);
}
