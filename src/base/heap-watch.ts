/**
 * Collects the garbage of the thread that queries run on before it outgrows what the server means to hold.
 *
 *   heap of the thread ─┬─ cached pages (server-memory.ts)
 *                       ├─ buffers that were freed since (free-bytes.ts)
 *                       └─ live objects and garbage ─► grew by GARBAGE_BYTES_MAX since the least that was seen ─► collect
 *
 * The collector of the runtime waits until the heap has doubled, so 256 MiB of cached pages come with as much garbage while queries pass
 * pages through the cache, and more where other work leaves it no processor time: a heap of 549 MiB with 188 MiB of pages was seen beside
 * full ingest on two busy cores.
 *
 * What a collection does not free was no garbage: growth counts from there, so that a server with many live objects is not collected for
 * nothing. A collection stops the thread, for about 5 ms; all of them take at most a tenth of its time.
 */
import type { Clock } from "./clock.ts";
import { freedBytes } from "./free-bytes.ts";
import type { ServerMemory } from "./server-memory.ts";

/** Growth from which it is collected. */
const GARBAGE_BYTES_MAX: number = 192 * 1024 * 1024;
/** Times that a collection took, that pass before the next. */
const REST_PER_COLLECTION = 9;
/** How often it is looked at; a look takes 10 µs. */
const LOOK_MILLIS = 250;

/** The process that is watched, and the heap of this thread. */
export interface WatchedProcess {
  /** Resident bytes of the whole process. */
  residentBytes(): number;
  /** Bytes of this thread's heap, buffers included, and those that were freed without the collector until it runs. */
  heapBytes(): number;
  /** Bytes that were freed without the collector so far. */
  freedBytes(): number;
  /** Collects the garbage of this thread, before it returns. */
  collect(): void;
}

const THIS_PROCESS: WatchedProcess = {
  residentBytes: () => process.memoryUsage.rss(),
  heapBytes: () => process.memoryUsage().heapUsed,
  freedBytes,
  collect: () => Bun.gc(true),
};

/** See the file header. */
export class HeapWatch {
  private readonly memory: ServerMemory;
  private readonly clock: Clock;
  private readonly watched: WatchedProcess;
  private least = 0;
  private restUntil = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(memory: ServerMemory, clock: Clock, watched: WatchedProcess = THIS_PROCESS) {
    this.memory = memory;
    this.clock = clock;
    this.watched = watched;
  }

  /** Resident bytes that no part of the server counts. Negative while parts have set memory aside that they do not use. */
  get uncountedBytes(): number {
    return this.watched.residentBytes() - this.memory.used;
  }

  /** Begins to look from time to time, and when the server's memory says that there may be much. */
  start(): void {
    this.memory.onGarbage = () => this.look();
    this.timer = setInterval(() => this.look(), LOOK_MILLIS);
    this.timer.unref();
  }

  /** Ends that. */
  close(): void {
    clearInterval(this.timer);
    this.memory.onGarbage = () => undefined;
  }

  /** Collects if there is reason to. */
  look(): void {
    const now = this.ownBytes();
    this.least = Math.min(this.least, now);
    if (now - this.least < GARBAGE_BYTES_MAX) return;
    const began = this.clock.monotonicMillis();
    if (began < this.restUntil) return;
    this.watched.collect();
    const ended = this.clock.monotonicMillis();
    this.restUntil = ended + (ended - began) * REST_PER_COLLECTION;
    this.least = this.ownBytes();
  }

  /**
   * Live objects and garbage, less a constant: what was freed before the runtime collected is taken away twice, and only growth counts.
   */
  private ownBytes(): number {
    return this.watched.heapBytes() - this.watched.freedBytes() - this.memory.bytesOf("page_cache");
  }
}
