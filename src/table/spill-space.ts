/**
 * Room on disk for rows that one query cannot hold in memory. Implemented by `storage/spill`; used by the query layer, which sees no
 * folders. What is written lives as long as the query at most.
 */

/** A temporary file, which nobody else sees. */
export interface SpillFile {
  /**
   * Appends, and resolves with the position of the first byte. Borrowed until then. One call at a time.
   *
   * @throws DbError RuntimeResourcesExhausted when queries have spilled as much as they may or the disk is nearly full, StorageUnavailable
   */
  append(bytes: Uint8Array): Promise<number>;
  /** Bytes `[offset, offset + length)`, which were appended; owned by the caller. @throws DbError StorageUnavailable */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Gives the room back. Further calls do nothing. */
  close(): Promise<void>;
}

/** Where one query spills to. */
export interface SpillSpace {
  /** Begins a file. @throws DbError RuntimeResourcesExhausted when too many are open, StorageUnavailable */
  create(): Promise<SpillFile>;
}

/** The room of one query; whoever began it closes it. */
export interface SpillSession extends SpillSpace {
  /** Bytes that were ever appended to its files. */
  readonly writtenBytes: number;
  /** Closes all files that are open. */
  close(): Promise<void>;
}

/** Where all queries spill to. */
export interface SpillStore {
  session(): SpillSession;
}
