import type { FileStore } from "./file-store.ts";

/** Is told the length of a file; takes its bytes, in order, by what it returns, or wants none of them. */
export type FetchBegin = (byteLength: number) => Promise<((bytes: Uint8Array) => void) | undefined>;

/** A file store whose files can be moved from and to local ones. */
export interface RemoteFileStore extends FileStore {
  /** Uploads a local file of that length. @throws DbError StorageUnavailable; whether the file exists then is not known */
  putFile(name: string, path: string, byteLength: number): Promise<void>;
  /** Reads a whole file. A file that does not exist is not begun. @throws DbError StorageUnavailable; what `begin` throws */
  fetchFile(name: string, begin: FetchBegin): Promise<void>;
  /** Names and lengths of all files under a folder; changes nothing. @throws DbError StorageUnavailable */
  lengths(folder: string): Promise<Map<string, number>>;
  /** Gives up what was begun and not finished under a folder. @throws DbError StorageUnavailable */
  abortUnfinished(folder: string): Promise<void>;
}
