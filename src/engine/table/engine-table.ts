import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Batch } from "../../column/batch.ts";
import type { PageCache } from "../../storage/cache/page-cache.ts";
import { initialValueOf } from "../../storage/region/default-value.ts";
import type { Region, Snapshot } from "../../storage/region/region.ts";
import type { OutputColumn } from "../../storage/scan/merge/assemble.ts";
import { conditionsOf } from "../../storage/scan/select/column-condition.ts";
import { ConstantColumn } from "../../storage/scan/runs/constant-column.ts";
import { scanAtOnce } from "../../storage/scan/scan-at-once.ts";
import { scanRows, scanSelected } from "../../storage/scan/scan.ts";
import { type ResolvedScan, selectedScan } from "../../storage/scan/selected-scan.ts";
import { snapshotOf } from "../../storage/share/scan-snapshot.ts";
import { partOf, splitScan } from "../../storage/share/split-scan.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { SeriesTags } from "../../storage/series/series-tags.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import type { Table, TableFile, TableStatistics } from "../../table/catalog.ts";
import { columnNamed, tableNotFound } from "../../table/not-found.ts";
import type { OverwriteWatch, RowKeys, RowRange } from "../../table/delete.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import { type ColumnSchema, mergeModeOf, type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { Expiry } from "../time/expiry.ts";
import { resolvedSummaries, type SummarisedColumn } from "./scan-summaries.ts";
import type { SharedScan, ShareLimits } from "../../table/shared-scan.ts";
import { isShareable, rowsWithin, shareMeeting } from "./table-share.ts";

/** What of a scan depends on the table that asks: one region may carry several. */
export type RegionScan = Pick<ResolvedScan, "output" | "conditions" | "summaries" | "request" | "metrics" | "selection" | "registry">;

/** Where the rows of a range are found. */
export interface ScannedRows {
  scan(request: ScanRequest): AsyncIterable<ScanBatch>;
  /** The region's number of a series of the scan; by default they are the same. */
  readonly regionSeriesOf?: ((series: number) => number) | undefined;
  /** Whose numbers those of the region are. */
  readonly registry: SeriesRegistry;
}

/** What deletes the rows of tables. */
export interface RowDeleter {
  /**
   * Deletes rows by series number and time, and returns how many `unless` had left out.
   *
   * @throws DbError InvalidArguments, TableNotFound, StorageUnavailable, RateLimited
   */
  deleteRows(deletes: readonly KeyDelete[]): Promise<number>;
  /** Deletes all rows of a range and returns how many there were. @throws DbError as `deleteRows` */
  deleteRange(deletes: readonly RangeDelete[], range: RowRange): Promise<number>;
}

/** Rows to be deleted from a region. */
export interface KeyDelete {
  readonly table: EngineTable;
  /** By the region's numbers. Borrowed until the call that takes them returns its promise. */
  readonly keys: RowKeys;
  readonly unless: OverwriteWatch | undefined;
}

/** A region from which a range is to be deleted. */
export interface RangeDelete {
  readonly table: EngineTable;
  readonly rows: ScannedRows;
}

/** What all tables of an engine share. */
export interface EngineTableParts {
  readonly cache: PageCache;
  readonly clock: Clock;
  readonly expiry: Expiry;
  readonly deleter: RowDeleter;
  /** Makes rows visible that other threads have acknowledged. */
  catchUp(): void;
}

/** A table over its region. */
export class EngineTable implements Table {
  readonly region: Region;
  readonly clock: Clock;
  /** Makes rows visible that other threads have acknowledged, and puts what they changed in force. */
  readonly catchUp: () => void;
  readonly cache: PageCache;
  private readonly expiry: Expiry;
  readonly deleter: RowDeleter;
  private dropped = false;

  constructor(region: Region, parts: EngineTableParts) {
    this.region = region;
    this.cache = parts.cache;
    this.clock = parts.clock;
    this.expiry = parts.expiry;
    this.deleter = parts.deleter;
    this.catchUp = () => parts.catchUp();
  }

  get schema(): TableSchema {
    return this.region.schemaNow;
  }

  get series(): SeriesView {
    return this.region.registry;
  }

  /** From now on reads fail. */
  markDropped(): void {
    this.dropped = true;
  }

