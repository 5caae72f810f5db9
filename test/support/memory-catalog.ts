/**
 * A catalog and tables in memory that obey `ScanRequest` to the letter: the other side of the query layer's tests.
 *
 * Simple on purpose: rows are objects, a scan sorts them. Batches are small and cut at odd places, integers come in the narrowest array
 * that holds them, and "none" order gives series last first, so that tests see what a query wrongly relies on. What scans of one request
 * give is kept while no row changes: a sub-query that runs for each of 4,000 rows took 3 ms a run, most of it here, and now takes 0.5 ms.
 */
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { tableId } from "../../src/base/units.ts";
import { changedOptions, changedSchema } from "../../src/engine/schema/schema-change.ts";
import { displayName } from "../../src/column/data-type.ts";
import { textAt, type TextTable, textTableOf } from "../../src/column/text-table.ts";
import type { NumberArray, Scalar, Vector } from "../../src/column/vector.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import { vectorOf } from "../../src/column/vector-builder.ts";
import { opensJoined } from "../../src/engine/joined/joined-share.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { RemoteTables } from "../../src/cluster/remote/remote-tables.ts";
import { markOf, placementOf, shardOf } from "../../src/table/shards/placement.ts";
import { LocalShards } from "./cluster/local-shards.ts";
import { shownCatalog } from "./shown-catalog.ts";
import { JoinedTable } from "../../src/engine/joined/joined-table.ts";
import type { Catalog, DatabaseInfo, ScannedTable, Table, TableFile, TableStatistics } from "../../src/table/catalog.ts";
import type { OverwriteWatch, RowKeys, RowRange } from "../../src/table/delete.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TagPredicate, TimeRange } from "../../src/table/scan.ts";
import {
  type ColumnSchema,
  mergeModeOf,
  type SchemaChange,
  type TableDefinition,
  type TableSchema,
  timeIndexOf,
} from "../../src/table/schema.ts";
import type { ViewDefinition, ViewInfo } from "../../src/table/view.ts";
import type { PartSource } from "../../src/query/workers/serve-parts.ts";
import type { ScanPart, SharedScan, ShareLimits } from "../../src/table/shared-scan.ts";
import type { SeriesView } from "../../src/table/series-view.ts";
import type { WriteBatch, WriteOptions, Writer, WriteResult } from "../../src/table/write-batch.ts";

interface Row {
  readonly time: bigint;
  readonly fields: Map<string, Scalar>;
}

interface Series {
  readonly number: number;
  readonly tags: ReadonlyMap<string, string>;
  readonly rows: Row[];
}

/** Rows of a batch. */
type Entries = readonly { readonly series: Series; readonly row: Row }[];

/** Rows of a batch unless a test says otherwise: small and odd, so that every query crosses borders of batches. */
const BATCH_ROWS = 333;

/** VARVE_PARTS=3: every table has its series in so many parts, read as one. For runs of other tests. */
const PARTS = Number(Bun.env["VARVE_PARTS"] ?? "1");

/** VARVE_REMOTE=3: every table lies in so many shards of a cluster, read as a frontend does. For runs of other tests. */
export const REMOTE_SHARDS: number = Number(Bun.env["VARVE_REMOTE"] ?? "0");

/** Tables by the numbers that their snapshots carry. */
const SHARED = new Map<number, WeakRef<MemoryTable>>();

/** What another thread makes of the snapshot of a memory table, in one part or several. */
export const openMemorySnapshot: (snapshot: object) => PartSource = opensJoined(openOwnSnapshot);

/** Parts are series by their numbers. */
function openOwnSnapshot(snapshot: object): PartSource {
  const key = "memoryTable" in snapshot && typeof snapshot.memoryTable === "number" ? snapshot.memoryTable : -1;
  const predicates = "predicates" in snapshot ? (snapshot.predicates as number) : -1;
  const table = SHARED.get(key)?.deref();
  if (table === undefined) throw new Error("a snapshot of a memory table");
  return { part: ([part]) => table.part(part as ScanPart, predicates), close: () => undefined };
}

