/**
 * Remote write 1.0: a `prometheus.WriteRequest` to writes.
 *
 *   series ─► bytes of its labels, as they stand in the body ─► KeyIndex ─► key ─► its samples behind each other in SampleRows
 *                                                               └ new: strings, checks, place (label-set.ts)
 *
 * A known series costs one comparison or one hash over its labels' bytes, and no string; in the order of before and the usual form, a few
 * steps of a kernel (known-series.ts). The whole request is refused for one bad series: whoever sends it must not believe that it was
 * stored. Metadata and exemplars are passed over (contract ingest.md 2.2).
 *
 * decode.bench.ts (100,000 series of 1,000 metrics, 2,000 samples a request, snappy's part included), one thread that shares two cores with
 * other work, Bun 1.4.5: 8.1M samples/s, version 2 3.5M; series that are all new 0.15M.
 */
import { SERIES_KEY_BYTES_MAX } from "../../base/limits.ts";
import { field, ProtoReader, Wire } from "../../format/proto/reader.ts";
import type { SnappyScratch } from "../../format/snappy/scratch.ts";
import { batchesOf } from "./batches.ts";
import { decoding, invalid } from "./failure.ts";
import { KeyIndex } from "../common/key-index.ts";
import { KnownSeries } from "./known-series.ts";
import { labelledSeries, TextReader } from "./label-set.ts";
import { KNOWN_SERIES_AFTER } from "./limits.ts";
import { locateLabels, PlainLabels } from "./plain-labels.ts";
import { Met, readSamples } from "./sample-reader.ts";
import { Targets } from "./targets.ts";
import type { RemoteWriteBatch, RemoteWriteOptions, RemoteWriteResult } from "./types.ts";

const SERIES = field(1, Wire.bytes);
const LABEL = field(1, Wire.bytes);
const LABEL_NAME = field(1, Wire.bytes);
const LABEL_VALUE = field(2, Wire.bytes);
const HISTOGRAM = field(4, Wire.bytes);
/** Bytes of a tag and a length, each a varint. */
const HEAD_BYTES_MAX = 20;
const NOTHING_DECLARED: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map();

/** Decodes the requests of one database and physical table on one thread; keeps the series it has seen between requests. */
export class RemoteWriteV1Decoder {
  private readonly options: RemoteWriteOptions;
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly index: KeyIndex;
  private readonly plain: PlainLabels;
  private readonly targets: Targets;
  private readonly texts: TextReader;
  private known: KnownSeries | undefined;
  private samplesUntilKnown: number;

  /**
   * @param dictionaryBytesMax bytes of labels after which the decoder forgets all series between two requests
   * @param knownAfter samples after which it takes memory for its kernel
   */
  constructor(options: RemoteWriteOptions, dictionaryBytesMax?: number, knownAfter: number = KNOWN_SERIES_AFTER) {
    this.options = options;
    this.samplesUntilKnown = knownAfter;
    this.index = new KeyIndex(dictionaryBytesMax, locateLabels);
    this.plain = new PlainLabels(options);
    this.targets = new Targets(this.index.dictionary, options.physicalTable);
    this.texts = new TextReader(options);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.index.memoryBytes + this.plain.memoryBytes + this.targets.memoryBytes + (this.known?.memoryBytes ?? 0);
  }

  /** Where a message is best unfolded to, once the decoder has seen some: it is then read where it lies. */
  get room(): SnappyScratch | undefined {
    return this.known?.room;
  }

  /** Decodes a message, which is not kept. @throws DbError InvalidArguments */
  decode(bytes: Uint8Array): RemoteWriteResult {
    for (const { rows } of this.targets.list) rows.reset();
    if (this.targets.isFull) {
      this.index.clear();
      this.plain.clear();
      this.targets.clear();
      this.known?.clear();
    }
    decoding(() => this.request(bytes));
    this.known?.settle();
    const batches: RemoteWriteBatch[] = [];
    for (const target of this.targets.list) {
      if (target.rows.count > 0) batches.push(...batchesOf(target, this.options, NOTHING_DECLARED));
    }
    const rowCount = batches.reduce((sum, { rowCount }) => sum + rowCount, 0);
    this.samplesUntilKnown -= rowCount;
    if (this.samplesUntilKnown <= 0) this.known ??= new KnownSeries();
    return { batches, rowCount };
  }

  private request(message: Uint8Array): void {
    if (this.known?.open(message) === true) return this.requestOfKnown(this.known);
    const { reader } = this;
    reader.open(this.known?.text ?? message);
    const end = message.length;
    while (reader.at < end) this.field(reader.tag(end), end);
  }

