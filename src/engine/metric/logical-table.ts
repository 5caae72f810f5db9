/**
 * A logical table: a schema, and the rows of its physical table's region that are of its series.
 */
import { assert } from "../../base/assert.ts";
import type { OutputColumn } from "../../storage/scan/merge/assemble.ts";
import { conditionsOf } from "../../storage/scan/select/column-condition.ts";
import type { Table, TableFile, TableStatistics } from "../../table/catalog.ts";
import { columnNamed, tableNotFound } from "../../table/not-found.ts";
import type { OverwriteWatch, RowKeys, RowRange } from "../../table/delete.ts";
import { isPhysicalTable } from "../../table/metric.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import { type ColumnSchema, type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SharedScan, ShareLimits } from "../../table/shared-scan.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { KeyDelete, RangeDelete, RegionScan, RowDeleter } from "../table/engine-table.ts";
import type { DeletingPart } from "../table/joint-deletes.ts";
import { isShareable, rowsWithin, shareMeeting } from "../table/table-share.ts";
import { type WritePlan, writePlanOf } from "../table/write-rows.ts";
import { KeptSeries } from "./kept-series.ts";
import { LogicalSeries } from "./logical-series.ts";
import type { PhysicalTable } from "./physical-table.ts";

/** See the file header. */
export class LogicalTable implements Table, DeletingPart {
  readonly physical: PhysicalTable;
  private schemaNow: TableSchema;
  private readonly kept: KeptSeries;
  /** By what scans know as `series`. */
  private readonly known: WeakMap<SeriesView, LogicalSeries> = new WeakMap();
  private lanesMade: WeakRef<LogicalSeries>[] = [];
  private knownPlan: WritePlan | undefined;
  private dropped = false;

  constructor(schema: TableSchema, physical: PhysicalTable) {
    assert(isPhysicalTable(physical.schema), `logical tables lie on physical ones; got ${physical.schema.name}`);
    this.schemaNow = schema;
    this.physical = physical;
    this.kept = new KeptSeries(physical.storage.cache, () => {
      const made = new LogicalSeries(this.schemaNow, physical);
      made.catchUp();
      this.known.set(made.tags, made);
      this.lanesMade = [...this.lanesMade.filter((former) => former.deref() !== undefined), new WeakRef(made)];
      return made;
    });
  }

  get schema(): TableSchema {
    return this.schemaNow;
  }

  get series(): SeriesView {
    return this.lanes.tags;
  }

  /** What of the schema matters for writes. */
  get plan(): WritePlan {
    this.knownPlan ??= writePlanOf(this.schemaNow);
    return this.knownPlan;
  }

  /** Takes a new version of the schema. */
  setSchema(schema: TableSchema): void {
    this.schemaNow = schema;
    this.knownPlan = undefined;
    for (const made of this.lanesMade) made.deref()?.setSchema(schema);
  }

  /** The region's registry is a new one: series are numbered anew. */
  renewSeries(): void {
    this.kept.drop();
  }

  /** The series under the numbers that a reader has. */
  private lanesOf(numbers: SeriesView | undefined): LogicalSeries {
    if (numbers === undefined) return this.lanes;
    const lanes = this.known.get(numbers);
    assert(lanes !== undefined, "numbers are those of the table's series");
    return lanes;
  }

  /** What the table's rows are listed by where it lists them by no tags: of a series, under the numbers that a reader has. */
  listedBy(numbers: SeriesView, series: number): bigint {
    return this.lanesOf(numbers).hashOf(series);
  }

  /** From now on reads fail. */
  markDropped(): void {
    this.dropped = true;
    this.kept.drop();
  }

  async *scan(request: ScanRequest, metrics?: ScanMetrics): AsyncGenerator<ScanBatch> {
    this.physical.storage.catchUp();
    this.checkExists();
    const lanes = this.lanesOf(request.numbers);
    try {
      yield* this.physical.storage.scanRegion(this.resolved(request, metrics, lanes));
    } finally {
      this.kept.keep(lanes);
    }
  }

  async share(request: ScanRequest, limits: ShareLimits, metrics?: ScanMetrics): Promise<SharedScan | undefined> {
    const { storage } = this.physical;
    storage.catchUp();
    this.checkExists();
    if (!isShareable(request) || this.rowsAbout(request) < limits.rowsMin) return undefined;
    const lanes = this.lanesOf(request.numbers);
    this.kept.keep(lanes);
    return storage.shareRegion(this.resolved(request, metrics, lanes), limits, this.schema, lanes.tags);
  }

  rowsAbout({ timeRange, tagPredicates, numbers }: ScanRequest): number {
    const { storage } = this.physical;
    const lanes = this.lanesOf(numbers);
    lanes.catchUp();
    const ofTable = lanes.tags.count / Math.max(1, storage.region.seriesCount);
    return rowsWithin(storage.region, storage.livingRange(timeRange, this.schema)) * ofTable * shareMeeting(lanes.tags, tagPredicates);
  }

