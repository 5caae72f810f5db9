/** Series of a remote read, as the messages `TimeSeries` and `ChunkedSeries`, which both have labels in field 1 and data in field 2. */
import { ByteSink } from "./byte-sink.ts";
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
const encoder = new TextEncoder();

/** Writes one series after the other; samples of a series come in the order of their times. */
export class SeriesWriter {
  private readonly answer: ReadAnswer;
  private readonly sink: ByteSink = new ByteSink();
  private readonly chunk: XorChunk = new XorChunk();
  private readonly part: ByteSink = new ByteSink(64);
  private labels: readonly Label[] = [];

  constructor(answer: ReadAnswer) {
    this.answer = answer;
  }

  /** Bytes of the series that is being written. */
  get length(): number {
    return this.sink.length;
  }

  /** Samples of the series that is being written. */
  count = 0;

  begin(labels: readonly Label[]): void {
    this.labels = labels;
    this.sink.length = 0;
    this.count = 0;
    for (const [name, value] of labels) {
      this.part.length = 0;
      this.part.field(1, encoder.encode(name));
      this.part.field(2, encoder.encode(value));
      this.sink.field(1, this.part.bytes.subarray(0, this.part.length));
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
    const { part } = this;
    part.length = 0;
    part.byte(0x09);
    part.fixed32(low);
    part.fixed32(high);
    part.byte(0x10);
    part.int64(time);
    this.sink.field(2, part.bytes.subarray(0, part.length));
  }

  finish(): EncodedSeries {
    if (this.chunk.count > 0) this.closeChunk();
    return { labels: this.labels, message: this.sink.take() };
  }

  private closeChunk(): void {
    const { chunk, part } = this;
    part.length = 0;
    part.byte(0x08);
    part.int64(chunk.minTime);
    part.byte(0x10);
    part.int64(chunk.maxTime);
    part.byte(0x18);
    part.byte(XOR);
    part.field(4, chunk.finish());
    this.sink.field(2, part.bytes.subarray(0, part.length));
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
  const inner = new ByteSink(message.length + 16);
  inner.field(1, message);
  if (query > 0) {
    inner.byte(0x10);
    inner.varint(query);
  }
  const sink = new ByteSink(inner.length + 16);
  sink.varint(inner.length);
  const sum = crc32c(inner.bytes.subarray(0, inner.length));
  for (let shift = 24; shift >= 0; shift -= 8) sink.byte((sum >>> shift) & 0xff);
  sink.raw(inner.bytes.subarray(0, inner.length));
  return sink.take();
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
