/** Bits of Prometheus' chunks, and the codes that their numbers have. Source: tsdb/docs/format/chunks.md of Prometheus. */

/** What changed of the 64 bits of a value that comes again and again: those of a window, which stays until another one is said. */
export class ChangedBits {
  low = 0;
  high = 0;
  private leading = 0;
  private trailing = 0;

  read(bits: ChunkBits): void {
    this.low = 0;
    this.high = 0;
    if (bits.take(1) === 0) return;
    if (bits.take(1) === 1) {
      this.leading = bits.take(5);
      this.trailing = 64 - this.leading - (bits.take(6) || 64);
      if (this.trailing < 0) throw new Error("a chunk with a change of more than 64 bits");
    }
    const { trailing } = this;
    const size = 64 - this.leading - trailing;
    const upper = size > 32 ? bits.take(size - 32) : 0;
    const lower = bits.take(Math.min(32, size));
    if (trailing >= 32) this.high = lower << (trailing - 32);
    else if (trailing === 0) [this.low, this.high] = [lower, upper];
    else [this.low, this.high] = [lower << trailing, (upper << trailing) | (lower >>> (32 - trailing))];
  }
}

/** Sizes of numbers, by the ones that stand before them. Source: tsdb/chunkenc/varbit.go. */
const SIZES = [0, 3, 6, 9, 12, 18, 25, 56, 64] as const;

/** Bits, the first one of a byte being its highest. */
export class ChunkBits {
  private readonly bytes: Uint8Array;
  private at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Bits that are left. */
  get left(): number {
    return this.bytes.length * 8 - this.at;
  }

  /** The next 64 bits as a number without sign. */
  take64(): bigint {
    return (BigInt(this.take(32)) << 32n) | BigInt(this.take(32));
  }

  /** A number without sign whose size stands before it as ones (`varbit_uint`). */
  sizedUint(): bigint {
    return this.sized(this.size());
  }

  /** The same with a sign (`varbit_int`). */
  sizedInt(): bigint {
    const size = this.size();
    const value = this.sized(size);
    if (size === 64) return BigInt.asIntN(64, value);
    return size > 0 && value > 1n << BigInt(size - 1) ? value - (1n << BigInt(size)) : value;
  }

  /** The next `count` bits, at most 32, as a number that is not negative. @throws Error behind the end */
  take(count: number): number {
    if (this.at + count > this.bytes.length * 8) throw new Error("a chunk that ends within a sample");
    let value = 0;
    for (let left = count; left > 0; ) {
      const inByte = Math.min(left, 8 - (this.at & 7));
      const byte = this.bytes[this.at >>> 3] as number;
      value = value * 2 ** inByte + ((byte >>> (8 - (this.at & 7) - inByte)) & (2 ** inByte - 1));
      this.at += inByte;
      left -= inByte;
    }
    return value;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.take(8);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 63) throw new Error("a chunk with a number of more than ten bytes");
    }
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  private size(): number {
    let ones = 0;
    while (ones < SIZES.length - 1 && this.take(1) === 1) ones++;
    return SIZES[ones] as number;
  }

  private sized(size: number): bigint {
    if (size <= 32) return BigInt(this.take(size));
    return (BigInt(this.take(size - 32)) << 32n) | BigInt(this.take(32));
  }
}