  async *scan(request: ScanRequest, metrics?: ScanMetrics): AsyncGenerator<ScanBatch> {
    this.catchUp();
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    yield* this.scanRegion(this.resolved(request, metrics));
  }

  scanAtOnce(request: ScanRequest): Batch | undefined {
    this.catchUp();
    if (this.dropped) return undefined;
    const scan = this.resolved(request, undefined);
    const timeRange = this.livingRange(request.timeRange);
    return scanAtOnce(this.scanOf(this.region.present(scan.registry), scan, timeRange));
  }

  async share(request: ScanRequest, limits: ShareLimits, metrics?: ScanMetrics): Promise<SharedScan | undefined> {
    this.catchUp();
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    if (!isShareable(request) || this.rowsAbout(request) < limits.rowsMin) return undefined;
    return this.shareRegion(this.resolved(request, metrics), limits, this.schema, this.registryOf(request.numbers));
  }

  rowsAbout(request: ScanRequest): number {
    const rows = rowsWithin(this.region, this.livingRange(request.timeRange));
    return rows * shareMeeting(this.registryOf(request.numbers), request.tagPredicates);
  }

  /**
   * A scan with names resolved in parts, from one snapshot of the region that is taken at once; undefined when it has few rows.
   *
   * @param schema of the table that asks
   * @param series its series, by the numbers that runs carry
   */
  async shareRegion(scan: RegionScan, limits: ShareLimits, schema: TableSchema, series: SeriesTags): Promise<SharedScan | undefined> {
    const timeRange = this.livingRange(scan.request.timeRange);
    const snapshot = this.region.snapshot(scan.registry);
    let shared: SharedScan | undefined;
    try {
      const selected = await selectedScan(this.scanOf(snapshot, scan, timeRange));
      const parts = splitScan(selected, limits);
      const table = { schema, registry: scan.registry.id, tags: series.view(), tagNames: series.columnNames() };
      if (parts === undefined) return undefined;
      const taken = snapshotOf(selected, table);
      const held = await this.region.holdFiles(taken.files.map(({ meta }) => meta));
      if (held === undefined) return undefined; // Other threads would not find them.
      shared = {
        snapshot: taken,
        parts,
        scanHere: ({ rowTests, unread }, own, part) => {
          const request = { ...selected.request, rowTests, unread };
          return scanSelected(partOf({ ...selected, request, metrics: own }, part));
        },
        async release() {
          held.release();
          await snapshot.release();
        },
      };
      return shared;
    } finally {
      if (shared === undefined) await snapshot.release();
    }
  }

  /** @throws DbError TableColumnNotFound */
  private resolved(request: ScanRequest, metrics: ScanMetrics | undefined): RegionScan {
    const { schema } = this;
    const registry = this.registryOf(request.numbers);
    const output = request.projection.map((name) => this.outputOf(schema, name));
    const idOf = (name: string): number => columnNamed(schema, name).id;
    const conditions = conditionsOf(request.fieldBounds, request.fieldConditions ?? [], idOf);
    for (const { column } of request.tagPredicates) checkTag(schema, column);
    const summaries = resolvedSummaries(request, timeIndexOf(schema).id, (name) => this.summarised(columnNamed(schema, name)));
    return { output, conditions, summaries, request, metrics, registry };
  }

  /** The registry whose numbers a reader has: `series` as it was when the reader looked. */
  registryOf(numbers: SeriesView | undefined): SeriesRegistry {
    if (numbers === undefined) return this.region.registry;
    assert(numbers instanceof SeriesRegistry, "numbers are those of the table's series");
    return numbers;
  }

  private scanOf({ memtables, files }: Omit<Snapshot, "release">, scan: RegionScan, timeRange: TimeRange): ResolvedScan {
    const time = timeIndexOf(this.schema);
    return {
      memtables,
      files,
      cache: this.cache,
      mergeMode: mergeModeOf(this.schema),
      timeUnit: time.type.kind === "timestamp" ? time.type.unit : "nanosecond",
      timeColumnId: time.id,
      ...scan,
      request: { ...scan.request, timeRange },
    };
  }

