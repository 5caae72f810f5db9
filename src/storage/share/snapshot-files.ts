/**
 * Data files on a thread that only reads: opened by what a snapshot says of them, kept open for the next one, counted in the cache, which
 * may let them go. The descriptor of a file is closed when no scan reads it any more, so that one that was deleted meanwhile gives its disk
 * space back.
 */
import { unreadable } from "../sst/unreadable.ts";
import { DbError } from "../../base/error.ts";
import type { TableId } from "../../base/units.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { Awaitable, FileReader, FileStore } from "../file-store/file-store.ts";
import { type FileContents, readContents, readFooter, readSections, readTableRuns, type SeriesNumbers } from "../sst/read/file-contents.ts";
import { OpenSst } from "../sst/read/open-sst.ts";
import type { SnapshotFile } from "./scan-snapshot.ts";

/** Where an open file is counted, and where its pages are. */
interface Held {
  readonly key: number;
  readonly reader: RestingReader;
  readonly sst: OpenSst;
}

/** A file that a scan reads. */
export interface UsedFile {
  readonly sst: OpenSst;
  /** The scan does not read it any more; to be called once. */
  readonly done: () => void;
}

/** A reader whose descriptor is closed between scans. */
class RestingReader implements FileReader {
  readonly byteLength: number;
  private users = 0;
  private readonly store: FileStore;
  private readonly name: string;
  private opened: FileReader | undefined;

  constructor(store: FileStore, name: string, opened: FileReader) {
    this.store = store;
    this.name = name;
    this.opened = opened;
    this.byteLength = opened.byteLength;
  }

  read(offset: number, length: number): Awaitable<Uint8Array> {
    return this.opened === undefined ? this.reopened(offset, length) : this.opened.read(offset, length);
  }

  private async reopened(offset: number, length: number): Promise<Uint8Array> {
    const opened = await this.store.open(this.name);
    if (this.opened === undefined) this.opened = opened;
    else opened.close(); // Another read was faster.
    return this.opened.read(offset, length);
  }

  /** Another scan reads it, until it calls what it gets. */
  use(): () => void {
    this.users++;
    return () => {
      if (--this.users === 0) this.close();
    };
  }

  close(): void {
    this.opened?.close();
    this.opened = undefined;
  }
}

/** The numbers that a snapshot brings. */
function numbersOf({ series, tombstoneSeries }: SnapshotFile): SeriesNumbers {
  return {
    expect: () => undefined,
    ofRows: (_, runCount, first) => series.subarray(first, first + runCount),
    ofTombstones: () => tombstoneSeries,
  };
}

async function readTable(file: SnapshotFile, tableId: TableId, reader: FileReader): Promise<FileContents> {
  const parquet = await readFooter(file.meta, reader);
  const sections = await readSections(parquet, reader);
  const runs = sections === undefined ? undefined : await readTableRuns(sections, reader, tableId, numbersOf(file));
  if (runs === undefined) throw new Error(`it has no rows of table ${tableId}, but had some`);
  return { parquet, ...runs, tombstones: undefined };
}

/** See the file header. */
export class SnapshotFiles {
  private readonly store: FileStore;
  private readonly cache: PageCache;
  private readonly onWarning: (text: string) => void;
  private readonly held: Map<string, Held> = new Map();

  /** @param onWarning takes what is wrong with a file that can still be read */
  constructor(store: FileStore, cache: PageCache, onWarning: (text: string) => void) {
    this.store = store;
    this.cache = cache;
    this.onWarning = onWarning;
  }

  /** Opens a file for a scan. @param registry as `ScanSnapshot.registry` @throws DbError StorageUnavailable naming the file */
  async use(file: SnapshotFile, registry: number): Promise<UsedFile> {
    const { meta, tableId } = file;
    const name = `${registry}/${meta.name}/${tableId ?? ""}`;
    const known = this.held.get(name);
    if (known !== undefined) {
      this.cache.get(known.key); // It counts as just used.
      return { sst: known.sst, done: known.reader.use() };
    }
    const reader = new RestingReader(this.store, file.meta.name, await this.store.open(file.meta.name));
    const done = reader.use();
    try {
      const contents =
        tableId === undefined
          ? await readContents(meta, await readFooter(meta, reader), reader, numbersOf(file))
          : await readTable(file, tableId, reader);
      const warn = (trouble: string, why: string): void => this.onWarning(`${file.meta.name}: ${trouble}: ${why}`);
      const sst = new OpenSst(reader, contents, this.cache, warn, { tableId });
      const key = this.cache.takeKeys(1);
      this.held.set(name, { key, reader, sst });
      this.cache.hold(key, sst.byteLength, () => this.held.delete(name));
      return { sst, done };
    } catch (error) {
      done();
      if (error instanceof DbError) throw error;
      throw unreadable(file.meta.name, error);
    }
  }
}
