/**
 * Files of a remote store with copies in a local folder, under the same names: whoever takes paths reads plain local files.
 *
 *   create ─► local file ─► finish: upload ─► there                    a file counts as made once the store has it
 *   open ─► copy here? ─► read        '─► fetch whole ─► read          a long file, until its copy is there: ranges of the remote one
 *   list ─► names of both; a copy that is not as long as its file goes; one that the store lacks is to be uploaded (`uploadLeft`)
 *
 * Copies go when room is needed, those used longest ago first; not those that are held, nor files that the store does not have yet. What
 * is in the folder after a restart is used again, and a folder that is emptied is filled again.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { DbError, errorText } from "../../../base/error.ts";
import { failPoint } from "../../../base/process/fail-point.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { FileReader, FileStore, FileWriter, HeldFiles, NamedFile } from "../file-store.ts";
import { RequestRoom } from "../request-room.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";
import type { CachedFile } from "./cached-files.ts";
import { CachedReader } from "./cached-reader.ts";
import { type CacheParts, Copies } from "./copies.ts";
import { FILES_AT_ONCE, LOOKS_PER_TURN, UNWANTED_MAX } from "./limits.ts";

/** What a cache has done so far. */
export interface CacheCounts {
  readonly bytes: number;
  readonly files: number;
  /** Files fetched, and their bytes. */
  readonly fetches: number;
  readonly fetchedBytes: number;
  readonly uploads: number;
  readonly uploadedBytes: number;
  /** Files that were opened by ranges: long ones, and those without room. */
  readonly passedBy: number;
}

/** See the file header. */
export interface CachedFileStore extends FileStore {
  /** Uploads a file that somebody made in the local folder. @throws DbError StorageUnavailable; it is deleted then */
  upload(name: string, byteLength: number): Promise<void>;
  /** Deletes a file that no entry names, now or once the store takes it; never rejects. */
  discard(name: string): Promise<void>;
  /** Fetches what is not here and keeps all of it; undefined where there is no room. @throws DbError StorageUnavailable */
  readonly hold: (files: readonly NamedFile[]) => Promise<HeldFiles | undefined>;
  /** Uploads what `list` found here and not in the store; returns how many files. @throws DbError StorageUnavailable */
  uploadLeft(): Promise<number>;
  readonly counts: CacheCounts;
}

/** See the file header. */
export function cachedFileStore(parts: CacheParts): CachedFileStore {
  const cache = new Cache(parts);
  const { remote } = parts;
  return {
    create: (name) => cache.create(name),
    upload: (name, byteLength) => cache.upload(name, byteLength),
    discard: (name) => cache.discard(name),
    open: (name) => cache.open(name),
    hold: (files) => cache.hold(files),
    sizeOf: (name) => cache.knownSizeOf(name) ?? remote.sizeOf(name),
    delete: (name) => cache.delete(name),
    list: (folder, unwanted) => cache.list(folder, unwanted),
    deleteFolder: (folder) => cache.deleteFolder(folder),
    uploadLeft: () => cache.uploadLeft(),
    get counts() {
      return cache.counts;
    },
  };
}

/** The store, as a class: those who wrap stores copy their functions. */
class Cache {
  private readonly remote: RemoteFileStore;
  private readonly folder: string;
  private readonly onTrouble: (text: string) => void;
  private readonly copies: Copies;
  private readonly uploading: Map<string, Promise<void>> = new Map();
  /** Lengths that the last list gave and nobody asked for yet: a start asks for each once. */
  private listed: Map<string, number> = new Map();
  /** Files that no entry names and that could not be deleted yet. */
  private readonly unwanted: Set<string> = new Set();
  private readonly uploadRoom = new RequestRoom(FILES_AT_ONCE, 0);
  private uploads = 0;
  private uploadedBytes = 0;
  private passedBy = 0;

  constructor(parts: CacheParts) {
    this.remote = parts.remote;
    this.folder = parts.folder;
    this.onTrouble = parts.onTrouble;
    this.copies = new Copies(parts);
  }

  async create(name: string): Promise<FileWriter> {
    await this.copies.settled(name);
    const writer = await this.copies.local.create(name);
    return {
      write: (bytes) => writer.write(bytes),
      finish: async () => {
        const byteLength = await writer.finish();
        await this.upload(name, byteLength);
        return byteLength;
      },
      abort: () => writer.abort(),
    };
  }

  async upload(name: string, byteLength: number): Promise<void> {
    const { files } = this.copies;
    const former = files.use(name);
    if (former !== undefined) files.drop(former, "deleted");
    const file = files.add(name, byteLength, false, false);
    try {
      await this.uploadOnce(file);
    } catch (error) {
      failPoint("upload.failed");
      await this.discard(name); // It may be in the store after all.
      throw error;
    }
    await this.deleteUnwanted(); // The store works.
  }

  async discard(name: string): Promise<void> {
    const reason = await this.whyNotDeleted(name);
    if (reason !== undefined) this.onTrouble(`a file that nothing names stays in the store for now: ${reason}`);
  }

  async open(name: string): Promise<FileReader> {
    const { copies } = this;
    const file = await copies.pinned(name).catch((error: unknown) => restatedOpen(name, error));
    if (file === undefined) {
      this.passedBy++;
      return new CachedReader(name, copies, undefined, await this.remote.open(name));
    }
    try {
      await copies.openLocal(file);
      return new CachedReader(name, copies, file, undefined);
    } finally {
      copies.release(file);
    }
  }

