/**
 * A data file that scans read: opened at its first use, its pages decoded through the cache, deleted when it was dropped and nobody
 * reads it any more.
 */
import { assert } from "../../base/assert.ts";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { FileReader, FileStore } from "../file-store/file-store.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { DataFile } from "./data-file.ts";
import { readContents, readFooter } from "./file-contents.ts";
import { numbersOf } from "./file-series.ts";
import { OpenSst, type Warn } from "./open-sst.ts";
import { TagFilter, type WantedTag } from "./tag-filter.ts";

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
  private held: { readonly cache: PageCache; readonly key: number; readonly pageKeys: number; readonly keyCount: number } | undefined;
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
        const contents = await readContents(this.meta, reader, numbersOf(registry));
        const opened = new OpenSst(reader, contents, cache, this.warn, this.held?.pageKeys);
        this.held ??= { cache, key: cache.takeKeys(1), pageKeys: opened.pageKeys, keyCount: opened.keyCount };
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
      const why = errorText(error);
      throw new DbError(StatusCode.StorageUnavailable, `cannot read data file ${this.meta.name}: ${why}`, { cause: error });
    }
  }
}
