/**
 * A data file that scans read: opened at its first use, its pages decoded through the cache, deleted when it was dropped and nobody
 * reads it any more.
 */
import { unreadable } from "../unreadable.ts";
import type { TableId } from "../../../base/units.ts";
import { assert } from "../../../base/assert.ts";
import { DbError } from "../../../base/error.ts";
import type { Vector } from "../../../column/vector.ts";
import type { PageCache } from "../../cache/page-cache.ts";
import type { FileReader, FileStore } from "../../file-store/file-store.ts";
import type { SeriesRegistry } from "../../series/series-registry.ts";
import type { DataFile } from "../data-file.ts";
import { readContents, readFooter, readSections, readTableRuns } from "./file-contents.ts";
import { numbersOf } from "./file-series.ts";
import type { ParquetFile } from "../../../format/parquet/reading/file.ts";
import { OpenSst, type Warn } from "./open-sst.ts";
import { PageLayout } from "./page-layout.ts";
import { SERIES_INDEX_BLOB } from "../series/series-index.ts";
import { SERIES_SECTIONS_BLOB, type SeriesSection } from "../series/series-sections.ts";
import { TagFilter, type WantedTag } from "./tag-filter.ts";

/** A file whose footer was read and whose series were not. */
interface Probe {
  readonly reader: FileReader;
  readonly filter: TagFilter;
}

/** What it takes to know that a file has nothing of a table. */
const BYTES_PER_ABSENT = 128;

/** A file of a shared region whose footer was read and whose series were not: its tables are opened one by one. */
interface Base {
  readonly reader: FileReader;
  readonly parquet: ParquetFile;
  readonly layout: PageLayout;
  /** Undefined: it can only be opened whole. */
  readonly sections: readonly SeriesSection[] | undefined;
}

/** One table of a shared region in a file. */
interface OpenTable {
  /** Where the cache counts it. */
  readonly key: number;
  /** Undefined: the file has no rows of the table. */
  readonly opening: Promise<OpenSst | undefined>;
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
  /** What `opening` came to, and for whom, for those that cannot wait. */
  private known: { readonly opening: Promise<OpenSst>; readonly opened: OpenSst } | undefined;
  private reader: FileReader | undefined;
  /** The footer that was read last, while anybody has it: who asks the filter of a file mostly opens it next. */
  private footer: WeakRef<ParquetFile> | undefined;
  /** Where the cache counts it, and where its pages are, since it was first open. */
  private held: { readonly cache: PageCache; readonly key: number; readonly pageKeys: number; readonly keyCount: number } | undefined;
  private basing: Promise<Base> | undefined;
  private baseKey: { readonly cache: PageCache; readonly key: number } | undefined;
  private readonly tables: Map<TableId, OpenTable> = new Map();
  /** Whose numbers its series have where it is open; a table's later registry comes in the place of an earlier. */
  private registry: SeriesRegistry | undefined;
  /** Open for those that go on with an earlier registry. */
  private readonly former: WeakMap<SeriesRegistry, Promise<OpenSst>> = new WeakMap();
  private readonly formerOpenings: Set<Promise<OpenSst>> = new Set();
  private knownRuns = 0;
  private users = 1;
  private dropped = false;

  /** The caller is the first user. */
  constructor(meta: DataFile, store: FileStore, warn: Warn = () => undefined) {
    this.meta = meta;
    this.store = store;
    const said = new Set<string>();
    this.warn = (trouble, why) => {
      if (said.has(trouble)) return; // A file may be opened many times.
      said.add(trouble);
      warn(trouble, why);
    };
  }

  /** Series of its rows, as far as they were counted. */
  get runCount(): number {
    return this.knownRuns;
  }

