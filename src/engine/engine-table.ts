import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import type { PageCache } from "../storage/cache/page-cache.ts";
import { chunkMaxTime, chunkMinTime } from "../storage/memtable/chunk.ts";
import { initialValueOf } from "../storage/region/default-value.ts";
import type { Region } from "../storage/region/region.ts";
import type { OutputColumn } from "../storage/scan/assemble.ts";
import { conditionsOf } from "../storage/scan/column-condition.ts";
import { ConstantColumn } from "../storage/scan/constant-column.ts";
import type { ResolvedSummaries } from "../storage/scan/page-summaries.ts";
import { scanRows } from "../storage/scan/scan.ts";
import type { Table, TableStatistics } from "../table/catalog.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../table/scan.ts";
import { type ColumnSchema, mergeModeOf, type TableSchema, timeIndexOf } from "../table/schema.ts";
import type { SeriesView } from "../table/series-view.ts";
import { tableNotFound } from "./table-not-found.ts";

/** A table over its region. */
export class EngineTable implements Table {
  readonly region: Region;
  private readonly cache: PageCache;
  private readonly clock: Clock;
  private readonly catchUp: () => void;
  private dropped = false;

  /** @param catchUp makes rows visible that other threads have acknowledged */
  constructor(region: Region, cache: PageCache, clock: Clock, catchUp: () => void) {
    this.region = region;
    this.cache = cache;
    this.clock = clock;
    this.catchUp = catchUp;
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
    const { schema } = this;
    const time = timeIndexOf(schema);
    const output = request.projection.map((name) => this.outputOf(schema, name));
    const idOf = (name: string): number => columnNamed(schema, name).id;
    const conditions = conditionsOf(request.fieldBounds, request.fieldConditions ?? [], idOf);
    for (const { column } of request.tagPredicates) checkTag(schema, column);
    const snapshot = this.region.snapshot();
    try {
      yield* scanRows({
        chunks: snapshot.chunks,
        files: snapshot.files,
        registry: this.region.registry,
        cache: this.cache,
        mergeMode: mergeModeOf(schema),
        timeUnit: time.type.kind === "timestamp" ? time.type.unit : "nanosecond",
        timeColumnId: time.id,
        output,
        conditions,
        summaries: conditions.length === 0 ? this.summariesOf(schema, request) : undefined,
        request,
        metrics,
      });
    } finally {
      await snapshot.release();
    }
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
    for (const chunk of this.region.chunks) add(chunkMinTime(chunk), chunkMaxTime(chunk));
    return start === undefined || end === undefined ? undefined : { start, end: end + 1n };
  }

  statistics(): TableStatistics {
    this.catchUp();
    const files = this.region.dataFiles;
    return {
      rowCount: this.region.rowCount,
      memoryBytes: this.region.memoryBytes,
      fileBytes: files.reduce((sum, file) => sum + file.byteLength, 0),
      fileCount: files.length,
      seriesCount: this.region.registry.count,
    };
  }

  private outputOf(schema: TableSchema, name: string): OutputColumn {
    const column = columnNamed(schema, name);
    if (column.semantic === "timestamp") return { kind: "time" };
    if (column.semantic === "tag") return { kind: "tag", position: this.region.registry.positionOf(column.id) };
    return { kind: "field", column: { id: column.id, type: column.type, missing: this.missingValue(column), former: column.former } };
  }

  private summariesOf(schema: TableSchema, { summaries, order, newestPerSeries }: ScanRequest): ResolvedSummaries | undefined {
    if (summaries === undefined || order !== "none" || newestPerSeries === true) return undefined;
    const columns = summaries.columns.map(({ column: name, wantsBounds, wantsSum }) => {
      const column = columnNamed(schema, name);
      const { id, type, former } = column;
      return { id, type, wantsBounds, wantsSum, hasDefault: initialValueOf(column, this.clock) !== undefined, former };
    });
    return { columns, timeColumnId: timeIndexOf(schema).id, buckets: summaries.buckets, isPerSeries: summaries.isPerSeries };
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

function columnNamed(schema: TableSchema, name: string): ColumnSchema {
  const column = schema.columns.find((candidate) => candidate.name === name);
  if (column === undefined) {
    throw new DbError(StatusCode.TableColumnNotFound, `Column ${name} not exists in table ${schema.name}`);
  }
  return column;
}
