/**
 * Rows that are in the log and not yet in files, for one table: chunks in the order of their sequences, and the memory they lie on.
 *
 * Chunks come from this thread, built on `arena`, or from others, on memory that is theirs and kept in use until the memtable goes.
 *
 * Invariants: `chunks` holds durable rows only; the memory is given back when the last user releases the memtable; `reserved` chunks are
 * between "built" and "durable or failed", and a flush waits for them.
 */
import { assert } from "../../base/assert.ts";
import { Arena, type SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import type { MemoryLease } from "./memory-lease.ts";

export class Memtable {
  readonly arena: Arena;
  readonly chunks: Chunk[] = [];
  rowCount = 0;
  /** Stretches that its delete chunks name. */
  deleteCount = 0;
  /** Time of the first reserve, for flushing idle tables; monotonic milliseconds. */
  firstWriteMillis = 0;
  /** Largest sequence that belongs in it: known once it is frozen. */
  sealedSequence: number = Number.POSITIVE_INFINITY;
  private isClosed = false;
  private reserved = 0;
  private users = 1;
  private readonly leases: Set<MemoryLease> = new Set();
  private leasedBytes = 0;
  private idle: (() => void)[] = [];

  constructor(pool: SlabPool) {
    this.arena = new Arena(pool);
  }

  /** Memory held. */
  get bytes(): number {
    return this.arena.bytes + this.leasedBytes;
  }

  /** Sequence of the newest chunk, 0 when empty. */
  get maxSequence(): number {
    return this.chunks.at(-1)?.sequence ?? 0;
  }

  /** Whether nothing was ever built in it. */
  get isUnused(): boolean {
    return this.chunks.length === 0 && this.reserved === 0 && this.leases.size === 0;
  }

  /** Announces a chunk that is being built on `arena`. Each call is followed by `publish` or `abandon`. */
  reserve(nowMillis: number): void {
    if (this.isUnused) this.firstWriteMillis = nowMillis;
    this.reserved++;
  }

  /** Makes a reserved chunk visible: its log record is durable. */
  publish(chunk: Chunk): void {
    this.insert(chunk);
    this.settle();
  }

  /** Keeps memory of another thread in use that writes to this table took, `bytes` more of it than was said before. */
  lease(lease: MemoryLease, bytes: number, nowMillis: number): void {
    if (this.isUnused) this.firstWriteMillis = nowMillis;
    if (!this.leases.has(lease)) {
      this.leases.add(lease);
      lease.retain();
    }
    this.leasedBytes += bytes;
  }

  /** Makes a chunk visible that another thread built, on memory that was leased before: its log record is durable. */
  adopt(chunk: Chunk): void {
    this.insert(chunk);
  }

  /** Makes a reserved chunk visible that was read back from the log. Those of several threads come in any order: call `sort` at the end. */
  restore(chunk: Chunk): void {
    this.append(chunk);
    this.settle();
  }

  /** Puts restored chunks in the order of their sequences. */
  sort(): void {
    const { chunks } = this;
    const isSorted = chunks.every((chunk, i) => i === 0 || (chunks[i - 1] as Chunk).sequence <= chunk.sequence);
    if (!isSorted) chunks.sort((a, b) => a.sequence - b.sequence);
  }

  /** From now on no chunk comes: a flush has begun to read them. */
  close(): void {
    assert(this.reserved === 0, `no chunk under way; got ${this.reserved}`);
    this.isClosed = true;
  }

  /** Drops a reserved chunk: its log record failed. */
  abandon(): void {
    this.settle();
  }

  /** Resolves when no chunk is between built and durable. */
  whenSettled(): Promise<void> {
    if (this.reserved === 0) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  /** Adds a user, who calls `release` once. */
  retain(): void {
    assert(this.users > 0, `a memtable in use; got ${this.users} users`);
    this.users++;
  }

  /** Takes one user away; the last one gives the memory back. */
  release(): void {
    assert(this.users > 0, `a memtable in use; got ${this.users} users`);
    this.users--;
    if (this.users > 0) return;
    this.arena.release();
    for (const lease of this.leases) lease.release();
    this.leases.clear();
    this.leasedBytes = 0;
  }

  /** Puts a chunk behind all that are not newer. Threads take turns, so its place is nearly always one of the last. */
  private insert(chunk: Chunk): void {
    const { chunks } = this;
    const { sequence } = chunk;
    let at = chunks.length;
    while (at > 0 && (chunks[at - 1] as Chunk).sequence > sequence) at--;
    this.append(chunk);
    if (at === chunks.length - 1) return;
    chunks.pop();
    chunks.splice(at, 0, chunk);
  }

  private append(chunk: Chunk): void {
    const { sequence } = chunk;
    assert(!this.isClosed && sequence <= this.sealedSequence, `a chunk before its memtable is closed; got ${sequence}`);
    this.chunks.push(chunk);
    if (chunk.deletes === true) this.deleteCount += chunk.rowCount;
    else this.rowCount += chunk.rowCount;
  }

  private settle(): void {
    assert(this.reserved > 0, `a reserved chunk; got ${this.reserved}`);
    this.reserved--;
    if (this.reserved > 0) return;
    const waiting = this.idle;
    this.idle = [];
    for (const resolve of waiting) resolve();
  }
}
