/**
 * The head of a `Metric`: what it is called and what kind its points are.
 */
import { field, type ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { textOf } from "../text.ts";

const NAME = field(1, Wire.bytes);
const UNIT = field(3, Wire.bytes);
const GAUGE = field(5, Wire.bytes);
const SUM = field(7, Wire.bytes);
const HISTOGRAM = field(9, Wire.bytes);
const EXPONENTIAL = field(10, Wire.bytes);
const SUMMARY = field(11, Wire.bytes);
const POINTS = field(1, Wire.bytes);
const TEMPORALITY = field(2, Wire.varint);
const MONOTONIC = field(3, Wire.varint);

/** What a metric's points are; "none" when it has no data that is known here. */
export type MetricKind = "none" | "gauge" | "sum" | "histogram" | "exponential" | "summary";

/** See the file header. */
export class Metric {
  name = "";
  unit = "";
  kind: MetricKind = "none";
  /** 1 delta, 2 cumulative, others unknown. Of gauges and summaries 0. */
  temporality = 0;
  isMonotonic = false;
  /** How many points there are. */
  pointCount = 0;
  private start = 0;
  private end = 0;

  /** Reads the metric at `[start, end)`. @throws ProtoError */
  read(reader: ProtoReader, start: number, end: number): void {
    this.name = "";
    this.unit = "";
    this.kind = "none";
    this.start = this.end = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      switch (tag) {
        case NAME:
        case UNIT: {
          const stop = reader.lengthEnd(end);
          const text = textOf(reader.bytes, reader.at, stop);
          if (tag === NAME) this.name = text;
          else this.unit = text;
          reader.at = stop;
          break;
        }
        case GAUGE:
          this.data("gauge", reader, end);
          break;
        case SUM:
          this.data("sum", reader, end);
          break;
        case HISTOGRAM:
          this.data("histogram", reader, end);
          break;
        case EXPONENTIAL:
          this.data("exponential", reader, end);
          break;
        case SUMMARY:
          this.data("summary", reader, end);
          break;
        default:
          reader.skip(tag, end);
      }
    }
    this.readData(reader);
  }

  /** Visits the points; the reader stands at the start of each. @throws ProtoError */
  eachPoint(reader: ProtoReader, visit: (end: number) => void): void {
    const { start, end } = this;
    for (let at = start; at < end; ) {
      reader.at = at;
      const tag = reader.tag(end);
      if (tag === POINTS) {
        at = reader.lengthEnd(end);
        visit(at);
      } else {
        reader.skip(tag, end);
        at = reader.at;
      }
    }
  }

  private data(kind: MetricKind, reader: ProtoReader, outerEnd: number): void {
    this.kind = kind;
    this.end = reader.lengthEnd(outerEnd);
    this.start = reader.at;
    reader.at = this.end;
  }

  private readData(reader: ProtoReader): void {
    const { end } = this;
    this.temporality = 0;
    this.isMonotonic = false;
    this.pointCount = 0;
    const hasTemporality = this.kind === "sum" || this.kind === "histogram";
    reader.at = this.start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TEMPORALITY && hasTemporality) {
        reader.varint64(end);
        this.temporality = reader.high === 0 ? reader.low : 0;
      } else if (tag === MONOTONIC && this.kind === "sum") {
        reader.varint64(end);
        this.isMonotonic = reader.low !== 0 || reader.high !== 0;
      } else {
        if (tag === POINTS) this.pointCount++;
        reader.skip(tag, end);
      }
    }
  }
}

/** The label of a bucket's bound or of a quantile. */
export function boundText(bound: number): string {
  if (bound === Number.POSITIVE_INFINITY) return "inf";
  return bound === Number.NEGATIVE_INFINITY ? "-inf" : String(bound);
}
