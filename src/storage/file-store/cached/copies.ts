/** Copies of remote files in a local folder: made when they are wanted, kept while they are needed, found again when they went. */
import { DbError, errorText } from "../../../base/error.ts";
import type { FileReader, FileStore, FileWriter } from "../file-store.ts";
import { localFileStore } from "../local-file-store.ts";
import { RequestRoom } from "../request-room.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";
import { type CachedFile, CachedFiles } from "./cached-files.ts";
import type { ReaderSource } from "./cached-reader.ts";
import { FILE_PART_MAX, FILES_AT_ONCE, PIN_TRIES_MAX, WAITED_BYTES_MAX } from "./limits.ts";

/** Parts of a cache. */
export interface CacheParts {
  readonly remote: RemoteFileStore;
  /** Holds nothing but data files; locked by this process. */
  readonly folder: string;
  readonly bytesMax: number;
  /** Longest file that whoever opens it waits for. Default: `WAITED_BYTES_MAX`. */
  readonly waitedBytesMax?: number;
  /** Is told of what went wrong and harms nobody but slows things down. */
  readonly onTrouble: (text: string) => void;
}

/** What came of a fetch: a copy; nothing, for want of room; nothing yet, since the file is long. */
type Fetched = CachedFile | "long" | undefined;

/** See the file header. Invariant: a file of `files` is in the folder, unless somebody else took it away. */
export class Copies implements ReaderSource {
  readonly local: FileStore;
  readonly files: CachedFiles;
  /** Files fetched so far, and their bytes. */
  fetches = 0;
  fetchedBytes = 0;
  private readonly parts: CacheParts;
  /** Local files on their way out: a new copy of the same name waits. */
  private readonly leaving: Map<string, Promise<void>> = new Map();
  private readonly fetching: Map<string, Promise<Fetched>> = new Map();
  private readonly fetchRoom = new RequestRoom(FILES_AT_ONCE, 0);
  /** The long file that is fetched while others read it by ranges: one at a time, so that it leaves them room. */
  private beside: string | undefined;

  constructor(parts: CacheParts) {
    this.parts = parts;
    this.local = localFileStore(parts.folder);
    this.files = new CachedFiles(parts.bytesMax, (name) => this.removeLocal(name));
  }

  use(name: string): CachedFile | undefined {
    return this.files.use(name);
  }

  release(file: CachedFile): void {
    this.files.unpin(file);
  }

  openRemote(name: string): Promise<FileReader> {
    return this.parts.remote.open(name);
  }

  lost(file: CachedFile): void {
    this.files.drop(file, "evicted");
    this.removeLocal(file.name);
  }

  /** As `held`, but undefined for a long file that is not here, too: its copy is made beside, one at a time. */
  async pinned(name: string): Promise<CachedFile | undefined> {
    if (this.beside === name && this.files.use(name) === undefined) return undefined;
    const file = await this.pinnedWithin(name, this.parts.waitedBytesMax ?? WAITED_BYTES_MAX);
    if (file === "long") this.fetchBeside(name);
    return file === "long" ? undefined : file;
  }

  /** A copy with a pin, made if need be; undefined where there is no room. @throws DbError StorageUnavailable */
  async held(name: string): Promise<CachedFile | undefined> {
    const file = await this.pinnedWithin(name, Number.POSITIVE_INFINITY);
    return file === "long" ? undefined : file;
  }

  private async pinnedWithin(name: string, waitedBytesMax: number): Promise<Fetched> {
    for (let tried = 0; tried < PIN_TRIES_MAX; tried++) {
      const known = this.files.use(name);
      if (known?.isUploaded === true && this.local.sizeOf(name) !== known.byteLength) this.lost(known);
      const file = known?.state === "here" ? known : await this.fetch(name, waitedBytesMax);
      if (file === undefined || (file === "long" && waitedBytesMax < Number.POSITIVE_INFINITY)) return file;
      if (file === "long") continue; // Another asked, who would not wait for it.
      if (file.state !== "here") continue; // Others needed its room before it was pinned.
      file.pins++;
      return file;
    }
    return undefined;
  }

