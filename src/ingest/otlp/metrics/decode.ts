/**
 * OTLP metrics to a `WriteBatch` of logical tables (contract ingest.md 4.2).
 *
 *   point ─► [number of its table] + [bytes of its attributes] ─► SeriesKeys ─► key        no string for a known series
 *
 * A histogram is cumulative buckets, sum and count; a summary quantiles, sum and count. Exponential histograms are not kept, and told as
 * rejected.
 */
import { ProtoReader } from "../../../format/proto/reader.ts";
import { SERIES_DICTIONARY_BYTES_MAX } from "../../../table/series-dictionary.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { AnyValue } from "../any-value.ts";
import { CONTEXTS_MAX } from "../limits.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { addScope, type Labels, type MetricLabelOptions, resourceLabels } from "./labels.ts";
import { Metric } from "./metric.ts";
import { metricName } from "./names.ts";
import { PointReader } from "./point.ts";
import { PointRows, VALUE_COLUMN } from "./point-rows.ts";
import { SeriesKeys } from "./series-keys.ts";
import { type Target, type TargetParts, Targets } from "./targets.ts";

/** Where points go, and how. */
export interface MetricOptions extends MetricLabelOptions {
  readonly database: string;
  /** Undefined: every metric is an ordinary table. */
  readonly physicalTable: string | undefined;
  readonly schemas: SchemaLookup;
  /** Whether a metric may be a table; points of others are rejected. */
  acceptsTable(name: string): boolean;
}

/** Points, and options of the tables that do not exist yet. */
export interface MetricResult extends OtlpResult {
  readonly tableOptions: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Decodes the metrics to one database on one thread. It keeps the series it has seen between requests. */
export class MetricDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly keys: SeriesKeys;
  private readonly targets: Targets = new Targets();
  private readonly rows: PointRows = new PointRows();
  private readonly metric: Metric = new Metric();
  private readonly point: PointReader = new PointReader(this.reader);
  private readonly value: AnyValue = new AnyValue();
  private request = 0;
  private tableOptions: Map<string, Readonly<Record<string, string>>> = new Map();
  private rejected: Rejected = new Rejected();
  private options: MetricOptions | undefined;
  private optionsKey = "";
  private resourceKey = "";
  private scopeKey = "";
  private resourceLabelsNow: Labels = new Map();
  private scopeLabels: Labels = new Map();

  /** @param dictionaryBytesMax bytes of series after which all are forgotten between two requests */
  constructor(dictionaryBytesMax: number = SERIES_DICTIONARY_BYTES_MAX) {
    this.keys = new SeriesKeys(dictionaryBytesMax);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.keys.memoryBytes + this.rows.byteSize + this.targets.count * 1024;
  }

  /**
   * Decodes a request in protobuf. The batch borrows the decoder's memory until the next call.
   *
   * @throws ProtoError when the body is no request
   */
  decode(body: Uint8Array, options: MetricOptions): MetricResult {
    const { dictionary } = this.keys;
    if (dictionary.full || this.targets.count > CONTEXTS_MAX) {
      this.keys.clear();
      this.targets.clear();
    }
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
      batch: { dictionary, tables: this.rows.writes(options.physicalTable, dictionary) },
      rowCount: this.rows.rowCount,
      rejected: this.rejected,
      tableOptions: this.tableOptions,
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    this.resourceLabelsNow = resourceLabels(this.reader, scope, this.value, this.opened());
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
    const { metric } = this;
    metric.read(this.reader, start, end);
    const { name, unit, kind, isMonotonic, pointCount } = metric;
    if (pointCount === 0) return;
    if (kind === "exponential") {
      this.rejected.add(`metric ${name} is an exponential histogram, which has no tables`, pointCount);
      return;
    }
    const options = this.opened();
    const table = metricName({ name, unit, isMonotonicSum: kind === "sum" && isMonotonic, isGauge: kind === "gauge" }, options.strategy);
    if (!options.acceptsTable(table)) {
      this.rejected.add(`metric ${JSON.stringify(name)}: ${JSON.stringify(table)} can be no table's name`, pointCount);
      return;
    }
    if (kind === "histogram") this.histograms(table);
    else if (kind === "summary") this.summaries(table);
    else this.numbers(this.target({ metric, table, suffix: "", type: typeOf(metric) }));
  }

  private numbers(target: Target): void {
    const { reader, point, rows, keys } = this;
    this.metric.eachPoint(reader, (end) => {
      point.readNumber(end);
      keys.begin(reader.bytes, point);
      const key = keys.keyOf(target, undefined);
      if (point.hasValue) rows.add(key, point.millis, point.value);
      else rows.addEmpty(target.table, key, point.millis);
    });
  }

  private histograms(table: string): void {
    const { metric, reader, point, rows, keys } = this;
    const buckets = this.target({ metric, table, suffix: "_bucket", type: "histogram", extra: "le" });
    const sums = this.target({ metric, table, suffix: "_sum", type: "counter" });
    const totals = this.target({ metric, table, suffix: "_count", type: "counter" });
    metric.eachPoint(reader, (end) => {
      point.readHistogram(end);
      const { counts, bounds } = point;
      if (counts.length > 0 && counts.length !== bounds.length + 1) {
        this.rejected.add(`a point of histogram ${metric.name} has ${counts.length} counts for ${bounds.length} bounds`);
        return;
      }
      keys.begin(reader.bytes, point);
      let cumulative = 0;
      for (let i = 0; i < counts.length; i++) {
        cumulative += counts[i] as number;
        rows.add(keys.keyOf(buckets, bounds[i] ?? Number.POSITIVE_INFINITY), point.millis, cumulative);
      }
      this.addTotals(sums, totals);
    });
  }

  private summaries(table: string): void {
    const { metric, reader, point, rows, keys } = this;
    const quantiles = this.target({ metric, table, suffix: "", type: "summary", extra: "quantile" });
    const sums = this.target({ metric, table, suffix: "_sum", type: "counter" });
    const totals = this.target({ metric, table, suffix: "_count", type: "counter" });
    metric.eachPoint(reader, (end) => {
      point.readSummary(end);
      keys.begin(reader.bytes, point);
      const { counts, bounds } = point;
      for (let i = 0; i < bounds.length; i++) rows.add(keys.keyOf(quantiles, bounds[i]), point.millis, counts[i] as number);
      this.addTotals(sums, totals);
    });
  }

  private addTotals(sums: Target, totals: Target): void {
    const { point, rows, keys } = this;
    if (point.hasSum) rows.add(keys.keyOf(sums, undefined), point.millis, point.sum);
    rows.add(keys.keyOf(totals, undefined), point.millis, point.count);
  }

  private target(parts: TargetParts): Target {
    const { strategy, schemas, database } = this.opened();
    const target = this.targets.of(parts, this.scopeKey, this.scopeLabels, strategy);
    if (target.request !== this.request) {
      target.request = this.request;
      const { table, options } = target;
      if (schemas.columnOf(database, table, VALUE_COLUMN) === undefined) this.tableOptions.set(table, options);
    }
    return target;
  }

  private opened(): MetricOptions {
    return this.options as MetricOptions; // Set before the walk begins.
  }
}

function typeOf({ kind, isMonotonic }: Metric): TargetParts["type"] {
  if (kind === "gauge") return "gauge";
  return isMonotonic ? "counter" : "updown_counter";
}

function keyOf(labels: Labels): string {
  return JSON.stringify([...labels]);
}
