/**
 * Files on a local disk. A file is written as `<name>.tmp`, synced, renamed, and its folder synced, so that a crash leaves either the whole
 * file or a `.tmp` that the next start deletes.
 */
import { fstatSync, readSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { assert } from "../../base/assert.ts";
import { openFilesMax, withDescriptor } from "../../base/process/descriptors.ts";
import { corrupted, DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { OPEN_FILES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { DescriptorPool } from "./descriptor-pool.ts";
import { type FileDisk, systemFileDisk } from "./file-disk.ts";
import type { FileReader, FileStore, FileWriter } from "./file-store.ts";
import { FolderSyncs } from "./folder-syncs.ts";
import { makeFolder } from "./make-folder.ts";

const TEMPORARY = ".tmp";
/** Writes are gathered up to this many bytes. The buffer grows there, since most files of many tables are a few KiB. */
const BUFFER_BYTES = 1024 * 1024;
const BUFFER_BYTES_FIRST = 16 * 1024;
/** Folders that are remembered as durable. One that is forgotten is synced once more. */
const KNOWN_FOLDERS_MAX = 65_536;

/**
 * A store under `folder`, which is made when missing.
 *
 * @param openMax most files that are open for reading at a time; others are opened again when they are read
 * @param disk what changes files; tests give one that loses power
 */
export function localFileStore(folder: string, openMax: number = openFilesMax(OPEN_FILES_MAX), disk: FileDisk = systemFileDisk): FileStore {
  const root = resolve(folder);
  const descriptors = new DescriptorPool(openMax);
  const syncs = new FolderSyncs(disk);
  /** Folders whose entries are durable. */
  const known = new Set<string>();
  const makeKnown = async (path: string): Promise<void> => {
    if (known.size >= KNOWN_FOLDERS_MAX) known.clear();
    await makeFolder(path, { top: root, known, disk, syncs });
  };
  return {
    async create(name) {
      const path = join(root, name);
      return guarded(`create file ${name}`, async () => {
        await makeKnown(dirname(path));
        const fd = await createIn(dirname(path), path + TEMPORARY, disk, known, makeKnown);
        failPoint("file.made");
        return new LocalFileWriter(path, name, fd, disk, syncs);
      });
    },
    async open(name) {
      return guarded(`open file ${name}`, () => withDescriptor(() => new LocalFileReader(name, join(root, name), descriptors)), name);
    },
    sizeOf(name) {
      try {
        return statSync(join(root, name), { throwIfNoEntry: false })?.size;
      } catch (error) {
        throw failure(`look at file ${name}`, error);
      }
    },
    async delete(name) {
      failPoint("file.before-delete");
      await guarded(`delete file ${name}`, () => disk.delete(join(root, name)));
      failPoint("file.deleted");
    },
    async list(folder, unwanted = () => false) {
      known.clear();
      return guarded(`list folder ${folder}`, () => listFiles(root, folder, disk, unwanted));
    },
    async deleteFolder(folder) {
      known.clear();
      await guarded(`delete folder ${folder}`, () => disk.deleteFolder(join(root, folder)));
      failPoint("file.folder-deleted");
    },
  };
}

/** As `FileDisk.create`. The folder may have gone with its table, by another store on it: it is made again then. */
async function createIn(
  folder: string,
  path: string,
  disk: FileDisk,
  known: Set<string>,
  makeKnown: (folder: string) => Promise<void>,
): Promise<number> {
  try {
    return await withDescriptor(() => disk.create(path));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    known.clear();
    await makeKnown(folder);
    return withDescriptor(() => disk.create(path));
  }
}

async function listFiles(root: string, folder: string, disk: FileDisk, unwanted: (folder: string) => boolean): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names: string[] = [];
  const folders: string[] = [];
  const used = new Set<string>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      folders.push(path);
    } else if (entry.isFile() && entry.name.endsWith(TEMPORARY)) {
      await disk.delete(path);
      failPoint("file.unfinished-deleted");
    } else {
      if (entry.isFile()) names.push(relative(root, path));
      for (let parent = entry.parentPath; parent !== root && !used.has(parent); parent = dirname(parent)) used.add(parent);
    }
  }
  // Deepest first: what a drop left when it was cut short.
  for (const path of folders.sort((a, b) => b.length - a.length)) {
    if (!used.has(path) && unwanted(relative(root, path))) await disk.deleteEmptyFolder(path);
  }
  return names;
}