/** One table. */
export class MemoryTable implements Table {
  schema: TableSchema;
  batchRows: number = BATCH_ROWS;
  private textForm = 0;
  /** What scans made of the rows; forgotten when one changes. */
  private readonly made: Map<string, readonly Entries[]> = new Map();
  private readonly vectors: WeakMap<Entries, Map<string, Vector>> = new WeakMap();
  private readonly texts: Map<string, TextTable> = new Map();
  private readonly textCodes: WeakMap<TextTable, ReadonlyMap<string | undefined, number>> = new WeakMap();
  /** Requests seen, newest last. */
  readonly requests: ScanRequest[] = [];
  private readonly sharedId = SHARED.size;
  private readonly sharedPredicates: (readonly TagPredicate[])[] = [];
  private readonly all: Series[] = [];
  private readonly byKey = new Map<string, Series>();
  private readonly dictionaries = new Map<string, (string | undefined)[]>();
  private readonly codes = new Map<string, Map<string, number>>();

  private readonly isRemote: boolean;
  readonly deleteMatching?: NonNullable<Table["deleteMatching"]>;
  readonly refreshed?: NonNullable<Table["refreshed"]>;
  /** Where the rows are, if there are several. */
  private readonly parts: readonly MemoryTable[];
  private readonly joined: Table | undefined;
  private copyElsewhere: MemoryTable | undefined;

  constructor(schema: TableSchema, parts: number = REMOTE_SHARDS > 0 ? REMOTE_SHARDS : PARTS, isRemote: boolean = REMOTE_SHARDS > 0) {
    this.schema = schema;
    SHARED.set(this.sharedId, new WeakRef(this));
    this.parts = parts > 1 || isRemote ? Array.from({ length: parts }, () => new MemoryTable(schema, 1, false)) : [];
    this.isRemote = isRemote;
    if (isRemote) {
      this.joined = this.remote();
      this.deleteMatching = async (rows) => (await this.whole?.deleteMatching?.(rows)) ?? 0;
      this.refreshed = async (kind) => this.whole?.refreshed?.(kind);
    } else this.joined = parts > 1 ? new JoinedTable(this.parts) : undefined;
  }

  /** The parts as a frontend has them. */
  private remote(): Table {
    const partOf = (shard: number): MemoryTable => {
      const part = this.parts[shard] as MemoryTable;
      Object.assign(part, { schema: this.schema, batchRows: this.batchRows });
      return part;
    };
    const shards = new LocalShards({ shards: this.parts.length, tableOf: partOf, tables: (shard) => [[this.schema.id, partOf(shard)]] });
    const tables = new RemoteTables({
      client: shards,
      lanes: [],
      moments: { catalogVersion: () => 0 },
      clock: systemClock,
      logger: silentLogger,
      schemaOf: () => this.schema,
    });
    return tables.table(this.schema.id, () => this.schema);
  }

  /** The rows as they are now, in so many shards of a cluster and read as a frontend does: the same table while nothing changes. */
  elsewhere(shards: number): Table {
    if (this.whole !== undefined) return this;
    const known = this.copyElsewhere;
    if (known?.schema === this.schema) return known;
    const copy = new MemoryTable(this.schema, shards, true);
    copy.batchRows = this.batchRows;
    for (const { tags, rows } of this.all) for (const { time, fields } of rows) copy.insert(tags, time, fields);
    this.copyElsewhere = copy;
    return copy;
  }

  /** The parts as one, undefined where there is one. */
  private get whole(): Table | undefined {
    for (const part of this.parts) Object.assign(part, { schema: this.schema, batchRows: this.batchRows });
    return this.joined;
  }

  /** The part that has a row. */
  private placeOf(tags: ReadonlyMap<string, string>, time: bigint): MemoryTable | undefined {
    if (!this.isRemote) return this.partOf(this.keyOf(tags));
    const placement = placementOf(this.schema, this.parts.length);
    const mark = markOf(
      placement,
      placement.tags.map(({ name }) => tags.get(name)),
    );
    const span = placement.spans.findLast(({ from }) => from === undefined || time >= from);
    return this.parts[shardOf(placement, mark, span?.spread ?? 1)];
  }

