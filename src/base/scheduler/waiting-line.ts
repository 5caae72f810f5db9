/**
 * Those that wait for room, in the order in which they came: only the first one is let in, so that what it adds is counted before the next
 * looks.
 */

/** One that waits; `wake` makes it look again. */
export interface Waiter {
  wake: () => void;
}

/** See the file header. */
export class WaitingLine {
  private readonly waiters: Set<Waiter> = new Set();

  get length(): number {
    return this.waiters.size;
  }

  /** Goes to the end of it. Followed by `leave`, once. */
  join(waiter: Waiter): void {
    this.waiters.add(waiter);
  }

  /** Goes away, wherever it stands. */
  leave(waiter: Waiter): void {
    this.waiters.delete(waiter);
  }

  isFirst(waiter: Waiter): boolean {
    for (const first of this.waiters) return first === waiter;
    return false;
  }

  /** Wakes the first one, if there is one. */
  wakeFirst(): void {
    for (const first of this.waiters) {
      first.wake();
      return;
    }
  }
}
