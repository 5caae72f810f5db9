/**
 * Points by series: the bytes of metric and tags as sent → key, and the rows of each metric. A known series costs a hash and a
 * comparison, no string.
 */
import { fnv1a } from "../../base/bytes/hash.ts";
import { SERIES_KEY_BYTES_MAX, TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { nameFlaw, shownName } from "../../table/names.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { METRICS_MAX, RETAINED_BYTES_MAX, TIME_MS_MAX } from "./limits.ts";
import { MetricRows, POINT_COLUMNS, type TagShape } from "./metric-rows.ts";
import type { PutOptions } from "./types.ts";

/** Metric and tags of a series, or why they are none. */
export type ParsedSeries = { readonly metric: string; readonly tags: ReadonlyMap<string, string> } | { readonly flaw: string };

const RESERVED: ReadonlySet<string> = new Set(Object.values(POINT_COLUMNS));
/** Seconds have fewer digits than this. */
const MILLISECOND_DIGITS = 13;

/** A time of so many digits in milliseconds; undefined when it lies too far away. */
export function timeMsOf(value: number, digits: number): number | undefined {
  const ms = digits < MILLISECOND_DIGITS ? value * 1000 : value;
  return Math.abs(ms) <= TIME_MS_MAX ? ms : undefined;
}

/** See the file header. */
export class Points {
  readonly dictionary: SeriesDictionary;
  rowCount = 0;
  private options: PutOptions | undefined;
  private epoch = 0;
  private scratch: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  private readonly metrics: Map<string, MetricRows> = new Map();
  private readonly shapes: Map<string, TagShape> = new Map();
  /** By key. */
  private shapeOf: TagShape[] = [];
  private touched: MetricRows[] = [];
  private heldBytes = 0;

  constructor(bytesMax: number = SERIES_DICTIONARY_BYTES_MAX) {
    this.dictionary = new SeriesDictionary(bytesMax);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.heldBytes;
  }

  /** Starts a request; what is known may be forgotten now. */
  begin(options: PutOptions): void {
    this.options = options;
    this.epoch++;
    this.rowCount = 0;
    for (const rows of this.touched) rows.rowCount = 0;
    this.touched = [];
    if (!this.dictionary.full && this.metrics.size < METRICS_MAX && this.heldBytes <= RETAINED_BYTES_MAX) return;
    this.dictionary.clear();
    this.metrics.clear();
    this.shapes.clear();
    this.shapeOf = [];
    this.heldBytes = 0;
  }

  /**
   * Adds a point. Its metric is `source[metricStart, metricEnd)`, its tags `source[tagsStart, tagsEnd)`, in form `form` (each form of the
   * protocol has a number).
   *
   * @param parse reads metric and tags of a series that is not known
   * @returns why the point is refused
   */
  add(
    source: Uint8Array,
    metricStart: number,
    metricEnd: number,
    tagsStart: number,
    tagsEnd: number,
    form: number,
    timeMs: number,
    value: number,
    parse: () => ParsedSeries,
  ): string | undefined {
    const metricLength = metricEnd - metricStart;
    const length = metricLength + tagsEnd - tagsStart + 2;
    if (length > SERIES_KEY_BYTES_MAX) return `metric and tags take ${length} bytes; at most ${SERIES_KEY_BYTES_MAX} are allowed`;
    if (length > this.scratch.length) this.scratch = new Uint8Array(length * 2);
    const { scratch, dictionary } = this;
    let at = 0;
    scratch[at++] = form;
    for (let i = metricStart; i < metricEnd; i++) scratch[at++] = source[i] as number;
    scratch[at++] = 0x22; // A quote ends the metric: none stands inside it.
    for (let i = tagsStart; i < tagsEnd; i++) scratch[at++] = source[i] as number;
    const hash = fnv1a(scratch, 0, length);
    let key = dictionary.find(scratch, 0, length, hash);
    if (key < 0) {
      const found = this.learn(parse());
      if (typeof found === "string") return found;
      const { shape, values } = found;
      key = dictionary.add(scratch, 0, length, hash, { table: shape.rows.metric, names: shape.names, values });
      this.shapeOf[key] = shape;
    }
    const shape = this.shapeOf[key] as TagShape;
    if (shape.epoch !== this.epoch) {
      shape.epoch = this.epoch;
      shape.refusal = shape.rows.refusalOf(shape.names, this.epoch, this.options as PutOptions);
    }
    if (shape.refusal !== undefined) return shape.refusal;
    const { rows } = shape;
    if (rows.rowCount === 0) this.touched.push(rows);
    if (rows.rowCount === rows.capacity) this.heldBytes += rows.grow();
    rows.add(key, timeMs, value);
    this.rowCount++;
    return undefined;
  }

  /** All rows, a write a metric. */
  writes(): TableWrite[] {
    return this.touched.map((rows) => rows.write());
  }

  /** Shape and values of a series, or why it cannot be kept. */
  private learn(series: ParsedSeries): { readonly shape: TagShape; readonly values: readonly string[] } | string {
    if ("flaw" in series) return series.flaw;
    const { metric, tags } = series;
    if (metric === "") return "empty metric name";
    if (this.options?.acceptsTable(metric) !== true) return `metric '${shownName(metric)}' cannot be the name of a table`;
    if (tags.size > TABLE_COLUMNS_MAX - 2) return `${tags.size} tags; a table has ${TABLE_COLUMNS_MAX} columns at most`;
    const names: string[] = [];
    const values: string[] = [];
    for (const [name, value] of tags) {
      if (RESERVED.has(name)) return `a tag cannot be named ${name}`;
      const flaw = nameFlaw(name);
      if (flaw !== undefined) return `tag '${shownName(name)}' cannot be the name of a column: ${flaw}`;
      if (value === "") continue; // As if it were not there.
      names.push(name);
      values.push(value);
    }
    const rows = this.metrics.get(metric) ?? this.addMetric(metric);
    if (rows === undefined) return `more than ${METRICS_MAX} metrics`;
    const shapeName = [metric, ...names].join("\0");
    let shape = this.shapes.get(shapeName);
    if (shape === undefined) {
      shape = { rows, names, epoch: 0, refusal: undefined };
      this.shapes.set(shapeName, shape);
    }
    return { shape, values };
  }

  private addMetric(metric: string): MetricRows | undefined {
    if (this.metrics.size >= 2 * METRICS_MAX) return undefined;
    const rows = new MetricRows(metric);
    this.metrics.set(metric, rows);
    return rows;
  }
}