  private partOf(key: string): MemoryTable | undefined {
    return this.parts[Number(BigInt(Bun.hash(key)) % BigInt(Math.max(1, this.parts.length)))];
  }

  /** Adds a row. A later row of the same tags and time wins, as the table's merge mode says. */
  insert(tags: ReadonlyMap<string, string>, time: bigint, fields: ReadonlyMap<string, Scalar>): void {
    const key = this.keyOf(tags);
    if (this.whole !== undefined) return this.placeOf(tags, time)?.insert(tags, time, fields);
    let series = this.byKey.get(key);
    if (series === undefined) {
      series = { number: this.all.length, tags: new Map(tags), rows: [] };
      this.byKey.set(key, series);
      this.all.push(series);
    }
    series.rows.push({ time, fields: new Map(fields) });
    this.changed();
  }

  /** Removes all rows. */
  clear(): void {
    for (const part of this.parts) part.clear();
    for (const { rows } of this.all) rows.length = 0;
    this.changed();
  }

  private changed(): void {
    this.copyElsewhere = undefined;
    this.made.clear();
    this.texts.clear();
  }

  async deleteRows(keys: RowKeys, unless?: OverwriteWatch): Promise<number> {
    this.checkDeletes();
    if (this.whole !== undefined) return this.whole.deleteRows(keys, unless);
    const { rowCount, series, times } = keys;
    for (let row = 0; row < rowCount; row++) {
      const found = this.all[series[row] ?? -1];
      const time = times.base + BigInt(times.offsets[row] ?? 0);
      if (found !== undefined) this.keep(found, (other) => other.time !== time);
    }
    return 0;
  }

  /** Nothing is written here while a statement runs. */
  watchOverwrites(range: TimeRange): OverwriteWatch {
    if (this.whole !== undefined) return this.whole.watchOverwrites(range);
    return { unwritten: ({ count }) => count, isFull: false, end: () => undefined };
  }

  async deleteRange(range: RowRange): Promise<number> {
    this.checkDeletes();
    if (this.whole !== undefined) return this.whole.deleteRange(range);
    const { timeRange, tagPredicates } = range;
    const isIn = ({ time }: Row): boolean => time >= timeRange.start && time < timeRange.end;
    let count = 0;
    for (const series of this.all) {
      if (!tagPredicates.every((predicate) => passes(predicate, series.tags.get(predicate.column)))) continue;
      count += new Set(series.rows.filter(isIn).map(({ time }) => time)).size;
      this.keep(series, (row) => !isIn(row));
    }
    return count;
  }

  /** Deletes the row of a tag set and time. */
  delete(tags: ReadonlyMap<string, string>, time: bigint): void {
    this.checkDeletes();
    if (this.whole !== undefined) return this.placeOf(tags, time)?.delete(tags, time);
    const series = this.byKey.get(this.keyOf(tags));
    if (series !== undefined) this.keep(series, (row) => row.time !== time);
  }

  private keep(series: Series, isKept: (row: Row) => boolean): void {
    const kept = series.rows.filter(isKept);
    series.rows.length = 0;
    series.rows.push(...kept);
    this.changed();
  }

  private checkDeletes(): void {
    if (mergeModeOf(this.schema) !== "append") return;
    throw new DbError(StatusCode.InvalidArguments, "Invalid request to region, reason: DELETE is not allowed under append mode");
  }

  private keyOf(tags: ReadonlyMap<string, string>): string {
    return JSON.stringify(this.schema.primaryKey.map((name) => tags.get(name) ?? null));
  }

  get series(): SeriesView {
    if (this.whole !== undefined) return this.whole.series;
    return this.ownSeries;
  }

  private get ownSeries(): SeriesView {
    return {
      count: this.all.length,
      codesOf: (column) => Uint32Array.from(this.all, (series) => this.codeOf(column, series.tags.get(column))),
      hasValue: (column, value) => this.dictionaryOf(column).includes(value),
      dictionaryOf: (column) => this.dictionaryOf(column),
      tagOf: (column, series) => this.all[series]?.tags.get(column),
    };
  }

