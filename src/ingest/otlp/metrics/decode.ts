/**
 * OTLP metrics to a `WriteBatch` of logical tables (contract ingest.md 4.2).
 *
 *   point ─► [number of its table] + [bytes of its attributes] ─► SeriesDictionary ─► key        no string for a known series
 *
 * What resource, scope and metric bring to a series is a number that stays from request to request, found by their bytes. A histogram is
 * cumulative buckets, sum and count; a summary quantiles, sum and count. Exponential histograms are not kept, and told as rejected.
 */
import { field, type ProtoReader as Reader, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { AnyValue, Attributes } from "../any-value.ts";
import { CONTEXTS_MAX } from "../limits.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { textOf } from "../text.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { addAttributes, addScope, type Labels, type MetricLabelOptions, resourceLabels } from "./labels.ts";
import { metricName, type Strategy } from "./names.ts";
import { PointRows, VALUE_COLUMN } from "./point-rows.ts";

/** Where points go, and how. */
export interface MetricOptions extends MetricLabelOptions {
  readonly database: string;
  readonly physicalTable: string;
  readonly schemas: SchemaLookup;
  /** Whether a metric may be a table; points of others are rejected. */
  acceptsTable(name: string): boolean;
}

/** Points, and options of the tables that do not exist yet. */
export interface MetricResult extends OtlpResult {
  readonly tableOptions: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** A table that points go to, with the labels that resource and scope give them. */
interface Target {
  readonly id: number;
  readonly table: string;
  readonly labels: Labels;
  readonly strategy: Strategy;
  /** Label of a bucket's bound or of a quantile. */
  readonly extra: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  /** Request that used it last. */
  request: number;
}

const M = { name: field(1, Wire.bytes), unit: field(3, Wire.bytes) } as const;
const DATA = {
  gauge: field(5, Wire.bytes),
  sum: field(7, Wire.bytes),
  histogram: field(9, Wire.bytes),
  exponential: field(10, Wire.bytes),
  summary: field(11, Wire.bytes),
} as const;
const POINTS = field(1, Wire.bytes);
const TEMPORALITY = field(2, Wire.varint);
const MONOTONIC = field(3, Wire.varint);
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
const TWO_32 = 0x1_0000_0000;
const HASH_SEED = 0x811c9dc5;
const PREFIX_BYTES = 4;
const NO_ATTRIBUTES = new Attributes();

/** Decodes the metrics to one database on one thread. It keeps the series it has seen between requests. */
export class MetricDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly dictionary: SeriesDictionary;
  private readonly rows: PointRows = new PointRows();
  private readonly value: AnyValue = new AnyValue();
  private readonly attributes: Attributes = new Attributes();
  private readonly keyReader: Reader = new ProtoReader();
  private scratch: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  private scratchEnd = 0;
  private hash = 0;
  private readonly extraView: DataView = new DataView(new ArrayBuffer(8));
  private targets: Map<string, Target> = new Map();
  private targetCount = 0;
  private request = 0;
  private tableOptions: Map<string, Readonly<Record<string, string>>> = new Map();
  private rejected: Rejected = new Rejected();
  private options: MetricOptions | undefined;
  private optionsKey = "";
  private resourceKey = "";
  private scopeKey = "";
  private resourceLabelsNow: Labels = new Map();
  private scopeLabels: Labels = new Map();
  private counts: number[] = [];
  private bounds: number[] = [];

  /** @param dictionaryBytesMax bytes of series after which all are forgotten between two requests */
  constructor(dictionaryBytesMax: number = SERIES_DICTIONARY_BYTES_MAX) {
    this.dictionary = new SeriesDictionary(dictionaryBytesMax);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.rows.byteSize + this.targetCount * 1024;
  }

  /**
   * Decodes a request in protobuf. The batch borrows the decoder's memory until the next call.
   *
   * @throws ProtoError when the body is no request
   */
  decode(body: Uint8Array, options: MetricOptions): MetricResult {
    if (this.dictionary.full || this.targetCount > CONTEXTS_MAX) this.clear();
    this.request++;
    this.options = options;
    const lists = [[...options.ignored].join(";"), [...options.promoted].join(";")].join("\n");
    this.optionsKey = `${options.strategy}\n${options.promoteAll}\n${options.promoteScope}\n${lists}`;
    this.reader.open(body);
    this.rows.reset();
    this.rejected = new Rejected();
    this.tableOptions = new Map();
    this.walk.walk(this);
    return {
      batch: { dictionary: this.dictionary, tables: this.rows.writes(options.physicalTable) },
      rowCount: this.rows.rowCount,
      rejected: this.rejected,
      tableOptions: this.tableOptions,
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    const options = this.opened();
    this.resourceLabelsNow = resourceLabels(this.reader, scope, this.value, options);
    this.resourceKey = `${this.optionsKey}\0${keyOf(this.resourceLabelsNow)}`;
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    const options = this.opened();
    this.scopeLabels = this.resourceLabelsNow;
    if (options.promoteScope) {
      this.scopeLabels = new Map(this.resourceLabelsNow);
      addScope(this.scopeLabels, this.reader, scope, this.value, options);
    }
    this.scopeKey = `${this.resourceKey}\0${keyOf(this.scopeLabels)}`;
  }

  /** Called by the walk: one metric. */
  record(start: number, end: number): void {
    const { reader } = this;
    let name = "";
    let unit = "";
    let data = 0;
    let dataStart = 0;
    let dataEnd = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === M.name || tag === M.unit) {
        const stop = reader.lengthEnd(end);
        const text = textOf(reader.bytes, reader.at, stop);
        if (tag === M.name) name = text;
        else unit = text;
        reader.at = stop;
      } else if (tag === DATA.gauge || tag === DATA.sum || tag === DATA.histogram || tag === DATA.exponential || tag === DATA.summary) {
        data = tag;
        dataEnd = reader.lengthEnd(end);
        dataStart = reader.at;
        reader.at = dataEnd;
      } else reader.skip(tag, end);
    }
    if (data !== 0) this.metric(name, unit, data, dataStart, dataEnd);
  }

  private metric(name: string, unit: string, data: number, start: number, end: number): void {
    const { reader } = this;
    let temporality = 0;
    let isMonotonic = false;
    let points = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TEMPORALITY) temporality = reader.varint32(end);
      else if (tag === MONOTONIC && data === DATA.sum) {
        reader.varint64(end);
        isMonotonic = reader.low !== 0;
      } else {
        if (tag === POINTS) points++;
        reader.skip(tag, end);
      }
    }
    if (points === 0) return;
    if (data === DATA.exponential) {
      this.rejected.add(`metric ${name} is an exponential histogram, which has no tables`, points);
      return;
    }
    const { strategy } = this.opened();
    const isMonotonicSum = data === DATA.sum && isMonotonic;
    const table = metricName({ name, unit, isMonotonicSum, isGauge: data === DATA.gauge }, strategy);
    if (!this.opened().acceptsTable(table)) {
      this.rejected.add(`metric ${JSON.stringify(name)}: ${JSON.stringify(table)} can be no table's name`, points);
      return;
    }
    const about = { name, unit, table, temporality: data === DATA.gauge || data === DATA.summary ? "" : temporalityName(temporality) };
    if (data === DATA.histogram) this.histograms(about, start, end);
    else if (data === DATA.summary) this.summaries(about, start, end);
    else {
      const type = data === DATA.gauge ? "gauge" : isMonotonic ? "counter" : "updown_counter";
      this.numbers(this.target(about, "", type, undefined), start, end);
    }
  }

  private numbers(target: Target, start: number, end: number): void {
    const { reader } = this;
    for (let at = start; at < end; ) {
      reader.at = at;
      const tag = reader.tag(end);
      if (tag !== POINTS) {
        reader.skip(tag, end);
        at = reader.at;
        continue;
      }
      at = reader.lengthEnd(end);
      this.number(target, at);
    }
  }

  private number(target: Target, end: number): void {
    const { reader } = this;
    let millis = 0;
    let value = 0;
    let hasValue = false;
    this.beginKey(target.id);
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === NUMBER_ATTRIBUTES) this.keyAttribute(end);
      else if (tag === TIME) millis = this.millis(end);
      else if (tag === AS_DOUBLE) {
        value = reader.double(end);
        hasValue = true;
      } else if (tag === AS_INT) {
        const at = reader.take(8, end);
        value = reader.view.getInt32(at + 4, true) * TWO_32 + reader.view.getUint32(at, true);
        hasValue = true;
      } else reader.skip(tag, end);
    }
    const key = this.key(target, undefined);
    if (hasValue) this.rows.add(key, millis, value);
    else this.rows.addEmpty(target.table, key, millis);
  }

  private histograms(about: About, start: number, end: number): void {
    const buckets = this.target(about, "_bucket", "histogram", "le");
    const sums = this.target(about, "_sum", "counter", undefined);
    const totals = this.target(about, "_count", "counter", undefined);
    this.eachPoint(start, end, (stop) => {
      const point = this.points(stop, HISTOGRAM_ATTRIBUTES, true);
      const { counts, bounds, scratchEnd, hash } = this;
      if (counts.length > 0 && counts.length !== bounds.length + 1) {
        this.rejected.add(`a point of histogram ${about.name} has ${counts.length} counts for ${bounds.length} bounds`);
        return;
      }
      let cumulative = 0;
      for (let i = 0; i < counts.length; i++) {
        cumulative += counts[i] as number;
        this.scratchEnd = scratchEnd;
        this.hash = hash;
        this.rows.add(this.keyWithId(buckets, bounds[i] ?? Number.POSITIVE_INFINITY), point.millis, cumulative);
      }
      this.addTotals(point, sums, totals, scratchEnd, hash);
    });
  }

  private summaries(about: About, start: number, end: number): void {
    const quantiles = this.target(about, "", "summary", "quantile");
    const sums = this.target(about, "_sum", "counter", undefined);
    const totals = this.target(about, "_count", "counter", undefined);
    this.eachPoint(start, end, (stop) => {
      const point = this.points(stop, NUMBER_ATTRIBUTES, false);
      const { counts, bounds, scratchEnd, hash } = this;
      for (let i = 0; i < bounds.length; i++) {
        this.scratchEnd = scratchEnd;
        this.hash = hash;
        this.rows.add(this.keyWithId(quantiles, bounds[i] as number), point.millis, counts[i] as number);
      }
      this.addTotals({ ...point, hasSum: true }, sums, totals, scratchEnd, hash);
    });
  }

  private addTotals(point: Point, sums: Target, totals: Target, scratchEnd: number, hash: number): void {
    for (const [target, value, isThere] of [
      [sums, point.sum, point.hasSum],
      [totals, point.count, true],
    ] as const) {
      if (!isThere) continue;
      this.scratchEnd = scratchEnd;
      this.hash = hash;
      this.rows.add(this.keyWithId(target, undefined), point.millis, value);
    }
  }

  private eachPoint(start: number, end: number, visit: (end: number) => void): void {
    const { reader } = this;
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

  /** Reads a point of a histogram or summary: counts and bounds, or values and quantiles, into `counts` and `bounds`. */
  private points(end: number, attributes: number, isHistogram: boolean): Point {
    const { reader, counts, bounds } = this;
    counts.length = 0;
    bounds.length = 0;
    const point = { millis: 0, count: 0, sum: 0, hasSum: false };
    this.beginKey(0);
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === attributes) this.keyAttribute(end);
      else if (tag === TIME) point.millis = this.millis(end);
      else if (tag === COUNT) point.count = this.unsigned(end);
      else if (tag === SUM) {
        point.sum = reader.double(end);
        point.hasSum = true;
      } else if (tag === ITEMS) {
        const stop = reader.lengthEnd(end);
        if (!isHistogram) this.quantile(stop);
        else while (reader.at < stop) counts.push(this.unsigned(stop));
      } else if (isHistogram && tag === ONE_COUNT) counts.push(this.unsigned(end));
      else if (isHistogram && tag === BOUNDS) {
        const stop = reader.lengthEnd(end);
        while (reader.at < stop) bounds.push(reader.double(stop));
      } else if (isHistogram && tag === ONE_BOUND) bounds.push(reader.double(end));
      else reader.skip(tag, end);
    }
    return point;
  }

  private quantile(end: number): void {
    const { reader } = this;
    let quantile = 0;
    let value = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === field(1, Wire.fixed64)) quantile = reader.double(end);
      else if (tag === field(2, Wire.fixed64)) value = reader.double(end);
      else reader.skip(tag, end);
    }
    this.bounds.push(quantile);
    this.counts.push(value);
  }

  private unsigned(end: number): number {
    const at = this.reader.take(8, end);
    return this.reader.view.getUint32(at + 4, true) * TWO_32 + this.reader.view.getUint32(at, true);
  }

  /** Nanoseconds of 64 bits as whole milliseconds, exactly: 2^32 ns are 4294 ms and 967296 ns. */
  private millis(end: number): number {
    const at = this.reader.take(8, end);
    const low = this.reader.view.getUint32(at, true);
    const high = this.reader.view.getUint32(at + 4, true);
    return high * 4294 + Math.floor((high * 967_296 + low) / 1_000_000);
  }

  // ---- Series ----

  private beginKey(id: number): void {
    this.scratchEnd = PREFIX_BYTES;
    this.hash = HASH_SEED;
    this.putId(id);
  }

  private putId(id: number): void {
    const { scratch } = this;
    scratch[0] = id;
    scratch[1] = id >>> 8;
    scratch[2] = id >>> 16;
    scratch[3] = id >>> 24;
  }

  /** Appends the attribute whose length is next, length and all. */
  private keyAttribute(end: number): void {
    const { reader } = this;
    const start = reader.at;
    const stop = reader.lengthEnd(end);
    reader.at = stop;
    this.append(reader.bytes, start, stop);
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    const need = this.scratchEnd + end - start;
    if (need > this.scratch.length) {
      const grown = new Uint8Array(need * 2);
      grown.set(this.scratch.subarray(0, this.scratchEnd));
      this.scratch = grown;
    }
    const { scratch } = this;
    let to = this.scratchEnd;
    let { hash } = this;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      scratch[to++] = byte;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    this.scratchEnd = to;
    this.hash = hash;
  }

  /** The key of the scratch's attributes in a target, with a bound or quantile. */
  private keyWithId(target: Target, extra: number | undefined): number {
    this.putId(target.id);
    return this.key(target, extra);
  }

  private key(target: Target, extra: number | undefined): number {
    const attributesEnd = this.scratchEnd;
    if (extra !== undefined) {
      this.extraView.setFloat64(0, extra, true);
      this.append(new Uint8Array(this.extraView.buffer), 0, 8);
    }
    const { scratch, scratchEnd, dictionary } = this;
    let hash = Math.imul(this.hash ^ target.id, 0x5bd1e995);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const known = dictionary.find(scratch, 0, scratchEnd, hash);
    if (known >= 0) return known;
    const labels = this.labelsOf(target, attributesEnd, extra);
    const names: string[] = [];
    const values: string[] = [];
    for (const [name, value] of labels) {
      if (value === "") continue;
      names.push(name);
      values.push(value);
    }
    return dictionary.add(scratch, 0, scratchEnd, hash, { table: target.table, names, values });
  }

  private labelsOf(target: Target, attributesEnd: number, extra: number | undefined): Labels {
    const labels: Labels = new Map(target.labels);
    const { keyReader, attributes, value } = this;
    keyReader.open(this.scratch.subarray(PREFIX_BYTES, attributesEnd));
    attributes.count = 0;
    const end = attributesEnd - PREFIX_BYTES;
    while (keyReader.at < end) attributes.push(keyReader, end);
    addAttributes(labels, keyReader, attributes, value, target.strategy);
    attributes.count = NO_ATTRIBUTES.count;
    if (extra !== undefined && target.extra !== undefined) labels.set(target.extra, boundText(extra));
    return labels;
  }

  private target(about: About, suffix: string, type: string, extra: string | undefined): Target {
    const table = about.table + suffix;
    const id = `${this.scopeKey}\0${about.name}\0${about.unit}\0${type}\0${about.temporality}\0${table}`;
    let target = this.targets.get(id);
    if (target === undefined) {
      const { strategy } = this.opened();
      const options = semanticsOf(about, suffix, type);
      target = { id: this.targetCount++, table, labels: this.scopeLabels, strategy, extra, options, request: 0 };
      this.targets.set(id, target);
    }
    if (target.request !== this.request) {
      target.request = this.request;
      const { schemas, database } = this.opened();
      if (schemas.columnOf(database, table, VALUE_COLUMN) === undefined) this.tableOptions.set(table, target.options);
    }
    return target;
  }

  private clear(): void {
    this.dictionary.clear();
    this.targets = new Map();
    this.targetCount = 0;
  }

  private opened(): MetricOptions {
    return this.options as MetricOptions; // Set before the walk begins.
  }
}

interface About {
  readonly name: string;
  readonly unit: string;
  readonly table: string;
  readonly temporality: string;
}

interface Point {
  readonly millis: number;
  readonly count: number;
  readonly sum: number;
  readonly hasSum: boolean;
}

function keyOf(labels: Labels): string {
  return JSON.stringify([...labels]);
}

function temporalityName(temporality: number): string {
  return temporality === 1 ? "delta" : temporality === 2 ? "cumulative" : "";
}

function boundText(bound: number): string {
  if (bound === Number.POSITIVE_INFINITY) return "inf";
  return bound === Number.NEGATIVE_INFINITY ? "-inf" : String(bound);
}

function semanticsOf({ name, unit, temporality, table }: About, suffix: string, type: string): Readonly<Record<string, string>> {
  return {
    "greptime.semantic.metric.type": type,
    ...(temporality === "" ? {} : { "greptime.semantic.metric.temporality": temporality }),
    ...(unit === "" ? {} : { "greptime.semantic.metric.unit": unit }),
    ...(table + suffix === name ? {} : { "greptime.semantic.metric.original_name": name }),
  };
}
