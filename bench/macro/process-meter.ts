/** What the kernel counts for another process: memory, processor time, bytes written. Source: proc(5). */
import { readFileSync, writeFileSync } from "node:fs";

/** Clock ticks a second in `/proc/PID/stat`; 100 on every Linux that matters (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;

/** A reading of one process, all its threads included. */
export interface ProcessReading {
  /** User and system time so far, that of ended threads included. */
  readonly cpuSeconds: number;
  /** Resident memory now, in bytes. Pages of mapped files count. */
  readonly rssBytes: number;
  /** The largest resident memory so far, in bytes. */
  readonly rssBytesPeak: number;
  /** Bytes that the process caused to be written to the disk. */
  readonly diskBytesWritten: number;
}

/** Reads the counters of a process. @throws Error (ENOENT) when there is no such process. */
export function readProcess(pid: number): ProcessReading {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  return {
    cpuSeconds: cpuSecondsOf(stat),
    rssBytes: field(status, /^VmRSS:\s+(\d+) kB/m) * 1024,
    rssBytesPeak: field(status, /^VmHWM:\s+(\d+) kB/m) * 1024,
    diskBytesWritten: field(io, /^write_bytes: (\d+)/m),
  };
}

/** User and system time of the main thread of a process so far, in seconds. @throws Error (ENOENT) when there is no such process */
export function mainThreadCpuSeconds(pid: number): number {
  return cpuSecondsOf(readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8"));
}

/** The same in milliseconds, and as fine as the scheduler counts it. @throws Error (ENOENT) when there is no such process */
export function mainThreadCpuMillis(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6; // Nanoseconds on a processor.
}

function cpuSecondsOf(stat: string): number {
  const afterName = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // The name may hold spaces; field 3 follows it.
  return (Number(afterName[11]) + Number(afterName[12])) / TICKS_PER_SECOND; // Fields 14 utime and 15 stime.
}

/** Makes the largest resident memory of a process what it has now. Needs the same user. @throws Error when there is no such process */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

let rests = true;

/** From now on nobody waits for a process to rest: the figures of a smoke run mean nothing. */
export function waitForNoRest(): void {
  rests = false;
}

/**
 * Waits until a process rests: below 5 % of a core for one second. Gives up after `secondsMax`, since some servers never rest.
 * Returns the seconds waited.
 */
export async function waitUntilIdle(pid: number, secondsMax = 60): Promise<number> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let before = readProcess(pid).cpuSeconds;
  while (rests && seconds() < secondsMax) {
    await Bun.sleep(1000);
    const now = readProcess(pid).cpuSeconds;
    if (now - before <= 0.05) break;
    before = now;
  }
  return seconds();
}

function field(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`cannot read the process: ${pattern.source} is not in ${text.slice(0, 80)}`);
  return Number(found);
}
