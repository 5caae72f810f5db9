/** Counts rounds of the event loop from when it is made until it is stopped. */
export class RoundCount {
  /** Rounds so far. */
  round = 0;
  private isOver = false;

  constructor() {
    setImmediate(() => this.count());
  }

  stop(): void {
    this.isOver = true;
  }

  private count(): void {
    this.round++;
    if (!this.isOver) setImmediate(() => this.count());
  }
}
