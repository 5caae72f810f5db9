/**
 * Reads chunks of native histograms of Prometheus as messages of remote write: both have deltas of buckets or doubles, and the same spans.
 *
 *   count u16 BE | flags | zero threshold | schema | spans above | spans below | bounds | time, count, zero count, sum, buckets | …
 *
 * Whole numbers are first values, then deltas of deltas; doubles are 64 bits, then what changed of them. A sample that ends a series has a
 * sum that says so and no buckets. Source: tsdb/docs/format/chunks.md and chunkenc of Prometheus.
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ChangedBits, ChunkBits } from "./chunk-bits.ts";

/** Histograms of one series. */
export interface Histograms {
  readonly count: number;
  /** `Histogram` messages of remote write. */
  readonly messages: readonly Uint8Array[];
}

/** Encodings of chunks: whole numbers, and doubles. */
export const WHOLE_HISTOGRAMS = 2;
export const FLOAT_HISTOGRAMS = 3;

const HEAD_BYTES = 3;
/** The two highest flags. */
const RESET = 0b10;
const GAUGE = 0b11;
/** `Histogram.ResetHint`. */
const Hint = { unknown: 0, yes: 1, no: 2, gauge: 3 } as const;

/** A zero threshold that is a power of two has its exponent, so much more, in a byte; another has this byte and 64 bits. */
const THRESHOLD_BIAS = 244;
const THRESHOLD_WHOLE = 255;
/** Bounds that people choose are thousandths. */
const THOUSAND = 1000;
/** The sum of a sample that ends a series. */
const STALE_HIGH = 0x7ff0_0000;
const STALE_LOW = 2;

interface Spans {
  readonly offsets: readonly bigint[];
  readonly lengths: readonly bigint[];
  readonly buckets: number;
}

/** What all histograms of a chunk share. */
interface Layout {
  readonly zeroThreshold: number;
  readonly schema: bigint;
  readonly positive: Spans;
  readonly negative: Spans;
  readonly bounds: readonly number[];
}

/** The histograms of a chunk. @param isFloat whether its numbers are doubles @throws Error for bytes that are no chunk */
export function readHistogramChunk(bytes: Uint8Array, isFloat: boolean): Histograms {
  if (bytes.length < HEAD_BYTES) throw new Error("a chunk of less than three bytes");
  const count = ((bytes[0] as number) << 8) | (bytes[1] as number);
  const flags = (bytes[2] as number) >>> 6;
  const bits = new ChunkBits(bytes, HEAD_BYTES * 8);
  if (count > bits.left) throw new Error(`a chunk of ${bytes.length} bytes with ${count} histograms`);
  if (count === 0) return { count, messages: [] };
  const layout = layoutIn(bits);
  const size = layout.positive.buckets + layout.negative.buckets;
  const numbers = isFloat ? new Doubles(size + 2) : new Wholes(size + 2);
  const time = new Whole();
  const sum = new Double();
  const messages: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    time.read(bits, true);
    numbers.read(bits, 0, 2);
    sum.read(bits);
    const isStale = sum.high === STALE_HIGH && sum.low === STALE_LOW;
    if (i === 0 || !isStale) numbers.read(bits, 2, size + 2);
    const first = flags === RESET ? Hint.yes : Hint.unknown;
    const hint = flags === GAUGE ? Hint.gauge : i > 0 ? Hint.no : first;
    messages.push(messageOf(layout, numbers, sum, isStale, hint, time.value));
  }
  return { count, messages };
}

function layoutIn(bits: ChunkBits): Layout {
  const exponent = bits.take(8);
  const zeroThreshold = exponent === 0 ? 0 : exponent === THRESHOLD_WHOLE ? doubleOf(bits.take64()) : 2 ** (exponent - THRESHOLD_BIAS);
  const schema = bits.sizedInt();
  const positive = spansIn(bits);
  const negative = spansIn(bits);
  const bounds: number[] = [];
  for (let left = counted(bits, bits.sizedUint()); left > 0; left--) {
    const thousandths = bits.sizedUint();
    bounds.push(thousandths === 0n ? doubleOf(bits.take64()) : (Number(thousandths) - 1) / THOUSAND);
  }
  return { zeroThreshold, schema, positive, negative, bounds };
}

function spansIn(bits: ChunkBits): Spans {
  const [offsets, lengths]: [bigint[], bigint[]] = [[], []];
  let buckets = 0;
  for (let left = counted(bits, bits.sizedUint()); left > 0; left--) {
    const length = bits.sizedUint();
    buckets = counted(bits, BigInt(buckets) + length);
    lengths.push(length);
    offsets.push(bits.sizedInt());
  }
  return { offsets, lengths, buckets };
}

/** A number of things of which each takes a bit at least. @throws Error where there are not so many */
function counted(bits: ChunkBits, count: bigint): number {
  if (count > BigInt(bits.left)) throw new Error(`a chunk with ${count} spans, buckets or bounds and ${bits.left} bits`);
  return Number(count);
}

