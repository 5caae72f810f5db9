/** A file that is read from its local copy while there is one, from a new copy otherwise, and by ranges where there is none yet. */
import { assert } from "../../../base/assert.ts";
import { corrupted, corruptionOf } from "../../../base/error.ts";
import type { Awaitable, FileReader } from "../file-store.ts";
import { type CachedFile, closeReader } from "./cached-files.ts";

/** Where readers find files. */
export interface ReaderSource {
  /** The copy that is here; it counts as just used. */
  use(name: string): CachedFile | undefined;
  /** A copy with a pin, made if need be; undefined where there is no room, or it takes long. @throws DbError StorageUnavailable */
  pinned(name: string): Promise<CachedFile | undefined>;
  /** Opens the local file of a copy and reads from it. @throws DbError StorageUnavailable */
  readLocal(file: CachedFile, offset: number, length: number): Promise<Uint8Array>;
  /** Takes a pin away. */
  release(file: CachedFile): void;
  openRemote(name: string): Promise<FileReader>;
  /** Says that a copy is gone from the folder, whoever took it. */
  lost(file: CachedFile): void;
}

/** See the file header. */
export class CachedReader implements FileReader {
  readonly byteLength: number;
  private readonly name: string;
  private readonly source: ReaderSource;
  /** The copy that it read last; counts it as a user. */
  private file: CachedFile | undefined;
  private remote: FileReader | undefined;
  private isOpen = true;

  /** @param file undefined: there was no room for a copy, and `remote` reads it */
  constructor(name: string, source: ReaderSource, file: CachedFile | undefined, remote: FileReader | undefined) {
    this.name = name;
    this.source = source;
    this.remote = remote;
    this.byteLength = file?.byteLength ?? remote?.byteLength ?? 0;
    this.follow(file);
  }

  read(offset: number, length: number): Awaitable<Uint8Array> {
    assert(this.isOpen, `file ${this.name} is open`);
    if (offset + length > this.byteLength) {
      const what = `cannot read ${length} bytes at ${offset} of file ${this.name}: it ends at byte ${this.byteLength}`;
      throw corrupted(what, { file: this.name, offset: this.byteLength, kind: "length" });
    }
    const file = this.copy();
    if (file?.reader === undefined) return this.readElsewhere(offset, length);
    try {
      return file.reader.read(offset, length);
    } catch (error) {
      if (file.state !== "here" || !file.isUploaded || corruptionOf(error) === undefined) throw error;
      this.source.lost(file); // The folder was emptied, or the copy cut off.
      return this.readElsewhere(offset, length);
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.follow(undefined);
    this.remote?.close();
  }

  /** The copy to read; one of a deleted file stays as it is. */
  private copy(): CachedFile | undefined {
    if (this.file?.state === "deleted") return this.file;
    const now = this.source.use(this.name);
    if (now !== this.file) this.follow(now);
    return now;
  }

  private follow(file: CachedFile | undefined): void {
    const { file: before } = this;
    if (before !== undefined) {
      before.users--;
      if (before.users === 0 && before.state === "deleted") closeReader(before);
    }
    this.file = file;
    if (file !== undefined) file.users++;
  }

  private async readElsewhere(offset: number, length: number): Promise<Uint8Array> {
    if (this.file?.state === "deleted") return this.source.readLocal(this.file, offset, length);
    const file = await this.source.pinned(this.name);
    if (file !== undefined) {
      try {
        return await this.source.readLocal(file, offset, length);
      } finally {
        this.source.release(file);
      }
    }
    this.remote ??= await this.source.openRemote(this.name);
    return this.remote.read(offset, length);
  }
}
