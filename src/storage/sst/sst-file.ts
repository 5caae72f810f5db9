/**
 * A data file that scans read: opened at its first use, its pages decoded through the cache, deleted when it was dropped and nobody
 * reads it any more.
 */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { openParquet, type ParquetFile } from "../../format/parquet/file.ts";
import { decodeDictionary, decodePage } from "../../format/parquet/reader.ts";
import type { PageDictionary } from "../../format/parquet/types.ts";
import type { ColumnSummary, ScanMetrics } from "../../table/scan.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { Awaitable, FileReader, FileStore } from "../file-store/file-store.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import { decodeTombstones, TOMBSTONE_BLOB } from "../tombstone/tombstone-blob.ts";
import { TombstoneSet } from "../tombstone/tombstone-set.ts";
import type { DataFile } from "./data-file.ts";
import { COLUMN_INDEX_BLOB } from "../index/directory-codec.ts";
import { FileIndexes } from "../index/file-indexes.ts";
import type { LeafCondition } from "../index/index-lookup.ts";
import { columnsById } from "./columns-by-id.ts";
import { registerSeries } from "./file-series.ts";
import { boundsMayMeet } from "./page-bounds.ts";
import { pageFigures, type WantedFigures } from "./page-figures.ts";
import { type RunLookup, runLookupOf } from "./run-lookup.ts";
import { decodeSeriesIndex, type RunIndex, SERIES_INDEX_BLOB } from "./series-index.ts";
import { TagFilter, type WantedTag } from "./tag-filter.ts";

/** What an open file holds, about: footer and column names; index, series and lookup of a run; statistics of a page of one column. */
const BYTES_PER_FILE = 16 * 1024;
const BYTES_PER_RUN = 28;
const BYTES_PER_PAGE = 64;
const BYTES_PER_STRETCH = 16;
const BYTES_PER_DELETED_SERIES = 64;

/** First guess of how many bytes hold the footer. */
const TAIL_BYTES = 64 * 1024;

/** What is read of a file when it is opened. */
interface FileContents {
  readonly parquet: ParquetFile;
  readonly index: RunIndex;
  readonly series: Uint32Array;
  readonly tombstones: TombstoneSet | undefined;
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
  private readonly reader: FileReader;
  private readonly cache: PageCache;
  private readonly pageGroup: Uint32Array;
  private readonly groupFirstPage: Uint32Array;
  private readonly columnOfId: ReadonlyMap<number, number>;
  private readonly dictionaries: Map<number, PageDictionary> = new Map();
  private readonly warn: Warn;
  private runLookup: RunLookup | undefined;
  private columnIndexes: Promise<FileIndexes | undefined> | undefined;

  /** @param pageKeys where its pages were in the cache when it was open before */
  constructor(reader: FileReader, contents: FileContents, cache: PageCache, warn: Warn, pageKeys: number | undefined) {
    const { parquet, series, tombstones } = contents;
    this.warn = warn;
    this.reader = reader;
    this.parquet = parquet;
    this.index = contents.index;
    this.series = series;
    this.tombstones = tombstones;
    this.cache = cache;
    this.columnOfId = columnsById(parquet);
    const starts: number[] = [];
    const groups: number[] = [];
    const firstPages: number[] = [];
    for (let g = 0; g < parquet.rowGroups.length; g++) {
      const group = parquet.rowGroups[g];
      if (group === undefined) continue;
      const pages = parquet.pageIndex(g, 0);
      firstPages.push(starts.length);
      for (let p = 0; p < pages.pageCount; p++) {
        starts.push(group.firstRow + (pages.rowStarts[p] as number));
        groups.push(g);
      }
    }
    starts.push(parquet.rowCount);
    this.pageStarts = Uint32Array.from(starts);
    this.pageGroup = Uint32Array.from(groups);
    this.groupFirstPage = Uint32Array.from(firstPages);
    this.pageKeys = pageKeys ?? cache.takeKeys(parquet.columns.length * groups.length);
    const tombstoneBytes =
      tombstones === undefined ? 0 : tombstones.count * BYTES_PER_STRETCH + tombstones.series.length * BYTES_PER_DELETED_SERIES;
    this.byteLength =
      BYTES_PER_FILE + tombstoneBytes + series.length * BYTES_PER_RUN + parquet.columns.length * groups.length * BYTES_PER_PAGE;
  }

  /** Position of the column with this id in the file, or -1 when the file is older than the column. */
  columnOf(columnId: number): number {
    return this.columnOfId.get(columnId) ?? -1;
  }

  /** The run of a series, or -1. */
  runOf(series: number): number {
    this.runLookup ??= runLookupOf(this.series);
    return this.runLookup.find(series);
  }

