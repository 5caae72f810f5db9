/**
 * OTLP metrics to ordinary tables, the older way (contract ingest.md 4.2): all attributes of resource, scope and point are tags, times are
 * nanoseconds, a summary is one row with a column a quantile. Only tables that were made so are written so.
 */
import { FLOAT64 } from "../../../column/data-type.ts";
import { ProtoReader } from "../../../format/proto/reader.ts";
import { RowCollector, tagKey } from "../../../table/rows/row-collector.ts";
import { SeriesDictionary } from "../../../table/series-dictionary.ts";
import { AnyValue, Attributes } from "../any-value.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { addAttributes, type Labels } from "./labels.ts";
import { legacyName } from "./legacy-mode.ts";
import { boundText, Metric } from "./metric.ts";
import { PointReader } from "./point.ts";
import { VALUE_COLUMN } from "./point-rows.ts";

/** Upper halves from here on are beyond the times that 64 bits hold. */
const TIME_HIGH_END = 0x8000_0000;

/** What the older way asks of its caller. */
export interface LegacyOptions {
  /** Whether a metric may be a table; points of others are rejected. */
  acceptsTable(name: string): boolean;
}

/** Decodes a request in protobuf; the result is not borrowed. @throws ProtoError when the body is no request */
export function decodeLegacy(body: Uint8Array, options: LegacyOptions): OtlpResult {
  return new LegacyRequest(body, options).result();
}

class LegacyRequest implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly options: LegacyOptions;
  private readonly metric: Metric = new Metric();
  private readonly point: PointReader = new PointReader(this.reader);
  private readonly value: AnyValue = new AnyValue();
  private readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly tables: Map<string, RowCollector> = new Map();
  private readonly rejected: Rejected = new Rejected();
  private resourceLabels: Labels = new Map();
  private scopeLabels: Labels = new Map();

  constructor(body: Uint8Array, options: LegacyOptions) {
    this.options = options;
    this.reader.open(body);
  }

  result(): OtlpResult {
    new RequestWalk(this.reader).walk(this);
    const collectors = [...this.tables.values()];
    const rowCount = collectors.reduce((sum, rows) => sum + rows.rowCount, 0);
    const tables = collectors.flatMap((rows) => rows.writes());
    return { batch: { dictionary: this.dictionary, tables }, rowCount, rejected: this.rejected };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    this.resourceLabels = this.labels(scope.attributes, new Map());
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    this.scopeLabels = this.labels(scope.attributes, this.resourceLabels);
  }

  /** Called by the walk: one metric. */
  record(start: number, end: number): void {
    const { metric, reader, point } = this;
    metric.read(reader, start, end);
    const { name, kind, pointCount } = metric;
    if (pointCount === 0) return;
    const table = legacyName(name);
    if (kind === "exponential" || !this.options.acceptsTable(table)) {
      const why = kind === "exponential" ? "is an exponential histogram, which has no tables" : "has a name that can be no table's";
      this.rejected.add(`metric ${name} ${why}`, pointCount);
      return;
    }
    metric.eachPoint(reader, (stop) => {
      if (kind === "histogram") point.readHistogram(stop);
      else if (kind === "summary") point.readSummary(stop);
      else point.readNumber(stop);
      if (point.timeHigh >= TIME_HIGH_END) {
        this.rejected.add(`the time ${point.nanos} is beyond what 64 bits hold in nanoseconds`);
        return;
      }
      const labels = this.pointLabels();
      if (kind === "histogram") this.histogram(table, labels);
      else if (kind === "summary") this.summary(table, labels);
      else
        this.begin(table, labels)
          .field(VALUE_COLUMN, FLOAT64)
          .set(point.hasValue ? point.value : undefined);
    });
  }

  private histogram(table: string, labels: Labels): void {
    const { point } = this;
    const { counts, bounds } = point;
    if (counts.length > 0 && counts.length !== bounds.length + 1) {
      this.rejected.add(`a point of histogram ${this.metric.name} has ${counts.length} counts for ${bounds.length} bounds`);
      return;
    }
    let cumulative = 0;
    for (const [i, count] of counts.entries()) {
      cumulative += count;
      const le = boundText(bounds[i] ?? Number.POSITIVE_INFINITY);
      this.begin(`${table}_bucket`, new Map([...labels, ["le", le]]))
        .field(VALUE_COLUMN, FLOAT64)
        .set(cumulative);
    }
    if (point.hasSum) this.begin(`${table}_sum`, labels).field(VALUE_COLUMN, FLOAT64).set(point.sum);
    this.begin(`${table}_count`, labels).field(VALUE_COLUMN, FLOAT64).set(point.count);
  }

  private summary(table: string, labels: Labels): void {
    const { counts, bounds, count } = this.point;
    const rows = this.begin(table, labels);
    for (const [i, quantile] of bounds.entries()) rows.field(quantileColumn(quantile), FLOAT64).set(counts[i]);
    rows.field("greptime_count", FLOAT64).set(count);
  }

  /** Begins a row of a table at the point's time. */
  private begin(table: string, labels: Labels): RowCollector {
    let rows = this.tables.get(table);
    if (rows === undefined) {
      rows = new RowCollector(table, "nanosecond");
      this.tables.set(table, rows);
    }
    const filled = [...labels].filter(([, value]) => value !== "");
    const names = filled.map(([name]) => name);
    const values = filled.map(([, value]) => value);
    rows.begin(this.point.nanos, tagKey(this.dictionary, table, names, values));
    return rows;
  }

  private pointLabels(): Labels {
    const { reader, point } = this;
    const list = new Attributes();
    const at = reader.at;
    for (let i = 0; i < point.spanEnd; i += 2) {
      reader.at = point.spans[i] as number;
      list.push(reader, point.spans[i + 1] as number);
    }
    reader.at = at;
    return this.labels(list, this.scopeLabels);
  }

  /** Labels of a list of attributes over others; text and numbers only. */
  private labels(list: Attributes, base: Labels): Labels {
    const sent: Labels = new Map();
    addAttributes(sent, this.reader, list, this.value, "NoTranslation");
    const labels: Labels = new Map(base);
    for (const [name, value] of sent) labels.set(legacyName(name), value);
    return labels;
  }
}

/** `greptime_p50`, `greptime_p05`, `greptime_p99.9`. */
function quantileColumn(quantile: number): string {
  return `greptime_p${String(quantile * 100).padStart(2, "0")}`;
}
