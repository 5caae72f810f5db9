/**
 * Bodies of Prometheus remote write, version 1 or 2, in snappy. The message of a request is made once; each scrape writes its values and
 * times into it, where they always have the same 8 and 6 bytes.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import type { Label, SeriesRounds } from "./scrapes.ts";

/** Versions of the protocol. */
export type RemoteVersion = 1 | 2;

/** Headers of a request. */
export function remoteHeaders(version: RemoteVersion): Record<string, string> {
  const proto = version === 1 ? "" : ";proto=io.prometheus.write.v2.Request";
  return {
    "content-type": `application/x-protobuf${proto}`,
    "content-encoding": "snappy",
    "x-prometheus-remote-write-version": version === 1 ? "0.1.0" : "2.0.0",
  };
}

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;
/** A sample is a double and a time of six bytes, each with its tag. */
const SAMPLE_BYTES = 16;
const TIME_BYTES = 6;
const COUNTER = 1;
const GAUGE = 2;
const HELP_TEXTS = 40;
/** Any time that takes six bytes, as all of 2004 to 2527 do. */
const SOME_TIME = 1_700_000_000_000;

interface Template {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  /** Where the value of each sample starts; its time starts nine bytes later. */
  readonly at: Uint32Array;
  readonly firstSeries: number;
}

/** The requests of one scrape of all hosts. */
export class RemoteBodies {
  readonly version: RemoteVersion;
  private readonly scrapes: SeriesRounds;
  private readonly samplesPerRequest: number;
  private readonly templates: Template[] = [];

  constructor(scrapes: SeriesRounds, version: RemoteVersion, samplesPerRequest: number) {
    this.version = version;
    this.scrapes = scrapes;
    this.samplesPerRequest = samplesPerRequest;
  }

  /** Requests a scrape. */
  get count(): number {
    return Math.ceil(this.scrapes.values.length / this.samplesPerRequest);
  }

  /** Samples of a request. */
  samplesOf(request: number): number {
    return Math.min(this.samplesPerRequest, this.scrapes.values.length - request * this.samplesPerRequest);
  }

  /** The body of a request of the current scrape. */
  body(request: number): Uint8Array<ArrayBuffer> {
    const template = (this.templates[request] ??= this.template(request));
    const { bytes, view, at, firstSeries } = template;
    const { scrapes } = this;
    const { values } = scrapes;
    for (let i = 0; i < at.length; i++) {
      const series = firstSeries + i;
      const start = at[i] as number;
      view.setFloat64(start, values[series] as number, true);
      let rest = scrapes.timeOf(series);
      for (let digit = 0; digit < TIME_BYTES; digit++) {
        bytes[start + 9 + digit] = (rest % 128) | (digit === TIME_BYTES - 1 ? 0 : 0x80);
        rest = Math.floor(rest / 128);
      }
    }
    return new Uint8Array(compress(bytes));
  }

  private template(request: number): Template {
    const { scrapes } = this;
    const firstSeries = request * this.samplesPerRequest;
    const count = this.samplesOf(request);
    const symbols = new Map<string, number>([["", 0]]);
    const series = Array.from({ length: count }, (_, i) => {
      const number = firstSeries + i;
      const labels = scrapes.labelsOf(number);
      return this.version === 1 ? seriesV1(labels) : seriesV2(labels, scrapes.isCounter(number), number % HELP_TEXTS, symbols);
    });
    const writer = new BinaryWriter();
    for (const symbol of this.version === 1 ? [] : symbols.keys()) writer.tag(4, BYTES).string(symbol);
    const lengthBefore = writer.finish().length;
    const body = new BinaryWriter();
    const at = new Uint32Array(count);
    let length = lengthBefore;
    for (const [i, { message, sampleAt }] of series.entries()) {
      body.tag(this.version === 1 ? 1 : 5, BYTES).bytes(message);
      const lengthBytes = message.length < 128 ? 1 : 2; // Labels of a series take less than 16 KiB.
      at[i] = length + 1 + lengthBytes + sampleAt;
      length += 1 + lengthBytes + message.length;
    }
    const head = new BinaryWriter();
    for (const symbol of this.version === 1 ? [] : symbols.keys()) head.tag(4, BYTES).string(symbol);
    const bytes = new Uint8Array(Buffer.concat([head.finish(), body.finish()]));
    return { bytes, view: new DataView(bytes.buffer), at, firstSeries };
  }
}

/** A series with a sample, and where the sample's value stands in it. */
interface SeriesMessage {
  readonly message: Uint8Array;
  readonly sampleAt: number;
}

function seriesV1(labels: readonly Label[]): SeriesMessage {
  const writer = new BinaryWriter();
  for (const [name, value] of labels) {
    writer.tag(1, BYTES).bytes(new BinaryWriter().tag(1, BYTES).string(name).tag(2, BYTES).string(value).finish());
  }
  const message = writer.tag(2, BYTES).bytes(sample()).finish();
  return { message, sampleAt: message.length - SAMPLE_BYTES + 1 };
}

function seriesV2(labels: readonly Label[], isCounter: boolean, help: number, symbols: Map<string, number>): SeriesMessage {
  const symbol = (text: string): number => {
    const known = symbols.get(text);
    if (known === undefined) symbols.set(text, symbols.size);
    return known ?? symbols.size - 1;
  };
  const references = new BinaryWriter();
  for (const label of labels) for (const text of label) references.uint32(symbol(text));
  const metadata = new BinaryWriter().tag(1, VARINT).int32(isCounter ? COUNTER : GAUGE);
  metadata
    .tag(3, VARINT)
    .uint32(symbol(`Statistic ${help} of the node.`))
    .tag(4, VARINT)
    .uint32(0);
  const before = new BinaryWriter().tag(1, BYTES).bytes(references.finish()).finish();
  const rest = new BinaryWriter().tag(2, BYTES).bytes(sample()).tag(5, BYTES).bytes(metadata.finish()).finish();
  return { message: Buffer.concat([before, rest]), sampleAt: before.length + 3 }; // Tag, length and the value's tag.
}

function sample(): Uint8Array {
  return new BinaryWriter().tag(1, DOUBLE).double(0).tag(2, VARINT).int64(SOME_TIME).finish();
}
