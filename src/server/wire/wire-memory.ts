/**
 * Memory of the connections of all wire servers, counted in the server's (part "connections"):
 *
 *   watched   chunks that came in and wait, answers that a client does not take: bounded a connection (limits.ts)
 *   taken     a message that is put together; prepared statements, values that wait: asked for, refused where the pool is full
 *
 * A message waits for room, its client with it, up to the time that writers wait; what a session wants to keep is refused at once.
 */
import { type MemoryAccount, MemoryCounter, MemoryPool, type ServerMemory } from "../../base/memory/server-memory.ts";

/** Part of the pool that one connection may take beyond a message. */
const SESSION_PART = 1 / 4;

/** See the file header. One for all wire servers. */
export class WireMemory {
  /** Milliseconds that a message waits for room. */
  readonly waitMs: number;
  readonly pool: MemoryPool;
  readonly watched: MemoryCounter = new MemoryCounter();

  /** @param bytesMax of what is taken */
  constructor(memory: ServerMemory, bytesMax: number, waitMs: number) {
    this.pool = new MemoryPool(memory, "connections", bytesMax);
    this.waitMs = waitMs;
    memory.register("connections", this.watched);
  }

  /** Memory of one more connection; close it. */
  connection(): ConnectionMemory {
    return new ConnectionMemory(this);
  }
}

/** What one connection holds. */
export class ConnectionMemory {
  readonly waitMs: number;
  private readonly counter: MemoryCounter;
  private readonly account: MemoryAccount;
  private watched = 0;
  private kept = 0;
  private isClosed = false;

  constructor(memory: WireMemory) {
    this.counter = memory.watched;
    this.waitMs = memory.waitMs;
    this.account = memory.pool.account();
  }

  /** Says what waits on the connection now. */
  watch(bytes: number): void {
    if (this.isClosed) return;
    this.counter.take(bytes - this.watched);
    this.watched = bytes;
  }

  /** Takes room for a message, or returns false. */
  take(bytes: number): boolean {
    return !this.isClosed && this.account.take(bytes);
  }

  /** Gives it back. */
  give(bytes: number): void {
    if (!this.isClosed) this.account.give(bytes);
  }

  /** Whether `take` would take so many. */
  hasRoom(bytes: number): boolean {
    return this.account.hasRoom(bytes);
  }

  /** Whether so many bytes could ever be taken. */
  couldTake(bytes: number): boolean {
    return bytes <= this.account.bytesMax;
  }

  /** Takes room for what the session keeps between messages, or returns false. */
  keep(bytes: number): boolean {
    if (this.kept + bytes > this.account.bytesMax * SESSION_PART || !this.take(bytes)) return false;
    this.kept += bytes;
    return true;
  }

  /** Gives back what `keep` took. */
  release(bytes: number): void {
    if (this.isClosed) return;
    this.kept -= bytes;
    this.account.give(bytes);
  }

  /** Gives all back. Nothing is taken any more. */
  close(): void {
    this.watch(0);
    this.isClosed = true;
    this.account.close();
  }
}
