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
import { type Chunk, chunkMaxTime, chunkMinTime } from "./chunk.ts";
import { CHUNK_OBJECT_BYTES, COLUMN_OBJECT_BYTES, joinable, joinChunks } from "./join-chunks.ts";
import type { MemoryLease } from "./memory-lease.ts";
import type { MemtableView, TimeSpan } from "./pick-rows.ts";
import { RowPostings, rowStarts } from "./row-postings.ts";

export class Memtable {
  readonly arena: Arena;
  readonly chunks: Chunk[] = [];
  rowCount = 0;
  /** Ranges that its delete chunks name. */
  deleteCount = 0;
  /** Oldest and newest time of any row; undefined without rows. */
  times: TimeSpan | undefined;
  private postings: RowPostings = new RowPostings();
  /** Time of the first reserve, for flushing idle tables; monotonic milliseconds. */
  firstWriteMillis = 0;
  /** Largest sequence that belongs in it: known once it is frozen. */
  sealedSequence: number = Number.POSITIVE_INFINITY;
  /** Whether a truncation ends here: rows that come later belong in the next. */
  isBarrier = false;
  private isClosed = false;
  private objectBytes = 0;
  private readonly mayJoin: () => boolean;
  private reserved = 0;
  private users = 1;
  private readonly leases: Set<MemoryLease> = new Set();
  private leasedBytes = 0;
  private idle: (() => void)[] = [];

  /** @param mayJoin whether chunks come in the order of their sequences: none finds its place among those that were joined */
  constructor(pool: SlabPool, mayJoin: () => boolean = () => true) {
    this.arena = new Arena(pool);
    this.mayJoin = mayJoin;
  }

  /** Bytes of rows, as they are in the log; joined ones count twice. */
  get rowBytes(): number {
    return this.arena.usedBytes + this.leasedBytes;
  }

  /** Memory held, that of the chunks' objects included. */
  get bytes(): number {
    return this.arena.bytes + this.leasedBytes + this.objectBytes;
  }

  /** Sequence of the newest chunk, 0 when empty. */
  get maxSequence(): number {
    return this.chunks.at(-1)?.sequence ?? 0;
  }

  /** Whether nothing was ever built in it. */
  get isUnused(): boolean {
    return this.chunks.length === 0 && this.reserved === 0 && this.leases.size === 0;
  }

  /** What a scan reads, as of now. */
  view(): MemtableView {
    const chunks = this.chunks.slice();
    return { chunks, starts: rowStarts(chunks), postings: this.postings, times: this.times };
  }

  /** Announces a chunk that is being built on `arena`. Each call is followed by `publish` or `abandon`. */
  reserve(nowMillis: number): void {
    if (this.isUnused) this.firstWriteMillis = nowMillis;
    this.reserved++;
  }

  /** Makes a reserved chunk visible: its log record is durable. */
  publish(chunk: Chunk): void {
    try {
      this.insert(chunk);
      if (this.mayJoin()) this.joinSmall();
    } finally {
      this.settle();
    }
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
    try {
      this.append(chunk);
      if (this.mayJoin()) this.joinSmall();
    } finally {
      this.settle();
    }
  }

  /** Puts restored chunks in the order of their sequences. */
  sort(): void {
    const { chunks } = this;
    const isSorted = chunks.every((chunk, i) => i === 0 || (chunks[i - 1] as Chunk).sequence <= chunk.sequence);
    if (isSorted) return;
    chunks.sort((a, b) => a.sequence - b.sequence);
    this.postings = new RowPostings();
  }

  /**
   * Makes all that is needed to give all rows other series numbers, and returns what then does it without needing more. Whoever has a view
   * keeps the chunks as they were, unless `inPlace` says that there is nobody.
   *
   * @param newOf the new number of each old one; asked once for each before this returns
   */
  renumbering(newOf: (series: number) => number, inPlace: boolean): () => void {
    const { chunks } = this;
    const postings = new RowPostings();
    const changed: { readonly at: number; readonly chunk: Chunk }[] = [];
    const kept: Chunk[] = [];
    for (const [at, chunk] of chunks.entries()) {
      if (inPlace && chunk.series instanceof Uint32Array) {
        for (let i = 0; i < chunk.rowCount; i++) newOf(chunk.series[i] as number);
        kept.push(chunk);
      } else changed.push({ at, chunk: renumberedChunk(chunk, newOf) });
    }
    return () => {
      for (const { series, rowCount } of kept) for (let i = 0; i < rowCount; i++) series[i] = newOf(series[i] as number);
      for (const { at, chunk } of changed) {
        chunks[at] = chunk;
        this.objectBytes += chunk.series.byteLength;
      }
      this.postings = postings;
    };
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
    this.objectBytes = 0;
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
    this.postings = new RowPostings(); // Rows have other numbers now; who has a view keeps the old ones.
  }

  private append(chunk: Chunk): void {
    const { sequence } = chunk;
    assert(!this.isClosed && sequence <= this.sealedSequence, `a chunk before its memtable is closed; got ${sequence}`);
    this.chunks.push(chunk);
    this.objectBytes += objectBytes(chunk);
    if (chunk.deletes === true) {
      this.deleteCount += chunk.rowCount;
      return;
    }
    this.rowCount += chunk.rowCount;
    this.times = widened(this.times, chunkMinTime(chunk), chunkMaxTime(chunk));
  }

  /** Requests of few rows make one chunk together. Who has a view keeps the small ones. */
  private joinSmall(): void {
    for (let count = joinable(this.chunks); count > 0; count = joinable(this.chunks)) {
      const small = this.chunks.slice(-count);
      const joined = joinChunks(small, this.arena);
      if (joined === undefined) return;
      this.chunks.splice(-count, count, joined);
      for (const chunk of small) this.objectBytes -= objectBytes(chunk);
      this.objectBytes += objectBytes(joined);
    }
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

function objectBytes({ columns }: Chunk): number {
  return CHUNK_OBJECT_BYTES + columns.length * COLUMN_OBJECT_BYTES;
}

/** The chunk under other series numbers, which lie on an array of their own. */
export function renumberedChunk(chunk: Chunk, newOf: (series: number) => number): Chunk {
  const { series, rowCount } = chunk;
  const target = new Uint32Array(new SharedArrayBuffer(rowCount * 4));
  for (let i = 0; i < rowCount; i++) target[i] = newOf(series[i] as number);
  return { ...chunk, series: target };
}

function widened(span: TimeSpan | undefined, min: bigint, max: bigint): TimeSpan {
  if (span === undefined) return { min, max };
  return min >= span.min && max <= span.max ? span : { min: min < span.min ? min : span.min, max: max > span.max ? max : span.max };
}