  /** A scan with names resolved, from one snapshot of the region. The names stand for columns as they are after `catchUp`. */
  async *scanRegion(scan: RegionScan): AsyncGenerator<ScanBatch> {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    const timeRange = this.livingRange(scan.request.timeRange);
    if (timeRange.start >= timeRange.end) return;
    const snapshot = this.region.snapshot(scan.registry);
    try {
      yield* scanRows(this.scanOf(snapshot, scan, timeRange));
    } finally {
      await snapshot.release();
    }
  }

  /** Rows of each file that are of some series. @throws DbError StorageUnavailable */
  countRows(isWanted: (series: number) => boolean): Promise<Map<DataFile, number>> {
    return this.region.countRows(this.cache, isWanted);
  }

  /** The range without times that have expired now, by this table's ttl or by that of a table that lies on it. */
  livingRange({ start, end }: TimeRange, schema: TableSchema = this.schema): TimeRange {
    const before = this.expiry.before(schema);
    return { start: before !== undefined && before > start ? before : start, end };
  }

  async deleteRows(keys: RowKeys, unless?: OverwriteWatch): Promise<number> {
    return this.deleter.deleteRows([this.keyDelete(keys, unless)]);
  }

  keyDelete(keys: RowKeys, unless: OverwriteWatch | undefined): KeyDelete {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    return { table: this, keys, unless };
  }

  watchOverwrites(timeRange: TimeRange): OverwriteWatch {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    this.catchUp(); // What was acknowledged before is no overwrite.
    return this.region.watchOverwrites(timeRange);
  }

  async deleteRange(range: RowRange): Promise<number> {
    return this.deleter.deleteRange([this.rangeDelete()], range);
  }

  rangeDelete(): RangeDelete {
    const { registry } = this.region;
    return this.deleteOf({ scan: (request) => this.scan({ ...request, numbers: registry }), registry });
  }

  /** A delete of the rows that a scan finds. @throws DbError TableNotFound */
  deleteOf(rows: ScannedRows): RangeDelete {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
    return { table: this, rows };
  }

  /** Opens all files and returns the registry that knows every series from then on. @throws DbError StorageUnavailable */
  async openFiles(): Promise<SeriesRegistry> {
    const { registry } = this.region;
    const snapshot = this.region.snapshot();
    try {
      for (const file of snapshot.files) await file.open(registry, this.cache);
    } finally {
      await snapshot.release();
    }
    return registry;
  }

  timeBounds(): TimeRange | undefined {
    this.catchUp();
    let start: bigint | undefined;
    let end: bigint | undefined;
    const add = (min: bigint, max: bigint): void => {
      if (start === undefined || min < start) start = min;
      if (end === undefined || max > end) end = max;
    };
    for (const file of this.region.dataFiles) add(file.minTime, file.maxTime);
    for (const { min, max } of this.region.memorySpans) add(min, max);
    if (start === undefined || end === undefined) return undefined;
    const living = this.livingRange({ start, end: end + 1n });
    return living.start < living.end ? living : undefined;
  }

  statistics(): TableStatistics {
    this.catchUp();
    const files = this.region.dataFiles;
    return {
      rowCount: this.region.rowCount,
      memoryBytes: this.region.memoryBytes,
      fileBytes: files.reduce((sum, file) => sum + file.byteLength, 0),
      fileCount: files.length,
      seriesCount: this.region.seriesCount,
    };
  }

  files(): readonly TableFile[] {
    return this.region.dataFiles;
  }

  private outputOf(schema: TableSchema, name: string): OutputColumn {
    const column = columnNamed(schema, name);
    if (column.semantic === "timestamp") return { kind: "time" };
    if (column.semantic === "tag") return { kind: "tag", position: this.region.registry.positionOf(column.id) };
    return { kind: "field", column: { id: column.id, type: column.type, missing: this.missingValue(column), former: column.former } };
  }

  private summarised(column: ColumnSchema): SummarisedColumn {
    const { id, type, former } = column;
    return { id, type, hasDefault: initialValueOf(column, this.clock) !== undefined, former };
  }

  /** What rows hold that were written before the column was added. */
  private missingValue(column: ColumnSchema): ConstantColumn | undefined {
    const value = initialValueOf(column, this.clock);
    return value === undefined ? undefined : new ConstantColumn(column.type, value);
  }
}

function checkTag(schema: TableSchema, name: string): void {
  const { semantic } = columnNamed(schema, name);
  assert(semantic === "tag", `tag predicates name tags; got ${name}, a ${semantic}`);
}