function doubleOf(value: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value);
  return view.getFloat64(0);
}

/** A whole number that comes again and again. */
class Whole {
  value = 0n;
  private delta = 0n;
  private isFirst = true;

  /** @param isSigned whether the first one has a sign; deltas have */
  read(bits: ChunkBits, isSigned: boolean): void {
    if (this.isFirst) {
      this.value = isSigned ? bits.sizedInt() : bits.sizedUint();
      this.isFirst = false;
      return;
    }
    this.delta = BigInt.asIntN(64, this.delta + bits.sizedInt());
    this.value = BigInt.asIntN(64, this.value + this.delta);
  }
}

/** A double that comes again and again, as halves of its bits. */
class Double {
  low = 0;
  high = 0;
  private change: ChangedBits | undefined;

  read(bits: ChunkBits): void {
    if (this.change === undefined) {
      this.change = new ChangedBits();
      this.high = bits.take(32);
      this.low = bits.take(32);
      return;
    }
    this.change.read(bits);
    this.low = (this.low ^ this.change.low) >>> 0;
    this.high = (this.high ^ this.change.high) >>> 0;
  }
}

/** Count, zero count and buckets of a histogram. */
interface Numbers {
  /** Reads the next values of some. */
  read(bits: ChunkBits, from: number, to: number): void;
  /** Writes count and zero count. */
  writeCounts(writer: BinaryWriter): void;
  /** Writes buckets, each behind the one before; `field` is that of spans. */
  writeBuckets(writer: BinaryWriter, field: number, from: number, to: number): void;
}

class Wholes implements Numbers {
  private readonly all: readonly Whole[];

  constructor(size: number) {
    this.all = Array.from({ length: size }, () => new Whole());
  }

  read(bits: ChunkBits, from: number, to: number): void {
    for (let i = from; i < to; i++) this.all[i]?.read(bits, i > 1);
  }

  writeCounts(writer: BinaryWriter): void {
    writer.tag(1, WireType.Varint).uint64(unsigned(this.all[0]));
    writer.tag(6, WireType.Varint).uint64(unsigned(this.all[1]));
  }

  writeBuckets(writer: BinaryWriter, field: number, from: number, to: number): void {
    writer.tag(field + 1, WireType.LengthDelimited).fork();
    for (let i = from; i < to; i++) writer.sint64(this.all[i]?.value ?? 0n);
    writer.join();
  }
}

const unsigned = (whole: Whole | undefined): bigint => BigInt.asUintN(64, whole?.value ?? 0n);

class Doubles implements Numbers {
  private readonly all: readonly Double[];

  constructor(size: number) {
    this.all = Array.from({ length: size }, () => new Double());
  }

  read(bits: ChunkBits, from: number, to: number): void {
    for (let i = from; i < to; i++) this.all[i]?.read(bits);
  }

  writeCounts(writer: BinaryWriter): void {
    for (const [i, field] of [2, 7].entries()) writeBits(writer.tag(field, WireType.Bit64), this.all[i]);
  }

  writeBuckets(writer: BinaryWriter, field: number, from: number, to: number): void {
    writer.tag(field + 2, WireType.LengthDelimited).fork();
    for (let i = from; i < to; i++) writeBits(writer, this.all[i]);
    writer.join();
  }
}

function writeBits(writer: BinaryWriter, double: Double | undefined): void {
  writer.fixed32(double?.low ?? 0).fixed32(double?.high ?? 0);
}

/** Field numbers are those of `Histogram` in remote write 1.0 and 2.0. */
function messageOf(layout: Layout, numbers: Numbers, sum: Double, isStale: boolean, hint: number, time: bigint): Uint8Array {
  const writer = new BinaryWriter();
  writeBits(writer.tag(3, WireType.Bit64), sum);
  if (!isStale) {
    const { positive, negative, bounds } = layout;
    const middle = 2 + positive.buckets;
    numbers.writeCounts(writer);
    writer.tag(4, WireType.Varint).sint32(Number(layout.schema));
    writer.tag(5, WireType.Bit64).double(layout.zeroThreshold);
    writeSide(writer, 8, negative, numbers, middle);
    writeSide(writer, 11, positive, numbers, 2);
    writer.tag(14, WireType.Varint).int32(hint);
    if (bounds.length > 0) writer.tag(16, WireType.LengthDelimited).fork();
    for (const bound of bounds) writer.double(bound);
    if (bounds.length > 0) writer.join();
  }
  return writer.tag(15, WireType.Varint).int64(time).finish();
}

function writeSide(writer: BinaryWriter, field: number, spans: Spans, numbers: Numbers, from: number): void {
  if (spans.lengths.length === 0) return;
  for (const [i, length] of spans.lengths.entries()) {
    writer.tag(field, WireType.LengthDelimited).fork().tag(1, WireType.Varint);
    writer.sint32(Number(spans.offsets[i])).tag(2, WireType.Varint).uint32(Number(length)).join();
  }
  numbers.writeBuckets(writer, field, from, from + spans.buckets);
}
