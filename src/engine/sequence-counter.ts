/**
 * Numbers of log records. Later records win over earlier ones, whatever their rows' times say.
 */
import { assert } from "../base/assert.ts";

/** Gives out 1, 2, 3, … or, after a start, what follows the largest number seen. */
export class SequenceCounter {
  private current = 0;

  /** The largest number given out or seen, 0 when there is none. */
  get newest(): number {
    return this.current;
  }

  /** The number that `take` would accept now. */
  get next(): number {
    return this.current + 1;
  }

  /** Marks `next` as used. */
  take(sequence: number): void {
    assert(sequence === this.current + 1, "sequences are taken in order");
    this.current = sequence;
  }

  /** Notes a number that is in use already. */
  sawUsed(sequence: number): void {
    if (sequence > this.current) this.current = sequence;
  }
}