  /** Opens the file at its first call. @throws DbError StorageUnavailable naming the file when it is missing or damaged */
  open(registry: SeriesRegistry, cache: PageCache): Promise<OpenSst> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    if (!this.isNumberedBy(registry, cache)) return this.openFormer(registry, cache);
    if (this.held !== undefined) cache.get(this.held.key); // It counts as just used.
    this.opening ??= this.noted(this.openOnce(registry, cache));
    return this.opening;
  }

  private forget(): void {
    this.opening = undefined;
    this.known = undefined;
  }

  private noted(opening: Promise<OpenSst>): Promise<OpenSst> {
    const noting = opening.then((opened) => {
      if (this.opening === noting) this.known = { opening: noting, opened };
      return opened;
    });
    return noting;
  }

  /** The file, where it is open for this registry already. It counts as just used. */
  openedNow(registry: SeriesRegistry, cache: PageCache): OpenSst | undefined {
    const { known, held } = this;
    if (known === undefined || held === undefined || known.opening !== this.opening || this.registry !== registry) return undefined;
    cache.get(held.key);
    return known.opened;
  }

  /** Whether what is open has the registry's numbers; a later registry than before has it forget what is open. */
  private isNumberedBy(registry: SeriesRegistry, cache: PageCache): boolean {
    if (this.registry === registry) return true;
    if (this.registry !== undefined && this.registry.id > registry.id) return false;
    if (this.registry !== undefined) {
      // Scans that have it go on with it.
      if (this.held !== undefined) cache.remove(this.held.key);
      for (const { key } of this.tables.values()) cache.remove(key);
      this.forget();
      this.tables.clear();
    }
    this.registry = registry;
    return true;
  }

  private async followFormer(registry: SeriesRegistry, opening: Promise<OpenSst>): Promise<void> {
    const [{ status }] = await Promise.allSettled([opening]); // Whoever opened it sees why it failed.
    this.formerOpenings.delete(opening);
    if (status === "rejected") this.former.delete(registry);
  }

  /** For a scan that began before its table's registry was renewed. Not counted: it goes with the registry. */
  private openFormer(registry: SeriesRegistry, cache: PageCache): Promise<OpenSst> {
    const known = this.former.get(registry);
    if (known !== undefined) return known;
    const opening = this.named(async () => {
      const reader = await this.readerOnce();
      const contents = await readContents(this.meta, await this.footerOf(reader), reader, numbersOf(registry));
      return new OpenSst(reader, contents, cache, this.warn, { pageKeys: this.held?.pageKeys });
    });
    this.former.set(registry, opening);
    this.formerOpenings.add(opening);
    void this.followFormer(registry, opening); // Never rejects.
    return opening;
  }

  /**
   * As `open`, unless the file certainly holds no series with one of the values of every tag: then undefined, and neither series nor page
   * indexes are kept. One with tombstones is always opened, and wholly: what is known of the tags of its rows says nothing of those of
   * rows that it deletes.
   *
   * @param tableId the table of a shared region whose rows are wanted: no other series are read, and undefined says that there are none
   */
  async openIfHolds(
    wanted: readonly WantedTag[],
    registry: SeriesRegistry,
    cache: PageCache,
    tableId?: TableId,
  ): Promise<OpenSst | undefined> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    // What is open says more than the filter, which is read from the file each time: 40 µs of 370 of a query of one series.
    const isOpen = this.opening !== undefined || (tableId !== undefined && this.tables.has(tableId));
    if (!isOpen && wanted.length > 0 && this.meta.tombstones === undefined) {
      this.probing ??= this.probeOnce();
      const { reader, filter } = await this.probing;
      if (!(await this.named(() => filter.mayHold(wanted, reader)))) return undefined;
    }
    const isCurrent = this.isNumberedBy(registry, cache);
    if (!isCurrent || this.opening !== undefined || tableId === undefined || this.meta.tombstones !== undefined)
      return this.open(registry, cache);
    return this.openTable(tableId, registry, cache);
  }

  private async openTable(tableId: TableId, registry: SeriesRegistry, cache: PageCache): Promise<OpenSst | undefined> {
    if (this.baseKey !== undefined) cache.get(this.baseKey.key); // It counts as just used.
    this.basing ??= this.baseOnce(cache);
    const base = await this.basing;
    if (base.sections === undefined) return this.open(registry, cache);
    const known = this.tables.get(tableId);
    if (known !== undefined) {
      cache.get(known.key);
      return known.opening;
    }
    const key = cache.takeKeys(1);
    const table: OpenTable = { key, opening: this.tableOnce(base, base.sections, tableId, registry, cache, key) };
    this.tables.set(tableId, table);
    return table.opening;
  }

  /**
   * Opens the file before a query asks for it, unless its series index is longer than `seriesBytesMax`: then undefined. A file of a shared
   * region is opened as far as its tables have it in common.
   *
   * @returns what decodes the page indexes, a row group of a column each
   * @throws DbError StorageUnavailable as `open` does
   */
  async openAhead(registry: SeriesRegistry, cache: PageCache, seriesBytesMax: number): Promise<readonly (() => void)[] | undefined> {
    assert(this.users > 0, `file ${this.meta.name} has users; got ${this.users}`);
    this.probing ??= this.probeOnce(); // Its errors are those of any first look at the file.
    await this.probing;
    const parquet = await this.named(async () => this.footerOf(await this.readerOnce()));
    if (parquet.blob(SERIES_SECTIONS_BLOB) !== undefined) {
      this.basing ??= this.baseOnce(cache);
      await this.basing;
    } else if ((parquet.blob(SERIES_INDEX_BLOB)?.length ?? 0) > seriesBytesMax) {
      return undefined;
    } else {
      await this.open(registry, cache);
    }
    return parquet.rowGroups.flatMap((_, group) => parquet.columns.map((__, column) => () => void parquet.pageIndex(group, column)));
  }

  /**
   * What reads the numbers of a file that is open into the cache, a page a step; undefined where it is not open, or lies elsewhere: who
   * wants it fetches it.
   */
  numbersAhead(registry: SeriesRegistry, cache: PageCache): Iterable<() => Promise<Vector>> | undefined {
    return this.store.hold === undefined ? this.openedNow(registry, cache)?.numbersAhead() : undefined;
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
    // Whoever opened it sees why it failed.
    const tables = Array.from(this.tables.values(), ({ opening }) => opening);
    await Promise.allSettled([this.probing, this.opening, this.basing, ...tables, ...this.formerOpenings]);
    this.held?.cache.remove(this.held.key);
    this.baseKey?.cache.remove(this.baseKey.key);
    for (const { key } of this.tables.values()) this.baseKey?.cache.remove(key);
    this.forget();
    this.basing = undefined;
    this.tables.clear();
    this.reader?.close();
    if (!this.dropped) return;
    // Without this, pages of files that were merged push those of the new ones out.
    this.held?.cache.removeRange(this.held.pageKeys, this.held.keyCount);
    await this.store.delete(this.meta.name);
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
        return { reader, filter: TagFilter.of(await this.footerOf(reader), this.warn) };
      });
    } catch (error) {
      this.probing = undefined;
      if (this.opening === undefined) this.startOver();
      throw error;
    }
  }

  private async baseOnce(cache: PageCache): Promise<Base> {
    try {
      return await this.named(async () => {
        const reader = await this.readerOnce();
        const parquet = await this.footerOf(reader);
        const layout = new PageLayout(parquet);
        const sections = await readSections(parquet, reader);
        this.countRuns(sections?.reduce((sum, { runCount }) => sum + runCount, 0) ?? 0);
        this.held ??= { cache, key: cache.takeKeys(1), pageKeys: cache.takeKeys(layout.keyCount), keyCount: layout.keyCount };
        this.baseKey ??= { cache, key: cache.takeKeys(1) };
        cache.hold(this.baseKey.key, layout.byteLength, () => {
          this.basing = undefined;
        });
        return { reader, parquet, layout, sections };
      });
    } catch (error) {
      this.startOver();
      throw error;
    }
  }

  private async tableOnce(
    { reader, parquet, layout }: Base,
    sections: readonly SeriesSection[],
    tableId: TableId,
    registry: SeriesRegistry,
    cache: PageCache,
    key: number,
  ): Promise<OpenSst | undefined> {
    const forget = (): void => {
      if (this.tables.get(tableId)?.key === key) this.tables.delete(tableId);
    };
    try {
      return await this.named(async () => {
        const runs = await readTableRuns(sections, reader, tableId, numbersOf(registry));
        const contents = runs === undefined ? undefined : { parquet, ...runs, tombstones: undefined };
        const at = { layout, tableId, pageKeys: this.held?.pageKeys };
        const opened = contents === undefined ? undefined : new OpenSst(reader, contents, cache, this.warn, at);
        if (this.registry === registry) cache.hold(key, opened?.byteLength ?? BYTES_PER_ABSENT, forget);
        return opened;
      });
    } catch (error) {
      forget();
      throw error;
    }
  }

  private countRuns(count: number): void {
    this.knownRuns = Math.max(this.knownRuns, count);
  }

  private async openOnce(registry: SeriesRegistry, cache: PageCache): Promise<OpenSst> {
    try {
      return await this.named(async () => {
        const reader = await this.readerOnce();
        const contents = await readContents(this.meta, await this.footerOf(reader), reader, numbersOf(registry));
        const opened = new OpenSst(reader, contents, cache, this.warn, { pageKeys: this.held?.pageKeys });
        this.countRuns(opened.series.length);
        this.held ??= { cache, key: cache.takeKeys(1), pageKeys: opened.pageKeys, keyCount: opened.keyCount };
        if (this.registry !== registry) return opened; // Another is current by now.
        // Scans that have it go on with it.
        cache.hold(this.held.key, opened.byteLength, () => {
          this.forget();
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
    this.footer = undefined;
    this.probing = undefined;
    this.forget();
    this.basing = undefined;
  }

  private async footerOf(reader: FileReader): Promise<ParquetFile> {
    const known = this.footer?.deref();
    if (known !== undefined) return known;
    const read = await readFooter(this.meta, reader);
    this.footer = new WeakRef(read);
    return read;
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
      throw unreadable(this.meta.name, error);
    }
  }
}
