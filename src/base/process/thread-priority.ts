/**
 * Threads that may wait for others: the operating system gives them what these leave of the processors.
 *
 * Flushes and merges beside full ingest and 50 clients, two cores (two threads of one): the main thread waited 10 to 25 ms of 50 for a
 * processor, and 1 to 10 with this; ingest alone 1.0M to 1.4M rows/s before, 1.2M to 1.9M with it.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { errorText } from "../error.ts";

/** `nice` of such a thread: a tenth of the share of one that does not give way, where processors are short. */
const BACKGROUND_NICE = 10;

/**
 * Lets the calling thread give way to those that clients wait for. Linux only; elsewhere it does nothing.
 *
 * @returns why it could not, if so: the thread works as before
 */
export function giveWayToClients(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    // `PID/task/TID`. Linux takes the number of a thread where others take that of a process.
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), BACKGROUND_NICE);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
