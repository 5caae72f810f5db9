/**
 * bzip2 → bytes, for streams: pieces in, pieces out. Few bytes may stand for a block of 46 MB, so other tasks of the thread get a turn
 * inside blocks too, and a block goes out in pieces as whoever reads takes them.
 */
import { type Pace, paced } from "../../base/scheduler/pace.ts";
import { BitReader } from "./bits.ts";
import { BLOCK_INPUT_BYTES_MAX, partSteps } from "./decode.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Unpacked pieces; streams one behind the other are one. @throws Error that says what is wrong */
export async function* decompressBzip2(bytes: Bytes, pace: Pace): Bytes {
  const input = new Input(bytes);
  try {
    for (await input.fill(); input.held.length > 0; await input.fill()) yield* stream(input, pace);
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

async function* stream(input: Input, pace: Pace): Bytes {
  const [b, z, h, level = 0] = input.held;
  if (b !== 0x42 || z !== 0x5a || h !== 0x68 || level < 0x31 || level > 0x39) throw new Error("it does not begin with BZh1 to BZh9");
  input.advance(32);
  for (let total = 0; ; ) {
    await input.fill();
    const bits = new BitReader(input.held, input.skip);
    const part = await paced(partSteps(bits, (level - 0x30) * 100_000), pace);
    input.advance(bits.position);
    if (part.kind === "end") {
      if (part.crc !== total) throw new Error("the checksum of the whole is wrong");
      if (input.skip > 0) input.advance(8);
      return;
    }
    total = (((total << 1) | (total >>> 31)) ^ part.crc) >>> 0;
    for (const piece of part.pieces) {
      if (piece.length > 0) yield piece;
      await pace.turn();
    }
  }
}
