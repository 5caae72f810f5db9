/**
 * The memory of the whole server, counted in one place, and who gives way when it is short:
 *
 *   1. cached pages go    2. decoders that are idle forget what they learnt, then plans of statements, series elsewhere and copies of what
 *      the cluster's log has go (asked here)
 *   3. memtables are flushed early    4. writers wait, up to write.stall_timeout    5. writers are refused: 429
 *      (3 to 5: engine/flush/flush-scheduler.ts)
 *
 * Queries may hold a part of it (`MemoryPool`) and are refused beyond, so that they cannot stop the writers. The count is of what is known
 * to be large: arrays and buffers. The runtime and garbage come on top; what they take of the process is looked at several times a second
 * (`noteOverhead`).
 */

/** Who holds memory. `log_queue` is not among them: what waits for the log lies on memtables. */
export const MEMORY_PARTS = [
  "request_bodies",
  "connections",
  "decoders",
  "series",
  "remote_series",
  "lanes",
  "acknowledged",
  "memtables",
  "page_cache",
  "queries",
  "plans",
  "workers",
  "file_transfers",
] as const;

/** One of `MEMORY_PARTS`. */
export type MemoryPart = (typeof MEMORY_PARTS)[number];

/** Somebody who holds memory and knows how much. */
export interface MemoryHolder {
  /** Bytes held now; asked once a write, so it adds up few numbers. */
  bytes(): number;
  /** Asks to give back this many bytes, or as many as it can. */
  giveBack?(bytes: number): void;
  /** Lets go of what nobody used for long. Called once a second. */
  tidy?(): void;
  /** Says that there is room: what was given back may be taken again, little by little. Called once a second. */
  mayGrow?(): void;
}

/** Parts that give way, first one first. */
const GIVE_WAY: readonly MemoryPart[] = ["page_cache", "decoders", "plans", "remote_series", "acknowledged"];
/** Part of the limit below which holders may grow again. */
const ROOM_RATIO = 0.9;
const OVERHEAD_PART_MAX = 1 / 2;

/** See the file header. */
export class ServerMemory {
  readonly bytesMax: number;
  /** Called when there may be much garbage: `HeapWatch` looks then. */
  onGarbage: () => void = () => undefined;
  private overhead = 0;
  private readonly holders: Map<MemoryPart, MemoryHolder[]> = new Map();

  /** @param bytesMax Infinity: no limit */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Counts what a holder has until the returned function is called. */
  register(part: MemoryPart, holder: MemoryHolder): () => void {
    const known = this.holders.get(part);
    if (known === undefined) this.holders.set(part, [holder]);
    else known.push(holder);
    return () => {
      const left = this.holders.get(part)?.filter((other) => other !== holder);
      if (left !== undefined) this.holders.set(part, left);
    };
  }

  /** Bytes that a part holds. */
  bytesOf(part: MemoryPart): number {
    let bytes = 0;
    for (const holder of this.holders.get(part) ?? []) bytes += holder.bytes();
    return bytes;
  }

  /** Bytes that may be taken, once those that can do without have given way; 0 or more. */
  get room(): number {
    let bytes = this.bytesMax - this.overhead - this.used;
    for (const part of GIVE_WAY) bytes += this.bytesOf(part);
    return Math.max(0, bytes);
  }

  /**
   * Says what the process holds that no part counts: the runtime, garbage, what allocators keep. It counts towards the limit, but for half
   * of that at most: under a limit that the runtime alone passes, rows still come in.
   */
  noteOverhead(bytes: number): void {
    this.overhead = Math.max(0, Math.min(bytes, this.bytesMax * OVERHEAD_PART_MAX));
  }

  /** Bytes that all hold. */
  get used(): number {
    let bytes = 0;
    for (const holders of this.holders.values()) for (const holder of holders) bytes += holder.bytes();
    return bytes;
  }