  private dictionaryOf(column: string): (string | undefined)[] {
    let dictionary = this.dictionaries.get(column);
    if (dictionary === undefined) {
      dictionary = [undefined];
      this.dictionaries.set(column, dictionary);
      this.codes.set(column, new Map());
    }
    for (const { tags } of this.all) this.codeOf(column, tags.get(column));
    return dictionary;
  }

  private codeOf(column: string, value: string | undefined): number {
    if (value === undefined) return 0;
    const dictionary = this.dictionaries.get(column) ?? this.dictionaryOf(column);
    const codes = this.codes.get(column) ?? new Map<string, number>();
    this.codes.set(column, codes);
    const known = codes.get(value);
    if (known !== undefined) return known;
    codes.set(value, dictionary.length);
    return dictionary.push(value) - 1;
  }

  timeBounds(): TimeRange | undefined {
    if (this.whole !== undefined) return this.whole.timeBounds();
    let [start, end]: [bigint | undefined, bigint | undefined] = [undefined, undefined];
    for (const { rows } of this.all) {
      for (const { time } of rows) {
        if (start === undefined || time < start) start = time;
        if (end === undefined || time >= end) end = time + 1n;
      }
    }
    return start === undefined || end === undefined ? undefined : { start, end };
  }

  statistics(): TableStatistics {
    if (this.whole !== undefined) return this.whole.statistics();
    const rowCount = this.all.reduce((sum, { rows }) => sum + rows.length, 0);
    return { rowCount, memoryBytes: rowCount * 100, fileBytes: 0, fileCount: 0, seriesCount: this.all.length };
  }

  files(): readonly TableFile[] {
    return [];
  }

  async share(request: ScanRequest, limits: ShareLimits): Promise<SharedScan | undefined> {
    if (this.whole !== undefined) return this.whole.share?.(request, limits);
    const { count } = this.series;
    if (request.limit !== undefined || request.newestPerSeries === true || this.statistics().rowCount < limits.rowsMin) return undefined;
    const predicates = this.sharedPredicates.push(request.tagPredicates) - 1;
    const length = Math.max(1, Math.ceil(count / limits.partsMax));
    const parts: ScanPart[] = [];
    for (let start = 0; start < count; start += length) {
      parts.push({ slots: { start, end: Math.min(count, start + length) }, timeRange: request.timeRange, rowCount: 1 });
    }
    if (parts.length === 0 && limits.rowsMin > 0) return undefined;
    const scanHere: SharedScan["scanHere"] = (own, metrics, part) => this.rowsIn(own, part?.slots, metrics);
    return { snapshot: { memoryTable: this.sharedId, predicates }, parts, scanHere, release: async () => undefined };
  }

  /** The table as a part of a scan sees it. */
  part({ slots }: ScanPart, predicates: number): ScannedTable {
    const tagPredicates = this.sharedPredicates[predicates] ?? [];
    return {
      schema: this.schema,
      series: this.series,
      scan: (request, metrics) => this.rowsIn({ ...request, tagPredicates }, slots, metrics),
      timeBounds: () => this.timeBounds(),
    };
  }

  scan(request: ScanRequest, metrics?: ScanMetrics): AsyncIterable<ScanBatch> {
    this.requests.push(request);
    if (this.whole !== undefined) return this.whole.scan(request, metrics);
    return this.rowsIn(request, undefined, metrics);
  }

  private async *rowsIn(request: ScanRequest, slots: ScanPart["slots"] | undefined, metrics?: ScanMetrics): AsyncIterable<ScanBatch> {
    let total = 0;
    for (const entries of this.entriesOf(request, slots)) {
      if (total > 0 && total >= (request.limit ?? Number.POSITIVE_INFINITY)) return;
      yield this.batch(entries, request, metrics);
      total += entries.length;
    }
  }