  /** A request of which the kernel reads what it can; bytes are shown before they are read here. */
  private requestOfKnown(known: KnownSeries): void {
    const { reader, index, targets } = this;
    reader.open(known.text);
    const end = known.text.length;
    while (reader.at < end) {
      if (known.isAsked()) {
        reader.at = known.read(reader.at, targets.main.rows);
        index.resume(known.previous);
        if (reader.at >= end) return;
      }
      known.show(reader.at, reader.at + HEAD_BYTES_MAX);
      const start = reader.at;
      const tag = reader.tag(end);
      known.show(start, tag === SERIES ? reader.lengthEnd(end) : end);
      reader.at = start;
      this.field(reader.tag(end), end);
    }
  }

  private field(tag: number, end: number): void {
    const { reader } = this;
    if (tag !== SERIES) return reader.skip(tag, end);
    const seriesEnd = reader.lengthEnd(end);
    this.series(seriesEnd);
    reader.at = seriesEnd;
  }

  private series(end: number): void {
    const { reader, index, targets } = this;
    const { bytes, view } = reader;
    const start = reader.at;
    if (bytes[start] !== LABEL) {
      if (start < end) this.scattered(start, end);
      return;
    }
    let key = index.guess(view, start, end);
    let isNew = false;
    let labelsEnd = key < 0 ? 0 : start + (index.dictionary.lengths[key] as number);
    if (key < 0 || (labelsEnd < end && bytes[labelsEnd] === LABEL)) {
      while (reader.at < end && bytes[reader.at] === LABEL) {
        reader.at++;
        reader.at = reader.lengthEnd(end);
      }
      labelsEnd = reader.at;
      key = index.find(view, start, labelsEnd);
      if (key < 0 && this.isScattered(labelsEnd, end)) return this.scattered(start, end);
      isNew = key < 0;
      if (isNew) key = this.add(bytes, start, labelsEnd);
    }
    index.follow(key);
    const target = targets.of(key);
    if (!isNew && target === targets.main) this.known?.learn(key, bytes, start, labelsEnd);
    const { rows } = target;
    const rowsBefore = rows.count;
    reader.at = labelsEnd;
    const met = readSamples(reader, end, HISTOGRAM, rows, targets.rowKey(key));
    if (met === Met.end) return;
    rows.count = rowsBefore;
    if (met === Met.histogram) throw histogramRefused();
    this.scattered(start, end);
  }

  /** Whether labels stand behind other fields. */
  private isScattered(at: number, end: number): boolean {
    const { reader } = this;
    reader.at = at;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === LABEL) return true;
      reader.skip(tag, end);
    }
    return false;
  }

  /** A series whose fields come in an order that nobody sends, but may: its labels are gathered first. */
  private scattered(start: number, end: number): void {
    const { reader, index, targets } = this;
    const labels: Uint8Array[] = [];
    const samples: Uint8Array[] = [];
    reader.at = start;
    while (reader.at < end) {
      const at = reader.at;
      const tag = reader.tag(end);
      reader.skip(tag, end);
      if (tag === LABEL) labels.push(reader.bytes.slice(at, reader.at));
      else samples.push(reader.bytes.slice(at, reader.at));
    }
    const raw = Buffer.concat(labels);
    let key = index.find(new DataView(raw.buffer, raw.byteOffset, raw.byteLength), 0, raw.length);
    if (key < 0) key = this.add(raw, 0, raw.length);
    const inner = new ProtoReader();
    const rest = Buffer.concat(samples);
    inner.open(rest);
    const met = readSamples(inner, rest.length, HISTOGRAM, targets.of(key).rows, targets.rowKey(key));
    if (met === Met.histogram) throw histogramRefused();
  }

  /** Takes the series whose labels' bytes `find` did not find last. */
  private add(bytes: Uint8Array, start: number, end: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const shape = end - start > SERIES_KEY_BYTES_MAX ? undefined : this.plain.shapeOf(bytes, view, start, end);
    if (shape === undefined) return this.addUnusual(bytes, start, end);
    const key = this.index.addPlain(view, start, end, shape);
    this.targets.reserve(key);
    return key;
  }

  private addUnusual(bytes: Uint8Array, start: number, end: number): number {
    const names: string[] = [];
    const values: string[] = [];
    const labels = new ProtoReader();
    labels.open(bytes);
    labels.at = start;
    while (labels.at < end) {
      labels.tag(end);
      const labelEnd = labels.lengthEnd(end);
      let name = "";
      let value = "";
      while (labels.at < labelEnd) {
        const tag = labels.tag(labelEnd);
        if (tag !== LABEL_NAME && tag !== LABEL_VALUE) {
          labels.skip(tag, labelEnd);
          continue;
        }
        const textEnd = labels.lengthEnd(labelEnd);
        const text = this.texts.text(bytes, labels.at, textEnd);
        if (tag === LABEL_NAME) name = text;
        else value = text;
        labels.at = textEnd;
      }
      names.push(name);
      values.push(value);
    }
    const series = labelledSeries(names, values, this.options);
    const key = this.index.add(bytes, start, end, series.tags);
    this.targets.add(key, series);
    return key;
  }
}

function histogramRefused(): Error {
  return invalid("remote write v1 native histogram ingestion is unsupported; use remote write v2");
}
