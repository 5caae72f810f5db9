/**
 * Remote write 2.0: an `io.prometheus.write.v2.Request` to writes.
 *
 *   symbols ─► lasting numbers (symbols.ts) ─► a series' references as such numbers ─► KeyIndex ─► key ─► its samples in SampleRows
 *
 * A symbol is hashed once a request, a series is a hash over four bytes a text. What is declared of a metric counts when its table is
 * made, so it is kept until a write of it succeeded (`settle`). Exemplars are passed over (contract ingest.md 2.4). Series that have
 * native histograms are numbered apart (`histogram-lane.ts`).
 */
import { SERIES_KEY_BYTES_MAX } from "../../base/limits.ts";
import { longer } from "../../base/bytes/longer-array.ts";
import { field, ProtoReader, Wire } from "../../format/proto/reader.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import { batchesOf } from "./batches.ts";
import { combined, declaredOptions } from "./declared-metadata.ts";
import { decoding, invalid } from "./failure.ts";
import { HistogramLane } from "./histogram-lane.ts";
import { KeyIndex } from "../common/key-index.ts";
import { type LabelNode, LabelShapes } from "./label-shapes.ts";
import { labelledSeries, TextReader } from "./label-set.ts";
import { Met, readSamples } from "./sample-reader.ts";
import { Symbols } from "./symbols.ts";
import { Targets } from "./targets.ts";
import type { RemoteWriteBatch, RemoteWriteOptions, RemoteWriteResult } from "./types.ts";

const SYMBOL = field(4, Wire.bytes);
const SERIES = field(5, Wire.bytes);
const PACKED_REFS = field(1, Wire.bytes);
const REF = field(1, Wire.varint);
const SAMPLE = field(2, Wire.bytes);
const HISTOGRAM = field(3, Wire.bytes);
const METADATA = field(5, Wire.bytes);
const METADATA_TYPE = field(1, Wire.varint);
const METADATA_UNIT = field(4, Wire.varint);

/** Characters of values in usual labels: with their names they are within `SERIES_KEY_BYTES_MAX` in any script. */
const USUAL_LENGTH_MAX: number = SERIES_KEY_BYTES_MAX / 8;

/** Decodes the requests of one database and physical table on one thread; keeps the series it has seen between requests. */
export class RemoteWriteV2Decoder {
  private readonly options: RemoteWriteOptions;
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly symbols: Symbols;
  private readonly index: KeyIndex;
  private readonly shapes: LabelShapes;
  private readonly targets: Targets;
  /** Undefined: native histograms are refused. */
  private readonly histograms: HistogramLane | undefined;
  private readonly declared: Map<string, Readonly<Record<string, string>>> = new Map();
  /** Metrics whose tables are there: what further series declare of them comes too late. At most one a series. */
  private readonly settled: Set<string> = new Set();
  /** Numbers of the texts of the series being read. */
  private refs: Uint32Array<ArrayBuffer> = new Uint32Array(64);
  private refBytes: Uint8Array<ArrayBuffer> = new Uint8Array(this.refs.buffer);
  private refView: DataView<ArrayBuffer> = new DataView(this.refs.buffer);
  private refCount = 0;
  private readonly textOf = (number: number): string => this.symbols.textOf(number);

  /** @param dictionaryBytesMax bytes of series after which the decoder forgets all of them between two requests */
  constructor(options: RemoteWriteOptions, dictionaryBytesMax?: number) {
    this.options = options;
    this.symbols = new Symbols(new TextReader(options));
    this.index = new KeyIndex(dictionaryBytesMax);
    this.shapes = new LabelShapes(options);
    this.targets = new Targets(this.index.dictionary, options.physicalTable);
    const { histogramColumn } = options;
    this.histograms = histogramColumn === undefined ? undefined : new HistogramLane(options, histogramColumn, dictionaryBytesMax);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    const histograms = this.histograms?.memoryBytes ?? 0;
    return this.index.memoryBytes + this.shapes.memoryBytes + this.targets.memoryBytes + this.symbols.memoryBytes + histograms;
  }

