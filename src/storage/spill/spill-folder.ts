/**
 * Temporary files of queries: one folder, in which no file has a name for longer than it takes to open it.
 *
 *   create    open spill-<uuid>.tmp for reading and writing, then unlink it: the system frees the room when the last descriptor goes,
 *             however the process ends
 *   append    counted against one limit for all queries, and refused when the disk is nearly full
 *   close     of a file, or of all files of a query at once, whether it ended well or not
 *
 * What has such a name at the start is of a process that died between the two steps of `create`, and is removed. Other files of the folder
 * stay.
 */
import { type FileHandle, open, readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { withDescriptor } from "../../base/process/descriptors.ts";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SpillFile, SpillSession, SpillStore } from "../../table/spill-space.ts";
import { makeFolder } from "../file-store/make-folder.ts";
import { FREE_LOOK_BYTES, SPILL_FILES_MAX } from "./limits.ts";

/** What may be spilled, and where. */
export interface SpillOptions {
  /** Made when it is missing. */
  readonly folder: string;
  /** Bytes of all queries together. */
  readonly bytesMax: number;
  /** Bytes of the disk that stay free. */
  readonly freeBytesMin: number;
  /** Bytes that may still be written to the disk of a path. */
  readonly freeBytesOf: (path: string) => Promise<number>;
}

const NAME = /^spill-[0-9a-f-]{36}\.tmp$/;

/** See the file header. */
export class SpillFolder implements SpillStore {
  private readonly options: SpillOptions;
  private bytesHeld = 0;
  private bytesWritten = 0;
  private filesOpen = 0;
  /** Bytes that may be written before the disk is looked at again. */
  private untilLook = 0;

  private constructor(options: SpillOptions) {
    this.options = options;
  }

  /** Makes the folder and removes what an earlier process left in it. @throws DbError StorageUnavailable */
  static async open(options: SpillOptions): Promise<SpillFolder> {
    const { folder } = options;
    try {
      await makeFolder(folder);
      for (const name of await readdir(folder)) if (NAME.test(name)) await rm(join(folder, name), { force: true });
    } catch (thrown) {
      throw failed(`use folder ${folder} (query.spill_dir)`, thrown);
    }
    return new SpillFolder(options);
  }

  /** Bytes that lie on disk now. */
  get bytes(): number {
    return this.bytesHeld;
  }

  /** Bytes ever written. */
  get totalBytes(): number {
    return this.bytesWritten;
  }

  /** Files that are open now. */
  get files(): number {
    return this.filesOpen;
  }

  /** Room for one query. */
  session(): SpillSession {
    const files = new Set<OneFile>();
    let closedBytes = 0;
    return {
      get writtenBytes() {
        return [...files].reduce((sum, file) => sum + file.bytes, closedBytes);
      },
      create: async () => {
        const file = await this.create(() => {
          files.delete(file);
          closedBytes += file.bytes;
        });
        files.add(file);
        return file;
      },
      close: async () => {
        for (const file of files) await file.close();
      },
    };
  }

  private async create(onClose: () => void): Promise<OneFile> {
    if (this.filesOpen >= SPILL_FILES_MAX) {
      throw new DbError(
        StatusCode.RuntimeResourcesExhausted,
        `cannot run query: it does not fit in memory, and ${SPILL_FILES_MAX} spill files are open already; ` +
          "run it again when others have ended",
      );
    }
    const path = join(this.options.folder, `spill-${crypto.randomUUID()}.tmp`);
    this.filesOpen++;
    let handle: FileHandle | undefined;
    try {
      handle = await withDescriptor(() => open(path, "wx+", 0o600));
      await unlink(path);
      return new OneFile(handle, this, onClose);
    } catch (thrown) {
      this.filesOpen--;
      await handle?.close();
      throw failed(`make a file in ${this.options.folder} (query.spill_dir)`, thrown);
    }
  }

  /** Counts bytes before they are written. @throws DbError RuntimeResourcesExhausted */
  async take(bytes: number): Promise<void> {
    const { bytesMax, folder, freeBytesMin } = this.options;
    if (this.bytesHeld + bytes > bytesMax) {
      throw new DbError(
        StatusCode.RuntimeResourcesExhausted,
        `cannot run query: it does not fit in memory, and queries have spilled the ${bytesMax} bytes that query.spill_limit allows; ` +
          `narrow the time range, or raise query.memory_limit or query.spill_limit`,
      );
    }
    this.bytesHeld += bytes;
    this.bytesWritten += bytes;
    this.untilLook -= bytes;
    if (this.untilLook > 0) return;
    this.untilLook = FREE_LOOK_BYTES;
    const free = await this.freeBytes(bytes);
    if (free - bytes >= freeBytesMin) return;
    this.untilLook = 0; // The next one looks again.
    this.give(bytes);
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: it does not fit in memory, and the disk of ${folder} has ${free} bytes left, of which ` +
        `${freeBytesMin} stay free (storage.free_space_min); narrow the time range, or set query.spill_dir to a larger disk`,
    );
  }

  /** Looks at the disk; gives `taken` back when that fails. */
  private async freeBytes(taken: number): Promise<number> {
    const { folder, freeBytesOf } = this.options;
    try {
      return await freeBytesOf(folder);
    } catch (thrown) {
      this.untilLook = 0; // The next one looks again.
      this.give(taken);
      throw failed(`look at the disk of ${folder} (query.spill_dir)`, thrown);
    }
  }

  give(bytes: number): void {
    this.bytesHeld -= bytes;
  }

  closed(): void {
    this.filesOpen--;
  }
}

class OneFile implements SpillFile {
  private readonly handle: FileHandle;
  private readonly folder: SpillFolder;
  private readonly onClose: () => void;
  private length = 0;
  private closing: Promise<void> | undefined;

  constructor(handle: FileHandle, folder: SpillFolder, onClose: () => void) {
    this.handle = handle;
    this.folder = folder;
    this.onClose = onClose;
  }

  /** Bytes that were appended. */
  get bytes(): number {
    return this.length;
  }

  async append(bytes: Uint8Array): Promise<number> {
    await this.folder.take(bytes.length);
    if (this.closing !== undefined) {
      this.folder.give(bytes.length);
      throw new DbError(StatusCode.StorageUnavailable, "cannot write a spill file: its query has ended");
    }
    const start = this.length;
    this.length += bytes.length; // Counted now, so that a failure gives back all of it with the file.
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.handle.write(bytes, at, bytes.length - at, start + at)).bytesWritten;
    } catch (thrown) {
      throw failed("write a spill file", thrown);
    }
    return start;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    try {
      for (let at = 0; at < length; ) {
        const { bytesRead } = await this.handle.read(bytes, at, length - at, offset + at);
        if (bytesRead === 0) throw new Error(`it ends at byte ${offset + at}, ${offset + length} were written`);
        at += bytesRead;
      }
    } catch (thrown) {
      throw failed("read a spill file", thrown);
    }
    return bytes;
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    this.onClose();
    this.folder.give(this.length);
    this.folder.closed();
    await this.handle.close();
  }
}

function failed(what: string, thrown: unknown): DbError {
  const why = errorText(thrown);
  const full = thrown instanceof Error && "code" in thrown && (thrown.code === "ENOSPC" || thrown.code === "EDQUOT");
  const advice = full ? "; narrow the time range, or set query.spill_dir to a larger disk" : "";
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${why}${advice}`, { cause: thrown });
}
