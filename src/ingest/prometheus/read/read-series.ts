/** Series of a remote read, as the messages `TimeSeries` and `ChunkedSeries`, which both have labels in field 1 and data in field 2. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ReadAnswer } from "./read-request.ts";
import { CHUNK_SAMPLES, XorChunk } from "./xor-chunk.ts";

/** A label's name and value. */
export type Label = readonly [name: string, value: string];

/** One series, ready to be sent. */
export interface EncodedSeries {
  readonly labels: readonly Label[];
  readonly message: Uint8Array<ArrayBuffer>;
}

const XOR = 1;
/** Bytes of a sample or of a label beside its texts, at most. */
const FIELD_BYTES_MAX = 24;
const encoder = new TextEncoder();

/** Writes one series after the other; samples of a series come in the order of their times. */
export class SeriesWriter {
  private readonly answer: ReadAnswer;
  private writer: BinaryWriter = new BinaryWriter();
  private readonly chunk: XorChunk = new XorChunk();
  private labels: readonly Label[] = [];

  constructor(answer: ReadAnswer) {
    this.answer = answer;
  }

  /** Bytes that the series that is being written takes at most. */
  length = 0;

  /** Samples of the series that is being written. */
  count = 0;

  begin(labels: readonly Label[]): void {
    this.labels = labels;
    this.count = 0;
    this.length = 0;
    for (const [name, value] of labels) {
      this.writer.tag(1, WireType.LengthDelimited).fork();
      this.writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.LengthDelimited).string(value).join();
      this.length += 3 * (name.length + value.length) + FIELD_BYTES_MAX;
    }
  }

  /** Appends a sample: milliseconds, and the two halves of the value's bits. */
  sample(time: number, low: number, high: number): void {
    this.count++;
    if (this.answer === "chunks") {
      this.chunk.append(time, low, high);
      if (this.chunk.count === CHUNK_SAMPLES) this.closeChunk();
      return;
    }
    this.length += FIELD_BYTES_MAX;
    const message = this.writer.tag(2, WireType.LengthDelimited).fork();
    // A double's halves are written as they are: a NaN keeps its bits.
    message
      .tag(1, WireType.Bit64)
      .fixed32(low >>> 0)
      .fixed32(high >>> 0);
    message.tag(2, WireType.Varint).int64(time).join();
  }

  finish(): EncodedSeries {
    if (this.chunk.count > 0) this.closeChunk();
    return { labels: this.labels, message: this.writer.finish() };
  }

  private closeChunk(): void {
    const { chunk } = this;
    const { minTime, maxTime } = chunk;
    const bytes = chunk.finish();
    this.length += bytes.length + 2 * FIELD_BYTES_MAX;
    const message = this.writer.tag(2, WireType.LengthDelimited).fork();
    message.tag(1, WireType.Varint).int64(minTime).tag(2, WireType.Varint).int64(maxTime).tag(3, WireType.Varint).int32(XOR);
    message.tag(4, WireType.LengthDelimited).bytes(bytes).join();
  }
}

/** Order of a whole answer: by the number of labels, then by them. */
export function byLabelCount(a: EncodedSeries, b: EncodedSeries): number {
  return a.labels.length - b.labels.length || byLabels(a, b);
}

/** Prometheus' own order, in which it expects chunks: label by label, the shorter one first; names are in order. */
export function byLabels(a: EncodedSeries, b: EncodedSeries): number {
  for (let i = 0; i < a.labels.length && i < b.labels.length; i++) {
    const [nameA, valueA] = a.labels[i] as Label;
    const [nameB, valueB] = b.labels[i] as Label;
    const order = compareTexts(nameA, nameB) || compareTexts(valueA, valueB);
    if (order !== 0) return order;
  }
  return a.labels.length - b.labels.length;
}

/** By bytes of UTF-8, which is by code point. */
export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(encoder.encode(a), encoder.encode(b));
}

/** A frame of a streamed answer: length, CRC-32C, message. Source: Prometheus, storage/remote/chunked.go. */
export function frameOf({ message }: EncodedSeries, query: number): Uint8Array<ArrayBuffer> {
  const inner = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(message);
  if (query > 0) inner.tag(2, WireType.Varint).int64(query);
  const bytes = inner.finish();
  const sum = new Uint8Array(4);
  new DataView(sum.buffer).setUint32(0, crc32c(bytes));
  return new BinaryWriter().uint32(bytes.length).raw(sum).raw(bytes).finish();
}

const CRC_TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let i = 0; i < 8; i++) rest = (rest >>> 1) ^ ((rest & 1) * 0x82f6_3b78);
  return rest;
});

/** CRC-32 with Castagnoli's polynomial (RFC 3720). */
export function crc32c(bytes: Uint8Array): number {
  let sum = 0xffff_ffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ byte) & 0xff] as number);
  return (sum ^ 0xffff_ffff) >>> 0;
}
