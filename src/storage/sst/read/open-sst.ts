/** A data file while it is open: where its pages are, and their values, decoded through the cache. */
import { bytesOfEntries } from "../../../column/coded-text.ts";
import { pieceOf } from "../../../base/bytes/binary-search.ts";
import type { TableId } from "../../../base/units.ts";
import { errorText } from "../../../base/error.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ParquetFile } from "../../../format/parquet/reading/file.ts";
import { hasPageSums } from "../../../format/parquet/page/page-sums.ts";
import { decodeDictionary, decodePage } from "../../../format/parquet/reading/reader.ts";
import type { PageDictionary } from "../../../format/parquet/types.ts";
import type { ColumnSummary, RowBound, ScanMetrics } from "../../../table/scan.ts";
import type { PageCache } from "../../cache/page-cache.ts";
import type { Awaitable, FileReader } from "../../file-store/file-store.ts";
import { COLUMN_INDEX_BLOB } from "../../index/directory-codec.ts";
import { FileIndexes } from "../../index/file-indexes.ts";
import type { LeafCondition } from "../../index/index-lookup.ts";
import type { TombstoneSet } from "../../tombstone/tombstone-set.ts";
import type { FileContents } from "./file-contents.ts";
import { boundsMayMeet, mayHoldWithin } from "./page-bounds.ts";
import { type PageRange, pageStatistics, type WantedStatistics } from "./page-statistics.ts";
import { PageLayout } from "./page-layout.ts";
import { RepeatedPage } from "./repeated-page.ts";
import { type RunLookup, runLookupOf } from "../series/run-lookup.ts";
import type { RunIndex } from "../series/series-index.ts";

/** What an open file holds beside its pages' places, about: index, series and lookup of a run. */
const BYTES_PER_RUN = 28;
const BYTES_PER_STRETCH = 16;
const BYTES_PER_DELETED_SERIES = 64;
/** What an open table of a file holds beside its runs. */
const BYTES_PER_TABLE = 2048;

/** Takes what is wrong with a file that can still be read: what is not used, and why. */
export type Warn = (trouble: string, why: string) => void;

/** What an open file shares with what was open of it before, or is beside it. */
export interface OpenAt {
  /** Where its pages are in the cache, if it was open before. */
  readonly pageKeys?: number | undefined;
  readonly layout?: PageLayout | undefined;
  /** Set where the runs are those of one table of a shared region. */
  readonly tableId?: TableId | undefined;
}

/** An opened file. Pages are numbered through all row groups; page p is rows `[pageStarts[p], pageStarts[p + 1])` of every column. */
export class OpenSst {
  readonly parquet: ParquetFile;
  readonly index: RunIndex;
  /** Series number of each run of the index. */
  readonly series: Uint32Array;
  /** What the file deletes of older ones, by series numbers of this process. */
  readonly tombstones: TombstoneSet | undefined;
  readonly pageStarts: Uint32Array;
  /** About what this object holds in memory. */
  readonly byteLength: number;
  /** Where its pages are in the cache. */
  readonly pageKeys: number;
  /** How many keys of the cache it has: one a page of a column, and one a column for its last rows. */
  readonly keyCount: number;
  /** The table whose runs these are; undefined: all of the file's. */
  readonly tableId: TableId | undefined;
  private readonly layout: PageLayout;
  private readonly lastRowKeys: number;
  private readonly reader: FileReader;
  private readonly cache: PageCache;
  private readonly repeatedTimes: RepeatedPage;
  private readonly warn: Warn;
  private runLookup: RunLookup | undefined;
  private isByNumber: boolean | undefined;
  private columnIndexes: Promise<FileIndexes | undefined> | undefined;

  constructor(reader: FileReader, contents: FileContents, cache: PageCache, warn: Warn, at: OpenAt) {
    const { parquet, series, tombstones } = contents;
    this.warn = warn;
    this.reader = reader;
    this.parquet = parquet;
    this.index = contents.index;
    this.series = series;
    this.tombstones = tombstones;
    this.cache = cache;
    this.repeatedTimes = new RepeatedPage(cache);
    this.layout = at.layout ?? new PageLayout(parquet);
    this.tableId = at.tableId;
    this.pageStarts = this.layout.starts;
    const { pageCount, keyCount } = this.layout;
    this.keyCount = keyCount;
    this.pageKeys = at.pageKeys ?? cache.takeKeys(keyCount);
    this.lastRowKeys = this.tableId === undefined ? this.pageKeys + pageCount : cache.takeKeys(parquet.columns.length);
    const tombstoneBytes =
      tombstones === undefined ? 0 : tombstones.count * BYTES_PER_STRETCH + tombstones.series.length * BYTES_PER_DELETED_SERIES;
    const shared = at.layout === undefined ? this.layout.byteLength : BYTES_PER_TABLE;
    this.byteLength = shared + tombstoneBytes + series.length * BYTES_PER_RUN;
  }

  /** Position of the column with this id in the file, or -1 when the file is older than the column. */
  columnOf(columnId: number): number {
    return this.layout.columnOfId.get(columnId) ?? -1;
  }

  /** Whether later runs are of series with larger numbers: so it is where the file was the first that its table's registry learnt of. */
  get liesByNumber(): boolean {
    this.isByNumber ??= ascends(this.series);
    return this.isByNumber;
  }

  /** The run of a series, or -1. */
  runOf(series: number): number {
    this.runLookup ??= runLookupOf(this.series);
    return this.runLookup.find(series);
  }

  /** The page that holds a row. */
  pageOf(row: number): number {
    return pieceOf(this.pageStarts, row);
  }

