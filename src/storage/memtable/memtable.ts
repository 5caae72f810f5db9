/**
 * Rows that are in the log and not yet in files, for one table: chunks in the order of their sequences, and the memory they lie on.
 *
 * Invariants: `chunks` holds durable rows only; the memory is given back when the last user releases the memtable; `reserved` chunks are
 * between "built" and "durable or failed", and a flush waits for them.
 */
import { assert } from "../../base/assert.ts";
import { Arena, type SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";

export class Memtable {
  readonly arena: Arena;
  readonly chunks: Chunk[] = [];
  rowCount = 0;
  /** Stretches that its delete chunks name. */
  deleteCount = 0;
  /** Time of the first reserve, for flushing idle tables; monotonic milliseconds. */
  firstWriteMillis = 0;
  private reserved = 0;
  private users = 1;
  private idle: (() => void)[] = [];

  constructor(pool: SlabPool) {
    this.arena = new Arena(pool);
  }

  /** Memory held. */
  get bytes(): number {
    return this.arena.bytes;
  }

  /** Sequence of the newest chunk, 0 when empty. */
  get maxSequence(): number {
    return this.chunks.at(-1)?.sequence ?? 0;
  }

  /** Whether nothing was ever built in it. */
  get isUnused(): boolean {
    return this.chunks.length === 0 && this.reserved === 0;
  }

  /** Announces a chunk that is being built on `arena`. Each call is followed by `publish` or `abandon`. */
  reserve(nowMillis: number): void {
    if (this.isUnused) this.firstWriteMillis = nowMillis;
    this.reserved++;
  }

  /** Makes a reserved chunk visible: its log record is durable. Called in the order of sequences. */
  publish(chunk: Chunk): void {
    assert(chunk.sequence >= this.maxSequence, `sequences ascend; got ${chunk.sequence} after ${this.maxSequence}`);
    this.chunks.push(chunk);
    if (chunk.deletes === true) this.deleteCount += chunk.rowCount;
    else this.rowCount += chunk.rowCount;
    this.settle();
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
    if (this.users === 0) this.arena.release();
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
