/** Series and their samples as requests of remote write 1.0. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import type { Piece } from "../source.ts";
import type { Samples } from "./xor-samples.ts";

/** A label's name and value. */
export type Label = readonly [name: string, value: string];

/** What a request is sent with. */
const HEADERS = {
  "content-type": "application/x-protobuf",
  "content-encoding": "snappy",
  "x-prometheus-remote-write-version": "0.1.0",
} as const;
/** Bytes from which a request is closed, before they are packed. */
const REQUEST_BYTES: number = 2 * 1024 * 1024;
/** Bytes of a sample, at most. */
const SAMPLE_BYTES = 24;

/** Gathers samples until they are a request. */
export class SeriesPieces {
  private readonly database: string;
  private readonly rowsMax: number;
  private writer: BinaryWriter = new BinaryWriter();
  private rows = 0;
  private bytes = 0;
  private from: number;
  private place = "";

  constructor(database: string, rowsMax: number, from: number) {
    this.database = database;
    this.rowsMax = rowsMax;
    this.from = from;
  }

  /** Adds samples of a series. */
  add(labels: readonly Label[], { count, times, low, high }: Samples): void {
    if (count === 0) return;
    if (this.rows === 0) this.place = seriesText(labels);
    const series = this.writer.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of labels) {
      series.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(name);
      series.tag(2, WireType.LengthDelimited).string(value).join();
      this.bytes += name.length + value.length + SAMPLE_BYTES;
    }
    for (let i = 0; i < count; i++) {
      series.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.Bit64);
      series.fixed32(low[i] as number).fixed32(high[i] as number);
      series
        .tag(2, WireType.Varint)
        .int64(times[i] as number)
        .join();
    }
    series.join();
    this.rows += count;
    this.bytes += count * SAMPLE_BYTES;
  }

  /** Whether there is enough for a request. */
  get isFull(): boolean {
    return this.rows >= this.rowsMax || this.bytes >= REQUEST_BYTES;
  }

  /** What was gathered, as the piece that ends at `to`; undefined: nothing. */
  take(to: number): Piece | undefined {
    if (this.rows === 0) return undefined;
    const body = compress(this.writer.finish());
    const { from, rows: rowCount, database, place } = this;
    this.writer = new BinaryWriter();
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
