/** Parts of a scan on another thread than the one that took its snapshot. */
import { assert } from "../../base/assert.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { ScanPart } from "../../table/shared-scan.ts";
import type { PageCache } from "../cache/page-cache.ts";
import { RowPostings } from "../memtable/row-postings.ts";
import type { OutputColumn } from "../scan/merge/assemble.ts";
import { ConstantColumn } from "../scan/runs/constant-column.ts";
import { scanSelected } from "../scan/scan.ts";
import type { OpenedFile, SelectedScan } from "../scan/selected-scan.ts";
import { SeriesSelection } from "../scan/select/series-selection.ts";
import type { ScanSnapshot, SnapshotColumn } from "./scan-snapshot.ts";
import { SharedTags } from "./shared-tags.ts";
import type { SnapshotFiles } from "./snapshot-files.ts";

type Common = Omit<SelectedScan, "slots" | "request" | "metrics">;

/** A snapshot that is being read. Its files are opened at the first scan. */
export class OpenSnapshot {
  private readonly snapshot: ScanSnapshot;
  private readonly files: SnapshotFiles;
  private readonly cache: PageCache;
  private readonly tags: SharedTags;
  private opening: Promise<Common> | undefined;
  private used: (() => void)[] = [];

  constructor(snapshot: ScanSnapshot, files: SnapshotFiles, cache: PageCache) {
    this.snapshot = snapshot;
    this.files = files;
    this.cache = cache;
    this.tags = new SharedTags(snapshot.tags, snapshot.tagNames, snapshot.numberCount);
  }

  /** The table as one part of the scan sees it. */
  part([part, ...others]: readonly ScanPart[]): ScannedTable {
    assert(part !== undefined && others.length === 0, "parts that follow each other were put together");
    return new PartTable(this.snapshot.schema, this.tags, part.timeRange, (request, metrics) => this.scan(part, request, metrics));
  }

  /** No part is read any more. */
  close(): void {
    for (const done of this.used) done();
    this.used = [];
  }

  private async *scan(part: ScanPart, request: ScanRequest, metrics: ScanMetrics | undefined): AsyncGenerator<ScanBatch> {
    this.opening ??= this.open();
    const common = await this.opening;
    const { snapshot } = this;
    const { start, end } = part.slots;
    const series = snapshot.slots?.subarray(start, end) ?? ascending(start, end);
    const slots = new SeriesSelection(series, snapshot.numbers?.subarray(start, end), snapshot.seriesCount, true);
    yield* scanSelected({ ...common, slots, request: { ...request, timeRange: part.timeRange, tagPredicates: [] }, metrics });
  }

  private async open(): Promise<Common> {
    const { snapshot, cache, tags } = this;
    const { seriesCount, numberCount, mergeMode, timeUnit, timeColumnId, conditions, summaries } = snapshot;
    const opened: OpenedFile[] = [];
    for (const file of snapshot.files) {
      const { sst, done } = await this.files.use(file, snapshot.registry);
      this.used.push(done);
      opened.push({ meta: file.meta, sst });
    }
    const memtables = snapshot.memtables.map((memtable) => ({ ...memtable, postings: new RowPostings() }));
    const output = snapshot.output.map(outputColumn);
    const shape = { mergeMode, timeUnit, timeColumnId, conditions, summaries, output };
    return { ...shape, opened, memtables, cache, tags, seriesCount, numberCount };
  }
}

function ascending(start: number, end: number): Uint32Array {
  const numbers = new Uint32Array(end - start);
  for (let i = 0; i < numbers.length; i++) numbers[i] = start + i;
  return numbers;
}

function outputColumn(column: SnapshotColumn): OutputColumn {
  if (column.kind !== "stored") return column;
  const { id, type, missing, former } = column;
  return { kind: "field", column: { id, type, missing: missing === undefined ? undefined : new ConstantColumn(type, missing), former } };
}

class PartTable implements ScannedTable {
  readonly schema: TableSchema;
  readonly series: SeriesView;
  private readonly timeRange: TimeRange;
  private readonly run: (request: ScanRequest, metrics: ScanMetrics | undefined) => AsyncIterable<ScanBatch>;

  constructor(schema: TableSchema, series: SeriesView, timeRange: TimeRange, run: PartTable["run"]) {
    this.schema = schema;
    this.series = series;
    this.timeRange = timeRange;
    this.run = run;
  }

  scan(request: ScanRequest, metrics?: ScanMetrics): AsyncIterable<ScanBatch> {
    assert(request.limit === undefined && request.newestPerSeries !== true, "a part gives all its rows");
    return this.run(request, metrics);
  }

  timeBounds(): TimeRange {
    return this.timeRange;
  }
}
