/** A file store whose calls fail and hang as a test says, over any other store. */
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { FileReader, FileStore, FileWriter } from "../../src/storage/file-store/file-store.ts";
import { Faults } from "./faults.ts";

/** Calls that can fail. `write` and `finish` are those of a file being written, `read` is that of one being read. */
export type FileStoreCall = "create" | "write" | "finish" | "open" | "read" | "sizeOf" | "delete" | "list" | "deleteFolder";

/** A store and what it does wrong. */
export interface FaultyFileStore extends FileStore {
  readonly faults: Faults<FileStoreCall>;
  /** Names of files that were begun and neither finished nor given up. */
  readonly unfinished: ReadonlySet<string>;
}

/** Puts faults before the calls of `store`. A failing `finish` leaves no file, as the contract says. */
export function faultyFileStore(store: FileStore): FaultyFileStore {
  const faults = new Faults<FileStoreCall>();
  const unfinished = new Set<string>();
  const check = (call: FileStoreCall, name: string): void => {
    const why = faults.next(call);
    if (why !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot ${VERBS[call]} ${name}: ${why}`);
  };
  const writerOf = (name: string, inner: FileWriter): FileWriter => ({
    write(bytes) {
      check("write", name);
      inner.write(bytes);
    },
    async finish() {
      await faults.pass();
      try {
        check("finish", name);
        return await inner.finish();
      } catch (error) {
        await inner.abort();
        throw error;
      } finally {
        unfinished.delete(name);
      }
    },
    async abort() {
      unfinished.delete(name);
      await inner.abort();
    },
  });
  const readerOf = (name: string, inner: FileReader): FileReader => ({
    byteLength: inner.byteLength,
    read(offset, length) {
      check("read", name);
      return inner.read(offset, length);
    },
    close: () => inner.close(),
  });
  return {
    faults,
    unfinished,
    async create(name) {
      await faults.pass();
      check("create", name);
      const inner = await store.create(name);
      unfinished.add(name);
      return writerOf(name, inner);
    },
    async open(name) {
      await faults.pass();
      check("open", name);
      return readerOf(name, await store.open(name));
    },
    sizeOf(name) {
      check("sizeOf", name);
      return store.sizeOf(name);
    },
    async delete(name) {
      await faults.pass();
      check("delete", name);
      await store.delete(name);
    },
    async list(folder) {
      await faults.pass();
      check("list", folder);
      return store.list(folder);
    },
    async deleteFolder(folder) {
      await faults.pass();
      check("deleteFolder", folder);
      await store.deleteFolder(folder);
    },
  };
}

const VERBS: Readonly<Record<FileStoreCall, string>> = {
  create: "create file",
  write: "write file",
  finish: "sync file",
  open: "open file",
  read: "read file",
  sizeOf: "look at file",
  delete: "delete file",
  list: "list folder",
  deleteFolder: "delete folder",
};
