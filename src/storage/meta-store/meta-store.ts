/**
 * Small durable facts: databases, tables, the list of data files, positions in the log. Keys are text with `/`; values are JSON.
 *
 * `commit` is one transaction. When it answers, at once or later, it has taken effect for readers of this process; it is durable when
 * `settled` resolves. The local store answers at once and is durable then; one that others have, too, takes its time.
 *
 * | a commit ends with  | and                                                                                                  |
 * |---------------------|------------------------------------------------------------------------------------------------------|
 * | nothing             | is in force                                                                                          |
 * | StorageUnavailable  | may be in force, now or later: readers see it by the next commit that ends well                       |
 * | `Fenced`            | is not in force, and no later one will be: another owner has the store                               |
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** A JSON value. Whole numbers beyond 2^53 are kept as text by whoever stores them. */
export type MetaValue = null | boolean | number | string | readonly MetaValue[] | { readonly [key: string]: MetaValue };

/** One change of a transaction; `value` undefined deletes the key. */
export interface MetaChange {
  readonly key: string;
  readonly value: MetaValue | undefined;
}

/** Entry that a store has whose entries came from a version without checksums, until somebody has held them against something else. */
export const UNVERIFIED_KEY = "unverified";

/** Entry that a store has whose tables lie in several shards: how many. Servers that know one must not open it. */
export const SHARDS_KEY = "shards";

export interface MetaStore {
  get(key: string): MetaValue | undefined;
  /** All entries whose key begins with `prefix`, in the order of the keys' UTF-8 bytes. */
  list(prefix: string): readonly { readonly key: string; readonly value: MetaValue }[];
  /** Applies all changes or none. One at a time: who commits waits for the answer. @throws DbError StorageUnavailable; Fenced */
  commit(changes: readonly MetaChange[]): void | Promise<void>;
  /** Resolves when all commits so far are durable. @throws DbError StorageUnavailable */
  settled(): Promise<void>;
  /**
   * Puts what was committed where a single damaged place cannot take it: call it before the only other copy of something goes.
   *
   * @throws DbError StorageUnavailable
   */
  secure(): void;
  /**
   * Makes a database file (FORMAT.md) with the entries as they are when it is called, whatever is committed meanwhile: it opens as
   * `meta.db`. One copy at a time.
   *
   * @throws DbError StorageUnavailable, at once or later
   */
  copyTo(path: string): Promise<void>;
  close(): void;
}

/** A store that nobody else has, which answers at once. */
export interface LocalMetaStore extends MetaStore {
  commit(changes: readonly MetaChange[]): void;
}

/** What is thrown once another owner has taken the store over: whoever had it stops, and leaves everything as it is. */
export class Fenced extends DbError {
  /** @param message says whose it is now */
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(StatusCode.StorageUnavailable, message, options);
  }
}