  /** The page that holds a row. */
  pageOf(row: number): number {
    let low = 0;
    let high = this.pageStarts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.pageStarts[middle] as number) <= row) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Whether statistics leave room for a value of the page that meets the condition. */
  pageMayMeet(column: number, page: number, condition: LeafCondition): boolean {
    const group = this.pageGroup[page] as number;
    return boundsMayMeet(this.parquet.pageIndex(group, column), page - (this.groupFirstPage[group] as number), condition);
  }

  /** Figures of all rows of a page; undefined when it must be decoded to know them. */
  pageFigures(column: number, page: number, wanted: WantedFigures): ColumnSummary | undefined {
    const group = this.pageGroup[page] as number;
    const type = this.parquet.columns[column]?.type ?? { kind: "null" };
    return pageFigures(this.parquet.pageIndex(group, column), page - (this.groupFirstPage[group] as number), type, wanted);
  }

  /** The indexes of columns, read at the first call; undefined when there are none or they are damaged, which is reported once. */
  indexes(): Promise<FileIndexes | undefined> {
    this.columnIndexes ??= this.readIndexes();
    return this.columnIndexes;
  }

  private async readIndexes(): Promise<FileIndexes | undefined> {
    const { parquet, reader } = this;
    const onDamage = (why: string): void => this.warn(`the column indexes of a data file are not used: ${why}`);
    try {
      const range = parquet.blob(COLUMN_INDEX_BLOB);
      if (range === undefined) return undefined;
      const directory = parquet.verifyBlob(COLUMN_INDEX_BLOB, await reader.read(range.offset, range.length));
      const typeOf = (columnId: number): DataType | undefined => parquet.columns[this.columnOf(columnId)]?.type;
      const read = (offset: number, length: number): Awaitable<Uint8Array> => reader.read(offset, length);
      return new FileIndexes(directory, parquet.rowCount, { read, typeOf, onDamage }, this.cache);
    } catch (error) {
      onDamage(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Values of a page. Times count from the series index's `timeBase`. @throws DbError StorageUnavailable when the page is damaged */
  async page(column: number, page: number, metrics: ScanMetrics | undefined): Promise<Vector> {
    const key = this.pageKeys + column * this.pageGroup.length + page;
    const cached = this.cache.get(key);
    if (cached !== undefined) return cached;
    const rowGroup = this.pageGroup[page] as number;
    const pageInGroup = page - (this.groupFirstPage[rowGroup] as number);
    const pages = this.parquet.pageIndex(rowGroup, column);
    const bytes = await this.reader.read(pages.offsets[pageInGroup] as number, pages.lengths[pageInGroup] as number);
    if (metrics !== undefined) {
      metrics.pagesRead++;
      metrics.bytesRead += bytes.length;
    }
    const dictionary = await this.dictionaryOf(rowGroup, column);
    const isTime = this.parquet.columns[column]?.role === "time";
    const options = isTime ? { timeBase: this.index.timeBase } : {};
    const vector = decodePage(this.parquet, { rowGroup, column, page: pageInGroup }, bytes, dictionary, options);
    this.cache.put(key, vector);
    return vector;
  }

  private async dictionaryOf(rowGroup: number, column: number): Promise<PageDictionary | undefined> {
    const range = this.parquet.rowGroups[rowGroup]?.chunks[column]?.dictionary;
    if (range === undefined) return undefined;
    const key = rowGroup * 0x1_0000 + column;
    const known = this.dictionaries.get(key);
    if (known !== undefined) return known;
    const bytes = await this.reader.read(range.offset, range.length);
    const dictionary = decodeDictionary(this.parquet, rowGroup, column, bytes);
    this.dictionaries.set(key, dictionary);
    return dictionary;
  }
}

/** Takes what is wrong with a file that can still be read: what is not used, a colon, and why. */
export type Warn = (why: string) => void;

/** A file whose footer was read and whose series were not. */
interface Probe {
  readonly reader: FileReader;
  readonly filter: TagFilter;
}

/**
 * One file of a table. Counted by its users; its reader stays while `users` > 0 and it was read, it is deleted after `drop` when `users` is
 * 0. What is known of it when open counts towards the cache, which may let it go: the next scan opens it again.
 */
export class SstFile {
  readonly meta: DataFile;
  private readonly store: FileStore;
  private readonly warn: Warn;
  private probing: Promise<Probe> | undefined;
  private opening: Promise<OpenSst> | undefined;
  private reader: FileReader | undefined;
  /** Where the cache counts it, and where its pages are, since it was first open. */
  private held: { readonly cache: PageCache; readonly key: number; readonly pageKeys: number } | undefined;
  private users = 1;
  private dropped = false;

  /** The caller is the first user. */
  constructor(meta: DataFile, store: FileStore, warn: Warn = () => undefined) {
    this.meta = meta;
    this.store = store;
    const said = new Set<string>();
    this.warn = (why) => {
      const what = why.slice(0, why.indexOf(":") + 1);
      if (said.has(what)) return; // A file may be opened many times.
      said.add(what);
      warn(why);
    };
  }

  /** Opens the file at its first call. @throws DbError StorageUnavailable naming the file when it is missing or damaged */
  open(registry: SeriesRegistry, cache: PageCache): Promise<OpenSst> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    if (this.held !== undefined) cache.get(this.held.key); // It counts as just used.
    this.opening ??= this.openOnce(registry, cache);
    return this.opening;
  }

  /**
   * As `open`, unless the file certainly holds no series with one of the values of every tag: then undefined, and neither series nor page
   * indexes are kept. One with tombstones is always opened: the filter knows the tags of its rows, not those of rows that it deletes.
   */
  async openIfHolds(wanted: readonly WantedTag[], registry: SeriesRegistry, cache: PageCache): Promise<OpenSst | undefined> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    if (this.opening === undefined && wanted.length > 0 && this.meta.tombstones === undefined) {
      this.probing ??= this.probeOnce();
      const { reader, filter } = await this.probing;
      if (!(await this.named(() => filter.mayHold(wanted, reader)))) return undefined;
    }
    return this.open(registry, cache);
  }

  retain(): void {
    assert(this.users > 0, `a file in use; got ${this.users} users`);
    this.users++;
  }

  /** Takes one user away; the last one closes the file and, if it was dropped, deletes it. */
  async release(): Promise<void> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    this.users--;
    if (this.users > 0) return;
    await Promise.allSettled([this.probing, this.opening]); // Whoever opened it sees why it failed.
    this.held?.cache.remove(this.held.key);
    this.opening = undefined;
    this.reader?.close();
    if (this.dropped) await this.store.delete(this.meta.name);
  }

  /** Marks the file for deletion and takes away the owner's use. */
  async drop(): Promise<void> {
    this.dropped = true;
    await this.release();
  }

  private async probeOnce(): Promise<Probe> {
    try {
      return await this.named(async () => {
        const reader = await this.readerOnce();
        return { reader, filter: TagFilter.of(await readFooter(this.meta, reader), this.warn) };
      });
    } catch (error) {
      this.probing = undefined;
      if (this.opening === undefined) this.startOver();
      throw error;
    }
  }

  private async openOnce(registry: SeriesRegistry, cache: PageCache): Promise<OpenSst> {
    try {
      return await this.named(async () => {
        const reader = await this.readerOnce();
        const contents = await readContents(this.meta, reader, registry);
        const opened = new OpenSst(reader, contents, cache, this.warn, this.held?.pageKeys);
        this.held ??= { cache, key: cache.takeKeys(1), pageKeys: opened.pageKeys };
        // Scans that have it go on with it.
        cache.hold(this.held.key, opened.byteLength, () => {
          this.opening = undefined;
        });
        return opened;
      });
    } catch (error) {
      this.startOver();
      throw error;
    }
  }

  /** The next scan tries again from the beginning. A reader by which the file was read before may still be in use by a scan. */
  private startOver(): void {
    if (this.held === undefined) {
      this.reader?.close();
      this.reader = undefined;
    }
    this.probing = undefined;
    this.opening = undefined;
  }

  private async readerOnce(): Promise<FileReader> {
    if (this.reader !== undefined) return this.reader;
    const reader = await this.store.open(this.meta.name);
    if (this.reader === undefined) this.reader = reader;
    else reader.close(); // Another scan was faster.
    return this.reader;
  }

  /** Runs `read` and puts the file's name to its errors; those of the store and of the format carry it already. */
  private async named<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof DbError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new DbError(StatusCode.StorageUnavailable, `cannot read data file ${this.meta.name}: ${why}`, { cause: error });
    }
  }
}

