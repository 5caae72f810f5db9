/** Chunks of native histograms, written from the description of their format (tsdb/docs/format/chunks.md of Prometheus). */

/** A histogram whose numbers are whole: buckets as deltas; or doubles: buckets as they are. */
export interface ChunkHistogram {
  readonly time: bigint;
  readonly count: bigint | number;
  readonly zeroCount: bigint | number;
  readonly sum: number;
  readonly positive: readonly (bigint | number)[];
  readonly negative: readonly (bigint | number)[];
}

/** What histograms of a chunk share; spans are offset and length. */
export interface ChunkLayout {
  /** 0 unknown, 1 no reset, 2 reset, 3 gauge. */
  readonly flags: number;
  readonly zeroThreshold: number;
  readonly schema: number;
  readonly positiveSpans: readonly (readonly [number, number])[];
  readonly negativeSpans: readonly (readonly [number, number])[];
  readonly bounds: readonly number[];
}

/** Writes one; all its histograms have whole numbers, or all have doubles. @param endsStale whether one that ends the series follows */
export function histogramChunk(layout: ChunkLayout, histograms: readonly ChunkHistogram[], endsStale: boolean): Uint8Array {
  const bits = new BitWriter();
  const count = histograms.length + (endsStale ? 1 : 0);
  bits.put(BigInt(count), 16);
  bits.put(BigInt(layout.flags), 2);
  bits.put(0n, 6);
  threshold(bits, layout.zeroThreshold);
  bits.int(BigInt(layout.schema));
  for (const spans of [layout.positiveSpans, layout.negativeSpans]) {
    bits.uint(BigInt(spans.length));
    for (const [offset, length] of spans) {
      bits.uint(BigInt(length));
      bits.int(BigInt(offset));
    }
  }
  bits.uint(BigInt(layout.bounds.length));
  for (const bound of layout.bounds) {
    const thousandths = bound * 1000;
    if (Number.isInteger(thousandths) && thousandths >= 0 && thousandths <= 33_554_430) bits.uint(BigInt(thousandths) + 1n);
    else {
      bits.put(0n, 1);
      bits.put(bitsOf(bound), 64);
    }
  }
  const [first] = histograms;
  const size = first === undefined ? 0 : first.positive.length + first.negative.length;
  const fields = Array.from({ length: size + 4 }, () => new Field(bits));
  for (const { time, count: all, zeroCount, sum, positive, negative } of histograms) {
    for (const [i, value] of [time, all, zeroCount, { double: sum }, ...positive, ...negative].entries()) fields[i]?.write(value, i);
  }
  if (endsStale) {
    const time = (histograms.at(-1)?.time ?? 0n) + 1n;
    const isFloat = typeof first?.count === "number";
    for (const [i, value] of [time, isFloat ? 0 : 0n, isFloat ? 0 : 0n].entries()) fields[i]?.write(value, i);
    fields[3]?.writeBits(0x7ff0_0000_0000_0002n);
  }
  return bits.finish();
}

function threshold(bits: BitWriter, value: number): void {
  const exponent = Math.log2(value);
  if (value === 0) bits.put(0n, 8);
  else if (Number.isInteger(exponent) && exponent >= -243 && exponent <= 10) bits.put(BigInt(exponent + 244), 8);
  else {
    bits.put(255n, 8);
    bits.put(bitsOf(value), 64);
  }
}

function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** A number that comes in each sample. */
class Field {
  private readonly bits: BitWriter;
  private last: bigint | undefined;
  private delta = 0n;
  private leading = -1;
  private trailing = 0;

  constructor(bits: BitWriter) {
    this.bits = bits;
  }

  /** @param place among the fields: 1 and 2 are counts, without sign at first */
  write(value: bigint | number | { readonly double: number }, place: number): void {
    if (typeof value === "object") this.writeBits(bitsOf(value.double));
    else if (typeof value === "number") this.writeBits(bitsOf(value));
    else if (this.last === undefined) {
      if (place === 1 || place === 2) this.bits.uint(value);
      else this.bits.int(value);
      this.last = value;
    } else {
      const delta = value - this.last;
      this.bits.int(BigInt.asIntN(64, delta - this.delta));
      [this.delta, this.last] = [delta, value];
    }
  }

  /** A double: all bits at first, then those that changed. */
  writeBits(value: bigint): void {
    const before = this.last;
    this.last = value;
    if (before === undefined) return this.bits.put(value, 64);
    const changed = value ^ before;
    if (changed === 0n) return this.bits.put(0n, 1);
    this.bits.put(1n, 1);
    const text = changed.toString(2).padStart(64, "0");
    const leading = Math.min(31, text.indexOf("1"));
    const trailing = 63 - text.lastIndexOf("1");
    if (this.leading >= 0 && leading >= this.leading && trailing >= this.trailing) {
      this.bits.put(0n, 1);
      return this.bits.put(changed >> BigInt(this.trailing), 64 - this.leading - this.trailing);
    }
    [this.leading, this.trailing] = [leading, trailing];
    const size = 64 - leading - trailing;
    this.bits.put(1n, 1);
    this.bits.put(BigInt(leading), 5);
    this.bits.put(BigInt(size % 64), 6);
    this.bits.put(changed >> BigInt(trailing), size);
  }
}

const SIZES = [3, 6, 9, 12, 18, 25, 56] as const;

class BitWriter {
  private text = "";

  put(value: bigint, size: number): void {
    this.text += BigInt.asUintN(size, value).toString(2).padStart(size, "0");
  }

  uint(value: bigint): void {
    this.sized(value, (size) => value < 1n << BigInt(size));
  }

  int(value: bigint): void {
    this.sized(value, (size) => value >= -(1n << BigInt(size - 1)) + 1n && value <= 1n << BigInt(size - 1));
  }

  finish(): Uint8Array {
    const bytes = this.text.match(/.{1,8}/g) ?? [];
    return Uint8Array.from(bytes, (byte) => Number.parseInt(byte.padEnd(8, "0"), 2));
  }

  private sized(value: bigint, fits: (size: number) => boolean): void {
    if (value === 0n) return this.put(0n, 1);
    const found = SIZES.findIndex(fits);
    const ones = found < 0 ? 8 : found + 1;
    this.text += "1".repeat(ones) + (ones < 8 ? "0" : "");
    this.put(value, found < 0 ? 64 : (SIZES[found] as number));
  }
}
