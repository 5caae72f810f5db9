/**
 * A table whose rows lie in several parts, each a table with some of its series: shards of this process, or of others. Readers see one.
 */
import { assert } from "../../base/assert.ts";
import type { Table, TableFile, TableStatistics } from "../../table/catalog.ts";
import type { MatchingRows, OverwriteWatch, RowKeys, RowRange, WatchedKeys } from "../../table/delete.ts";
import { ALL_TIME, type ScanBatch, type ScanMetrics, type ScanRequest, type TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { Batch } from "../../column/batch.ts";
import type { SharedScan, ShareLimits } from "../../table/shared-scan.ts";
import { type JoinedPart, type JoinedRows, joinedScan, type OrderIn } from "./joined-scan.ts";
import { JoinedSeries } from "./joined-series.ts";
import { boundsOf, joinedShare } from "./joined-share.ts";

/** Conditions on rows that may tell in which parts they are. */
type Conditions = Pick<ScanRequest, "tagPredicates" | "timeRange">;

/** Those of all rows: parts where none can be are asked nothing. */
const ALL_ROWS: Conditions = { tagPredicates: [], timeRange: ALL_TIME };

/** Deletes of all parts of a table. */
export interface PartDeletes {
  /** As `Table.deleteRows`, by part. */
  rows(keys: readonly (RowKeys | undefined)[], unless: readonly OverwriteWatch[] | undefined): Promise<number>;
  /** As `Table.deleteRange`. */
  range(range: RowRange): Promise<number>;
}

/** How parts are joined. */
export interface PartsOptions {
  /** Whether a series may lie in several of them, at different times. Absent: none does. */
  repeats?(): boolean;
  /** The parts that may have rows which meet conditions, by their places. Absent: any may. */
  placesOf?(conditions: Conditions): readonly number[];
  /** Deletes rows of all parts as one. Absent: one part after another. */
  readonly deletes?: PartDeletes;
  /** Where parts order their series in a way of their own. */
  readonly orderIn?: OrderIn;
}

/** See the file header. */
export class JoinedTable implements Table {
  private readonly parts: readonly Table[];
  /** By the series of the first part: who lets those go lets all of it go. */
  private readonly joined: WeakMap<SeriesView, { readonly series: JoinedSeries; readonly schema: TableSchema }> = new WeakMap();
  private readonly options: PartsOptions;
  /** As its parts. */
  readonly deleteMatching?: (rows: MatchingRows) => Promise<number>;
  readonly refreshed?: NonNullable<Table["refreshed"]>;

  /** @param parts at least one; all have the same schema */
  constructor(parts: readonly Table[], options: PartsOptions = {}) {
    assert(parts.length > 0, "a table has a part at least");
    this.parts = parts;
    this.options = options;
    if (parts.every((part) => part.deleteMatching !== undefined)) this.deleteMatching = (rows) => this.deleteInParts(rows);
    if (parts.some((part) => part.refreshed !== undefined)) {
      this.refreshed = async (kind) => void (await allDone(this.partsFor(ALL_ROWS).map(async ({ table }) => table.refreshed?.(kind))));
    }
  }

  get schema(): TableSchema {
    return (this.parts[0] as Table).schema;
  }

  get series(): SeriesView {
    return this.joinedSeries();
  }

  scan(request: ScanRequest, metrics?: ScanMetrics): AsyncIterable<ScanBatch> {
    return this.scanNow(request, metrics);
  }

  scanAtOnce(request: ScanRequest): Batch | undefined {
    const series = this.joinedOf(request.numbers);
    let found: Batch | undefined;
    for (const { table, part } of this.partsFor(request)) {
      const batch = table.scanAtOnce?.({ ...request, numbers: series.parts[part] as SeriesView });
      if (batch === undefined || (batch.rowCount > 0 && (found?.rowCount ?? 0) > 0)) return undefined; // Those of several are scanned.
      if (found === undefined || batch.rowCount > 0) found = batch;
    }
    return found;
  }

  async share(request: ScanRequest, limits: ShareLimits, metrics?: ScanMetrics): Promise<SharedScan | undefined> {
    if (this.rowsAbout(request) < limits.rowsMin) return undefined;
    const series = this.joinedOf(request.numbers);
    return joinedShare(this.partsFor(request), this.rowsOf(series), request, limits, metrics);
  }

  rowsAbout(request: ScanRequest): number {
    const series = this.joinedOf(request.numbers);
    let rows = 0;
    for (const { table, part } of this.partsFor(request)) {
      rows += table.rowsAbout?.({ ...request, numbers: series.parts[part] as SeriesView }) ?? table.statistics().rowCount;
    }
    return rows;
  }

  statistics(): TableStatistics {
    const sum = { rowCount: 0, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: 0 };
    for (const { table } of this.partsFor(ALL_ROWS)) {
      const own = table.statistics();
      sum.rowCount += own.rowCount;
      sum.memoryBytes += own.memoryBytes;
      sum.fileBytes += own.fileBytes;
      sum.fileCount += own.fileCount;
      sum.seriesCount += own.seriesCount;
    }
    return sum;
  }

  timeBounds(): TimeRange | undefined {
    return boundsOf(this.partsFor(ALL_ROWS).map(({ table }) => table));
  }

  files(): readonly TableFile[] {
    return this.partsFor(ALL_ROWS).flatMap(({ table }) => table.files());
  }

  async deleteRows(keys: RowKeys, unless?: OverwriteWatch): Promise<number> {
    assert(unless === undefined || unless instanceof JoinedWatch, "a watch is one of the table's own");
    const series = this.joinedOf(keys.numbers);
    const own = this.parts.map((_, i) => keysOf(keys, series, i));
    if (this.options.deletes !== undefined) return this.options.deletes.rows(own, unless?.parts);
    const made = this.parts.map(async (part, i) => {
      const those = own[i];
      return those === undefined ? 0 : part.deleteRows(those, unless?.parts[i]);
    });
    return sum(await allDone(made));
  }

  watchOverwrites(timeRange: TimeRange): OverwriteWatch {
    return new JoinedWatch(this.parts.map((part) => part.watchOverwrites(timeRange)));
  }

  async deleteRange(range: RowRange): Promise<number> {
    if (this.options.deletes !== undefined) return this.options.deletes.range(range);
    return sum(await allDone(this.partsFor(range).map(async ({ table }) => table.deleteRange(range))));
  }

  private async deleteInParts(rows: MatchingRows): Promise<number> {
    return sum(await allDone(this.partsFor(rows).map(async ({ table }) => (await table.deleteMatching?.(rows)) ?? 0)));
  }

  private async *scanNow(request: ScanRequest, metrics: ScanMetrics | undefined): AsyncGenerator<ScanBatch> {
    const series = this.joinedOf(request.numbers);
    yield* joinedScan(this.partsFor(request), this.rowsOf(series), request, metrics);
  }

  private rowsOf(series: JoinedSeries): JoinedRows {
    return { schema: this.schema, series, orderIn: this.options.orderIn };
  }

  private partsFor(conditions: Conditions): readonly (JoinedPart & { readonly table: Table })[] {
    const places = this.options.placesOf?.(conditions) ?? this.parts.keys().toArray();
    return places.map((part) => ({ table: this.parts[part] as Table, part }));
  }

  private joinedOf(numbers: SeriesView | undefined): JoinedSeries {
    if (numbers === undefined) return this.joinedSeries();
    assert(numbers instanceof JoinedSeries, "numbers are those of the table's series");
    return numbers;
  }

  /** New ones where a part numbers anew, or columns have come or gone: what codes mean hangs on both. */
  private joinedSeries(): JoinedSeries {
    const { schema } = this;
    const views = this.parts.map((part) => part.series);
    const known = this.joined.get(views[0] as SeriesView);
    const repeats = this.options.repeats?.() === true;
    const isSame = known?.schema === schema && known.series.repeats === repeats && views.every((view, i) => view === known.series.parts[i]);
    if (known !== undefined && isSame) return known.series;
    const tags = schema.columns.flatMap(({ name, semantic }) => (semantic === "tag" ? [name] : []));
    const series = new JoinedSeries(views, repeats ? tags : undefined);
    this.joined.set(views[0] as SeriesView, { series, schema });
    return series;
  }
}

/** What all give, once all have ended. @throws as the first that failed */
async function allDone<T>(made: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(made);
  return Promise.all(made);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

/** The keys of series that a part has, whether it has a row of that time or not; undefined where there are none. */
function keysOf({ rowCount, series: numbers, times }: RowKeys, series: JoinedSeries, part: number): RowKeys | undefined {
  const own = new Uint32Array(rowCount);
  const offsets = new Float64Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const number = series.numberIn(part, numbers[row] as number);
    if (number === undefined) continue;
    own[count] = number;
    offsets[count++] = times.offsets[row] as number;
  }
  if (count === 0) return undefined;
  return {
    rowCount: count,
    series: own,
    numbers: series.parts[part] as SeriesView,
    times: { kind: "time", base: times.base, offsets, validity: undefined },
  };
}

/** One watch a part. */
class JoinedWatch implements OverwriteWatch {
  readonly parts: readonly OverwriteWatch[];

  constructor(parts: readonly OverwriteWatch[]) {
    this.parts = parts;
  }

  unwritten(keys: WatchedKeys): never {
    throw new Error(`keys are those of a part; got ${keys.count} of all`);
  }

  get isFull(): boolean {
    return this.parts.some(({ isFull }) => isFull);
  }

  end(): void {
    for (const part of this.parts) part.end();
  }
}