class LocalFileWriter implements FileWriter {
  private readonly path: string;
  private readonly name: string;
  private readonly fd: number;
  private readonly disk: FileDisk;
  private readonly syncs: FolderSyncs;
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array(BUFFER_BYTES_FIRST);
  private buffered = 0;
  private written = 0;
  private isOpen = true;

  constructor(path: string, name: string, fd: number, disk: FileDisk, syncs: FolderSyncs) {
    this.path = path;
    this.name = name;
    this.fd = fd;
    this.disk = disk;
    this.syncs = syncs;
  }

  write(bytes: Uint8Array): void {
    assert(this.isOpen, `file ${this.name} is being written`);
    if (this.buffered + bytes.length > BUFFER_BYTES) this.flush();
    if (bytes.length > BUFFER_BYTES) {
      this.writeAll(bytes);
      return;
    }
    if (this.buffered + bytes.length > this.buffer.length) {
      const grown = new Uint8Array(BUFFER_BYTES);
      grown.set(this.buffer.subarray(0, this.buffered));
      this.buffer = grown;
    }
    this.buffer.set(bytes, this.buffered);
    this.buffered += bytes.length;
  }

  async finish(): Promise<number> {
    assert(this.isOpen, `file ${this.name} is being written`);
    try {
      this.flush();
      failPoint("file.written");
      await guarded(`sync file ${this.name}`, () => this.disk.sync(this.fd));
      this.close();
      failPoint("file.synced");
      await guarded(`name file ${this.name}`, () => this.rename());
    } catch (error) {
      await this.abort();
      throw error;
    }
    failPoint("file.durable");
    return this.written;
  }

  async abort(): Promise<void> {
    this.close();
    await guarded(`delete file ${this.name}${TEMPORARY}`, () => this.disk.delete(this.path + TEMPORARY));
  }

  /** Gives the file its name. A name that may not last is taken away again. */
  private async rename(): Promise<void> {
    await this.disk.rename(this.path + TEMPORARY, this.path);
    try {
      failPoint("file.renamed");
      await this.syncs.sync(dirname(this.path));
    } catch (error) {
      await this.disk.delete(this.path);
      throw error;
    }
  }

  /** Once only: the number of a closed file may already belong to another. */
  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.disk.close(this.fd);
  }

  private flush(): void {
    this.writeAll(this.buffer.subarray(0, this.buffered));
    this.buffered = 0;
  }

  private writeAll(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) {
        const count = this.disk.write(this.fd, bytes, at);
        at += count;
        this.written += count;
      }
    } catch (error) {
      throw failure(`write file ${this.name}`, error);
    }
  }
}

class LocalFileReader implements FileReader {
  readonly byteLength: number;
  private readonly name: string;
  private readonly path: string;
  private readonly descriptors: DescriptorPool;
  private isOpen = true;

  /** Opens the file. @throws the system's error when it cannot be opened */
  constructor(name: string, path: string, descriptors: DescriptorPool) {
    this.name = name;
    this.path = path;
    this.descriptors = descriptors;
    try {
      this.byteLength = fstatSync(descriptors.use(this, path)).size;
    } catch (error) {
      descriptors.close(this);
      throw error;
    }
  }

  read(offset: number, length: number): Uint8Array {
    assert(this.isOpen, `file ${this.name} is open`);
    const bytes = new Uint8Array(length);
    let at = 0;
    try {
      const fd = this.descriptors.use(this, this.path);
      while (at < length) {
        const count = readSync(fd, bytes, at, length - at, offset + at);
        if (count === 0) throw endsEarly(this.name, offset, length, offset + at);
        at += count;
      }
    } catch (error) {
      if (error instanceof DbError) throw error;
      throw failure(`read ${length} bytes at ${offset} of file ${this.name}`, error, this.name);
    }
    return bytes;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.descriptors.close(this);
  }
}

function endsEarly(file: string, offset: number, length: number, end: number): DbError {
  const message = `cannot read ${length} bytes at ${offset} of file ${file}: it ends at byte ${end}`;
  return corrupted(message, { file, offset: end, kind: "length" });
}

/** @param file that should be there */
function failure(what: string, error: unknown, file?: string): DbError {
  const why = errorText(error);
  if (file !== undefined && error instanceof Error && "code" in error && error.code === "ENOENT")
    return corrupted(`cannot ${what}: ${why}`, { file, offset: undefined, kind: "missing" }, error);
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${why}`, { cause: error });
}

async function guarded<T>(what: string, work: () => Promise<T>, file?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DbError ? error : failure(what, error, file);
  }
}
