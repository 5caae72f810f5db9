/**
 * Files on a local disk. A file is written as `<name>.tmp`, synced, renamed, and its folder synced, so that a crash leaves either the whole
 * file or a `.tmp` that the next start deletes.
 */
import { closeSync, fdatasync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { OPEN_FILES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { DescriptorPool } from "./descriptor-pool.ts";
import type { FileReader, FileStore, FileWriter } from "./file-store.ts";
import { makeFolder, syncFolder } from "./make-folder.ts";

const TEMPORARY = ".tmp";
/** Writes are gathered up to this many bytes. */
const BUFFER_BYTES = 1024 * 1024;
const fdatasyncAsync = promisify(fdatasync);

/**
 * A store under `folder`, which is made when missing.
 *
 * @param openMax most files that are open for reading at a time; others are opened again when they are read
 */
export function localFileStore(folder: string, openMax: number = OPEN_FILES_MAX): FileStore {
  const root = resolve(folder);
  const descriptors = new DescriptorPool(openMax);
  return {
    async create(name) {
      const path = join(root, name);
      return guarded(`create file ${name}`, async () => {
        makeFolder(dirname(path));
        return new LocalFileWriter(path, name, openSync(path + TEMPORARY, "w"));
      });
    },
    async open(name) {
      return guarded(`open file ${name}`, async () => new LocalFileReader(name, join(root, name), descriptors));
    },
    sizeOf(name) {
      try {
        return statSync(join(root, name), { throwIfNoEntry: false })?.size;
      } catch (error) {
        throw failure(`look at file ${name}`, error);
      }
    },
    async delete(name) {
      await guarded(`delete file ${name}`, () => rm(join(root, name), { force: true }));
    },
    async list(folder) {
      return guarded(`list folder ${folder}`, () => listFiles(root, folder));
    },
    async deleteFolder(folder) {
      await guarded(`delete folder ${folder}`, () => rm(join(root, folder), { force: true, recursive: true }));
    },
  };
}

async function listFiles(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (entry.name.endsWith(TEMPORARY)) await rm(path, { force: true });
    else names.push(relative(root, path));
  }
  return names;
}

class LocalFileWriter implements FileWriter {
  private readonly path: string;
  private readonly name: string;
  private readonly fd: number;
  private readonly buffer: Uint8Array<ArrayBuffer> = new Uint8Array(BUFFER_BYTES);
  private buffered = 0;
  private written = 0;
  private isOpen = true;

  constructor(path: string, name: string, fd: number) {
    this.path = path;
    this.name = name;
    this.fd = fd;
  }

  write(bytes: Uint8Array): void {
    assert(this.isOpen, `file ${this.name} is being written`);
    if (this.buffered + bytes.length > BUFFER_BYTES) this.flush();
    if (bytes.length > BUFFER_BYTES) {
      this.writeAll(bytes);
      return;
    }
    this.buffer.set(bytes, this.buffered);
    this.buffered += bytes.length;
  }

  async finish(): Promise<number> {
    assert(this.isOpen, `file ${this.name} is being written`);
    try {
      this.flush();
      await guarded(`sync file ${this.name}`, () => fdatasyncAsync(this.fd));
      this.close();
      await guarded(`name file ${this.name}`, () => this.rename());
    } catch (error) {
      await this.abort();
      throw error;
    }
    return this.written;
  }

  async abort(): Promise<void> {
    this.close();
    await guarded(`delete file ${this.name}${TEMPORARY}`, () => rm(this.path + TEMPORARY, { force: true }));
  }

  /** Gives the file its name. A name that may not last is taken away again. */
  private async rename(): Promise<void> {
    await rename(this.path + TEMPORARY, this.path);
    try {
      syncFolder(dirname(this.path));
    } catch (error) {
      await rm(this.path, { force: true });
      throw error;
    }
  }

  /** Once only: the number of a closed file may already belong to another. */
  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.fd);
  }

  private flush(): void {
    this.writeAll(this.buffer.subarray(0, this.buffered));
    this.buffered = 0;
  }

  private writeAll(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) {
        const count = writeSync(this.fd, bytes, at, bytes.length - at);
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
        if (count === 0) throw new Error(`it ends at byte ${offset + at}`);
        at += count;
      }
    } catch (error) {
      throw failure(`read ${length} bytes at ${offset} of file ${this.name}`, error);
    }
    return bytes;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.descriptors.close(this);
  }
}

function failure(what: string, error: unknown): DbError {
  const why = error instanceof Error ? error.message : String(error);
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${why}`, { cause: error });
}

async function guarded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DbError ? error : failure(what, error);
  }
}
