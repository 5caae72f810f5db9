/**
 * The XOR chunks of Prometheus: times as differences of differences, values as what changed of their bits. Source: chunk formats and
 * `tsdb/chunkenc` of Prometheus; the idea: Pelkonen et al., Gorilla, VLDB 2015.
 *
 *   count u16 BE | time zigzag | value 64 bits | delta varint, xor | double delta, xor | ...
 */

/** Samples of a full chunk, as Prometheus cuts them. */
export const CHUNK_SAMPLES = 120;

const TWO_32 = 2 ** 32;
/**
 * Room for a full chunk of the longest samples: count, time and value take 20 bytes, the first delta 8, each later one 36 bits, each change
 * of a value 77.
 */
const CHUNK_BYTES_MAX: number = 28 + Math.ceil(((36 + 77) * CHUNK_SAMPLES) / 8);
/** No window of changed bits yet. */
const NO_WINDOW = 255;
/** Bits of a double delta behind `10`, `110` and `1110`. */
const SMALL = 14;
const MIDDLE = 17;
const LARGE = 20;

/** Writes one chunk after the other, each of at most `CHUNK_SAMPLES`. Times are whole milliseconds within ±2^53. */
export class XorChunk {
  count = 0;
  minTime = 0;
  maxTime = 0;
  private readonly bytes = new Uint8Array(CHUNK_BYTES_MAX);
  private length = 0;
  private free = 0;
  private delta = 0;
  private low = 0;
  private high = 0;
  private leading = NO_WINDOW;
  private trailing = 0;

  /** Appends a sample with the bits of its value. */
  append(time: number, low: number, high: number): void {
    if (this.count === 0) this.first(time, low, high);
    else if (this.count === 1) this.second(time, low, high);
    else this.later(time, low, high);
    this.low = low;
    this.high = high;
    this.maxTime = time;
    this.count++;
  }

  /** The chunk's bytes; the next sample begins another. */
  finish(): Uint8Array<ArrayBuffer> {
    const { bytes: room, count } = this;
    room[0] = count >>> 8;
    room[1] = count & 0xff;
    const bytes = room.slice(0, this.length);
    this.length = 0;
    this.free = 0;
    this.count = 0;
    this.leading = NO_WINDOW;
    return bytes;
  }

  private first(time: number, low: number, high: number): void {
    this.minTime = time;
    this.length = 2;
    let rest = time >= 0 ? BigInt(time) * 2n : BigInt(-time) * 2n - 1n;
    for (; rest >= 0x80n; rest >>= 7n) this.bits(Number(rest & 0x7fn) | 0x80, 8);
    this.bits(Number(rest), 8);
    this.bits(high, 32);
    this.bits(low, 32);
  }

  private second(time: number, low: number, high: number): void {
    this.delta = time - this.maxTime;
    let rest = this.delta;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bits((rest % 0x80) | 0x80, 8);
    this.bits(rest, 8);
    this.xor(low, high);
  }

  private later(time: number, low: number, high: number): void {
    const delta = time - this.maxTime;
    const change = delta - this.delta;
    this.delta = delta;
    if (change === 0) this.bits(0, 1);
    else if (fits(change, SMALL)) this.marked(0b10, 2, change, SMALL);
    else if (fits(change, MIDDLE)) this.marked(0b110, 3, change, MIDDLE);
    else if (fits(change, LARGE)) this.marked(0b1110, 4, change, LARGE);
    else {
      this.bits(0b1111, 4);
      this.bits(Math.floor(change / TWO_32), 32);
      this.bits(change >>> 0, 32);
    }
    this.xor(low, high);
  }

  private marked(mark: number, markBits: number, change: number, bits: number): void {
    this.bits(mark, markBits);
    this.bits(change, bits);
  }

  private xor(low: number, high: number): void {
    const changedLow = (low ^ this.low) >>> 0;
    const changedHigh = (high ^ this.high) >>> 0;
    if (changedLow === 0 && changedHigh === 0) return this.bits(0, 1);
    this.bits(1, 1);
    const leading = Math.min(31, changedHigh !== 0 ? Math.clz32(changedHigh) : 32 + Math.clz32(changedLow));
    const trailing = changedLow !== 0 ? trailingZeros(changedLow) : 32 + trailingZeros(changedHigh);
    if (this.leading !== NO_WINDOW && leading >= this.leading && trailing >= this.trailing) {
      this.bits(0, 1);
    } else {
      this.leading = leading;
      this.trailing = trailing;
      this.bits(1, 1);
      this.bits(leading, 5);
      this.bits((64 - leading - trailing) & 63, 6); // 64 is written as 0.
    }
    this.window(changedLow, changedHigh);
  }

  /** The bits between `leading` and `trailing`. */
  private window(low: number, high: number): void {
    const { leading, trailing } = this;
    if (trailing >= 32) return this.bits(high >>> (trailing - 32), 64 - leading - trailing);
    this.bits(high, 32 - leading);
    this.bits(low >>> trailing, 32 - trailing);
  }

  /** The lowest `count` bits of a number, highest first; 1 to 32 of them. */
  private bits(value: number, count: number): void {
    const { bytes } = this;
    for (let left = count; left > 0; ) {
      if (this.free === 0) {
        bytes[this.length++] = 0;
        this.free = 8;
      }
      const taken = Math.min(left, this.free);
      const part = (value >>> (left - taken)) & ((1 << taken) - 1);
      bytes[this.length - 1]! |= part << (this.free - taken);
      this.free -= taken;
      left -= taken;
    }
  }
}

function fits(value: number, bits: number): boolean {
  const half = 2 ** (bits - 1);
  return value > -half && value <= half;
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word);
}
