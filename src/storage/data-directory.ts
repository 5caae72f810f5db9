/**
 * The data directory of one server: its layout, and the lock that keeps a second server out.
 *
 *   <home>/LOCK        SQLite database held in an exclusive transaction while the server lives; the system frees it when the process dies
 *   <home>/LOCK.pid    pid of the holder, for the message
 *   <home>/meta.db     meta store
 *   <home>/wal/        log segments, unless wal.dir says otherwise, those of ingest threads in folders; a LOCK and LOCK.pid of its own
 *   <home>/threads.sock  while there are ingest threads: where they pass requests on to the main thread
 *   <home>/data/       data files, or copies of those in an S3 store
 *   <home>/store-id    where they lie in such a store: the name by which it knows this directory
 *   <home>/backup-copies/  copies of the meta store, while backups read them
 *   <home>/tmp/        rows of queries that do not fit in memory, in files without names, unless query.spill_dir says otherwise
 */
import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DbError, errorText } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { makeFolder } from "./file-store/make-folder.ts";

/** Paths in a data directory. */
export interface DataDirectory {
  readonly home: string;
  readonly metaFile: string;
  readonly dataFolder: string;
  /** Ends the lock. */
  unlock(): void;
}

/** Locks that are held. Reason: a database that nobody refers to any more is closed by the garbage collector, which would end its lock. */
const held: Set<Database> = new Set();

/**
 * Makes the directory if it is missing and locks it.
 *
 * @throws DbError StorageUnavailable when it cannot be made or another server holds it; the message names that server's pid
 */
export async function lockDataDirectory(home: string): Promise<DataDirectory> {
  const unlock = await lockHome(home);
  const dataFolder = join(home, "data");
  await makeNamed(dataFolder, "folder of the data files");
  return { home, metaFile: join(home, "meta.db"), dataFolder, unlock };
}

/** Locks a data directory that is there, and makes nothing in it but the lock's files. Returns what ends the lock. @throws DbError */
export function lockHome(home: string): Promise<() => void> {
  return lockFolder(home, "data directory", "storage.data_home");
}

/**
 * Makes the log's folder if it is missing and locks it too: it may lie outside the data directory, where a server on another data directory
 * may have been sent by mistake. Returns what ends the lock.
 *
 * @throws DbError StorageUnavailable as `lockDataDirectory`
 */
export function lockLogFolder(folder: string): Promise<() => void> {
  return lockFolder(folder, "log directory", "wal.dir");
}

/** The lock of a folder that is locked. */
export function lockFile(folder: string): string {
  return join(folder, "LOCK");
}

/**
 * Makes a folder if it is missing and locks it, as what a message calls it; `setting` chooses another.
 *
 * @returns ends the lock
 * @throws DbError StorageUnavailable
 */
export async function lockFolder(folder: string, noun: string, setting: string): Promise<() => void> {
  await makeNamed(folder, noun);
  const pidFile = join(folder, "LOCK.pid");
  let lock: Database | undefined;
  try {
    lock = new Database(lockFile(folder), { create: true });
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (cause) {
    lock?.close();
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const why = code.startsWith("SQLITE_BUSY")
      ? `cannot use ${noun} ${folder}: the server with pid ${readPid(pidFile)} uses it; stop that one or set another ${setting}`
      : `cannot lock ${noun} ${folder}: ${errorText(cause)}`;
    throw new DbError(StatusCode.StorageUnavailable, why, { cause });
  }
  const database = lock;
  held.add(database);
  return () => {
    held.delete(database);
    database.close();
  };
}

async function makeNamed(folder: string, noun: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot make ${noun} ${folder}: ${errorText(cause)}`, { cause });
  }
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim();
  } catch (error) {
    return `unknown (${errorText(error)})`;
  }
}
