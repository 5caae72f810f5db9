/**
 * Series of tables, for evaluation: each selector is one scan a table and column, or of a physical table, in the order of series and times.
 * Where only the newest samples are looked at, they alone are read, in any order.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Catalog } from "../../../table/catalog.ts";
import type { ScanMetrics, ScanRequest } from "../../../table/scan.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import { scanInTurns } from "../../../table/scan-in-turns.ts";
import type { EvaluationRun, SampledSeries, SelectorRead, SeriesSource } from "../evaluation/series-source.ts";
import { EqualSeries, mayHaveEqualSeries } from "./equal-series.ts";
import { NewestRows } from "./newest-rows.ts";
import { readingsOf, type SeriesReading } from "./series-reading.ts";
import { SeriesRuns } from "./series-runs.ts";
import { selectTables } from "./table-selection.ts";
import { rangeOfMillis } from "./time-range.ts";

/** See `SeriesSource`. */
type SeriesGroups = AsyncGenerator<Iterable<SampledSeries>, void, void>;

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
  private readonly metrics: ScanMetrics | undefined;
  private samples = 0;
  private series = 0;

  /**
   * @param database where metrics are looked for that name none; one that is not there has none
   * @param metrics what all scans together count into
   */
  constructor(catalog: Catalog, database: string, limits: SourceLimits, metrics?: ScanMetrics) {
    this.catalog = catalog;
    this.database = database;
    this.limits = limits;
    this.metrics = metrics;
  }

  /** Samples that were read so far. */
  get samplesRead(): number {
    return this.samples;
  }

  /** See `SeriesSource`. @throws DbError InvalidArguments, RuntimeResourcesExhausted, and those of scans */
  select(read: SelectorRead, run: EvaluationRun): AsyncIterable<Iterable<SampledSeries>> {
    if (read.firstMillis > read.lastMillis) return this.all([], read, run);
    const selections = selectTables(read.matchers, this.catalog, this.database);
    const readings = readingsOf(selections, this.catalog, read.labels);
    if (selections.length !== 1) return this.all(readings, read, run);
    // One metric, as most selectors name, needs no generator around its own.
    const all = [...readings];
    return all.length === 1 && all[0] !== undefined ? this.one(all[0], read, run) : this.all(all, read, run);
  }

  private async *all(readings: Iterable<SeriesReading>, read: SelectorRead, run: EvaluationRun): SeriesGroups {
    for (const reading of readings) {
      yield* this.one(reading, read, run);
      await run.pace.turn();
    }
  }

  private one(reading: SeriesReading, read: SelectorRead, run: EvaluationRun): SeriesGroups {
    const request = requestOf(reading, read, run.signal);
    const isNewest = read.newestOnly === true && !mayHaveEqualSeries(reading.table);
    return isNewest ? this.newest(reading, request, run) : this.whole(reading, request, run, undefined, read.newestOnly === true);
  }

  /** All samples of each series. @param only the series that are wanted; undefined: all */
  private async *whole(
    reading: SeriesReading,
    request: ScanRequest,
    run: EvaluationRun,
    only: ReadonlySet<number> | undefined,
    newestOnly = false,
  ): SeriesGroups {
    if (request.timeRange.start >= request.timeRange.end) return;
    const count = (samples: number): void => this.count(samples);
    let runs: SeriesRuns | undefined;
    let equal: EqualSeries | undefined;
    try {
      for await (const batch of scanInTurns(reading.table, request, run, this.metrics)) {
        throwIfCancelled(run.signal);
        if (runs === undefined) {
          // What the range holds is known with its first rows.
          const labels = only === undefined && mayHaveEqualSeries(reading.table) ? reading.allLabels() : undefined;
          if (labels !== undefined) equal = new EqualSeries(run);
          runs = new SeriesRuns(labels === undefined ? reading : { ...reading, labels }, run, count);
        }
        if (equal === undefined) yield runs.add(batch, only);
        else for (const series of runs.add(batch, only)) equal.add(series);
        if (run.pace.isDue()) await run.pace.turn();
      }
      const last = runs?.finished();
      if (last !== undefined) {
        count(last.count);
        if (equal === undefined) yield [last];
        else equal.add(last);
      }
      if (equal !== undefined) yield equal.all(reading.wanted, newestOnly);
    } finally {
      runs?.close();
      equal?.close();
    }
  }

  /** The newest sample of each series. */
  private async *newest(reading: SeriesReading, request: ScanRequest, run: EvaluationRun): SeriesGroups {
    if (request.timeRange.start >= request.timeRange.end) return;
    const rows = new NewestRows(reading, run, (samples) => this.count(samples));
    let isFirst = true;
    try {
      const newest: ScanRequest = { ...request, order: "none", newestPerSeries: true };
      for await (const batch of scanInTurns(reading.table, newest, run, this.metrics)) {
        throwIfCancelled(run.signal);
        if (isFirst && mayHaveEqualSeries(reading.table)) return yield* this.whole(reading, request, run, undefined, true);
        isFirst = false; // What the range holds is known with its first rows.
        yield rows.add(batch);
        if (run.pace.isDue()) await run.pace.turn();
      }
      if (rows.missed.size > 0) yield* this.whole(reading, request, run, rows.missed);
    } finally {
      rows.close();
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

/** The range may be empty. */
function requestOf(reading: SeriesReading, { firstMillis, lastMillis }: SelectorRead, signal: AbortSignal): ScanRequest {
  const { table, column, predicates: tagPredicates, numbers } = reading;
  const timeIndex = timeIndexOf(table.schema);
  const { type } = timeIndex;
  const timeRange = rangeOfMillis(firstMillis, lastMillis, type.kind === "timestamp" ? type.unit : "nanosecond");
  const projection = [timeIndex.name, column.name];
  return { projection, timeRange, tagPredicates, fieldBounds: [], order: "series-time", signal, numbers, mayReuseArrays: true };
}
