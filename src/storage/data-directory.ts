/**
 * The data directory of one server: its layout, and the lock that keeps a second server out.
 *
 *   <home>/LOCK        SQLite database held in an exclusive transaction while the server lives; the system frees it when the process dies
 *   <home>/LOCK.pid    pid of the holder, for the message
 *   <home>/meta.db     meta store
 *   <home>/wal/        log segments; those of ingest threads in folders
 *   <home>/threads.sock  while there are ingest threads: where they pass requests on to the main thread
 *   <home>/data/       data files
 */
import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../base/error.ts";
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

/**
 * Makes the directory if it is missing and locks it.
 *
 * @throws DbError StorageUnavailable when it cannot be made or another server holds it; the message names that server's pid
 */
export function lockDataDirectory(home: string): DataDirectory {
  try {
    makeFolder(home);
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot make data directory ${home}: ${reasonOf(cause)}`, { cause });
  }
  const pidFile = join(home, "LOCK.pid");
  let lock: Database | undefined;
  try {
    lock = new Database(join(home, "LOCK"), { create: true });
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (cause) {
    lock?.close();
    throw lockFailure(home, pidFile, cause);
  }
  const held = lock;
  return {
    home,
    metaFile: join(home, "meta.db"),
    dataFolder: join(home, "data"),
    unlock: () => held.close(),
  };
}

function lockFailure(home: string, pidFile: string, cause: unknown): DbError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (!code.startsWith("SQLITE_BUSY")) {
    return new DbError(StatusCode.StorageUnavailable, `cannot lock data directory ${home}: ${reasonOf(cause)}`, { cause });
  }
  return new DbError(
    StatusCode.StorageUnavailable,
    `cannot use data directory ${home}: the server with pid ${readPid(pidFile)} uses it; stop that one or set another storage.data_home`,
    { cause },
  );
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim();
  } catch (error) {
    return `unknown (${reasonOf(error)})`;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
