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
  const input = new Input(bytes);
  try {
    for (await input.fill(); input.held.length > 0; await input.fill()) yield* stream(input);
  } finally {
    await input.close();
  }
}

/** Bytes that are not used up, and how many bits of the first of them are. */
class Input {
  held: Uint8Array = new Uint8Array(0);
  skip = 0;
  private readonly source: AsyncIterator<Uint8Array>;
  private isEnd = false;

  constructor(bytes: Bytes) {
    this.source = bytes[Symbol.asyncIterator]();
  }

  /** Takes more until there is as much as a block may need. */
  async fill(): Promise<void> {
    const parts = [this.held];
    for (let length = this.held.length; length < BLOCK_INPUT_BYTES_MAX && !this.isEnd; ) {
      const { value, done } = await this.source.next();
      if (done === true) this.isEnd = true;
      else {
        parts.push(value);
        length += value.length;
      }
    }
    if (parts.length > 1) this.held = new Uint8Array(Buffer.concat(parts));
  }

  /** Goes on behind so many bits. */
  advance(bits: number): void {
    this.held = this.held.subarray(bits >> 3);
    this.skip = bits & 7;
  }

  async close(): Promise<void> {
    await this.source.return?.();
  }
}

async function* stream(input: Input): Bytes {
  const [b, z, h, level = 0] = input.held;
  if (b !== 0x42 || z !== 0x5a || h !== 0x68 || level < 0x31 || level > 0x39) throw new Error("it does not begin with BZh1 to BZh9");
  input.advance(32);
  for (let total = 0; ; await turn()) {
    await input.fill();
    const bits = new BitReader(input.held, input.skip);
    const part = readPart(bits, (level - 0x30) * 100_000);
    input.advance(bits.position);
    if (part.kind === "end") {
      if (part.crc !== total) throw new Error("the checksum of the whole is wrong");
      if (input.skip > 0) input.advance(8);
      return;
    }
    total = (((total << 1) | (total >>> 31)) ^ part.crc) >>> 0;
    yield* part.pieces;
  }
}
