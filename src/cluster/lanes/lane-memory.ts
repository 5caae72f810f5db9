/** Bytes of records that all lanes of a frontend hold, and who waits for them to become fewer. */

/** See the file header. Invariant: `bytes` is the sum of what was taken and not given back. */
export class LaneMemory {
  /** Writers wait from half of it on; beyond it records are refused. */
  readonly bytesMax: number;
  private held = 0;
  private readonly waiters: Set<() => void> = new Set();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.held;
  }

  take(bytes: number): void {
    this.held += bytes;
  }

  /** Gives back, and wakes all that wait: each looks for itself whether there is room for it. */
  give(bytes: number): void {
    this.held -= bytes;
    if (this.waiters.size === 0) return;
    for (const wake of this.waiters) wake();
    this.waiters.clear();
  }

  /** Calls back once, when something is given back, unless the returned function is called before. */
  onGiven(wake: () => void): () => void {
    this.waiters.add(wake);
    return () => this.waiters.delete(wake);
  }
}
