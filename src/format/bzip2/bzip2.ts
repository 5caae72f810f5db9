/** bzip2 for streams: pieces in, pieces out. Between blocks other tasks of the thread get a turn. */
import { BitReader } from "./bits.ts";
import { BLOCK_INPUT_BYTES_MAX, readPart } from "./decode.ts";
import { Bzip2Encoder } from "./encode.ts";

type Bytes = AsyncIterable<Uint8Array>;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Compressed pieces. */
export async function* compressBzip2(bytes: Bytes): Bytes {
  const encoder = new Bzip2Encoder();
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      at = encoder.push(piece, at);
      if (at >= piece.length) break;
      yield encoder.block();
      await turn();
    }
  }
  yield encoder.finish();
}

/** Unpacked pieces; streams one behind the other are one. @throws Error that says what is wrong */
export async function* decompressBzip2(bytes: Bytes): Bytes {
  const source = bytes[Symbol.asyncIterator]();
  let held = new Uint8Array(0);
  let isEnd = false;
  let skip = 0;
  const fill = async (): Promise<void> => {
    const parts = [held];
    for (let length = held.length; length < BLOCK_INPUT_BYTES_MAX && !isEnd; ) {
      const { value, done } = await source.next();
      if (done === true) isEnd = true;
      else {
        parts.push(Uint8Array.from(value));
        length += value.length;
      }
    }
    held = parts.length === 1 ? held : new Uint8Array(Buffer.concat(parts));
  };
  try {
    for (await fill(); held.length > 0; await fill()) {
      if (held[0] !== 0x42 || held[1] !== 0x5a || held[2] !== 0x68 || !((held[3] ?? 0) >= 0x31 && (held[3] ?? 0) <= 0x39)) {
        throw new Error("it does not begin with BZh1 to BZh9");
      }
      const bytesMax = ((held[3] as number) - 0x30) * 100_000;
      held = held.slice(4);
      skip = 0;
      for (let total = 0; ; await turn()) {
        await fill();
        const input = new BitReader(held, skip);
        const part = readPart(input, bytesMax);
        const { position } = input;
        held = held.slice(position >> 3);
        skip = position & 7;
        if (part.kind === "end") {
          if (part.crc !== total) throw new Error("the checksum of the whole is wrong");
          if (skip > 0) held = held.slice(1);
          break;
        }
        total = (((total << 1) | (total >>> 31)) ^ part.crc) >>> 0;
        yield* part.pieces;
      }
    }
  } finally {
    await source.return?.();
  }
}
