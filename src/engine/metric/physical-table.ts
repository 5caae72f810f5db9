/**
 * A physical table: the rows of all its logical tables, with their labels as columns, over the region that they share.
 */
import { tableId, type TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { DataType } from "../../column/data-type.ts";
import { textAt } from "../../column/text-table.ts";
import type { SharedTables } from "../../storage/region/shared-tables.ts";
import type { OutputColumn } from "../../storage/scan/merge/assemble.ts";
import { conditionsOf } from "../../storage/scan/select/column-condition.ts";
import type { ResolvedSummaries } from "../../storage/scan/source/page-summaries.ts";
import type { NumberedSeries } from "../../storage/scan/select/series-selection.ts";
import { wantedTags } from "../../storage/scan/select/wanted-tags.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { WantedTag } from "../../storage/sst/read/tag-filter.ts";
import type { Table, TableFile, TableStatistics } from "../../table/catalog.ts";
import { columnNamed } from "../../table/not-found.ts";
import { isInternalColumn, physicalDeleteRefusal, TABLE_ID_COLUMN } from "../../table/metric.ts";
import type { OverwriteWatch } from "../../table/delete.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TagPredicate, TimeRange } from "../../table/scan.ts";
import { type ColumnSchema, type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { EngineTable } from "../table/engine-table.ts";
import { resolvedSummaries } from "../table/scan-summaries.ts";
import type { WriteCarrier } from "../table/write-target.ts";
import { PhysicalTags } from "./physical-tags.ts";
import { SeriesByTable } from "./series-by-table.ts";
import { SeriesHasher } from "./series-hash.ts";
import { SeriesListing } from "./series-listing.ts";

/** Positions of the region's tags: ids of tables, and label sets. */
const TABLE = 0;
const LABELS = 1;

/** What the region knows a series by. */
export interface StoredSet {
  readonly tableId: number;
  /** As `storage/series/label-set.ts` writes it; undefined is the empty one. */
  readonly labels: string | undefined;
}

/** What is known of the series of one registry of the region. */
export interface PhysicalSeries {
  readonly registry: SeriesRegistry;
  readonly byTable: SeriesByTable;
  readonly tags: PhysicalTags;
  readonly listing: SeriesListing;
  /** What series are listed by. */
  listedBy(series: number): bigint;
  /** Hash of the labels of a series, as `__tsid` shows it. */
  hashOf(series: number): bigint;
}

/** See the file header. `storage` is its region as a table of its own, by the storage schema. */
export class PhysicalTable implements Table, SharedTables, WriteCarrier {
  readonly storage: EngineTable;
  private seriesNow: PhysicalSeries;
  /** Of this registry and of earlier ones that scans still have, by what they know as `series`. */
  private readonly known: WeakMap<SeriesView, PhysicalSeries> = new WeakMap();
  private readonly hasher: SeriesHasher = new SeriesHasher((columnId) => this.labelName(columnId));
  private readonly logicalIds: Set<TableId> = new Set();
  private knownLive: readonly string[] | undefined;
  private unclean: boolean;
  private schemaNow: TableSchema;
  private labelIds: Map<string, number> = new Map();
  private labelNames: Map<number, string> = new Map();

  /**
   * @param storage its region's table, under the storage schema
   * @param unclean whether a logical table was dropped since files were last looked through
   */
  constructor(schema: TableSchema, storage: EngineTable, unclean: boolean) {
    this.unclean = unclean;
    this.storage = storage;
    this.seriesNow = this.seriesIn(storage.region.registry);
    this.schemaNow = schema;
    this.setSchema(schema);
    storage.region.sharedBy = this;
  }

  get schema(): TableSchema {
    return this.schemaNow;
  }

  get series(): SeriesView {
    return this.seriesNow.tags;
  }

  /** The series under the numbers that they have now. */
  get current(): PhysicalSeries {
    return this.seriesNow;
  }

  /** Bytes of what is known of its series beside the region's registry. */
  get seriesBytes(): number {
    const { byTable, tags } = this.seriesNow;
    return byTable.byteLength + tags.byteLength;
  }

  /** Follows the region, whose registry is a new one. */
  renewSeries(): void {
    this.seriesNow = this.seriesIn(this.storage.region.registry);
  }

  /** What the table's rows are listed by where it lists them by no tags: of a series, under the numbers that a reader has. */
  listedBy(numbers: SeriesView, series: number): bigint {
    return this.seriesOf(numbers).listedBy(series);
  }

  /** Whose a series is, and its labels, under the numbers that a reader has. */
  setOf(numbers: SeriesView, series: number): StoredSet {
    const { registry } = this.seriesOf(numbers);
    return { tableId: Number(tagAt(registry, TABLE, series)), labels: tagAt(registry, LABELS, series) };
  }

  private seriesOf(numbers: SeriesView | undefined): PhysicalSeries {
    const known = numbers === undefined ? this.seriesNow : this.known.get(numbers);
    assert(known !== undefined, "numbers are those of the table's series");
    return known;
  }

  private seriesIn(registry: SeriesRegistry): PhysicalSeries {
    const hashOf = (series: number): bigint => this.hasher.hash(tagAt(registry, LABELS, series));
    const tags = new PhysicalTags({ registry, labelId: (name) => this.labelId(name), labelName: (id) => this.labelName(id), hashOf });
    const listedBy = (series: number): bigint => (BigInt(tagAt(registry, TABLE, series) ?? 0) << 64n) | hashOf(series);
    const own = { registry, byTable: new SeriesByTable(registry), tags, listing: new SeriesListing(listedBy), listedBy, hashOf };
    this.known.set(tags, own);
    return own;
  }

  fieldFor({ kind }: DataType): ColumnSchema {
    // Fields stand before labels there.
    const field = this.storage.schema.columns.find(({ semantic, type }) => semantic === "field" && type.kind === kind);
    assert(field !== undefined, `physical table ${this.schema.name} has a field of kind ${kind}`);
    return field;
  }

  /** Number of logical tables. */
  get logicalCount(): number {
    return this.logicalIds.size;
  }

  /** Takes a new version of the schema; the region's follows by itself. */
  setSchema(schema: TableSchema): void {
    // The engine's own columns are never NULL; what is stored says otherwise, since columns without a default are added as nullable ones.
    const shown = (column: ColumnSchema): ColumnSchema => (isInternalColumn(schema, column.name) ? { ...column, nullable: false } : column);
    this.schemaNow = { ...schema, columns: schema.columns.map(shown) };
    const labels = schema.columns.filter(({ name, semantic }) => semantic === "tag" && !isInternalColumn(schema, name));
    this.labelIds = new Map(labels.map(({ name, id }) => [name, id]));
    this.labelNames = new Map(labels.map(({ name, id }) => [id, name]));
  }

  /** Id of a label column. */
  labelId(name: string): number {
    const id = this.labelIds.get(name);
    assert(id !== undefined, `${name} is a label of ${this.schema.name}`);
    return id;
  }

  /** Name of a label column. */
  labelName(id: number): string {
    const name = this.labelNames.get(id);
    assert(name !== undefined, `${id} is a label of ${this.schema.name}`);
    return name;
  }

  /** Takes in a logical table. */
  adopt(tableId: TableId): void {
    this.logicalIds.add(tableId);
    this.knownLive = undefined;
  }

  /** Gives up a logical table that was dropped: its rows are no longer seen, and leave with the next flush or merge of their file. */
  abandon(tableId: TableId): void {
    this.logicalIds.delete(tableId);
    this.knownLive = undefined;
    this.unclean = true;
  }

  isUnclean(): boolean {
    return this.unclean;
  }

  beginCleaning(): void {
    this.unclean = false;
  }

  async filesToClean(share: number): Promise<readonly DataFile[]> {
    const { registry } = this.storage.region;
    const live = new Set<string | undefined>(this.liveIds());
    const counts = await this.storage.countRows((series) => live.has(registry.dictionaryAt(0)[registry.codesAt(0)[series] as number]));
    return [...counts].filter(([file, rows]) => file.rowCount - rows > file.rowCount * share).map(([file]) => file);
  }

  liveIds(): readonly string[] {
    this.knownLive ??= Array.from(this.logicalIds, String);
    return this.knownLive;
  }

  async *scan(request: ScanRequest, metrics?: ScanMetrics): AsyncGenerator<ScanBatch> {
    this.storage.catchUp();
    const names = this.schema.columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
    const output = request.projection.map((name) => this.outputOf(name, names));
    const stored = (name: string): ColumnSchema => columnNamed(this.schema, name);
    const conditions = conditionsOf(request.fieldBounds, request.fieldConditions ?? [], (name) => stored(name).id);
    const summaries = this.summariesOf(request, stored);
    const numbers = this.seriesOf(request.numbers);
    const { tags, registry, listing } = numbers;
    const used = [...request.projection, ...request.tagPredicates.map(({ column }) => column)].filter((name) => names.includes(name));
    const only = request.tagPredicates.find(({ column }) => column === TABLE_ID_COLUMN);
    const ids = only?.kind === "in" ? only.values : [];
    const selection = {
      registry,
      ...(ids.length === 1 && ids[0] !== undefined ? { tableId: tableId(Number(ids[0])) } : {}),
      tags: tags.columnsAt(names),
      fileTags: this.fileTagsOf(request.tagPredicates),
      wanted: (predicates: readonly TagPredicate[]): NumberedSeries => {
        tags.prepare(used);
        const series = this.seriesMeeting(predicates, numbers);
        return { numbers: series, regionSeries: series };
      },
      regionSeriesOf: (wanted: Uint32Array) => wanted,
      listed: (wanted: Uint32Array) => listing.listed(wanted, registry.count),
    };
    yield* this.storage.scanRegion({ output, conditions, summaries, request, metrics, selection, registry });
  }

  async deleteRows(): Promise<number> {
    throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(this.schema.name));
  }

  watchOverwrites(): OverwriteWatch {
    throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(this.schema.name));
  }

  async deleteRange(): Promise<number> {
    throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(this.schema.name));
  }

  /** Statistics of pages that a scan may be answered with. `stored`: the column of the region that has a field's values. */
  summariesOf(request: ScanRequest, stored: (name: string) => ColumnSchema): ResolvedSummaries | undefined {
    return resolvedSummaries(request, timeIndexOf(this.storage.schema).id, (name) => {
      const { id, type } = stored(name);
      return { id, type, hasDefault: false, former: undefined }; // The field is as old as the table, and stays as it is.
    });
  }

  /** Labels without which a file holds nothing of interest: it then has no such column, or no such value in it. */
  fileTagsOf(predicates: readonly TagPredicate[]): readonly WantedTag[] {
    return wantedTags(predicates, (name) => this.labelIds.get(name));
  }

  timeBounds(): TimeRange | undefined {
    return this.storage.timeBounds();
  }

  statistics(): TableStatistics {
    return this.storage.statistics();
  }

  files(): readonly TableFile[] {
    return this.storage.files();
  }

  /** Every series of a table that exists, under its own number, where the predicates accept it. */
  private seriesMeeting(predicates: readonly TagPredicate[], { registry, tags }: PhysicalSeries): Uint32Array {
    const live = new Set<string | undefined>(this.liveIds());
    const tests = predicates.map((predicate) => ({ predicate, codes: tags.codesOf(predicate.column) }));
    const accepts = tests.map(({ predicate, codes }) => ({
      codes,
      accepts: acceptedCodes(predicate, tags.dictionaryOf(predicate.column)),
    }));
    const isLive = Uint8Array.from(registry.dictionaryAt(0), (id) => (live.has(id) ? 1 : 0));
    accepts.push({ codes: registry.codesAt(0), accepts: isLive });
    const wanted = new Uint32Array(registry.count);
    let count = 0;
    for (let series = 0; series < wanted.length; series++) {
      let isWanted = true;
      for (const test of accepts) isWanted &&= test.accepts[test.codes[series] as number] === 1;
      if (isWanted) wanted[count++] = series;
    }
    return wanted.subarray(0, count);
  }

  private outputOf(name: string, tagNames: readonly string[]): OutputColumn {
    const column = columnNamed(this.schema, name);
    if (column.semantic === "timestamp") return { kind: "time" };
    if (column.semantic === "tag") return { kind: "tag", position: tagNames.indexOf(name) };
    return { kind: "field", column: { id: column.id, type: column.type, missing: undefined } };
  }
}

function tagAt(registry: SeriesRegistry, position: number, series: number): string | undefined {
  return textAt(registry.textsAt(position), registry.codesAt(position)[series] as number);
}

function acceptedCodes(predicate: TagPredicate, dictionary: readonly (string | undefined)[]): Uint8Array {
  const values = predicate.kind === "in" ? new Set(predicate.values) : undefined;
  const test = predicate.kind === "in" ? (value: string | undefined) => values?.has(value) === true : predicate.test;
  return Uint8Array.from(dictionary, (value) => (test(value) ? 1 : 0));
}
