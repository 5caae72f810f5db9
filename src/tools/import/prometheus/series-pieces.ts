/** Series with their samples and histograms as requests of remote write 2.0, which has both. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import type { Piece } from "../source.ts";
import type { Histograms } from "./histogram-chunk.ts";
import type { Samples } from "./xor-samples.ts";

/** A label's name and value. */
export type Label = readonly [name: string, value: string];

/** What a request is sent with. */
const HEADERS = {
  "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
  "content-encoding": "snappy",
  "x-prometheus-remote-write-version": "2.0.0",
} as const;
/** Bytes from which a request is closed, before they are packed. */
const REQUEST_BYTES: number = 2 * 1024 * 1024;
/** Bytes of a sample, at most. */
const SAMPLE_BYTES = 24;
/** Fields of `Request`, and of `TimeSeries`. */
const SYMBOLS = 4;
const SERIES = 5;
const LABELS = 1;
const SAMPLES = 2;
const HISTOGRAMS = 3;

/** Gathers samples until they are a request. */
export class SeriesPieces {
  private readonly database: string;
  private readonly rowsMax: number;
  private writer: BinaryWriter = new BinaryWriter();
  /** By their text; the empty one comes first. */
  private symbols: Map<string, number> = new Map([["", 0]]);
  private rows = 0;
  private bytes = 0;
  private from: number;
  private place = "";

  constructor(database: string, rowsMax: number, from: number) {
    this.database = database;
    this.rowsMax = rowsMax;
    this.from = from;
  }

  /** Adds samples or histograms of a series. */
  add(labels: readonly Label[], values: Samples | Histograms): void {
    if (values.count === 0) return;
    if (this.rows === 0) this.place = seriesText(labels);
    const series = this.writer.tag(SERIES, WireType.LengthDelimited).fork();
    series.tag(LABELS, WireType.LengthDelimited).fork();
    for (const text of labels.flat()) series.uint32(this.symbolOf(text));
    series.join();
    if ("messages" in values) this.addHistograms(series, values);
    else this.addSamples(series, values);
    series.join();
    this.rows += values.count;
  }

  private addSamples(series: BinaryWriter, { count, times, low, high }: Samples): void {
    for (let i = 0; i < count; i++) {
      series.tag(SAMPLES, WireType.LengthDelimited).fork().tag(1, WireType.Bit64);
      series.fixed32(low[i] as number).fixed32(high[i] as number);
      series
        .tag(2, WireType.Varint)
        .int64(times[i] as number)
        .join();
    }
    this.bytes += count * SAMPLE_BYTES;
  }

  private addHistograms(series: BinaryWriter, { messages }: Histograms): void {
    for (const message of messages) {
      series.tag(HISTOGRAMS, WireType.LengthDelimited).bytes(message);
      this.bytes += message.length;
    }
  }

  private symbolOf(text: string): number {
    const known = this.symbols.get(text);
    if (known !== undefined) return known;
    this.symbols.set(text, this.symbols.size);
    this.bytes += text.length + SAMPLE_BYTES;
    return this.symbols.size - 1;
  }

  /** Whether there is enough for a request. */
  get isFull(): boolean {
    return this.rows >= this.rowsMax || this.bytes >= REQUEST_BYTES;
  }

  /** What was gathered, as the piece that ends at `to`; undefined: nothing. */
  take(to: number): Piece | undefined {
    if (this.rows === 0) return undefined;
    for (const text of this.symbols.keys()) this.writer.tag(SYMBOLS, WireType.LengthDelimited).string(text);
    const body = compress(this.writer.finish());
    const { from, rows: rowCount, database, place } = this;
    this.writer = new BinaryWriter();
    this.symbols = new Map([["", 0]]);
    this.rows = 0;
    this.bytes = 0;
    this.from = to;
    // Metrics keep one sample a series and time, whatever tables they are in: there is nothing to ask about.
    return {
      from,
      to,
      rowCount,
      database,
      path: "/v1/prometheus/write",
      body,
      headers: HEADERS,
      place,
      context: {},
      tables: () => new Set(),
    };
  }
}

/** Labels as Prometheus writes them. */
export function seriesText(labels: readonly Label[]): string {
  const name = labels.find(([label]) => label === "__name__")?.[1] ?? "";
  const others = labels.filter(([label]) => label !== "__name__").map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${others.join(", ")}}`;
}