  async openLocal(file: CachedFile): Promise<FileReader> {
    const opened = file.reader ?? (await this.local.open(file.name));
    if (file.reader === undefined) file.reader = opened;
    else if (file.reader !== opened) opened.close(); // Another was faster.
    return file.reader;
  }

  async readLocal(file: CachedFile, offset: number, length: number): Promise<Uint8Array> {
    return (await this.openLocal(file)).read(offset, length);
  }

  /** Resolves when no former file of that name, nor a fetch of it, is under way in the folder; never rejects. */
  async settled(name: string): Promise<void> {
    await Promise.allSettled([this.fetching.get(name), this.leaving.get(name)]); // Their callers see why they failed.
  }

  private fetchBeside(name: string): void {
    if (this.beside !== undefined) return; // Whoever opens it next tries again.
    this.beside = name;
    void this.fetch(name, Number.POSITIVE_INFINITY) // Never rejects as a whole.
      .catch((error: unknown) => this.parts.onTrouble(`cannot make a copy, so the file is read by ranges: ${errorText(error)}`))
      .finally(() => {
        this.beside = undefined;
      });
  }

  private fetch(name: string, waitedBytesMax: number): Promise<Fetched> {
    const known = this.fetching.get(name);
    if (known !== undefined) return known;
    const fetched = this.fetchNow(name, waitedBytesMax).finally(() => this.fetching.delete(name));
    this.fetching.set(name, fetched);
    return fetched;
  }

  private async fetchNow(name: string, waitedBytesMax: number): Promise<Fetched> {
    await this.leaving.get(name);
    const byteLength = await this.fetchRoom.run(0, () => this.copied(name, waitedBytesMax));
    if (typeof byteLength !== "number") return byteLength;
    this.fetches++;
    this.fetchedBytes += byteLength;
    return this.files.add(name, byteLength, true, true);
  }

  /** Makes a copy in room that it reserves, and returns its length; undefined where there is no room, or the folder takes no file. */
  private async copied(name: string, waitedBytesMax: number): Promise<number | "long" | undefined> {
    const { remote, bytesMax, onTrouble } = this.parts;
    let reserved: number | undefined;
    let writer: FileWriter | undefined;
    let isLong = false;
    try {
      await remote.fetchFile(name, async (byteLength) => {
        isLong = byteLength > waitedBytesMax && byteLength <= bytesMax * FILE_PART_MAX;
        if (isLong) return undefined;
        if (byteLength > bytesMax * FILE_PART_MAX || !this.files.reserve(byteLength)) return undefined;
        reserved = byteLength;
        const made = await inFolder(() => this.local.create(name));
        writer = made;
        return (bytes) => {
          try {
            made.write(bytes);
          } catch (error) {
            throw new FolderFailure(error);
          }
        };
      });
      await inFolder(async () => writer?.finish());
      return isLong ? "long" : reserved;
    } catch (error) {
      if (reserved !== undefined) this.files.giveBack(reserved);
      await Promise.allSettled([writer?.abort()]); // A folder that takes no file may not let go of one either; the next start does.
      const failure = causes(error).find((cause) => cause instanceof FolderFailure);
      if (failure === undefined) throw error;
      onTrouble(`the cache takes no file, which is read from the store instead: ${failure.message}`);
      return undefined;
    }
  }

  private removeLocal(name: string): void {
    const gone = this.local
      .delete(name)
      .catch((error: unknown) => this.parts.onTrouble(`cannot take a copy out of the cache: ${errorText(error)}`))
      .finally(() => this.leaving.delete(name));
    this.leaving.set(name, gone);
  }
}

/** The local folder failed, not the store. */
class FolderFailure extends Error {
  override readonly name = "FolderFailure";

  constructor(cause: unknown) {
    super(errorText(cause), { cause });
  }
}

async function inFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FolderFailure(error);
  }
}

/** An error and what it was made of: the store names its file in a new one. */
function causes(error: unknown): readonly unknown[] {
  return error instanceof DbError ? [error, error.cause] : [error];
}
