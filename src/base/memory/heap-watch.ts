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
 * What the runtime says is in use leaves out small objects that came since it collected last: a grouping by texts had 135 MiB of them that
 * way. The blocks that they lie on count, so the heap is that, or what is in use where that is more.
 *
 * What a collection does not free was no garbage: growth counts from there, so that a server with many live objects is not collected for
 * nothing. Beside a collection (collect-beside.ts) the thread serves others while long work, which makes most of the garbage, waits
 * (scheduler/). Near the limit the thread stands until all is collected, which no other load of the machine makes longer. Collections take
 * at most a tenth of the time, a quarter where the process is near its limit, and half where it is close to it or beyond; which of them
 * counts when it is looked at, since right after a collection the process is never near. One beside the thread counts for a third.
 *
 * Memory that the process has and the runtime does not tell of (copies that a decoder makes, what allocators keep until a collection) shows
 * only in what is resident: near the limit growth of that counts as well. Reading back a grouping that was spilled, a process grew by
 * 100 MiB a quarter of a second that way while its heap said 25. Farther from it only growth of what no part counts does, twice as much.
 * What queries let go counts as growth: one left 220 MiB behind, and the next passed a limit of 768 MiB by 24. Right behind a query the
 * thread may still stand in its last steps, which hold all of it, and what a stack held stays in slots of the next one's: what a collection
 * does not free of it counts for the next two (of 221 MiB they freed 43, 31 and the rest). Cached pages go before the limit is reached.
 */
import type { Clock } from "../clock.ts";
import { collectBeside } from "./collect-beside.ts";
import { freedBytes } from "./free-bytes.ts";
import { heapBytes, residentBytes } from "./process-memory.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { ServerMemory } from "./server-memory.ts";

/** Growth from which it is collected, and what part of a small memory limit that is; not below what collections are worth. */
const GARBAGE_BYTES_MAX: number = 192 * 1024 * 1024;
const GARBAGE_BYTES_MIN: number = 24 * 1024 * 1024;
const GARBAGE_PART = 1 / 12;
/** Times that growth which what is resident may have, beyond what parts count, before it is collected far from the limit. */
const UNCOUNTED_PER_GARBAGE = 2;
/** Times that a collection took, that pass before the next; and where the process is near its limit, or close to it. */
const REST_PER_COLLECTION = 9;
const REST_NEAR_LIMIT = 3;
const NEAR_LIMIT = 0.75;
const REST_CLOSE_TO_LIMIT = 1;
const CLOSE_TO_LIMIT = 0.9;
/** Collections that are tried for what queries let go, beside the first. */
const OWED_TRIES = 2;
/** Part of a collection beside the thread that the thread stands for: collect-beside.ts has the figures. */
const BESIDE_PART = 1 / 3;
/** How often it is looked at; a look takes 10 µs, and a query makes 20 MiB of garbage meanwhile. */
const LOOK_MILLIS = 50;

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
  /** Collects it while the thread works on. */
  collectBeside(): Promise<void>;
}

const THIS_PROCESS: WatchedProcess = {
  residentBytes,
  heapBytes,
  freedBytes,
  collect: () => Bun.gc(true),
  collectBeside,
};

/** What queries had let go before a collection, and bytes of the heap and of the process then. */
interface Owed {
  readonly letGo: number;
  readonly heap: number;
  readonly resident: number;
}

/** See the file header. */
export class HeapWatch {
  private readonly memory: ServerMemory;
  private readonly clock: Clock;
  private readonly scheduler: Scheduler;
  private readonly watched: WatchedProcess;
  private readonly garbageMax: number;
  private least = 0;
  private leastResident = 0;
  private leastUncounted = 0;
  /** Most that queries held since the last collection. */
  private mostOfQueries = 0;
  /** What they let go and collections did not free, and how often one was tried for it. */
  private owedByQueries = 0;
  private triesForOwed = 0;
  /** When the last collection ended, and how long it took. */
  private ended = 0;
  private took = 0;
  /** Whether a collection is under way beside the thread. */
  private isCollecting = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(memory: ServerMemory, scheduler: Scheduler, watched: WatchedProcess = THIS_PROCESS) {
    this.memory = memory;
    this.clock = scheduler.clock;
    this.scheduler = scheduler;
    this.watched = watched;
    this.garbageMax = Math.max(GARBAGE_BYTES_MIN, Math.min(GARBAGE_BYTES_MAX, memory.bytesMax * GARBAGE_PART));
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
    const resident = this.watched.residentBytes();
    const uncounted = resident - this.memory.used;
    this.memory.noteOverhead(uncounted);
    this.memory.makeRoom();
    const isNear = resident > this.memory.bytesMax * NEAR_LIMIT;
    if (this.isCollecting && !isNear) return;
    const now = this.ownBytes();
    this.least = Math.min(this.least, now);
    this.leastResident = Math.min(this.leastResident, resident);
    this.leastUncounted = Math.min(this.leastUncounted, uncounted);
    const ofQueries = this.memory.bytesOf("queries");
    this.mostOfQueries = Math.max(this.mostOfQueries, ofQueries);
    const ofHeap = now - this.least >= this.garbageMax;
    const grown = isNear ? resident - this.leastResident : (uncounted - this.leastUncounted) / UNCOUNTED_PER_GARBAGE;
    const letGo = this.mostOfQueries - ofQueries;
    const left = Math.max(letGo, this.owedByQueries) / (isNear ? 1 : UNCOUNTED_PER_GARBAGE);
    const ofProcess = Math.max(grown, left) >= this.garbageMax;
    if (!ofHeap && !ofProcess) return;
    const began = this.clock.monotonicMillis();
    const isClose = resident > this.memory.bytesMax * CLOSE_TO_LIMIT;
    const rest = isClose ? REST_CLOSE_TO_LIMIT : isNear ? REST_NEAR_LIMIT : REST_PER_COLLECTION;
    if (began < this.ended + this.took * rest) return;
    const owed = { letGo, heap: now, resident };
    if (isNear) {
      this.watched.collect();
      this.noteCollection(began, 1, owed);
    } else void this.collectBeside(began, owed); // It never rejects.
  }

  private async collectBeside(began: number, owed: Owed): Promise<void> {
    this.isCollecting = true;
    const collection = this.watched.collectBeside();
    this.scheduler.hold(collection);
    await collection;
    this.isCollecting = false;
    this.noteCollection(began, BESIDE_PART, owed);
  }

  private noteCollection(began: number, partOfThread: number, { letGo, heap, resident }: Owed): void {
    this.ended = this.clock.monotonicMillis();
    this.took = (this.ended - began) * partOfThread;
    this.least = this.ownBytes();
    this.leastResident = this.watched.residentBytes();
    const freed = Math.max(heap - this.least, resident - this.leastResident, 0);
    this.triesForOwed = letGo > this.owedByQueries ? 0 : this.triesForOwed + 1;
    this.owedByQueries = this.triesForOwed === OWED_TRIES ? 0 : Math.max(0, Math.max(letGo, this.owedByQueries) - freed);
    this.leastUncounted = this.leastResident - this.memory.used;
    this.mostOfQueries = this.memory.bytesOf("queries");
    this.memory.noteOverhead(this.leastUncounted);
  }

  /**
   * Live objects and garbage, less a constant: what was freed before the runtime collected is taken away twice, and only growth counts.
   */
  private ownBytes(): number {
    return this.watched.heapBytes() - this.watched.freedBytes() - this.memory.bytesOf("page_cache");
  }
}
