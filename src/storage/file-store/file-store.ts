/**
 * Where data files live. Names are relative paths with `/`. A file appears whole under its name or not at all.
 */

/** A value that may or may not need waiting for: local files answer at once, remote ones later. */
export type Awaitable<T> = T | Promise<T>;

/** A file being written. */
export interface FileWriter {
  /** Appends; `bytes` is borrowed until the call returns. @throws DbError StorageUnavailable */
  write(bytes: Uint8Array): void;
  /** Makes the file durable under its name and returns its length. @throws DbError StorageUnavailable; the file then does not exist */
  finish(): Promise<number>;
  /** Gives up; nothing stays. */
  abort(): Promise<void>;
}

/** A file being read. */
export interface FileReader {
  readonly byteLength: number;
  /** Bytes `[offset, offset + length)`. @throws DbError StorageUnavailable when they cannot be read or the file is shorter */
  read(offset: number, length: number): Awaitable<Uint8Array>;
  close(): void;
}

/** A file by its name, with the length that it has. */
export interface NamedFile {
  readonly name: string;
  readonly byteLength: number;
}

/** Files that stay where they are until `release`, which is called once. */
export interface HeldFiles {
  release(): void;
}

export interface FileStore {
  /** Starts a file. A file of that name is replaced when the new one is finished. */
  create(name: string): Promise<FileWriter>;
  /** @throws DbError StorageUnavailable when it does not exist */
  open(name: string): Promise<FileReader>;
  /** Length of a file in bytes, undefined when it does not exist. @throws DbError StorageUnavailable when that cannot be said */
  sizeOf(name: string): Awaitable<number | undefined>;
  /** Deletes a file; one that does not exist is no error. */
  delete(name: string): Promise<void>;
  /**
   * Names of all files under a folder, at any depth; unfinished ones are deleted on the way and not listed, and so are folders without
   * files that are `unwanted`.
   */
  list(folder: string, unwanted?: (folder: string) => boolean): Promise<readonly string[]>;
  /** Deletes a folder with all its files. */
  deleteFolder(folder: string): Promise<void>;
  /**
   * Of a store with local copies: keeps files where other threads find them by their paths; undefined where there is no room. Without it
   * they always are there. @throws DbError StorageUnavailable
   */
  readonly hold?: (files: readonly NamedFile[]) => Promise<HeldFiles | undefined>;
}
