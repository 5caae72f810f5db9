/**
 * Where the logs of ingest threads lie: folders `thread-1`, `thread-2`, … in the log directory, each with segments of its own. The log of
 * the main thread is the directory itself, as it is with one thread.
 */
import { readdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";

const NAME = /^thread-([1-9]\d{0,3})$/;

/** Folder of the log of a thread, from 1. */
export function threadLogFolder(directory: string, thread: number): string {
  return join(directory, `thread-${thread}`);
}

/** Threads that have a folder in the log directory, ascending; none when there is no such directory. @throws DbError StorageUnavailable */
export function listThreadLogs(directory: string): number[] {
  try {
    return readdirSync(directory)
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return [];
    throw new DbError(StatusCode.StorageUnavailable, `cannot list the log directory ${directory}: ${errorText(cause)}`, { cause });
  }
}

/** Deletes the folder of a thread's log, which is empty. @throws DbError StorageUnavailable */
export async function removeThreadLog(directory: string, thread: number): Promise<void> {
  const folder = threadLogFolder(directory, thread);
  try {
    await rmdir(folder);
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot delete the log folder ${folder}: ${errorText(cause)}`, { cause });
  }
  failPoint("log.folder-deleted");
}
