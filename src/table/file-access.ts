/**
 * Files outside the database that COPY and external tables read and write: local ones below one folder, and objects of S3-compatible
 * stores. Implemented by `storage/external`; used by the query layer, which knows formats but neither folders nor stores.
 */

/** Options of a CONNECTION clause, keys in lower case: `endpoint`, `access_key_id`, … Values may be secret: never print them. */
export type FileConnection = Readonly<Record<string, string>>;

/** The keys of connections. */
export const CONNECTION_KEYS: ReadonlySet<string> = new Set([
  "endpoint",
  "access_key_id",
  "secret_access_key",
  "access_key_secret",
  "session_token",
  "region",
  "enable_virtual_host_style",
  "bucket",
  "root",
]);

/** A file that exists. */
export interface FoundFile {
  /** As in the location: what `open` takes and errors name. */
  readonly location: string;
  /** The last part of the location. */
  readonly name: string;
  readonly byteLength: number;
}

/** A file opened for reading. Readers go on with what they opened when it is replaced. */
export interface OpenFile extends FoundFile {
  /** Bytes `[offset, offset + length)`, owned by the caller. @throws DbError StorageUnavailable when they cannot be had */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

/** A file being written: not there at all, or as it was before, until it is finished. */
export interface NewFile {
  /** Borrowed until the promise resolves. @throws DbError StorageUnavailable */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the file be there, in the place of what was. @throws DbError StorageUnavailable: then it is not */
  finish(): Promise<void>;
  /** Takes away what was written. Does not throw. */
  abort(): Promise<void>;
}

/** Files by location: `a/b.csv`, `/inside/the/root/b.csv`, `s3://bucket/a/b.csv`. A location that ends in `/` is a folder. */
export interface FileAccess {
  /**
   * Files directly in a folder, ordered by name, hidden ones left out; or the one file of the location.
   *
   * @throws DbError InvalidArguments for a location that may not be read, or at which there is nothing
   */
  list(location: string, connection: FileConnection): Promise<readonly FoundFile[]>;
  /** @throws DbError InvalidArguments as `list`, StorageUnavailable */
  open(location: string, connection: FileConnection): Promise<OpenFile>;
  /** Begins a file; folders on the way are made. @throws DbError InvalidArguments, StorageUnavailable */
  create(location: string, connection: FileConnection): Promise<NewFile>;
  /** The same files for one statement: what is under way over a network ends with its signal. */
  until(signal: AbortSignal): FileAccess;
}