  /** The rows of each batch; kept for later scans like it unless tags decide which. */
  private entriesOf(request: ScanRequest, slots: ScanPart["slots"] | undefined): readonly Entries[] {
    if (request.tagPredicates.length > 0) return this.batchesOf(request, slots);
    const { order, timeRange, newestPerSeries } = request;
    const shape = [order === "none", timeRange.start, timeRange.end, newestPerSeries === true, slots?.start, slots?.end];
    const key = [...shape, this.batchRows, mergeModeOf(this.schema)].join();
    const known = this.made.get(key) ?? this.batchesOf(request, slots);
    this.made.set(key, known);
    return known;
  }

  private batchesOf(request: ScanRequest, slots: ScanPart["slots"] | undefined): readonly Entries[] {
    const all = [...this.all];
    if (request.order !== "none") all.sort((a, b) => this.compareTags(a, b));
    else all.reverse();
    const chosen = all
      .slice(slots?.start ?? 0, slots?.end ?? all.length)
      .filter(({ tags }) => request.tagPredicates.every((predicate) => passes(predicate, tags.get(predicate.column))));
    const batches: Entries[] = [];
    let open: { series: Series; row: Row }[] = [];
    for (const series of chosen) {
      for (const row of this.rowsOf(series, request)) {
        const [first] = open;
        const far = first !== undefined && Math.abs(Number(row.time - first.row.time)) > 2 ** 52;
        if (open.length === this.batchRows || far) {
          batches.push(open);
          open = [];
        }
        open.push({ series, row });
      }
    }
    if (open.length > 0) batches.push(open);
    return batches;
  }

  private compareTags(a: Series, b: Series): number {
    for (const name of this.schema.primaryKey) {
      const [x, y] = [a.tags.get(name), b.tags.get(name)];
      if (x === y) continue;
      if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
      return x < y ? -1 : 1;
    }
    return 0;
  }

  private rowsOf(series: Series, { timeRange, newestPerSeries }: ScanRequest): Row[] {
    const mode = mergeModeOf(this.schema);
    const merged: Row[] = [];
    const sorted = series.rows
      .map((row, i) => ({ row, i }))
      .sort((a, b) => (a.row.time < b.row.time ? -1 : a.row.time > b.row.time ? 1 : a.i - b.i));
    for (const { row } of sorted) {
      if (row.time < timeRange.start || row.time >= timeRange.end) continue;
      const last = merged.at(-1);
      if (mode === "append" || last === undefined || last.time !== row.time) merged.push(row);
      else if (mode === "last_row") merged[merged.length - 1] = row;
      else {
        const fields = new Map(last.fields);
        for (const [name, value] of row.fields) if (value !== undefined) fields.set(name, value);
        merged[merged.length - 1] = { time: row.time, fields };
      }
    }
    return newestPerSeries === true ? merged.slice(-1) : merged;
  }

  private batch(rows: Entries, request: ScanRequest, metrics?: ScanMetrics): ScanBatch {
    const starts: number[] = [];
    const series: number[] = [];
    for (const [i, entry] of rows.entries()) {
      if (series.at(-1) === entry.series.number) continue;
      starts.push(i);
      series.push(entry.series.number);
    }
    starts.push(rows.length);
    if (metrics !== undefined) metrics.rowsReturned += rows.length;
    const vectors = request.projection.map((name) => this.vector(name, rows));
    return { rowCount: rows.length, vectors, runs: { starts: Uint32Array.from(starts), series: Uint32Array.from(series) } };
  }

  /** All texts of a field that there are. */
  private sharedTexts(name: string): TextTable {
    const known = this.texts.get(name);
    if (known !== undefined) return known;
    const texts = new Set<string>();
    for (const { rows } of this.all) {
      for (const { fields } of rows) {
        const value = fields.get(name);
        if (typeof value === "string") texts.add(value);
      }
    }
    const table = textTableOf([undefined, ...texts]);
    this.texts.set(name, table);
    return table;
  }

