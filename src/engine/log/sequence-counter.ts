/**
 * Numbers of log records. Later records win over earlier ones, whatever their rows' times say.
 *
 * The counter lies in shared memory, so that all threads take numbers from it: an atomic step a request, 40 ns.
 */

const SEQUENCE_COUNTER_BYTES = 8;

/** Gives out 1, 2, 3, … or, after a start, what follows the largest number seen. A number that is given out may stay without a record. */
export class SequenceCounter {
  private readonly current: BigInt64Array;

  /** @param memory zeros, or memory that another counter works on; at least 8 bytes */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SEQUENCE_COUNTER_BYTES)) {
    this.current = new BigInt64Array(memory, 0, 1);
  }

  /** The largest number given out or seen, 0 when there is none. */
  get newest(): number {
    return Number(Atomics.load(this.current, 0));
  }

  /** The next number; nobody else gets it. */
  take(): number {
    return Number(Atomics.add(this.current, 0, 1n)) + 1;
  }

  /** Notes a number that is in use already. Only at the start, before other threads take numbers. */
  sawUsed(sequence: number): void {
    if (sequence > this.newest) Atomics.store(this.current, 0, BigInt(sequence));
  }
}