  /** Whether statistics leave room for a value of the page that meets the condition. */
  pageMayMeet(column: number, page: number, condition: LeafCondition): boolean {
    const group = this.layout.groups[page] as number;
    return boundsMayMeet(this.parquet.pageIndex(group, column), page - (this.layout.groupFirstPages[group] as number), condition);
  }

  /** Whether statistics leave room for a row of the page within the bound. */
  pageMayHold(column: number, page: number, bound: RowBound): boolean {
    const group = this.layout.groups[page] as number;
    return mayHoldWithin(this.parquet.pageIndex(group, column), page - (this.layout.groupFirstPages[group] as number), bound);
  }

  /** Statistics of all rows of pages of one row group; undefined when one must be decoded to know them. */
  pageStatistics(column: number, { from, to }: PageRange, wanted: WantedStatistics): ColumnSummary | undefined {
    const group = this.layout.groups[from] as number;
    const type = this.parquet.columns[column]?.type ?? { kind: "null" };
    const first = this.layout.groupFirstPages[group] as number;
    return pageStatistics(this.parquet.pageIndex(group, column), { from: from - first, to: to - first }, type, wanted);
  }

  /** The row group of a page. */
  rowGroupOf(page: number): number {
    return this.layout.groups[page] as number;
  }

  /** The indexes of columns, read at the first call; undefined when there are none or they are damaged, which is reported once. */
  indexes(): Promise<FileIndexes | undefined> {
    this.columnIndexes ??= this.readIndexes();
    return this.columnIndexes;
  }

  private async readIndexes(): Promise<FileIndexes | undefined> {
    const { parquet, reader } = this;
    const onDamage = (why: string): void => this.warn("the column indexes of a data file are not used", why);
    try {
      const range = parquet.blob(COLUMN_INDEX_BLOB);
      if (range === undefined) return undefined;
      const directory = parquet.verifyBlob(COLUMN_INDEX_BLOB, await reader.read(range.offset, range.length));
      const typeOf = (columnId: number): DataType | undefined => parquet.columns[this.columnOf(columnId)]?.type;
      const read = (offset: number, length: number): Awaitable<Uint8Array> => reader.read(offset, length);
      return new FileIndexes(directory, parquet.rowCount, { read, typeOf, onDamage }, this.cache);
    } catch (error) {
      onDamage(errorText(error));
      return undefined;
    }
  }

  /** A page that is in the cache. */
  pageAtHand(column: number, page: number): Vector | undefined {
    return this.cache.get(this.pageKeys + column * this.layout.groups.length + page);
  }

  /** Reads all pages of times and of fields that are numbers, those of the last rows first, a page a step. */
  *numbersAhead(): Generator<() => Promise<Vector>, void> {
    const wanted = this.parquet.columns.flatMap((column, c) => (column.role === "time" || hasPageSums(column) ? [c] : []));
    for (let page = this.layout.groups.length - 1; page >= 0; page--)
      for (const column of wanted) yield () => this.page(column, page, undefined);
  }

  /** Values of the last row of each run in the order of runs, if they were kept. */
  lastRows(column: number): Vector | undefined {
    return this.cache.get(this.lastRowKeys + column);
  }

  /** Keeps values of the last row of each run, beside pages. */
  keepLastRows(column: number, vector: Vector): void {
    this.cache.put(this.lastRowKeys + column, vector);
  }

  /** Values of a page. Times count from the series index's `timeBase`. @throws DbError StorageUnavailable when the page is damaged */
  async page(column: number, page: number, metrics: ScanMetrics | undefined): Promise<Vector> {
    const key = this.pageKeys + column * this.layout.groups.length + page;
    const cached = this.cache.get(key);
    if (cached !== undefined) return cached;
    const rowGroup = this.layout.groups[page] as number;
    const pageInGroup = page - (this.layout.groupFirstPages[rowGroup] as number);
    const pages = this.parquet.pageIndex(rowGroup, column);
    const bytes = await this.reader.read(pages.offsets[pageInGroup] as number, pages.lengths[pageInGroup] as number);
    if (metrics !== undefined) {
      metrics.pagesRead++;
      metrics.bytesRead += bytes.length;
    }
    const dictionary = await this.dictionaryOf(rowGroup, column);
    const isTime = this.parquet.columns[column]?.role === "time";
    const repeated = isTime ? this.repeatedTimes.find(bytes) : undefined;
    if (repeated !== undefined) {
      this.cache.share(key, repeated);
      return repeated;
    }
    const options = isTime ? { timeBase: this.index.timeBase } : {};
    const vector = decodePage(this.parquet, { rowGroup, column, page: pageInGroup }, bytes, dictionary, options);
    // Each page of a chunk counts its part of the entries that they share.
    const shared = vector.kind === "coded" ? bytesOfEntries(vector.entries) / pages.pageCount : 0;
    this.cache.put(key, vector, shared);
    if (isTime) this.repeatedTimes.decoded(bytes, key);
    return vector;
  }

  private async dictionaryOf(rowGroup: number, column: number): Promise<PageDictionary | undefined> {
    const range = this.parquet.rowGroups[rowGroup]?.chunks[column]?.dictionary;
    if (range === undefined) return undefined;
    const key = rowGroup * 0x1_0000 + column;
    const known = this.layout.dictionaries.get(key);
    if (known !== undefined) return known;
    const bytes = await this.reader.read(range.offset, range.length);
    const dictionary = decodeDictionary(this.parquet, rowGroup, column, bytes);
    this.layout.dictionaries.set(key, dictionary);
    return dictionary;
  }
}

function ascends(numbers: Uint32Array): boolean {
  for (let i = 1; i < numbers.length; i++) if ((numbers[i] as number) < (numbers[i - 1] as number)) return false;
  return true;
}