  private coded(values: readonly Scalar[], entries: TextTable): Vector {
    let codes = this.textCodes.get(entries);
    if (codes === undefined) {
      codes = new Map(Array.from({ length: entries.size }, (_, code) => [textAt(entries, code), code]));
      this.textCodes.set(entries, codes);
    }
    const known = codes;
    return { kind: "coded", codes: Uint32Array.from(values, (value) => known.get(value as string | undefined) ?? 0), entries };
  }

  private vector(name: string, rows: Entries): Vector {
    const column = this.schema.columns.find((candidate) => candidate.name === name);
    if (column === undefined) throw new DbError(StatusCode.TableColumnNotFound, `Column ${name} not exists in table ${this.schema.name}`);
    if (column.semantic === "timestamp")
      return vectorOf(
        column.type,
        rows.map(({ row }) => row.time),
      );
    if (column.semantic === "tag") {
      const dictionary = this.dictionaryOf(name);
      return { kind: "dictionary", codes: Uint32Array.from(rows, ({ series }) => this.codeOf(name, series.tags.get(name))), dictionary };
    }
    const form = column.type.kind === "string" ? TEXT_FORMS[this.textForm++ % TEXT_FORMS.length] : undefined;
    const vectors = this.vectors.get(rows) ?? new Map<string, Vector>();
    this.vectors.set(rows, vectors);
    const key = `${name} ${displayName(column.type)} ${form}`;
    const vector = vectors.get(key) ?? this.fieldVector(column, rows, form);
    vectors.set(key, vector);
    return vector;
  }

  private fieldVector({ name, type }: ColumnSchema, rows: Entries, form: (typeof TEXT_FORMS)[number] | undefined): Vector {
    const values = rows.map(({ row }) => row.fields.get(name));
    if (form !== undefined) {
      if (form === "coded") return this.coded(values, this.sharedTexts(name));
      if (form === "own entries") {
        // Equal texts have several codes.
        const entries = textTableOf([undefined, ...values.map((value) => (value === undefined ? "" : String(value)))]);
        return { kind: "coded", codes: Uint32Array.from(values, (value, i) => (value === undefined ? 0 : i + 1)), entries };
      }
    }
    const vector = vectorOf(type, values);
    return type.kind === "int" && vector.kind === "number" ? { ...vector, values: narrowed(vector.values) } : vector;
  }
}

/** What text of fields comes as, in turns: as it lies in files that share a dictionary, in memory, and in files of few rows. */
const TEXT_FORMS = ["coded", "bytes", "coded", "own entries"] as const;

/** The narrowest array that holds the integers. */
function narrowed(values: NumberArray): NumberArray {
  const [min, max] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (min >= -128 && max < 128) return Int8Array.from(values);
  if (min >= -32_768 && max < 32_768) return Int16Array.from(values);
  return min >= -(2 ** 31) && max < 2 ** 31 ? Int32Array.from(values) : values;
}

function passes(predicate: TagPredicate, value: string | undefined): boolean {
  return predicate.kind === "in" ? predicate.values.includes(value) : predicate.test(value);
}

/** A catalog and its writer. */
export class MemoryCatalog implements Catalog, Writer {
  private readonly known = new Map<string, { info: DatabaseInfo; readonly tables: Map<string, MemoryTable> }>();
  private readonly viewsByName = new Map<string, ViewInfo>();
  private nextId = 1024;

  constructor() {
    for (const name of ["greptime_private", "information_schema", "public"])
      this.known.set(name, { info: { name, options: {} }, tables: new Map() });
  }

  databases(): readonly DatabaseInfo[] {
    return [...this.known.values()].map(({ info }) => info);
  }

  database(name: string): DatabaseInfo | undefined {
    return this.known.get(name)?.info;
  }