  /** Whether more than the limit is held, or would be with `more` bytes, once those that can do without have given way. */
  isOver(more = 0): boolean {
    let over = this.used + this.overhead + more - this.bytesMax;
    if (over <= 0) return false;
    for (const part of GIVE_WAY) {
      for (const holder of this.holders.get(part) ?? []) {
        if (over <= 0) return false;
        const before = holder.bytes();
        holder.giveBack?.(over);
        over -= before - holder.bytes();
      }
    }
    return over > 0;
  }

  /** Lets those that can do without give way near the limit, so that what comes next need not wait. @returns whether it was near */
  makeRoom(): boolean {
    if (this.used + this.overhead <= this.bytesMax * ROOM_RATIO) return false;
    this.isOver(this.bytesMax * (1 - ROOM_RATIO));
    return true;
  }

  /** To be called once a second. */
  tick(): void {
    for (const holders of this.holders.values()) for (const holder of holders) holder.tidy?.();
    if (this.makeRoom()) return;
    for (const holders of this.holders.values()) for (const holder of holders) holder.mayGrow?.();
  }
}

/** Memory that is counted by whoever takes it. */
export class MemoryCounter implements MemoryHolder {
  private held = 0;

  bytes(): number {
    return this.held;
  }

  take(bytes: number): void {
    this.held += bytes;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }
}

/** A part's memory with a limit of its own within that of the server. */
export class MemoryPool {
  readonly bytesMax: number;
  private readonly memory: ServerMemory;
  private readonly freeBytes: number;
  private readonly counter: MemoryCounter = new MemoryCounter();

  /** @param freeBytes what it leaves free of the server's memory, for garbage that comes between two looks at the process */
  constructor(memory: ServerMemory, part: MemoryPart, bytesMax: number, freeBytes = 0) {
    this.memory = memory;
    this.freeBytes = Number.isFinite(memory.bytesMax) ? freeBytes : 0;
    this.bytesMax = bytesMax;
    memory.register(part, this.counter);
  }

  /** Bytes held now. */
  get used(): number {
    return this.counter.bytes();
  }

  /** An account within the pool. */
  account(): MemoryAccount {
    return new MemoryAccount(this);
  }

  /** Bytes that `take` would take now. */
  get room(): number {
    return Math.max(0, Math.min(this.bytesMax - this.used, this.memory.room - this.freeBytes));
  }

  /** Whether `take` would take `bytes`. */
  hasRoom(bytes: number): boolean {
    return this.used + bytes <= this.bytesMax && !this.memory.isOver(bytes + this.freeBytes);
  }

  /** Takes `bytes` and returns true, or takes nothing and returns false when that would be too many. */
  take(bytes: number): boolean {
    if (!this.hasRoom(bytes)) return false;
    this.counter.take(bytes);
    return true;
  }

  /** Gives back what `take` took. */
  give(bytes: number): void {
    this.counter.give(bytes);
  }
}

/** What one user of a pool holds, so that all of it can be given back at once. */
export class MemoryAccount {
  /** Most bytes that it held at a time. */
  peakBytes = 0;
  private readonly pool: MemoryPool;
  private held = 0;

  constructor(pool: MemoryPool) {
    this.pool = pool;
  }

  /** Takes `bytes`, or nothing and returns false when the pool has no more. */
  take(bytes: number): boolean {
    if (!this.pool.take(bytes)) return false;
    this.held += bytes;
    if (this.held > this.peakBytes) this.peakBytes = this.held;
    return true;
  }

  /** Bytes that `take` would take now. */
  get room(): number {
    return this.pool.room;
  }

  /** Most bytes that the pool may hold. */
  get bytesMax(): number {
    return this.pool.bytesMax;
  }

  /** Whether `take` would take `bytes`. */
  hasRoom(bytes: number): boolean {
    return this.pool.hasRoom(bytes);
  }

  give(bytes: number): void {
    this.held -= bytes;
    this.pool.give(bytes);
  }

  /** Gives back everything that is still held. */
  close(): void {
    this.give(this.held);
  }
}