  async hold(wanted: readonly NamedFile[]): Promise<HeldFiles | undefined> {
    const bytes = wanted.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > this.copies.files.bytesMax) return undefined; // Nothing is fetched in vain.
    const results = await Promise.allSettled(wanted.map(({ name }) => this.copies.held(name)));
    const held = results.flatMap((result) => (result.status === "fulfilled" && result.value !== undefined ? [result.value] : []));
    const release = (): void => {
      for (const file of held.splice(0)) this.copies.release(file);
    };
    if (held.length === wanted.length) return { release };
    release();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return undefined;
  }

  /** Of a copy, or of a list that is fresh. */
  knownSizeOf(name: string): number | undefined {
    const known = this.copies.use(name)?.byteLength ?? this.listed.get(name);
    this.listed.delete(name);
    return known;
  }

  async delete(name: string): Promise<void> {
    await Promise.allSettled([this.uploading.get(name)]); // Who uploads sees why it failed.
    await this.copies.settled(name);
    failPoint("remote.before-delete");
    await this.remote.delete(name);
    failPoint("remote.deleted");
    const file = this.copies.use(name);
    if (file !== undefined) this.copies.files.drop(file, "deleted");
    await this.copies.local.delete(name);
  }

  async list(below: string, unwanted?: (folder: string) => boolean): Promise<readonly string[]> {
    const { local, files } = this.copies;
    await this.remote.abortUnfinished(below);
    failPoint("upload.earlier-aborted");
    const lengths = await this.remote.lengths(below);
    const names = new Set(lengths.keys());
    const found: { readonly name: string; readonly byteLength: number; readonly usedMillis: number }[] = [];
    let looks = 0;
    for (const name of await local.list(below, unwanted)) {
      if (++looks % LOOKS_PER_TURN === 0) await Bun.sleep(0);
      const facts = statSync(join(this.folder, name), { throwIfNoEntry: false });
      if (facts === undefined || files.use(name) !== undefined) continue;
      const want = lengths.get(name);
      names.add(name);
      if (want !== undefined && want !== facts.size) await local.delete(name);
      else if (want !== undefined || isDataFile(name)) found.push({ name, byteLength: facts.size, usedMillis: facts.mtimeMs });
    }
    found.sort((a, b) => a.usedMillis - b.usedMillis);
    for (const { name, byteLength } of found) files.add(name, byteLength, lengths.has(name), false);
    this.listed = lengths;
    return [...names];
  }

  async deleteFolder(below: string): Promise<void> {
    const { local, files } = this.copies;
    for (const file of files.below(below)) files.drop(file, "deleted"); // No upload of one begins any more.
    const uploads = [...this.uploading].flatMap(([name, upload]) => (name.startsWith(`${below}/`) ? [upload] : []));
    await Promise.allSettled(uploads); // Else one ends behind the deletion. Who uploads sees why it failed.
    await this.remote.deleteFolder(below);
    failPoint("remote.folder-deleted");
    await local.deleteFolder(below);
  }

  async uploadLeft(): Promise<number> {
    let count = 0;
    for (const file of this.copies.files.notUploaded()) {
      if (file.state !== "here" || file.isUploaded) continue; // Meanwhile.
      await this.uploadOnce(file);
      failPoint("upload.left-done");
      count++;
    }
    return count;
  }

  get counts(): CacheCounts {
    const { files, fetches, fetchedBytes } = this.copies;
    const { uploads, uploadedBytes, passedBy } = this;
    return { bytes: files.bytes, files: files.count, fetches, fetchedBytes, uploads, uploadedBytes, passedBy };
  }

  /** One failure is enough to know that the store is not well yet. */
  private async deleteUnwanted(): Promise<void> {
    for (const name of this.unwanted) if ((await this.whyNotDeleted(name)) !== undefined) return;
  }

  /** Deletes a file, or notes that it has to be. */
  private async whyNotDeleted(name: string): Promise<string | undefined> {
    try {
      await this.delete(name);
      this.unwanted.delete(name);
      return undefined;
    } catch (error) {
      if (this.unwanted.size < UNWANTED_MAX) this.unwanted.add(name);
      return errorText(error);
    }
  }

  private uploadOnce(file: CachedFile): Promise<void> {
    const run = this.uploading.get(file.name) ?? this.uploadNow(file).finally(() => this.uploading.delete(file.name));
    this.uploading.set(file.name, run);
    return run;
  }

  private async uploadNow(file: CachedFile): Promise<void> {
    await this.uploadRoom.run(0, () => {
      failPoint("upload.begun");
      return this.remote.putFile(file.name, join(this.folder, file.name), file.byteLength);
    });
    failPoint("upload.done");
    this.uploads++;
    this.uploadedBytes += file.byteLength;
    this.copies.files.markUploaded(file);
  }
}

/** Names of files that may be uploaded: others that lie in the folder are somebody else's. */
function isDataFile(name: string): boolean {
  return name.endsWith(".parquet");
}

/** A file that cannot be fetched cannot be opened. */
function restatedOpen(name: string, error: unknown): never {
  if (!(error instanceof DbError)) throw error;
  throw new DbError(StatusCode.StorageUnavailable, `cannot open file ${name}: ${error.message}`, { cause: error, details: error.details });
}