  async createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean> {
    if (this.known.has(name)) {
      if (ifNotExists) return false;
      throw new DbError(StatusCode.DatabaseAlreadyExists, `Database already exists: ${name}`);
    }
    this.known.set(name, { info: { name, options }, tables: new Map() });
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    if (this.known.delete(name)) return true;
    if (ifExists) return false;
    throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${name}`);
  }

  tables(database: string): readonly MemoryTable[] {
    return [...(this.known.get(database)?.tables.values() ?? [])];
  }

  table(database: string, name: string): MemoryTable | undefined {
    return this.known.get(database)?.tables.get(name);
  }

  async createTable(definition: TableDefinition): Promise<MemoryTable> {
    const columns = definition.columns.map((column, i): ColumnSchema => ({ ...column, id: i + 1 }));
    const table = new MemoryTable({ ...definition, columns, id: tableId(this.nextId++), version: 1 });
    this.known.get(definition.database)?.tables.set(definition.name, table);
    return table;
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (this.known.get(database)?.tables.delete(name) === true) return true;
    if (ifExists) return false;
    throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${name}`);
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const tables = this.known.get(database)?.tables;
    const table = tables?.get(name);
    if (tables === undefined || table === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${name}`);
    const { schema } = changedSchema({ schema: table.schema, nextColumnId: this.nextId++ }, change);
    if (schema.name !== name) {
      if (tables.has(schema.name)) throw new DbError(StatusCode.TableAlreadyExists, `Table already exists: ${schema.name}`);
      tables.delete(name);
      tables.set(schema.name, table);
    }
    table.schema = schema;
    return table;
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    const entry = this.known.get(name);
    if (entry === undefined) throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${name}`);
    entry.info = { name, options: changedOptions(entry.info.options, options) };
  }

  views(database: string): readonly ViewInfo[] {
    return [...this.viewsByName.values()].filter((view) => view.database === database).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  view(database: string, name: string): ViewInfo | undefined {
    return this.viewsByName.get(`${database}.${name}`);
  }

  async createView(definition: ViewDefinition, orReplace: boolean): Promise<void> {
    const key = `${definition.database}.${definition.name}`;
    if (this.viewsByName.has(key) && !orReplace) throw new DbError(StatusCode.TableAlreadyExists, `View already exists: ${key}`);
    this.viewsByName.set(key, { ...definition, id: tableId(this.nextId++) });
  }

  async dropView(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (this.viewsByName.delete(`${database}.${name}`)) return true;
    if (ifExists) return false;
    throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${name}`);
  }

  async truncateTable(database: string, name: string): Promise<void> {
    const table = this.table(database, name);
    if (table === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${name}`);
    table.clear();
  }

  async delete(database: string, batch: WriteBatch): Promise<WriteResult> {
    let rowCount = 0;
    for (const write of batch.tables) {
      const table = this.table(database, write.table);
      if (table === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${write.table}`);
      for (let row = 0; row < write.rowCount; row++) {
        const { names, values } = batch.dictionary.tagsOf(write.keys[row] ?? 0);
        const tags = new Map(names.map((name, i) => [name, values[i] ?? ""] as const));
        table.delete(tags, write.times.base + BigInt(write.times.offsets[row] ?? 0));
      }
      rowCount += write.rowCount;
    }
    return { rowCount };
  }

  async write(database: string, batch: WriteBatch, _: WriteOptions): Promise<WriteResult> {
    let rowCount = 0;
    for (const write of batch.tables) {
      const table = this.table(database, write.table);
      if (table === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${database}.${write.table}`);
      const time = timeIndexOf(table.schema);
      for (let row = 0; row < write.rowCount; row++) {
        const { names, values } = batch.dictionary.tagsOf(write.keys[row] ?? 0);
        const tags = new Map(names.map((name, i) => [name, values[i] ?? ""] as const));
        const fields = new Map(write.fields.map((field) => [field.name, scalarAt(field.vector, field.type, row)] as const));
        const at = scalarAt(write.times, time.type, row);
        table.insert(tags, typeof at === "bigint" ? at : 0n, fields);
      }
      rowCount += write.rowCount;
    }
    return { rowCount };
  }
}

/** A catalog as a frontend has it: every table lies in so many shards, with the rows that it has when it is asked for. */
export function catalogElsewhere(catalog: MemoryCatalog, shards: number): Catalog {
  return shownCatalog(catalog, (table: MemoryTable) => table.elsewhere(shards));
}
