/**
 * What all threads of the process see at once, in one piece of shared memory:
 *
 *   int64  0 sequence counter | 1 bytes in memory that the owner knows | 2 bytes taken that it does not know yet | 3 expired rows
 *          | 4… log bytes a thread | … bytes of series a thread
 *   int32  0 catalogue version | 1 durable version | 2 closed | 3 writes are refused | 4 new series are refused
 *          | 5 how many hold writes back | then three a thread: a message waits, a reply waits, messages posted
 *
 * Every field has one writer, or is changed by atomic steps.
 */
import { assert } from "../../base/assert.ts";
import { SequenceCounter } from "../log/sequence-counter.ts";

const KNOWN = 1;
const UNTOLD = 2;
const EXPIRED_ROWS = 3;
const LOG_BYTES = 4;
const VERSION = 0;
const DURABLE_VERSION = 1;
const CLOSED = 2;
const REFUSING = 3;
const REFUSING_SERIES = 4;
const HOLDERS = 5;
const THREAD_FLAGS = 6;
const WAITING = 0;
const REPLIED = 1;
const POSTED = 2;
const FLAGS_PER_THREAD = 3;

const SERIES_REFUSED =
  "the series of all tables hold as much memory as they may (half of memory.limit), and none of them can be let go; use fewer distinct " +
  "tag values, a shorter ttl, or raise memory.limit";

/** Longest wait for a reply before it is asked whether the process is going down, in milliseconds. */
const REPLY_CHECK_MILLIS = 1000;

/** See the file header. Thread numbers go from 1 to `threads`. */
export class SharedState {
  /** To be given to other threads: `SharedState` over the same memory is the same state. */
  readonly memory: SharedArrayBuffer;
  readonly threads: number;
  readonly sequences: SequenceCounter;
  private readonly longs: BigInt64Array;
  private readonly flags: Int32Array;

  /** @param memory that of another thread's state; new by default */
  constructor(threads: number, memory?: SharedArrayBuffer) {
    const longs = LOG_BYTES + 2 * threads;
    const bytes = longs * 8 + (THREAD_FLAGS + threads * FLAGS_PER_THREAD) * 4;
    this.memory = memory ?? new SharedArrayBuffer(bytes);
    assert(this.memory.byteLength === bytes, `${bytes} B for ${threads} threads; got ${this.memory.byteLength}`);
    this.threads = threads;
    this.sequences = new SequenceCounter(this.memory);
    this.longs = new BigInt64Array(this.memory, 0, longs);
    this.flags = new Int32Array(this.memory, longs * 8);
  }

  /** Changes with every change of the catalogue. */
  get version(): number {
    return Atomics.load(this.flags, VERSION);
  }

  /** The owner alone sets it, after the change is in force. */
  set version(version: number) {
    Atomics.store(this.flags, VERSION, version);
  }

  /** Version up to which changes of the catalogue are durable. */
  get durableVersion(): number {
    return Atomics.load(this.flags, DURABLE_VERSION);
  }

  set durableVersion(version: number) {
    Atomics.store(this.flags, DURABLE_VERSION, version);
  }

  /** Bytes that memtables take, as far as anyone knows. */
  get memoryBytes(): number {
    return Number(Atomics.load(this.longs, KNOWN) + Atomics.load(this.longs, UNTOLD));
  }

  /** Of those, what threads took and have not told of. */
  get untoldBytes(): number {
    return Math.max(0, Number(Atomics.load(this.longs, UNTOLD)));
  }

  /** Says what the owner counts; it alone does. */
  setKnownBytes(bytes: number): void {
    Atomics.store(this.longs, KNOWN, BigInt(bytes));
  }

  /** Bytes that a thread took and has not told of; negative once the owner was told. */
  addUntoldBytes(bytes: number): void {
    if (bytes !== 0) Atomics.add(this.longs, UNTOLD, BigInt(bytes));
  }

  /** Rows that had expired when they came, and were taken and not kept, since the start. */
  get expiredRows(): number {
    return Number(Atomics.load(this.longs, EXPIRED_ROWS));
  }