  /** What the region is asked for. @throws DbError TableColumnNotFound */
  private resolved(request: ScanRequest, metrics: ScanMetrics | undefined, lanes: LogicalSeries): RegionScan {
    const { physical } = this;
    const output = request.projection.map((name) => this.outputOf(name, lanes));
    const stored = (name: string): ColumnSchema => {
      const column = columnNamed(this.schema, name);
      return column.semantic === "timestamp" ? timeIndexOf(physical.storage.schema) : this.storedField(column);
    };
    const conditions = conditionsOf(request.fieldBounds, request.fieldConditions ?? [], (name) => stored(name).id);
    for (const { column } of request.tagPredicates) {
      const { semantic } = columnNamed(this.schema, column);
      assert(semantic === "tag", `tag predicates name tags; got ${column}, a ${semantic}`);
    }
    const selection = {
      registry: lanes.tags,
      tableId: this.schema.id,
      wanted: lanes.wanted.bind(lanes),
      regionSeriesOf: lanes.regionSeriesFor.bind(lanes),
      listed: lanes.listed.bind(lanes),
      fileTags: physical.fileTagsOf(request.tagPredicates),
    };
    const asked = { ...request, timeRange: physical.storage.livingRange(request.timeRange, this.schema) };
    const { registry } = lanes.region;
    return { output, conditions, summaries: physical.summariesOf(request, stored), request: asked, metrics, selection, registry };
  }

  get deleter(): RowDeleter {
    return this.physical.storage.deleter;
  }

  async deleteRows(keys: RowKeys, unless?: OverwriteWatch): Promise<number> {
    return this.deleter.deleteRows([this.keyDelete(keys, unless)]);
  }

  keyDelete(keys: RowKeys, unless: OverwriteWatch | undefined): KeyDelete {
    this.checkExists();
    const lanes = this.lanesOf(keys.numbers);
    const series = keys.series.slice(0, keys.rowCount).map((number) => lanes.regionSeriesOf(number));
    return this.physical.storage.keyDelete({ ...keys, series, numbers: lanes.region.registry }, unless);
  }

  watchOverwrites(timeRange: TimeRange): OverwriteWatch {
    this.checkExists();
    return this.physical.storage.watchOverwrites(timeRange);
  }

  async deleteRange(range: RowRange): Promise<number> {
    return this.deleter.deleteRange([this.rangeDelete()], range);
  }

  rangeDelete(): RangeDelete {
    this.checkExists();
    const { lanes } = this;
    return this.physical.storage.deleteOf({
      scan: (request) => this.scan({ ...request, numbers: lanes.tags }),
      regionSeriesOf: (series) => lanes.regionSeriesOf(series),
      registry: lanes.region.registry,
    });
  }

  /** The region's number now of a tag set, or -1 when no series known so far has it. */
  regionSeriesOfTags(tags: TagSet): number {
    const { lanes } = this;
    return lanes.regionSeriesWith(tags);
  }

  /** May be wider than the truth: the physical table's. */
  timeBounds(): TimeRange | undefined {
    return this.physical.timeBounds();
  }

  /** Rows and bytes are the table's share of the physical table, estimated from its share of the series known so far. */
  statistics(): TableStatistics {
    const whole = this.physical.statistics();
    const seriesCount = this.physical.current.byTable.seriesOf(this.schema.id).length;
    const share = whole.seriesCount === 0 ? 0 : seriesCount / whole.seriesCount;
    return {
      rowCount: Math.round(whole.rowCount * share),
      memoryBytes: Math.round(whole.memoryBytes * share),
      fileBytes: Math.round(whole.fileBytes * share),
      fileCount: whole.fileCount,
      seriesCount,
    };
  }

  files(): readonly TableFile[] {
    return this.physical.files();
  }

  private checkExists(): void {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
  }

  private get lanes(): LogicalSeries {
    return this.kept.current;
  }

  private outputOf(name: string, { tags }: LogicalSeries): OutputColumn {
    const column = columnNamed(this.schema, name);
    if (column.semantic === "timestamp") return { kind: "time" };
    if (column.semantic === "tag") return { kind: "tag", position: tags.positionOf(column.id) };
    const { id, type } = this.storedField(column);
    return { kind: "field", column: { id, type, missing: undefined } };
  }

  /** The physical table's field, which holds the values of every logical table's that are of this kind. */
  private storedField({ semantic, name, type }: ColumnSchema): ColumnSchema {
    assert(semantic === "field", `a field; got ${name}, a ${semantic}`);
    return this.physical.fieldFor(type);
  }
}
