/**
 * Reads XOR chunks of Prometheus: what `ingest/prometheus/read/xor-chunk.ts` writes.
 *
 *   count u16 BE | time zigzag | value 64 bits | delta varint, xor | double delta, xor | ...
 *
 * Source: tsdb/docs/format/chunks.md of Prometheus. Values stay as the two halves of their bits, since a NaN's bits mean something (a
 * series that ended).
 */

/** Samples of one series. */
export interface Samples {
  readonly count: number;
  /** Milliseconds. */
  readonly times: Float64Array;
  /** Halves of the bits of the values. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

const TWO_32 = 2 ** 32;
/** Bits of a double delta, by how many ones stand before them. */
const DELTA_BITS = [0, 14, 17, 20, 64] as const;

/** The samples of a chunk. @throws Error for bytes that are no chunk */
export function readXorChunk(bytes: Uint8Array): Samples {
  if (bytes.length < 2) throw new Error("a chunk of less than two bytes");
  const count = ((bytes[0] as number) << 8) | (bytes[1] as number);
  // A sample takes two bits at least.
  if (count > bytes.length * 4) throw new Error(`a chunk of ${bytes.length} bytes with ${count} samples`);
  const bits = new Bits(bytes, 16);
  const times = new Float64Array(count);
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  const change = new Change();
  let [time, delta] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (i === 0) {
      time = bits.zigzag();
      high[0] = bits.take(32);
      low[0] = bits.take(32);
    } else {
      delta = i === 1 ? bits.varint() : delta + doubleDelta(bits);
      time += delta;
      change.read(bits);
      low[i] = ((low[i - 1] as number) ^ change.low) >>> 0;
      high[i] = ((high[i - 1] as number) ^ change.high) >>> 0;
    }
    if (!Number.isSafeInteger(time)) throw new Error("a chunk with a time beyond 2^53 milliseconds");
    times[i] = time;
  }
  return { count, times, low, high };
}

function doubleDelta(bits: Bits): number {
  let ones = 0;
  while (ones < 4 && bits.take(1) === 1) ones++;
  const size = DELTA_BITS[ones] as number;
  if (size === 0) return 0;
  if (size < 64) {
    const value = bits.take(size);
    return value > 2 ** (size - 1) ? value - 2 ** size : value;
  }
  const upper = bits.take(32) | 0;
  return upper * TWO_32 + bits.take(32);
}

/** What changed of a value's bits: those of a window, which stays until another one is said. */
class Change {
  low = 0;
  high = 0;
  private leading = 0;
  private trailing = 0;

  read(bits: Bits): void {
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

/** Bits, the first one of a byte being its highest. */
class Bits {
  private readonly bytes: Uint8Array;
  private at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
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
}
