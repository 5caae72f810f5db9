/**
 * One data point: time, values, and where its attributes stand.
 */
import { longer } from "../../../base/bytes/longer-array.ts";
import { field, type ProtoReader, Wire } from "../../../format/proto/reader.ts";

const TIME = field(3, Wire.fixed64);
const AS_DOUBLE = field(4, Wire.fixed64);
const COUNT = AS_DOUBLE;
const SUM = field(5, Wire.fixed64);
const AS_INT = field(6, Wire.fixed64);
const ITEMS = field(6, Wire.bytes);
const ONE_COUNT = AS_INT;
const BOUNDS = field(7, Wire.bytes);
const ONE_BOUND = field(7, Wire.fixed64);
const NUMBER_ATTRIBUTES = field(7, Wire.bytes);
const HISTOGRAM_ATTRIBUTES = field(9, Wire.bytes);
const QUANTILE = field(1, Wire.fixed64);
const QUANTILE_VALUE = field(2, Wire.fixed64);
const TWO_32 = 0x1_0000_0000;

/** Reads points of the message that the reader has open. */
export class PointReader {
  timeLow = 0;
  timeHigh = 0;
  value = 0;
  hasValue = false;
  count = 0;
  sum = 0;
  hasSum = false;
  /** Of a histogram counts of its buckets; of a summary the values of its quantiles. */
  readonly counts: number[] = [];
  /** Of a histogram the upper bounds of its buckets; of a summary its quantiles. */
  readonly bounds: number[] = [];
  /** Start and end of each attribute, its length included. */
  spans: Uint32Array<ArrayBuffer> = new Uint32Array(32);
  /** Twice the number of attributes. */
  spanEnd = 0;
  private readonly reader: ProtoReader;

  constructor(reader: ProtoReader) {
    this.reader = reader;
  }

  /** The time in whole milliseconds, exactly: 2^32 ns are 4294 ms and 967296 ns. */
  get millis(): number {
    const { timeHigh, timeLow } = this;
    return timeHigh * 4294 + Math.floor((timeHigh * 967_296 + timeLow) / 1_000_000);
  }

  /** The time in nanoseconds. */
  get nanos(): bigint {
    return (BigInt(this.timeHigh) << 32n) | BigInt(this.timeLow);
  }

  /** Reads a point of a gauge or a sum, from where the reader stands. @throws ProtoError */
  readNumber(end: number): void {
    const { reader } = this;
    this.spanEnd = 0;
    this.timeLow = this.timeHigh = 0;
    this.hasValue = false;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === NUMBER_ATTRIBUTES) this.attribute(end);
      else if (tag === TIME) this.time(end);
      else if (tag === AS_DOUBLE) {
        this.value = reader.double(end);
        this.hasValue = true;
      } else if (tag === AS_INT) {
        const at = reader.take(8, end);
        this.value = reader.view.getInt32(at + 4, true) * TWO_32 + reader.view.getUint32(at, true);
        this.hasValue = true;
      } else reader.skip(tag, end);
    }
  }

  /** Reads a point of a histogram. @throws ProtoError */
  readHistogram(end: number): void {
    const { reader, counts, bounds } = this;
    this.begin();
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === HISTOGRAM_ATTRIBUTES) this.attribute(end);
      else if (tag === ITEMS) {
        const stop = reader.lengthEnd(end);
        while (reader.at < stop) counts.push(this.unsigned(stop));
      } else if (tag === ONE_COUNT) counts.push(this.unsigned(end));
      else if (tag === BOUNDS) {
        const stop = reader.lengthEnd(end);
        while (reader.at < stop) bounds.push(reader.double(stop));
      } else if (tag === ONE_BOUND) bounds.push(reader.double(end));
      else this.common(tag, end);
    }
  }

  /** Reads a point of a summary, whose sum is always there. @throws ProtoError */
  readSummary(end: number): void {
    const { reader } = this;
    this.begin();
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === NUMBER_ATTRIBUTES) this.attribute(end);
      else if (tag === ITEMS) this.quantile(reader.lengthEnd(end));
      else this.common(tag, end);
    }
    this.hasSum = true;
  }

  private begin(): void {
    this.counts.length = 0;
    this.bounds.length = 0;
    this.spanEnd = 0;
    this.timeLow = this.timeHigh = 0;
    this.count = 0;
    this.sum = 0;
    this.hasSum = false;
  }

  private common(tag: number, end: number): void {
    if (tag === TIME) this.time(end);
    else if (tag === COUNT) this.count = this.unsigned(end);
    else if (tag === SUM) {
      this.sum = this.reader.double(end);
      this.hasSum = true;
    } else this.reader.skip(tag, end);
  }

  private quantile(end: number): void {
    const { reader } = this;
    let quantile = 0;
    let value = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === QUANTILE) quantile = reader.double(end);
      else if (tag === QUANTILE_VALUE) value = reader.double(end);
      else reader.skip(tag, end);
    }
    this.bounds.push(quantile);
    this.counts.push(value);
  }

  private attribute(end: number): void {
    const { reader } = this;
    const start = reader.at;
    const stop = reader.lengthEnd(end);
    if (this.spanEnd === this.spans.length) this.spans = longer(this.spans);
    this.spans[this.spanEnd++] = start;
    this.spans[this.spanEnd++] = stop;
    reader.at = stop;
  }

  private time(end: number): void {
    const at = this.reader.take(8, end);
    this.timeLow = this.reader.view.getUint32(at, true);
    this.timeHigh = this.reader.view.getUint32(at + 4, true);
  }

  private unsigned(end: number): number {
    const at = this.reader.take(8, end);
    return this.reader.view.getUint32(at + 4, true) * TWO_32 + this.reader.view.getUint32(at, true);
  }
}