/** The footer and page indexes of a file, from its last bytes. */
async function readFooter(meta: DataFile, reader: FileReader): Promise<ParquetFile> {
  let tailBytes = Math.min(TAIL_BYTES, reader.byteLength);
  for (;;) {
    const tail = await reader.read(reader.byteLength - tailBytes, tailBytes);
    const opened = openParquet(meta.name, reader.byteLength, tail);
    if (opened.kind === "file") return opened.file;
    tailBytes = opened.byteLength;
  }
}

async function readContents(meta: DataFile, reader: FileReader, registry: SeriesRegistry): Promise<FileContents> {
  const parquet = await readFooter(meta, reader);
  const blob = async (name: string): Promise<Uint8Array | undefined> => {
    const range = parquet.blob(name);
    return range === undefined ? undefined : parquet.verifyBlob(name, await reader.read(range.offset, range.length));
  };
  const bytes = await blob(SERIES_INDEX_BLOB);
  if (bytes === undefined) throw new Error("it has no series index");
  const { ends, timeBase, firstTimes, lastTimes, ...tags } = decodeSeriesIndex(bytes);
  const series = registerSeries(tags, ends.length, registry);
  const index = { ends, timeBase, firstTimes, lastTimes };
  const deleted = await blob(TOMBSTONE_BLOB);
  if (deleted === undefined && meta.tombstones !== undefined) throw new Error("it has no tombstones, but its entry says so");
  if (deleted === undefined) return { parquet, index, series, tombstones: undefined };
  const stored = decodeTombstones(deleted);
  const tombstones = new TombstoneSet({
    base: stored.series.timeBase,
    series: registerSeries(stored.series, stored.series.ends.length, registry),
    ends: stored.series.ends,
    firsts: stored.firsts,
    lasts: stored.lasts,
    ages: undefined,
    rowCount: meta.tombstones?.rowCount ?? stored.firsts.length,
  });
  // A file without rows has none to tell its base from (`series-index.ts`).
  return { parquet, index: meta.rowCount === 0 ? { ...index, timeBase: tombstones.base } : index, series, tombstones };
}