  addExpiredRows(rows: number): void {
    if (rows !== 0) Atomics.add(this.longs, EXPIRED_ROWS, BigInt(rows));
  }

  /** Whether the owner refuses writes: threads ask it why before they take one. */
  get isRefusing(): boolean {
    return Atomics.load(this.flags, REFUSING) === 1;
  }

  set isRefusing(refusing: boolean) {
    Atomics.store(this.flags, REFUSING, refusing ? 1 : 0);
  }

  /** Whether the owner lets no thread begin a write: they ask it, and it answers once they may. */
  get isHolding(): boolean {
    return Atomics.load(this.flags, HOLDERS) > 0;
  }

  /** One more, or one less, has a reason to hold writes back. */
  addHolder(change: 1 | -1): void {
    Atomics.add(this.flags, HOLDERS, change);
  }

  /** Bytes of a thread's log. */
  logBytes(thread: number): number {
    return Number(Atomics.load(this.longs, LOG_BYTES + thread - 1));
  }

  setLogBytes(thread: number, bytes: number): void {
    Atomics.store(this.longs, LOG_BYTES + thread - 1, BigInt(bytes));
  }

  /** Bytes of what a thread knows of series. */
  seriesBytes(thread: number): number {
    return Number(Atomics.load(this.longs, LOG_BYTES + this.threads + thread - 1));
  }

  setSeriesBytes(thread: number, bytes: number): void {
    Atomics.store(this.longs, LOG_BYTES + this.threads + thread - 1, BigInt(bytes));
  }

  /** Whether new series are refused on all threads. */
  get isRefusingSeries(): boolean {
    return Atomics.load(this.flags, REFUSING_SERIES) === 1;
  }

  set isRefusingSeries(refusing: boolean) {
    Atomics.store(this.flags, REFUSING_SERIES, refusing ? 1 : 0);
  }

  /** Why a new series is refused; undefined: it is not. */
  refusal(): string | undefined {
    return this.isRefusingSeries ? SERIES_REFUSED : undefined;
  }

  /** Counts a message that a thread has posted; answers whether the owner has to be woken: it was not before. */
  raise(thread: number): boolean {
    Atomics.add(this.flags, this.flagOf(thread, POSTED), 1);
    return Atomics.exchange(this.flags, this.flagOf(thread, WAITING), 1) === 0;
  }

  /** Messages that a thread has posted, as an int32 that wraps. */
  posted(thread: number): number {
    return Atomics.load(this.flags, this.flagOf(thread, POSTED));
  }

  /** Notes that the owner is about to take a thread's messages: one that comes later wakes it again. */
  lower(thread: number): void {
    Atomics.store(this.flags, this.flagOf(thread, WAITING), 0);
  }

  /** Called before a thread asks, so that `awaitReply` waits for what is answered to it. */
  expectReply(thread: number): void {
    Atomics.store(this.flags, this.flagOf(thread, REPLIED), 0);
  }

  /** Stops the thread until `replied`. False when the process is going down instead. */
  awaitReply(thread: number): boolean {
    const flag = this.flagOf(thread, REPLIED);
    while (Atomics.load(this.flags, flag) === 0) {
      if (Atomics.load(this.flags, CLOSED) === 1) return false;
      Atomics.wait(this.flags, flag, 0, REPLY_CHECK_MILLIS);
    }
    return true;
  }

  /** Lets a thread that waits go on: its reply is there. */
  replied(thread: number): void {
    Atomics.store(this.flags, this.flagOf(thread, REPLIED), 1);
    Atomics.notify(this.flags, this.flagOf(thread, REPLIED));
  }

  /** From now on nobody answers. */
  close(): void {
    Atomics.store(this.flags, CLOSED, 1);
    for (let thread = 1; thread <= this.threads; thread++) Atomics.notify(this.flags, this.flagOf(thread, REPLIED));
  }

  private flagOf(thread: number, flag: number): number {
    return THREAD_FLAGS + (thread - 1) * FLAGS_PER_THREAD + flag;
  }
}
