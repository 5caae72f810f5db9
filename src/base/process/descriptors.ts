/**
 * Descriptors of this process: how many it may have, how many it has, and how an open waits for one.
 *
 * Clients' connections and files draw on the same number. The server drops connections before it is used up
 * (server/connections/connection-guard.ts), but a burst of them may take all there are for a moment: who opens a file then waits for it.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";

/** Where Linux tells of this process. */
const LIMITS_FILE = "/proc/self/limits";
const DESCRIPTORS_FOLDER = "/proc/self/fd";
/** Where the system does not say. */
const LIMIT_UNKNOWN = 1024;

/** Longest wait for a descriptor, in milliseconds, and between two tries. */
const WAIT_MS_MAX = 5000;
const AGAIN_MS = 10;

/** Part of the descriptors that files which are read may have. */
const FILES_PART = 1 / 4;
/** As few of them work, but every read opens its file. */
const FILES_MIN = 8;

/**
 * Descriptors that are free before a thread is started: one takes four, and reads its program, while a crowd may take others. As many as a
 * sixteenth of all, within these bounds.
 */
const THREAD_FREE_MIN = 16;
const THREAD_FREE_MAX = 64;
/** A crowd of clients may have more than this, for a moment, before the server drops them. */
const FEW = 4096;

let limit: number | undefined;

/** Most descriptors of this process. The runtime has raised the soft limit to the hard one. Read once. */
export function descriptorLimit(): number {
  limit ??= readLimit();
  return limit;
}

function readLimit(): number {
  try {
    const said = /^Max open files\s+(\d+)\s/m.exec(readFileSync(LIMITS_FILE, "utf8"))?.[1];
    return said === undefined ? LIMIT_UNKNOWN : Number(said);
  } catch (error) {
    if (error instanceof Error) return LIMIT_UNKNOWN; // No such system.
    throw error;
  }
}

/** Descriptors in use; undefined when it cannot be told. Opens nothing where the system is Linux 6.2 or later. */
export function descriptorsInUse(): number | undefined {
  try {
    const { size } = statSync(DESCRIPTORS_FOLDER);
    return size > 0 ? size : readdirSync(DESCRIPTORS_FOLDER).length;
  } catch (error) {
    if (isOutOfDescriptors(error)) return descriptorLimit();
    if (error instanceof Error) return undefined; // No such system.
    throw error;
  }
}

/** Most files that are kept open to be read: `wish`, less where the process may have few descriptors. */
export function openFilesMax(wish: number): number {
  return Math.max(FILES_MIN, Math.min(wish, Math.floor(descriptorLimit() * FILES_PART)));
}

/** Whether a call failed because the process, or the system, has no descriptor left. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}

/** What `open` gives; while no descriptor is left it is tried again for some seconds. @throws what `open` throws in the end */
export async function withDescriptor<T>(open: () => T | Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    try {
      return await open();
    } catch (error) {
      if (!isOutOfDescriptors(error) || waitedMs >= WAIT_MS_MAX) throw error;
    }
    await Bun.sleep(AGAIN_MS);
  }
}

/** Whether a crowd of clients may take all descriptors at once: then threads that must not be missing are started before clients come. */
export function hasFewDescriptors(): boolean {
  return descriptorLimit() < FEW;
}

/** How many descriptors are free before a thread is started. */
function threadFreeMin(): number {
  return Math.max(THREAD_FREE_MIN, Math.min(THREAD_FREE_MAX, Math.floor(descriptorLimit() / 16)));
}

function lacksForThread(inUse: () => number | undefined): boolean {
  return (inUse() ?? 0) > descriptorLimit() - threadFreeMin();
}

/**
 * Starts a thread, or refuses to: the runtime (Bun 1.4.5) ends the whole process when it finds no descriptor for one.
 *
 * @param inUse descriptors in use; tests give another count
 * @throws DbError StorageUnavailable when too few are free
 */
export function startThread<T>(start: () => T, inUse: () => number | undefined = descriptorsInUse): T {
  if (!lacksForThread(inUse)) return start();
  const why = `${descriptorLimit()} descriptors are nearly all in use (raise ulimit -n)`;
  throw new DbError(StatusCode.StorageUnavailable, `cannot start a thread: ${why}`);
}

/** Waits, for some seconds, until a thread may be started. @param inUse see `startThread` */
export async function descriptorsForThread(inUse: () => number | undefined = descriptorsInUse): Promise<void> {
  for (let waitedMs = 0; lacksForThread(inUse) && waitedMs < WAIT_MS_MAX; waitedMs += AGAIN_MS) await Bun.sleep(AGAIN_MS);
}
