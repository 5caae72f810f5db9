/**
 * Series of tables, for evaluation: each selector is one scan a table and column, in the order of series and times.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Catalog } from "../../../table/catalog.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import { type ColumnSchema, mergeModeOf, timeIndexOf } from "../../../table/schema.ts";
import type { EvaluationRun, SampledSeries, SelectorRead, SeriesSource } from "../evaluation/series-source.ts";
import { SampleBuffer, type SampleShape } from "./sample-buffer.ts";
import { SeriesLabels } from "./series-labels.ts";
import { selectTables, type TableSelection } from "./table-selection.ts";
import { rangeOfMillis } from "./time-range.ts";

/** Most that one query reads. */
export interface SourceLimits {
  /** Of all selectors together; 0 = no limit. */
  readonly samplesMax: number;
  readonly seriesMax: number;
}

/** The tables of a catalog as series. One a query: it counts what the query reads. */
export class TableSource implements SeriesSource {
  private readonly catalog: Catalog;
  private readonly database: string;
  private readonly limits: SourceLimits;
  private samples = 0;
  private series = 0;

  /** @param database where metrics are looked for that name none; one that is not there has none */
  constructor(catalog: Catalog, database: string, limits: SourceLimits) {
    this.catalog = catalog;
    this.database = database;
    this.limits = limits;
  }

  /** Samples that were read so far. */
  get samplesRead(): number {
    return this.samples;
  }

  /** See `SeriesSource`. @throws DbError InvalidArguments, RuntimeResourcesExhausted, and those of scans */
  async *select(read: SelectorRead, run: EvaluationRun): AsyncGenerator<SampledSeries> {
    if (read.firstMillis > read.lastMillis) return;
    for (const selection of selectTables(read.matchers, this.catalog, this.database)) {
      for (const column of selection.columns) {
        for await (const series of seriesOf(selection, column, read, run)) {
          this.count(series.count);
          yield series;
        }
      }
      await run.pace.turn();
    }
  }

  private count(samples: number): void {
    const { samplesMax, seriesMax } = this.limits;
    this.samples += samples;
    this.series++;
    if (samplesMax > 0 && this.samples > samplesMax) {
      throw tooMuch("query processing would load too many samples into memory in query execution", "query.promql.samples", samplesMax);
    }
    if (seriesMax > 0 && this.series > seriesMax) throw tooMuch("the query selects too many series", "query.promql.series", seriesMax);
  }
}

function tooMuch(what: string, key: string, most: number): DbError {
  const hint = `narrow the matchers or the time range, or raise ${key}`;
  return new DbError(StatusCode.RuntimeResourcesExhausted, `${what}: more than the ${most} that ${key} allows; ${hint}`);
}

async function* seriesOf(
  selection: TableSelection,
  column: ColumnSchema,
  { firstMillis, lastMillis }: SelectorRead,
  run: EvaluationRun,
): AsyncGenerator<SampledSeries> {
  const { table, predicates, showsField } = selection;
  const shape = shapeOf(selection, column);
  const timeRange = rangeOfMillis(firstMillis, lastMillis, shape.unit);
  if (timeRange.start >= timeRange.end) return;
  const numbers = table.series;
  const labels = new SeriesLabels(selection, numbers, showsField ? column.name : undefined);
  const buffer = new SampleBuffer(shape, run);
  const projection = [timeIndexOf(table.schema).name, column.name];
  const { signal } = run;
  const request = { projection, timeRange, tagPredicates: predicates, fieldBounds: [], order: "series-time", signal, numbers } as const;
  let current = -1;
  const finished = (): SampledSeries => ({
    labels: labels.of(current),
    count: buffer.count,
    times: buffer.times,
    values: buffer.values,
    histograms: buffer.histograms,
  });
  try {
    for await (const { series, vectors, start, end } of runsOf(table.scan(request), run)) {
      if (series !== current) {
        if (buffer.count > 0) yield finished();
        buffer.clear();
        current = series;
      }
      buffer.append(vectors[0], vectors[1], start, end);
    }
    if (buffer.count > 0) yield finished();
  } finally {
    buffer.close();
  }
}

/** Rows `[start, end)` of one series. */
interface Run {
  readonly series: number;
  readonly vectors: readonly Vector[];
  readonly start: number;
  readonly end: number;
}

async function* runsOf(batches: AsyncIterable<ScanBatch>, { signal, pace }: EvaluationRun): AsyncGenerator<Run> {
  for await (const { rowCount, vectors, runs } of batches) {
    throwIfCancelled(signal);
    const { starts, series } = runs;
    for (let i = 0; i + 1 < starts.length && (starts[i] as number) < rowCount; i++) {
      if (pace.isDue()) await pace.turn();
      yield { series: series[i] as number, vectors, start: starts[i] as number, end: Math.min(rowCount, starts[i + 1] as number) };
    }
  }
}

function shapeOf({ table: { schema } }: TableSelection, column: ColumnSchema): SampleShape {
  const { type } = timeIndexOf(schema);
  const unit = type.kind === "timestamp" ? type.unit : "nanosecond";
  const isFiner = unit === "microsecond" || unit === "nanosecond";
  return { column, unit, mayRepeat: isFiner || mergeModeOf(schema) === "append" };
}
