/**
 * Collects garbage before it outgrows what the server means to hold.
 *
 *   resident ─┬─ counted: pages, memtables, bodies, workers (server-memory.ts)
 *             └─ not counted: the runtime and its code, live objects, garbage ─► grew by GARBAGE_BYTES_MAX since the last look below ─► collect
 *
 * The collector of the runtime waits until the heap has doubled, so 256 MiB of cached pages come with as much garbage while queries pass
 * pages through the cache, and more where other work leaves it no processor time. Four clients, whole-table queries over 12.5M rows, 127 MiB
 * of pages, a busy machine: 593 MiB at most without this, 445 with it; 100 queries take 8.0 and 8.6 s of processor time.
 *
 * What a collection does not free was no garbage: the floor rises to it, so that a server with many live objects is not collected for
 * nothing. A collection stops the thread, for about 5 ms; all of them take at most a tenth of its time.
 */
import type { Clock } from "./clock.ts";
import type { ServerMemory } from "./server-memory.ts";

/** What the runtime and its code take: nothing below is looked at. */
const RUNTIME_BYTES: number = 96 * 1024 * 1024;
/** Growth of what is not counted from which it is collected. */
const GARBAGE_BYTES_MAX: number = 192 * 1024 * 1024;
/** Times that a collection took, that pass before the next. */
const REST_PER_COLLECTION = 9;
/** How often it is looked at; a look takes 10 µs. */
const LOOK_MILLIS = 250;

/** The process that is watched. */
export interface WatchedProcess {
  /** Resident bytes of the whole process. */
  residentBytes(): number;
  /** Collects the garbage of this thread, before it returns. */
  collect(): void;
}

const THIS_PROCESS: WatchedProcess = {
  residentBytes: () => process.memoryUsage.rss(),
  collect: () => Bun.gc(true),
};

/** See the file header. For the thread that queries run on. */
export class HeapWatch {
  private readonly memory: ServerMemory;
  private readonly clock: Clock;
  private readonly watched: WatchedProcess;
  private floor = RUNTIME_BYTES;
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
    const before = this.uncountedBytes;
    this.floor = Math.max(RUNTIME_BYTES, Math.min(this.floor, before));
    if (before - this.floor < GARBAGE_BYTES_MAX) return;
    const began = this.clock.monotonicMillis();
    if (began < this.restUntil) return;
    this.watched.collect();
    const ended = this.clock.monotonicMillis();
    this.restUntil = ended + (ended - began) * REST_PER_COLLECTION;
    this.floor = Math.max(RUNTIME_BYTES, this.uncountedBytes);
  }
}
