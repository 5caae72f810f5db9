/**
 * Where the logs of ingest threads lie: folders `thread-1`, `thread-2`, … in the log directory, each with segments of its own. The log of
 * the main thread is the directory itself, as it is with one thread.
 */
import { existsSync, readdirSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { corrupted, DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ENDS_NAME } from "./ends-file.ts";
import type { ThreadLogNames } from "./thread-log-names.ts";
import type { WalRecovery } from "./wal.ts";

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

/**
 * Threads that have a log in the directory, ascending. One whose log is named and gone is missed: a log begins with a word about its ends.
 *
 * @throws DbError StorageUnavailable when one is missed and the recovery mode is "strict"
 */
export function findThreadLogs(directory: string, names: ThreadLogNames, recovery: WalRecovery, logger: Logger): number[] {
  const found = listThreadLogs(directory);
  const named = namesOrLoss(names, recovery, logger) ?? [];
  const missing = named.filter((thread) => !existsSync(join(threadLogFolder(directory, thread), ENDS_NAME)));
  if (missing.length === 0) return found;
  if (recovery === "skip_corrupt") {
    logger.warn({ directory, threads: missing }, "logs of ingest threads are missing: rows that were in them alone are lost");
    return found;
  }
  const logs = missing.map((thread) => `thread-${thread}`).join(", ");
  const advice = 'restore it, or start with wal.recovery = "skip_corrupt" to lose what it held';
  throw corrupted(`cannot replay the log ${directory}: the log of ${logs} is missing; ${advice}`, {
    file: directory,
    offset: undefined,
    kind: "missing",
  });
}

function namesOrLoss(names: ThreadLogNames, recovery: WalRecovery, logger: Logger): number[] | undefined {
  try {
    return names.read();
  } catch (error) {
    if (recovery === "strict" || !(error instanceof DbError)) throw error;
    logger.warn({ error: error.message }, "logs of ingest threads that are missing are not noticed");
    return undefined;
  }
}

/** Deletes a thread's log, which has no segments. @throws DbError StorageUnavailable */
export async function removeThreadLog(directory: string, thread: number): Promise<void> {
  const folder = threadLogFolder(directory, thread);
  try {
    await rm(join(folder, ENDS_NAME), { force: true });
    await rmdir(folder);
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot delete the log folder ${folder}: ${errorText(cause)}`, { cause });
  }
  failPoint("log.folder-deleted");
}