  /** Decodes a message, which is not kept. @throws DbError InvalidArguments */
  decode(bytes: Uint8Array): RemoteWriteResult {
    for (const { rows } of this.targets.list) rows.reset();
    this.histograms?.begin();
    if (this.targets.isFull || this.symbols.full || this.histograms?.isFull === true) {
      this.histograms?.clear();
      this.index.clear();
      this.targets.clear();
      this.symbols.clear();
      this.shapes.clear();
      this.declared.clear();
      this.settled.clear();
    }
    decoding(() => this.request(bytes));
    const batches: RemoteWriteBatch[] = [];
    for (const target of this.targets.list) {
      if (target.rows.count > 0) batches.push(...batchesOf(target, this.options, this.declared));
    }
    if (this.histograms !== undefined) batches.push(...this.histograms.batches(this.declared));
    return { batches, rowCount: batches.reduce((sum, { rowCount }) => sum + rowCount, 0) };
  }

  /** Says that tables were made for all that was decoded last. */
  settle(): void {
    if (this.declared.size === 0) return;
    for (const metric of this.declared.keys()) this.settled.add(metric);
    this.declared.clear();
  }

  /** Symbols may stand behind series, so they are gathered first. */
  private request(bytes: Uint8Array): void {
    const { reader, symbols } = this;
    reader.open(bytes);
    symbols.begin();
    const end = bytes.length;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== SYMBOL) {
        reader.skip(tag, end);
        continue;
      }
      const symbolEnd = reader.lengthEnd(end);
      symbols.push(reader.at, symbolEnd);
      reader.at = symbolEnd;
    }
    reader.at = 0;
    if (end > 0) symbols.checkFirst();
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== SERIES) {
        reader.skip(tag, end);
        continue;
      }
      const seriesEnd = reader.lengthEnd(end);
      this.series(reader.at, seriesEnd);
      reader.at = seriesEnd;
    }
  }

  private series(start: number, end: number): void {
    const { reader, targets } = this;
    if (start === end) return;
    this.refCount = 0;
    while (reader.at < end && isRefs(reader.bytes[reader.at] as number)) this.readRefs(reader.tag(end), end);
    const first = reader.at;
    let key = this.find();
    if (key < 0) {
      const kind = this.kindOf(first, end);
      if (kind === "histograms") return this.histogramSeries(start, end);
      if (this.refCount === 0 || kind === "scattered") return this.scattered(start, end);
      key = this.add(first, end);
    }
    this.index.follow(key);
    const { rows } = targets.of(key);
    const rowsBefore = rows.count;
    reader.at = first;
    const met = readSamples(reader, end, HISTOGRAM, rows, targets.rowKey(key));
    if (met === Met.end) return;
    rows.count = rowsBefore;
    if (met === Met.histogram) return this.histogramSeries(start, end);
    this.scattered(start, end);
  }

  /** What stands behind the first references: native histograms, or more references, which others seldom send. */
  private kindOf(at: number, end: number): "histograms" | "scattered" | "usual" {
    const { reader } = this;
    let isScattered = false;
    reader.at = at;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === HISTOGRAM) return "histograms";
      if (isRefs(tag)) isScattered = true;
      reader.skip(tag, end);
    }
    return isScattered ? "scattered" : "usual";
  }

  /** A series that has native histograms, its fields in any order. */
  private histogramSeries(start: number, end: number): void {
    const { reader, histograms } = this;
    if (histograms === undefined) throw histogramRefused();
    this.refCount = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (isRefs(tag)) this.readRefs(tag, end);
      else if (tag === SAMPLE) throw invalid("a series has both samples that are numbers and native histograms; send two metrics");
      else reader.skip(tag, end);
    }
    let key = this.find(histograms.index);
    if (key < 0) {
      const added = histograms.add(this.refBytes.subarray(0, 4 * this.refCount), ...this.labels());
      key = added.key;
      this.declare(added.metric, start, end);
    }
    histograms.index.follow(key);
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === HISTOGRAM) histograms.read(reader, reader.lengthEnd(end), key);
      else reader.skip(tag, end);
    }
  }

  /** A series whose fields come in an order that nobody sends, but may: its references are gathered first. */
  private scattered(start: number, end: number): void {
    const { reader, targets } = this;
    this.refCount = 0;
    const others: Uint8Array[] = [];
    reader.at = start;
    while (reader.at < end) {
      const at = reader.at;
      const tag = reader.tag(end);
      if (isRefs(tag)) this.readRefs(tag, end);
      else {
        reader.skip(tag, end);
        others.push(reader.bytes.slice(at, reader.at));
      }
    }
    if (others.some(([tag]) => tag === HISTOGRAM)) return this.histogramSeries(start, end);
    let key = this.find();
    if (key < 0) key = this.add(start, end);
    const inner = new ProtoReader();
    const rest = Buffer.concat(others);
    inner.open(rest);
    readSamples(inner, rest.length, HISTOGRAM, targets.of(key).rows, targets.rowKey(key)); // Series with histograms went elsewhere.
  }

  private readRefs(tag: number, end: number): void {
    const { reader } = this;
    if (tag === REF) return this.pushRef(reader.varint32(end));
    const packedEnd = reader.lengthEnd(end);
    while (reader.at < packedEnd) this.pushRef(reader.varint32(packedEnd));
  }

  private pushRef(ref: number): void {
    const number = this.symbols.numberOf(ref, this.reader);
    if (this.refCount === this.refs.length) {
      this.refs = longer(this.refs);
      this.refBytes = new Uint8Array(this.refs.buffer);
      this.refView = new DataView(this.refs.buffer);
    }
    this.refs[this.refCount++] = number;
  }

  /** The key of the references in `refs`, or -1. */
  private find(index: KeyIndex = this.index): number {
    const length = 4 * this.refCount;
    const { refView } = this;
    const guess = index.guess(refView, 0, length);
    return guess >= 0 && index.dictionary.lengths[guess] === length ? guess : index.find(refView, 0, length);
  }

  /** Takes the series of `refs`; its fields in `[from, end)` may declare something. */
  private add(from: number, end: number): number {
    const { refCount } = this;
    if (refCount % 2 !== 0) throw oddReferences(refCount);
    const usual = this.usualTags();
    if (usual !== undefined) {
      this.declare(usual.table, from, end);
      const key = this.index.add(this.refBytes, 0, 4 * refCount, usual);
      this.targets.reserve(key);
      return key;
    }
    const series = labelledSeries(...this.labels(), this.options);
    this.declare(series.tags.table, from, end);
    const key = this.index.add(this.refBytes, 0, 4 * refCount, series.tags);
    this.targets.add(key, series);
    return key;
  }

  /** Names and values of the labels of `refs`. @throws DbError InvalidArguments */
  private labels(): readonly [names: readonly string[], values: readonly string[]] {
    const { refs, refCount, symbols } = this;
    if (refCount % 2 !== 0) throw oddReferences(refCount);
    const names: string[] = [];
    const values: string[] = [];
    for (let i = 0; i < refCount; i += 2) {
      names.push(symbols.textOf(refs[i] as number));
      values.push(symbols.textOf(refs[i + 1] as number));
    }
    return [names, values];
  }

  /** The tags of `refs`, under a shape that others share; undefined for labels that are not usual. */
  private usualTags(): TagSet | undefined {
    const { refs, refCount, symbols, shapes } = this;
    const values: string[] = [];
    let node: LabelNode | undefined = shapes.root;
    let metric = -1;
    let length = 0;
    for (let i = 0; i < refCount; i += 2) {
      const name = refs[i] as number;
      node = node.children.get(name) ?? shapes.step(node, name, symbols.textOf(name));
      const text = symbols.textOf(refs[i + 1] as number);
      length += text.length;
      if (node === undefined || !node.isUsual || text === "" || length > USUAL_LENGTH_MAX) return undefined;
      if (node.isMetric) metric = refs[i + 1] as number;
      else values.push(text);
    }
    const shape = metric < 0 ? undefined : shapes.shapeAt(node, metric, this.textOf);
    return shape === undefined ? undefined : { ...shape, values, shape };
  }

  /** Keeps what the fields in `[from, end)` say of a metric. */
  private declare(metric: string, from: number, end: number): void {
    if (this.settled.has(metric)) return;
    const { reader } = this;
    let type = 0;
    let unit = 0;
    reader.at = from;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== METADATA) {
        reader.skip(tag, end);
        continue;
      }
      const metadataEnd = reader.lengthEnd(end);
      while (reader.at < metadataEnd) {
        const inner = reader.tag(metadataEnd);
        if (inner === METADATA_TYPE) type = reader.varint32(metadataEnd);
        else if (inner === METADATA_UNIT) unit = reader.varint32(metadataEnd);
        else reader.skip(inner, metadataEnd);
      }
    }
    const options = declaredOptions(type, unit === 0 ? "" : this.symbols.text(unit, reader));
    if (options !== undefined) this.declared.set(metric, combined(this.declared.get(metric), options));
  }
}

function isRefs(tag: number): boolean {
  return tag === PACKED_REFS || tag === REF;
}

function oddReferences(count: number): Error {
  return invalid(`the labels of a series are pairs; got ${count} references`);
}

function histogramRefused(): Error {
  return invalid("native histograms are not enabled on this server; send classic histograms");
}
